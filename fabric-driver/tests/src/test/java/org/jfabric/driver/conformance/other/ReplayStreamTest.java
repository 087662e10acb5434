package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.NumberedMessages.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.driver.kit.NumberedMessages.Reader;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Recorded streams between hosts: what the writer's ring does not have any more comes from its log. */
@Tag("conformance")
@Timeout(120)
class ReplayStreamTest {
    private static final long SEED = 4711;

    private final Path base = TestDirectory.create();
    private final int port = NumberedMessages.freePort();
    private final NumberedMessages messages = new NumberedMessages();
    private final List<AutoCloseable> open = new ArrayList<>();
    private DriverProcess alpha;
    private DriverProcess beta;
    private Fabric writing;
    private Fabric reading;

    @BeforeEach
    void start() {
        alpha = launch("alpha");
        beta = launch("beta");
        writing = connect(alpha);
        reading = connect(beta);
    }

    private DriverProcess launch(String name) {
        return DriverProcess.launch(base.resolve(name), "jfabric.shm.groupRingLengthBytes=64k",
            "jfabric.link.enabled=loopback,shm,tcp,udp");
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

    private Publication publish(LogOptions options) {
        return keep(Publication.on(writing, "jfabric://alpha/quotes").onNetwork("127.0.0.1:" + port)
            .recordIn(base.resolve("log"), options).open());
    }

    private Publication publish() {
        return publish(new LogOptions().segmentLengthBytes(1 << 20));
    }

    private Subscription.Builder subscription() {
        return Subscription.on(reading, "stream://127.0.0.1:" + port + "/quotes");
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
        Reader now = new Reader(keep(subscription().open()));
        messages.stream(publication, 1_000, now);
        write(publication, 60_000);
        Reader oldest = new Reader(keep(subscription().fromOldest().open()));
        assertEquals(0, oldest.next);
        Reader there = new Reader(keep(subscription().from(publication.next().at(777)).open()));
        assertEquals(777, there.next);
        messages.stream(publication, 200_000, now, oldest, there);
        Reader late = new Reader(keep(subscription().open()));
        assertEquals(200_000, late.next);
        publication.close();
        for (Reader reader : List.of(now, oldest, there, late)) {
            awaitEnd(reader, FabricErrno.ESHUTDOWN);
            assertEquals(200_000, reader.next);
            assertEquals(0, reader.gaps);
        }
    }

    @Test
    void shouldCatchUpWithAWriterThatHasNotWaited() {
        SplittableRandom random = new SplittableRandom(SEED);
        Publication publication = publish();
        Reader slow = new Reader(keep(subscription().open()));
        while (publication.position() < 40_000) {
            write(publication, publication.position() + random.nextInt(4000));
            for (int i = random.nextInt(30); i > 0; i--) {
                slow.poll();
            }
        }
        messages.stream(publication, publication.position(), slow);
        assertEquals(0, slow.gaps, () -> "seed " + SEED);
        messages.stream(publication, publication.position() + 1_000, slow);
    }

    @Test
    void shouldContinueWithAWriterThatWasKilledAndCameBack() {
        Publication publication = publish();
        Reader reader = new Reader(keep(subscription().fromOldest().open()));
        messages.stream(publication, 5_000, reader);
        Deadline.await("a log that has all", () -> publication.written() >= 5_000, publication::toString);
        alpha.kill();
        awaitEnd(reader, FabricErrno.ECONNRESET);
        LogPosition next = reader.subscription.next();
        open.remove(publication);
        writing.close();
        alpha = launch("alpha");
        writing = connect(alpha);
        Publication again = publish();
        assertEquals(2, again.next().term());
        write(again, 10_000);
        Reader further = new Reader(keep(subscription().from(next).open()));
        assertEquals(5_000, further.next);
        messages.stream(again, 20_000, further);
        assertEquals(0, further.gaps);
        FabricException lost = assertThrows(
            FabricException.class, () -> subscription().from(next.at(5_001)).open());
        assertEquals(FabricErrno.EINVAL, lost.errno(), lost::toString);
        assertTrue(lost.getMessage().contains("from position 5000"), lost::getMessage);
        FabricException beyond = assertThrows(
            FabricException.class, () -> subscription().from(again.next().at(20_001)).open());
        assertEquals(FabricErrno.EINVAL, beyond.errno(), beyond::toString);
        assertTrue(beyond.getMessage().contains("ends at position 20000"), beyond::getMessage);
    }

    @Test
    void shouldNameWhatRetentionHasDeleted() {
        Publication publication = publish(new LogOptions().segmentLengthBytes(1 << 20).retainBytes(2 << 20));
        LogPosition begin = publication.next();
        Reader slow = new Reader(keep(subscription().open()));
        messages.stream(publication, 100, slow);
        write(publication, 60_000);
        Reader late = new Reader(keep(subscription().from(begin).open()));
        messages.stream(publication, 60_100, slow, late);
        // what is on the way is not lost
        assertTrue(slow.gaps < 60_000, slow::toString);
        assertTrue(late.gaps > 0 && late.gaps < 60_000, late::toString);
    }

    /** Bytes that mean nothing, and connections that say nothing, do no harm. */
    @Test
    void shouldNotMindWhoeverConnects() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED);
        Publication publication = publish();
        write(publication, 5_000);
        for (int i = 0; i < 200; i++) {
            try (Socket hostile = new Socket(InetAddress.getLoopbackAddress(), port)) {
                byte[] nonsense = new byte[random.nextInt(2000)];
                random.nextBytes(nonsense);
                hostile.getOutputStream().write(nonsense);
            } catch (IOException closed) {
                // as it may be
            }
        }
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            silent.add(keep(new Socket(InetAddress.getLoopbackAddress(), port)));
        }
        Reader reader = new Reader(keep(subscription().fromOldest().open()));
        messages.stream(publication, 6_000, reader);
        assertEquals(30, silent.size());
    }
}
