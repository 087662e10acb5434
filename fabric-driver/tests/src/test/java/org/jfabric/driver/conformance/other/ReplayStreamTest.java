package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.NumberedMessages.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.driver.kit.NumberedMessages.Reader;
import org.jfabric.driver.kit.StreamHosts;
import org.jfabric.driver.kit.TcpRelay;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Recorded streams between hosts: what the writer's ring does not have any more comes from its log. */
@Tag("conformance")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReplayStreamTest {
    private static final long SEED = 4711;

    private final StreamHosts hosts = new StreamHosts();
    private final NumberedMessages messages = new NumberedMessages();
    /** Closed last: a writer waits for hosts that have left without a word. */
    private final List<AutoCloseable> relays = new ArrayList<>();
    private int logs;

    @AfterEach
    void renew() {
        hosts.renew();
        logs++;
    }

    @AfterAll
    void end() throws Exception {
        hosts.close();
        for (AutoCloseable relay : relays) {
            relay.close();
        }
    }

    private Publication publish(LogOptions options) {
        return publish(hosts, options);
    }

    private Publication publish(StreamHosts on, LogOptions options) {
        return on.keep(on.publication().recordIn(log(on), options.segmentLengthBytes(1 << 20)).open());
    }

    private Path log(StreamHosts on) {
        return on.base.resolve("log-" + logs);
    }

    private Publication publish() {
        return publish(new LogOptions());
    }

    private Reader read(Subscription.Builder builder) {
        return new Reader(hosts.keep(builder.open()));
    }

    private void write(Publication publication, long until) {
        Deadline.await("messages to " + until, () -> {
            messages.offer(publication);
            return publication.position() >= until;
        }, publication::toString);
    }

    @Test
    void shouldReadEverythingFromTheOldestMessageOnWhileTheWriterSends() {
        Publication publication = publish();
        Reader now = read(hosts.subscription());
        messages.stream(publication, 1_000, now);
        write(publication, 10_000);
        Reader oldest = read(hosts.subscription().fromOldest());
        assertEquals(0, oldest.next);
        Reader there = read(hosts.subscription().from(publication.next().at(777)));
        assertEquals(777, there.next);
        messages.stream(publication, 30_000, now, oldest, there);
        Reader late = read(hosts.subscription());
        assertEquals(30_000, late.next);
        publication.close();
        for (Reader reader : List.of(now, oldest, there, late)) {
            awaitEnd(reader, FabricErrno.ESHUTDOWN);
            assertEquals(30_000, reader.next);
            assertEquals(0, reader.gaps);
        }
    }

    /** The log has the times, which messages do not bring. */
    @Test
    void shouldBeginAtATime() {
        Publication publication = publish();
        write(publication, 3_000);
        Deadline.await("a log that has all", () -> publication.written() >= 3_000, publication::toString);
        long[] times = new long[3_000];
        try (LogReader log = LogReader.open(log(hosts))) {
            StreamListener listener = (buffer, offset, length, header) ->
                times[(int) header.position()] = header.timeNs();
            while (log.position() < times.length) {
                log.poll(listener, times.length);
            }
        }
        List<Reader> readers = new ArrayList<>();
        for (int position : new int[] {1_000, 2_345}) {
            Reader reader = read(hosts.subscription().fromTime(times[position]));
            int first = position;
            while (first > 0 && times[first - 1] == times[position]) {
                first--;
            }
            assertEquals(first, reader.next);
            readers.add(reader);
        }
        readers.add(read(hosts.subscription().fromTime(0)));
        assertEquals(0, readers.getLast().next);
        readers.add(read(hosts.subscription().fromTime(times[2_999] + 1)));
        assertEquals(3_000, readers.getLast().next);
        messages.stream(publication, 4_000, readers.toArray(Reader[]::new));
        readers.forEach(reader -> assertEquals(0, reader.gaps));
    }

    @Test
    void shouldCatchUpWithAWriterThatHasNotWaited() {
        SplittableRandom random = new SplittableRandom(SEED);
        Publication publication = publish();
        Reader slow = read(hosts.subscription());
        while (publication.position() < 12_000) {
            write(publication, publication.position() + random.nextInt(4000));
            for (int i = random.nextInt(30); i > 0; i--) {
                slow.poll();
            }
        }
        messages.stream(publication, publication.position(), slow);
        assertEquals(0, slow.gaps, () -> "seed " + SEED);
        messages.stream(publication, publication.position() + 1_000, slow);
    }

    /** Reads and writes, whether the writer is back or not, until there is everything. */
    private void continues(Publication again, long until, Reader... readers) {
        Deadline.await("messages to " + until, () -> {
            if (again.position() < until) {
                messages.offer(again);
            }
            boolean isDone = true;
            for (Reader reader : readers) {
                reader.poll();
                isDone &= reader.next >= until;
            }
            return isDone;
        }, () -> again + " " + List.of(readers));
    }

    @Test
    void shouldContinueByItselfWithAWriterThatWasKilledAndCameBack() {
        LogOptions options = new LogOptions().visibility(LogOptions.Visibility.WRITTEN);
        Publication publication = publish(options);
        Reader replaying = read(hosts.subscription());
        Reader reader = read(hosts.subscription().fromOldest());
        messages.stream(publication, 3_000, reader, replaying);
        write(publication, 10_000);
        for (int i = 0; i < 20; i++) {
            messages.offer(publication);
            reader.poll();
        }
        hosts.killWriter(publication);
        hosts.startWriter();
        Publication again = publish(options);
        long begin = again.position();
        assertEquals(2, again.next().term());
        LogPosition next = again.next().at(begin);
        continues(again, begin + 5_000, reader, replaying);
        for (Reader each : List.of(reader, replaying)) {
            assertEquals(FabricErrno.name(FabricErrno.ECONNRESET), FabricErrno.name(each.end));
            assertEquals(0, each.gaps);
            assertEquals(2, each.subscription.next().term());
            each.end = 0;
        }
        // a publication that is closed is back in the same term
        again.close();
        Publication third = publish(options);
        continues(third, begin + 6_000, reader, replaying);
        for (Reader each : List.of(reader, replaying)) {
            // one that was just reading the log has not seen the end
            assertTrue(each.end == 0 || each.end == FabricErrno.ESHUTDOWN, each::toString);
            assertEquals(0, each.gaps);
            assertEquals(next.at(begin + 6_000), each.subscription.next());
        }
        // the log says what an earlier term had
        LogPosition before = new LogPosition(next.logId(), 1, begin);
        assertEquals(begin, read(hosts.subscription().from(before)).next);
        refused("from position " + begin, hosts.subscription().from(before.at(begin + 1)));
        refused("ends at position " + (begin + 6_000), hosts.subscription().from(next.at(begin + 6_001)));
    }

    private static void refused(String because, Subscription.Builder builder) {
        FabricException refused = assertThrows(FabricException.class, builder::open);
        assertEquals(FabricErrno.EINVAL, refused.errno(), refused::toString);
        assertTrue(refused.getMessage().contains(because), refused::getMessage);
    }

    @Test
    void shouldNameWhatRetentionHasDeleted() {
        // a publication that is refused keeps no socket
        assertEquals(FabricErrno.EINVAL, assertThrows(
            FabricException.class, () -> publish(new LogOptions().retainBytes(1 << 20))).errno());
        Publication publication = publish(new LogOptions().retainBytes(2 << 20));
        LogPosition begin = publication.next();
        Reader slow = read(hosts.subscription());
        messages.stream(publication, 100, slow);
        write(publication, 25_000);
        Reader late = read(hosts.subscription().from(begin));
        messages.stream(publication, 25_100, slow, late);
        // what is on the way is not lost
        assertTrue(slow.gaps < 25_000, slow::toString);
        assertTrue(late.gaps > 0 && late.gaps < 25_000, late::toString);
    }

    /** Cuts each connection for the log after some messages; a relay of the datagrams has the same port. */
    private TcpRelay relay(StreamHosts on) {
        while (true) {
            LossyRelay datagrams = new LossyRelay(on.port, SEED, 0);
            try {
                TcpRelay relay = TcpRelay.open(datagrams.port(), on.port, 200_000);
                relays.addAll(List.of(relay, datagrams));
                return relay;
            } catch (UncheckedIOException taken) {
                datagrams.close();
            }
        }
    }

    @Test
    void shouldContinueWhenTheConnectionForTheLogIsCut() {
        Publication publication = publish();
        write(publication, 9_000);
        TcpRelay relay = relay(hosts);
        Reader reader = read(hosts.subscription(relay.port()).fromOldest());
        messages.stream(publication, 10_000, reader);
        assertEquals(0, reader.gaps);
        assertTrue(relay.connections() > 3, () -> relay.connections() + " connections");
    }

    private static String[] secured(Path keys, TestKeys.Folder own) {
        List<String> options = new ArrayList<>(own.assignments());
        options.add("jfabric.udp.streamKeyFile=" + keys);
        options.add("jfabric.link.enabled=loopback,shm,tcp,udp,tls");
        return options.toArray(String[]::new);
    }

    @Test
    void shouldReadTheLogOfASealedGroupByTls() throws IOException {
        Path folder = TestDirectory.create();
        Path keys = StreamHosts.keys(folder.resolve("keys"), "1a".repeat(32));
        TestKeys.Folder writers = TestKeys.files(folder, "alpha", "beta");
        TestKeys.Folder readers = TestKeys.files(folder, "beta", "alpha");
        try (StreamHosts sealed = new StreamHosts(secured(keys, writers), secured(keys, readers))) {
            Publication publication = publish(sealed, new LogOptions());
            write(publication, 4_000);
            TcpRelay relay = relay(sealed);
            Reader reader = new Reader(sealed.keep(sealed.subscription(relay.port()).fromOldest().open()));
            Reader slow = new Reader(sealed.keep(sealed.subscription().open()));
            messages.stream(publication, 4_500, reader, slow);
            assertTrue(relay.connections() > 1, () -> relay.connections() + " connections");
            write(publication, 7_000);
            messages.stream(publication, 7_100, reader, slow);
            assertEquals(0, reader.gaps + slow.gaps);
            String seen = relay.seen();
            assertFalse(seen.contains("quotes"), "a request in the clear");
            // who has the key of the group and no trusted one of its own does not read the log
            readers.key("gamma");
            FabricException unknown = assertThrows(
                FabricException.class, sealed.subscription().fromOldest()::open);
            assertEquals(FabricErrno.EKEYREJECTED, unknown.errno(), unknown::toString);
        }
        TestDirectory.delete(folder);
    }

    /** Bytes that mean nothing, and connections that say nothing, do no harm. */
    @Test
    void shouldNotMindWhoeverConnects() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        Publication publication = publish();
        write(publication, 5_000);
        for (int i = 0; i < 200; i++) {
            try (Socket hostile = new Socket(InetAddress.getLoopbackAddress(), hosts.port)) {
                byte[] nonsense = new byte[random.nextInt(2000)];
                random.nextBytes(nonsense);
                hostile.getOutputStream().write(nonsense);
            } catch (IOException closed) {
                // as it may be
            }
        }
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            silent.add(hosts.keep(new Socket(InetAddress.getLoopbackAddress(), hosts.port)));
        }
        Reader reader = read(hosts.subscription().fromOldest());
        messages.stream(publication, 6_000, reader);
        assertEquals(30, silent.size());
    }
}
