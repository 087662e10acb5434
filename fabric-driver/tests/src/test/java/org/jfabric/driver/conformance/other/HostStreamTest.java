package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams between hosts: two drivers that have nothing but a socket in common. */
@Tag("conformance")
@Timeout(120)
class HostStreamTest {
    private static final String GROUP = "jfabric://alpha/quotes";
    private static final String SMALL_RING = "jfabric.shm.groupRingLengthBytes=64k";
    private static final long SEED = 4711;

    private final Path base = TestDirectory.create();
    private final int port = freePort();
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[8192]);
    private final List<AutoCloseable> open = new ArrayList<>();
    private DriverProcess alpha;
    private DriverProcess beta;
    private Fabric writing;
    private Fabric reading;

    private static int freePort() {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @BeforeEach
    void start() {
        alpha = launch("alpha");
        beta = launch("beta");
        writing = connect(alpha);
        reading = connect(beta);
    }

    private DriverProcess launch(String name, String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.addAll(List.of(SMALL_RING, "jfabric.link.enabled=loopback,shm,tcp,udp"));
        return DriverProcess.launch(base.resolve(name), all.toArray(String[]::new));
    }

    private static Fabric connect(DriverProcess driver) {
        return Fabric.connect(new FabricConfig().directory(driver.awaitReady().directory()));
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        writing.close();
        reading.close();
        alpha.close();
        beta.close();
        TestDirectory.delete(base);
    }

    private <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    private Publication publish(String address) {
        return keep(Publication.on(writing, address).onNetwork("127.0.0.1:" + port).open());
    }

    private static String stream(int at) {
        return "stream://127.0.0.1:" + at + "/quotes";
    }

    private Subscription subscribe() {
        return keep(Subscription.on(reading, stream(port)).open());
    }

    /** Takes messages that must come in order without a hole but for the gaps that are named. */
    private static final class Reader implements StreamListener {
        final Subscription subscription;
        long next;
        long gaps;
        long lastGap;
        int end;

        Reader(Subscription subscription) {
            this.subscription = subscription;
            this.next = subscription.position();
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            assertEquals(next, header.position());
            assertEquals(length(next), length);
            FabricNode.assertPattern(buffer, offset, length, (int) next, 0);
            next++;
        }

        @Override
        public void onGap(long first, long last) {
            assertEquals(next, first);
            gaps += last - first + 1;
            lastGap = last;
            next = last + 1;
        }

        void poll() {
            int result = subscription.poll(this, 16);
            end = result < 0 && result != -FabricErrno.EAGAIN ? -result : end;
        }

        @Override
        public String toString() {
            return "next " + next + ", gaps " + gaps + ", end " + FabricErrno.name(end);
        }
    }

    /** Most are short; some take several datagrams. */
    private static int length(long position) {
        return position % 97 == 3 ? 3000 + (int) (position % 1000) : (int) (position % 120);
    }

    private boolean offer(Publication publication) {
        long position = publication.position();
        int length = length(position);
        bytes.putBytes(0, FabricNode.pattern((int) position, 0, length));
        int result = publication.offer(bytes, 0, length);
        assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
        return result == 0;
    }

    /** Writes and reads until each reader has everything before a position. */
    private void stream(Publication publication, long until, Reader... readers) {
        Deadline.await("messages to " + until, () -> {
            boolean isDone = publication.position() >= until;
            if (!isDone) {
                offer(publication);
            }
            for (Reader reader : readers) {
                reader.poll();
                isDone &= reader.next >= until;
                assertEquals(0, reader.end, () -> FabricErrno.name(reader.end));
            }
            return isDone;
        }, () -> publication + " " + List.of(readers));
    }

    private static void awaitEnd(Reader reader, int errno) {
        Deadline.await("the end", () -> {
            reader.poll();
            return reader.end != 0;
        }, reader::toString);
        assertEquals(FabricErrno.name(errno), FabricErrno.name(reader.end));
    }

    @Test
    void shouldBringEachMessageOnceAndInOrderToEachReaderOfBothHosts() {
        Publication publication = publish(GROUP);
        Reader first = new Reader(subscribe());
        Reader second = new Reader(subscribe());
        Reader local = new Reader(keep(Subscription.on(writing, GROUP).open()));
        stream(publication, 5_000, first, second, local);
        Reader late = new Reader(subscribe());
        assertEquals(5_000, late.next);
        stream(publication, 10_000, first, second, local, late);
        publication.close();
        for (Reader reader : List.of(first, second, local, late)) {
            awaitEnd(reader, FabricErrno.ESHUTDOWN);
            assertEquals(10_000, reader.next);
            assertEquals(0, reader.gaps);
        }
    }

    @Test
    void shouldHoldTheWriterBackUntilTheSlowestReaderOfTheOtherHostHasRead() {
        Publication publication = publish(GROUP);
        Reader fast = new Reader(subscribe());
        Reader slow = new Reader(subscribe());
        stream(publication, 100, fast, slow);
        // both rings fill, and then nothing is taken
        long[] seen = {0, 0};
        Deadline.await("a writer that waits", () -> {
            seen[1] = offer(publication) || seen[0] != fast.next ? 0 : seen[1] + 1;
            seen[0] = fast.next;
            fast.poll();
            return seen[1] > 100_000;
        }, () -> publication + " " + fast);
        long written = publication.position();
        assertTrue(written > 500, () -> publication.toString());
        assertEquals(100, slow.next);
        stream(publication, written + 2_000, fast, slow);
        // without it nothing is waited for
        stream(publication, written + 2_100, fast, slow);
        slow.subscription.close();
        stream(publication, written + 5_000, fast);
        assertEquals(0, fast.gaps + slow.gaps);
    }

    @Test
    void shouldNotWaitOnALossyStreamAndNameTheGaps() {
        Publication publication = publish(GROUP + "?lossy");
        Reader reader = new Reader(subscribe());
        stream(publication, 100, reader);
        Deadline.await("a writer that waits for the driver alone", () -> {
            offer(publication);
            return publication.position() >= 20_000;
        }, publication::toString);
        publication.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(20_000, reader.next);
        assertTrue(reader.gaps > 0 && reader.gaps < 20_000, reader::toString);
    }

    @Test
    void shouldNameWhatALossyWriterHasOverwrittenWhileThePathWasCut() {
        Publication publication = publish(GROUP + "?lossy");
        LossyRelay relay = keep(new LossyRelay(port, SEED, 0));
        Reader reader = new Reader(keep(Subscription.on(reading, stream(relay.port())).open()));
        stream(publication, 100, reader);
        relay.cut(true);
        Deadline.await("more than a ring", () -> {
            offer(publication);
            return publication.position() >= 5_000;
        }, publication::toString);
        relay.cut(false);
        stream(publication, 5_100, reader);
        assertTrue(reader.gaps > 1_000 && reader.gaps < 5_000, reader::toString);
        // the gap is in the ring, in its place: a reader may begin in it
        assertEquals(100 + reader.gaps, reader.lastGap + 1, reader::toString);
        LogPosition inside = publication.next().at(2_000);
        Reader behind = new Reader(keep(Subscription.on(reading, stream(relay.port())).from(inside).open()));
        stream(publication, 5_200, reader, behind);
        assertEquals(reader.lastGap + 1 - 2_000, behind.gaps, behind::toString);
    }

    /** One thread has the ring, and the others read it as those of another driver do. */
    @Test
    void shouldReadOnEachThreadOfADriver() {
        reading.close();
        beta.close();
        beta = launch("beta", "jfabric.threading.mode=DEDICATED", "jfabric.threading.progressThreads=2");
        reading = connect(beta);
        Publication publication = publish(GROUP);
        Reader first = new Reader(subscribe());
        Reader second = new Reader(subscribe());
        Reader third = new Reader(subscribe());
        stream(publication, 2_000, first, second, third);
        // the thread that has the ring goes on while any of them reads
        first.subscription.close();
        stream(publication, 4_000, second, third);
        publication.close();
        awaitEnd(second, FabricErrno.ESHUTDOWN);
        awaitEnd(third, FabricErrno.ESHUTDOWN);
        assertEquals(8_000, second.next + third.next);
    }

    @Test
    void shouldSendEverythingBeforeADriverEnds() {
        Publication publication = publish(GROUP);
        Reader reader = new Reader(subscribe());
        stream(publication, 100, reader);
        Deadline.await("messages that are not read yet", () -> {
            offer(publication);
            return publication.position() >= 300;
        }, publication::toString);
        alpha.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(300, reader.next);
        assertEquals(0, reader.gaps);
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100})
    void shouldRepairWhatARelayLoses(int lostPerMille) {
        Publication publication = publish(GROUP);
        LossyRelay relay = keep(new LossyRelay(port, SEED, lostPerMille));
        Reader reader = new Reader(keep(Subscription.on(reading, stream(relay.port())).open()));
        stream(publication, 20_000, reader);
        publication.close();
        awaitEnd(reader, FabricErrno.ESHUTDOWN);
        assertEquals(20_000, reader.next);
        assertEquals(0, reader.gaps);
        assertTrue(relay.lost() > 0, () -> "seed " + SEED);
    }

    @Test
    void shouldEndTheReadersOfAWriterWhoseDriverWasKilled() {
        Publication publication = publish(GROUP);
        Reader reader = new Reader(subscribe());
        stream(publication, 1_000, reader);
        LogPosition next = reader.subscription.next();
        alpha.kill();
        awaitEnd(reader, FabricErrno.ECONNRESET);
        assertEquals(1_000, reader.next);
        open.removeIf(each -> each == publication);
        writing.close();
        // at the same address, but another log
        alpha = launch("alpha");
        writing = connect(alpha);
        Publication other = publish(GROUP);
        FabricException refused = assertThrows(FabricException.class,
            () -> Subscription.on(reading, stream(port)).from(next).open());
        assertEquals(FabricErrno.EINVAL, refused.errno(), refused::toString);
        Reader again = new Reader(subscribe());
        stream(other, 1_000, again);
    }

    @Test
    void shouldNotWaitForAHostThatHasDied() {
        Publication publication = publish(GROUP);
        Reader reader = new Reader(subscribe());
        stream(publication, 1_000, reader);
        beta.kill();
        open.removeIf(each -> each == reader.subscription);
        reading.close();
        Deadline.await("a ring that does not wait any more", () -> {
            offer(publication);
            return publication.position() >= 5_000;
        }, publication::toString);
        beta = launch("beta");
        reading = connect(beta);
        Reader again = new Reader(subscribe());
        stream(publication, 10_000, again);
        assertEquals(0, again.gaps);
    }

    @Test
    void shouldContinueAtAPositionThatTheWritersRingHas() {
        Publication publication = publish(GROUP);
        Reader reader = new Reader(subscribe());
        stream(publication, 50, reader);
        LogPosition next = reader.subscription.next();
        reader.subscription.close();
        while (publication.position() < 60) {
            offer(publication);
        }
        Reader again = new Reader(keep(Subscription.on(reading, stream(port)).from(next).open()));
        stream(publication, 5_000, again);
        assertEquals(0, again.gaps);
    }

    @Test
    void shouldRefuseWhatIsNotThere() {
        Publication publication = publish(GROUP);
        refused(FabricErrno.ECONNREFUSED, "stream://127.0.0.1:" + port + "/others");
        refused(FabricErrno.EOPNOTSUPP, "stream://239.1.2.3:" + port + "/quotes");
        refused(FabricErrno.EOPNOTSUPP, stream(port) + ";" + stream(port));
        refused(FabricErrno.EINVAL, "stream://127.0.0.1/quotes");
        refused(FabricErrno.EINVAL, "stream://127.0.0.1:" + port);
        refused(FabricErrno.EINVAL, stream(port) + "?lossy");
        FabricException taken = assertThrows(FabricException.class,
            () -> Publication.on(reading, "jfabric://beta/others").onNetwork("127.0.0.1:" + port).open());
        assertEquals(FabricErrno.EADDRINUSE, taken.errno(), taken::toString);
        FabricException silent = assertThrows(FabricException.class,
            () -> Subscription.on(reading, stream(freePort())).open());
        assertEquals(FabricErrno.EHOSTUNREACH, silent.errno(), silent::toString);
        // the socket has room for another group
        Publication others = keep(
            Publication.on(writing, "jfabric://alpha/others").onNetwork("127.0.0.1:" + port).open());
        Reader reader = new Reader(keep(
            Subscription.on(reading, "stream://127.0.0.1:" + port + "/others").open()));
        stream(others, 1_000, reader);
        assertEquals(0, publication.position());
    }

    private void refused(int errno, String address) {
        FabricException refused =
            assertThrows(FabricException.class, () -> Subscription.on(reading, address).open());
        assertEquals(FabricErrno.name(errno), FabricErrno.name(refused.errno()), refused::toString);
    }
}
