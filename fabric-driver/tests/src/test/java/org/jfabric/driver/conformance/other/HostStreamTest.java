package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.NumberedMessages.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.driver.kit.NumberedMessages.Reader;
import org.jfabric.driver.kit.StreamHosts;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams between hosts: two drivers that have nothing but a socket in common. */
@Tag("conformance")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostStreamTest {
    private static final String KEY_FILE = "jfabric.udp.streamKeyFile=";
    private static final long SEED = 4711;

    private final StreamHosts hosts = new StreamHosts();
    private final Path base = hosts.base;
    private int port;
    private String group;
    private final NumberedMessages messages = new NumberedMessages();

    @BeforeEach
    void ready() {
        hosts.ready();
        port = hosts.port;
        group = hosts.group();
    }

    @AfterEach
    void renew() {
        hosts.renew();
    }

    @AfterAll
    void end() {
        hosts.close();
    }

    private <T extends AutoCloseable> T keep(T resource) {
        return hosts.keep(resource);
    }

    private Publication publish(String address) {
        return keep(hosts.publication(address).open());
    }

    private Subscription subscribe() {
        return keep(hosts.subscription().open());
    }

    @Test
    void shouldBringEachMessageOnceAndInOrderToEachReaderOfBothHosts() {
        Publication publication = publish(group);
        Reader first = new Reader(subscribe());
        Reader second = new Reader(subscribe());
        Reader local = new Reader(keep(Subscription.on(hosts.writing, group).open()));
        messages.stream(publication, 5_000, first, second, local);
        Reader late = new Reader(subscribe());
        assertEquals(5_000, late.next);
        messages.stream(publication, 10_000, first, second, local, late);
        publication.close();
        for (Reader reader : List.of(first, second, local, late)) {
            awaitEnd(reader, FabricErrno.ESHUTDOWN);
            assertEquals(10_000, reader.next);
            assertEquals(0, reader.gaps);
        }
    }

    @Test
    void shouldHoldTheWriterBackUntilTheSlowestReaderOfTheOtherHostHasRead() {
        Publication publication = publish(group);
        Reader fast = new Reader(subscribe());
        Reader slow = new Reader(subscribe());
        messages.stream(publication, 100, fast, slow);
        // both rings fill, and then nothing is taken
        long[] seen = {0, 0};
        Deadline.await("a writer that waits", () -> {
            seen[1] = messages.offer(publication) || seen[0] != fast.next ? 0 : seen[1] + 1;
            seen[0] = fast.next;
            fast.poll();
            return seen[1] > 100_000;
        }, () -> publication + " " + fast);
        long written = publication.position();
        assertTrue(written > 500, () -> publication.toString());
        assertEquals(100, slow.next);
        messages.stream(publication, written + 2_000, fast, slow);
        // without it nothing is waited for
        messages.stream(publication, written + 2_100, fast, slow);
        slow.subscription.close();
        messages.stream(publication, written + 5_000, fast);
        assertEquals(0, fast.gaps + slow.gaps);
    }

    @Test
    void shouldNotWaitOnALossyStreamAndNameTheGaps() {
        Publication publication = publish(group + "?lossy");
        Reader reader = new Reader(subscribe());
        messages.stream(publication, 100, reader);
        Deadline.await("a writer that waits for the driver alone", () -> {
            messages.offer(publication);
            return publication.position() >= 20_000;
        }, publication::toString);
        publication.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(20_000, reader.next);
        assertTrue(reader.gaps > 0 && reader.gaps < 20_000, reader::toString);
    }

    @Test
    void shouldNameWhatALossyWriterHasOverwrittenWhileThePathWasCut() {
        Publication publication = publish(group + "?lossy");
        LossyRelay relay = keep(new LossyRelay(port, SEED, 0));
        Reader reader = new Reader(keep(Subscription.on(hosts.reading, hosts.stream(relay.port())).open()));
        messages.stream(publication, 100, reader);
        relay.cut(true);
        Deadline.await("more than a ring", () -> {
            messages.offer(publication);
            return publication.position() >= 5_000;
        }, publication::toString);
        relay.cut(false);
        messages.assertGapEnds(publication, reader);
    }

    /** One thread has the ring, and the others read it as those of another driver do. */
    @Test
    void shouldReadOnEachThreadOfADriver() {
        hosts.restart(new String[0],
            new String[] {"jfabric.threading.mode=DEDICATED", "jfabric.threading.progressThreads=2"});
        Publication publication = publish(group);
        Reader first = new Reader(subscribe());
        Reader second = new Reader(subscribe());
        Reader third = new Reader(subscribe());
        messages.stream(publication, 500, first, second, third);
        // the thread that has the ring keeps it while any of them reads
        first.subscription.close();
        messages.stream(publication, 1_000, second, third);
        publication.close();
        awaitEnd(second, FabricErrno.ESHUTDOWN);
        awaitEnd(third, FabricErrno.ESHUTDOWN);
        assertEquals(2_000, second.next + third.next);
    }

    @Test
    void shouldSendEverythingBeforeADriverEnds() {
        Publication publication = publish(group);
        Reader reader = new Reader(subscribe());
        messages.stream(publication, 100, reader);
        Deadline.await("messages that are not read yet", () -> {
            messages.offer(publication);
            return publication.position() >= 300;
        }, publication::toString);
        hosts.closeWriter();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(300, reader.next);
        assertEquals(0, reader.gaps);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100})
    void shouldRepairWhatARelayLoses(int lostPerMille) {
        Publication publication = publish(group);
        LossyRelay relay = keep(new LossyRelay(port, SEED, lostPerMille));
        Reader reader = new Reader(keep(Subscription.on(hosts.reading, hosts.stream(relay.port())).open()));
        messages.stream(publication, 20_000, reader);
        publication.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(20_000, reader.next);
        assertEquals(0, reader.gaps);
        assertTrue(relay.lost() > 0, () -> "seed " + SEED);
    }

    @Test
    void shouldEndTheReadersOfAWriterWhoseDriverWasKilled() {
        Publication publication = publish(group);
        Reader reader = new Reader(subscribe());
        DriverProcess patient = keep(hosts.launch("gamma", "jfabric.udp.streamSilenceNs=600s"));
        Reader waiting = new Reader(keep(Subscription.on(
            keep(StreamHosts.connect(patient)), hosts.stream(port)).open()));
        messages.stream(publication, 1_000, reader, waiting);
        LogPosition next = reader.subscription.next();
        hosts.killWriter(publication);
        awaitEnd(reader, FabricErrno.ECONNRESET);
        assertEquals(1_000, reader.next);
        waiting.poll();
        assertEquals(0, waiting.end);
        // at the same address, but another log
        hosts.startWriter();
        Publication other = publish(group);
        FabricException refused = assertThrows(FabricException.class,
            () -> Subscription.on(hosts.reading, hosts.stream(port)).from(next).open());
        assertEquals(FabricErrno.EINVAL, refused.errno(), refused::toString);
        Reader again = new Reader(subscribe());
        messages.stream(other, 1_000, again);
    }

    @Test
    void shouldNotWaitForAHostThatHasDied() {
        Publication publication = publish(group);
        Reader reader = new Reader(subscribe());
        messages.stream(publication, 1_000, reader);
        hosts.killReader(reader.subscription);
        Deadline.await("a ring that does not wait any more", () -> {
            messages.offer(publication);
            return publication.position() >= 5_000;
        }, publication::toString);
        hosts.startReader();
        Reader again = new Reader(subscribe());
        messages.stream(publication, 10_000, again);
        assertEquals(0, again.gaps);
    }

    @Test
    void shouldContinueAtAPositionThatTheWritersRingHas() {
        Publication publication = publish(group);
        Reader reader = new Reader(subscribe());
        messages.stream(publication, 50, reader);
        LogPosition next = reader.subscription.next();
        reader.subscription.close();
        while (publication.position() < 60) {
            messages.offer(publication);
        }
        Reader again = new Reader(keep(Subscription.on(hosts.reading, hosts.stream(port)).from(next).open()));
        messages.stream(publication, 5_000, again);
        assertEquals(0, again.gaps);
    }

    private Path keys(String name, String... keys) {
        return StreamHosts.keys(base.resolve(name), keys);
    }

    /** Starts both drivers again, with files of keys. */
    private void restart(String... options) {
        hosts.restart(new String[] {options[0]}, new String[] {options[1]});
    }

    @Test
    void shouldSealStreamsAndChangeTheKeyWhileTheyAreSent() {
        String first = "1a".repeat(32);
        String second = "2b".repeat(32);
        Path writers = keys("writers", first);
        Path readers = keys("readers", "# of the readers", first);
        restart(KEY_FILE + writers, KEY_FILE + readers);
        Publication publication = publish(group);
        LossyRelay relay = keep(new LossyRelay(port, SEED, 20));
        Reader reader = new Reader(keep(Subscription.on(hosts.reading, hosts.stream(relay.port())).open()));
        messages.stream(publication, 5_000, reader);
        long pauseNs = 1_500_000_000L;
        for (String[] step : new String[][] {{first, second}, {second, first}, {second}}) {
            keys("readers", step);
            keys("writers", step);
            // the drivers read their files each second
            long beganNs = System.nanoTime();
            while (System.nanoTime() - beganNs < pauseNs) {
                messages.stream(publication, publication.position() + 100, reader);
            }
        }
        assertEquals(0, reader.gaps);
        // a socket is for one group, because the datagrams of each have a key of their own
        FabricException taken = assertThrows(FabricException.class,
            () -> Publication.on(hosts.writing, "jfabric://alpha/others").onNetwork("127.0.0.1:" + port).open());
        assertEquals(FabricErrno.EADDRINUSE, taken.errno(), taken::toString);
        // a log would come in the clear
        FabricException plain = assertThrows(FabricException.class, hosts.subscription().fromOldest()::open);
        assertEquals(FabricErrno.EOPNOTSUPP, plain.errno(), plain::toString);
        assertTrue(plain.toString().contains("Add tls to jfabric.link.enabled"), plain::toString);
        // with the old key alone nothing is heard any more
        keys("readers", first);
        Deadline.await("the end", () -> {
            messages.offer(publication);
            reader.poll();
            return reader.end != 0;
        }, reader::toString);
        assertEquals(FabricErrno.name(FabricErrno.ECONNRESET), FabricErrno.name(reader.end));
    }

    @Test
    void shouldSealStreamsToAMulticastGroup() {
        Path keys = keys("keys", "1a".repeat(32));
        restart(KEY_FILE + keys, KEY_FILE + keys);
        String multicast = "239.71.4.1:" + port + "@lo";
        Publication publication = keep(Publication.on(hosts.writing, group).onNetwork(multicast).open());
        Reader one = new Reader(keep(Subscription.on(hosts.reading,
            "stream://" + multicast + group.substring(group.lastIndexOf('/'))).open()));
        messages.stream(publication, 5_000, one);
        assertEquals(0, one.gaps);
    }

    /** A reader with another key, and one with none, at the same time: each waits until its time is over. */
    @Test
    void shouldNotMixDriversWithAndWithoutAKey() {
        restart(KEY_FILE + keys("writers", "1a".repeat(32)), KEY_FILE + keys("other", "2b".repeat(32)));
        publish(group);
        try (DriverProcess gamma = hosts.launch("gamma", KEY_FILE + "none");
            Fabric third = StreamHosts.connect(gamma)) {
            Stream.of(hosts.reading, third).map(reader -> CompletableFuture.supplyAsync(() -> assertThrows(
                FabricException.class, Subscription.on(reader, hosts.stream(port))::open))).toList().forEach(each -> {
                    FabricException silent = each.join();
                    assertEquals(FabricErrno.EHOSTUNREACH, silent.errno(), silent::toString);
                    assertTrue(silent.toString().contains("streamKeyFile"), silent::toString);
                });
        }
    }

    @Test
    void shouldRefuseAFileOfKeysThatOthersCanReadOrThatHasNone() throws IOException {
        Path writers = keys("writers", "1a".repeat(32));
        restart(KEY_FILE + writers, KEY_FILE + base.resolve("missing"));
        Files.setPosixFilePermissions(writers, PosixFilePermissions.fromString("rw-r--r--"));
        refused(Publication.on(hosts.writing, group).onNetwork("127.0.0.1:" + port), FabricErrno.EACCES);
        refused(FabricErrno.EACCES, hosts.stream(port));
        for (String[] wrong : new String[][] {{}, {"1a"}, {"xy".repeat(32)},
            {"1a".repeat(32), "1b".repeat(32), "1c".repeat(32)}}) {
            keys("writers", wrong);
            refused(Publication.on(hosts.writing, group).onNetwork("127.0.0.1:" + port));
        }
        keys("writers", "1a".repeat(32));
        // a log would be read in the clear
        FabricException plain = assertThrows(FabricException.class, publication().recordIn(base.resolve("log"))::open);
        assertEquals(FabricErrno.EOPNOTSUPP, plain.errno(), plain::toString);
        assertTrue(plain.toString().contains("Add tls to jfabric.link.enabled"), plain::toString);
        publish(group);
    }

    private Publication.Builder publication() {
        return hosts.publication();
    }

    /** Fills the ring of a writer that waits; returns the position behind. */
    private long fill(Publication publication) {
        long[] refused = {0};
        Deadline.await("a writer that waits", () -> {
            refused[0] = messages.offer(publication) ? 0 : refused[0] + 1;
            return refused[0] > 100_000;
        }, publication::toString);
        return publication.position();
    }

    @Test
    void shouldWaitForAQuorumOfHostsAndNameTheGapsOfTheRest() {
        Publication publication = keep(publication().quorum(1).open());
        // the ring keeps what no host has
        long alone = fill(publication);
        assertTrue(alone > 100 && alone < 5_000, publication::toString);
        Reader reader = new Reader(subscribe());
        messages.stream(publication, alone + 1_000, reader);
        try (DriverProcess gamma = hosts.launch("gamma"); Fabric third = StreamHosts.connect(gamma);
            Subscription other = Subscription.on(third, hosts.stream(port)).open()) {
            Reader slow = new Reader(other);
            // it does not read, and one of two is enough
            messages.stream(publication, alone + 6_000, reader);
            messages.stream(publication, alone + 7_000, reader, slow);
            assertTrue(slow.gaps > 1_000 && slow.gaps < 6_000, slow::toString);
            assertEquals(0, reader.gaps);
        }
        publication.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(alone + 7_000, reader.next);
    }

    @Test
    void shouldWaitForARequiredHostAloneAlsoWhileItIsNotThere() {
        Publication publication = keep(publication().required("gamma").open());
        Reader reader = new Reader(subscribe());
        long[] seen = {0, 0};
        Deadline.await("a writer that waits for the host that is not there", () -> {
            seen[1] = messages.offer(publication) || seen[0] != reader.next ? 0 : seen[1] + 1;
            seen[0] = reader.next;
            reader.poll();
            return seen[1] > 100_000;
        }, () -> publication + " " + reader);
        long alone = publication.position();
        assertTrue(alone > 100 && alone < 5_000, publication::toString);
        try (DriverProcess gamma = hosts.launch("gamma"); Fabric third = StreamHosts.connect(gamma);
            Subscription other = Subscription.on(third, hosts.stream(port)).open()) {
            Reader required = new Reader(other);
            // the host that is not required reads nothing
            messages.stream(publication, alone + 6_000, required);
            assertEquals(0, required.gaps, required::toString);
            messages.stream(publication, alone + 7_000, required, reader);
            assertTrue(reader.gaps > 1_000 && reader.gaps < 6_000, reader::toString);
        }
    }

    @Test
    void shouldSendNoFasterThanTheLimitOfTheRate() {
        long bytesPerSecond = 2_000_000;
        Publication publication = keep(publication().rateLimit(bytesPerSecond).open());
        Reader reader = new Reader(subscribe());
        long beganNs = System.nanoTime();
        messages.stream(publication, 8_000, reader);
        long elapsedNs = System.nanoTime() - beganNs;
        long payload = 0;
        for (long position = 0; position < 8_000; position++) {
            payload += NumberedMessages.length(position);
        }
        // what the bucket held came at once
        long most = (256 << 10) + (long) (elapsedNs * 1e-9 * bytesPerSecond);
        assertTrue(payload < most, payload + " bytes, and at most " + most);
        assertEquals(0, reader.gaps);
    }

    @Test
    void shouldRefusePoliciesThatMakeNoSense() {
        refused(publication().quorum(0));
        refused(publication().quorum(257));
        refused(publication().quorum(1).required("gamma"));
        refused(publication().required("gamma", ""));
        refused(publication().rateLimit(-1));
        refused(Publication.on(hosts.writing, group + "?lossy").onNetwork("127.0.0.1:" + port).quorum(1));
        refused(Publication.on(hosts.writing, group).quorum(1));
        refused(Publication.on(hosts.writing, group).rateLimit(1_000_000));
        refused(publication().recordIn(base.resolve("log")).quorum(1));
        refused(Publication.on(hosts.writing, group).onNetwork("239.1.2.3:" + port).recordIn(base.resolve("log")),
            FabricErrno.EOPNOTSUPP);
    }

    private static void refused(Publication.Builder builder) {
        refused(builder, FabricErrno.EINVAL);
    }

    private static void refused(Publication.Builder builder, int errno) {
        FabricException refused = assertThrows(FabricException.class, builder::open);
        assertEquals(FabricErrno.name(errno), FabricErrno.name(refused.errno()), refused::toString);
    }

    @Test
    void shouldRefuseWhatIsNotThere() {
        Publication publication = publish(group);
        refused(FabricErrno.ECONNREFUSED, "stream://127.0.0.1:" + port + "/others");
        refused(FabricErrno.EINVAL, hosts.stream(port) + ";" + hosts.stream(port));
        refused(FabricErrno.EINVAL, "stream://127.0.0.1/quotes");
        refused(FabricErrno.EINVAL, "stream://127.0.0.1:" + port);
        refused(FabricErrno.EINVAL, hosts.stream(port) + "?lossy");
        FabricException taken = assertThrows(FabricException.class,
            () -> Publication.on(hosts.reading, "jfabric://beta/others").onNetwork("127.0.0.1:" + port).open());
        assertEquals(FabricErrno.EADDRINUSE, taken.errno(), taken::toString);
        FabricException silent = assertThrows(FabricException.class,
            () -> Subscription.on(hosts.reading, hosts.stream(NumberedMessages.freePort())).open());
        assertEquals(FabricErrno.EHOSTUNREACH, silent.errno(), silent::toString);
        // the socket has room for another group
        Publication others = keep(
            Publication.on(hosts.writing, "jfabric://alpha/others").onNetwork("127.0.0.1:" + port).open());
        Reader reader = new Reader(keep(
            Subscription.on(hosts.reading, "stream://127.0.0.1:" + port + "/others").open()));
        messages.stream(others, 1_000, reader);
        assertEquals(0, publication.position());
    }

    private void refused(int errno, String address) {
        FabricException refused =
            assertThrows(FabricException.class, () -> Subscription.on(hosts.reading, address).open());
        assertEquals(FabricErrno.name(errno), FabricErrno.name(refused.errno()), refused::toString);
    }
}
