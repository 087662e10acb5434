package org.jfabric.driver.conformance.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Daemons;
import org.jfabric.feed.FeedHandler;
import org.jfabric.feed.FeedPath;
import org.jfabric.feed.FeedReceiver;
import org.jfabric.feed.FeedSender;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each message of a feed is delivered once, whichever of its paths work. */
@Tag("conformance")
@Timeout(120)
class FeedTest implements FeedHandler {
    private static final int LONGEST = 1024;
    private static final int MESSAGES = 10_000;
    /** Messages on their way, so that no path is full. */
    private static final int OUTSTANDING = 16;
    private static final long DEADLINE_NS = Deadline.ns(30);

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LONGEST]);
    private final BitSet received = new BitSet();
    private long sender;
    private long lost;
    private FeedSender feed;
    private FeedReceiver receiver;

    @Override
    public void onMessage(long from, long sequence, DirectBuffer buffer, int offset, int length) {
        assertEquals(sender, from);
        assertTrue(!received.get((int) sequence), "message " + sequence + " again");
        received.set((int) sequence);
        assertEquals(length(sequence), length);
        for (int i = 0; i < length; i++) {
            assertEquals((byte) (sequence * 7 + i), buffer.getByte(offset + i));
        }
    }

    @Override
    public void onGap(long from, long first, long count) {
        assertEquals(sender, from);
        lost += count;
    }

    private static int length(long sequence) {
        return new SplittableRandom(sequence).nextInt(LONGEST + 1);
    }

    private int send() {
        long sequence = feed.sent();
        int length = length(sequence);
        for (int i = 0; i < length; i++) {
            message.putByte(i, (byte) (sequence * 7 + i));
        }
        return feed.send(message, 0, length);
    }

    private void sendAndReceive(int messages) {
        long end = feed.sent() + messages;
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (feed.sent() < end || receiver.delivered() < end) {
            if (feed.sent() < end && feed.sent() - receiver.delivered() < OUTSTANDING) {
                int result = send();
                assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
            }
            feed.poll(16);
            receiver.poll(16);
            assertTrue(System.nanoTime() - deadline < 0, () -> "sent " + feed.sent() + ", delivered "
                + receiver.delivered() + " of " + end);
        }
    }

    private Fabric embedded(Path base, String name) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve(name)).threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", "loopback,shm,udp,tcp").set("jfabric.udp.interface", "lo")
            .set("jfabric.tcp.interface", "lo").build());
        resources.push(driver);
        Fabric fabric = driver.fabric();
        resources.push(fabric);
        return fabric;
    }

    private static Messenger messenger(Fabric fabric, String link) {
        Info hints = new Info().caps(Flags.MSG).linkName(link);
        hints.epAttr().type("udp".equals(link) ? EndpointType.DGRAM : EndpointType.RDM);
        return fabric.messenger().hints(hints).memoryBytes(256 << 10).open();
    }

    private static FeedPath path(Messenger from, Messenger to) {
        return FeedPath.of(from, from.peer(to.address()));
    }

    private void open(FeedPath[] from, FeedPath[] to) {
        feed = FeedSender.over(LONGEST, from);
        receiver = FeedReceiver.over(this, LONGEST, to);
        sender = feed.id();
    }

    @AfterEach
    void closeAll() throws Exception {
        while (!resources.isEmpty()) {
            resources.pop().close();
        }
    }

    @Test
    void shouldDeliverEachMessageOnceByTheFasterOfTwoLinks() {
        Path base = TestDirectory.create();
        resources.push(() -> TestDirectory.delete(base));
        Fabric alpha = embedded(base, "alpha");
        Fabric beta = embedded(base, "beta");
        FeedPath[] from = new FeedPath[2];
        FeedPath[] to = new FeedPath[2];
        String[] links = {"shm", "udp"};
        for (int i = 0; i < 2; i++) {
            Messenger receiving = messenger(beta, links[i]);
            from[i] = path(messenger(alpha, links[i]), receiving);
            to[i] = FeedPath.of(receiving);
        }
        open(from, to);
        sendAndReceive(MESSAGES);
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (to[0].taken() != from[0].taken() || to[1].taken() != from[1].taken()) {
            feed.poll(16);
            receiver.poll(16);
            assertTrue(System.nanoTime() - deadline < 0, () -> to[0] + " and " + to[1]);
        }
        assertEquals(MESSAGES, to[0].firsts() + to[1].firsts());
        assertEquals(from[0].taken() + from[1].taken() - MESSAGES, to[0].repeats() + to[1].repeats());
        for (int i = 0; i < 2; i++) {
            assertEquals(MESSAGES, from[i].taken() + from[i].skipped());
            assertEquals(0, from[i].failures() + to[i].failures() + to[i].unrecognized());
        }
        assertEquals(MESSAGES, received.cardinality());
        assertEquals(0, lost);
    }

    @Test
    void shouldLoseNothingWhenTheDriverOfOnePathIsKilled() throws Exception {
        Daemons daemons = Daemons.own();
        resources.push(daemons);
        FeedPath[] from = new FeedPath[2];
        FeedPath[] to = new FeedPath[2];
        String[] names = {"alpha", "beta"};
        for (int i = 0; i < 2; i++) {
            Path directory = daemons.start(names[i]);
            Fabric sending = Fabric.connect(new FabricConfig().directory(directory));
            resources.push(sending);
            Fabric receiving = Fabric.connect(new FabricConfig().directory(directory));
            resources.push(receiving);
            Messenger other = messenger(receiving, "loopback");
            from[i] = path(messenger(sending, "loopback"), other);
            to[i] = FeedPath.of(other);
        }
        open(from, to);
        sendAndReceive(1000);
        // a daemon that does not get a processor lets its queue fill, and its path is left out of some messages
        long before = from[1].taken();
        assertEquals(1000, before + from[1].skipped());
        daemons.kill("alpha");
        sendAndReceive(1000);
        assertEquals(2000, received.cardinality());
        assertEquals(0, lost);
        assertEquals(before + 1000, from[1].taken());
        assertTrue(to[0].lastErrno() != 0, () -> to[0] + ", last " + to[0].lastErrno());
        assertTrue(from[0].lastErrno() != 0, () -> from[0] + ", last " + from[0].lastErrno());
    }

    @Test
    void shouldReportWhatNoPathHasBrought() {
        Path base = TestDirectory.create();
        resources.push(() -> TestDirectory.delete(base));
        Messenger receiving = messenger(embedded(base, "beta"), "udp");
        FeedPath from = path(messenger(embedded(base, "alpha"), "udp"), receiving);
        FeedPath to = FeedPath.of(receiving);
        open(new FeedPath[] {from}, new FeedPath[] {to});
        sendAndReceive(1);
        // more than the kernel keeps for a receiver that does not poll
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (feed.sent() < MESSAGES) {
            send();
            feed.poll(16);
            assertTrue(System.nanoTime() - deadline < 0, () -> "sent " + feed.sent());
        }
        while (receiver.poll(16) > 0 || to.taken() < 100) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "received " + to);
        }
        // as many again as the window has, each received
        long before = receiver.delivered();
        long first = feed.sent();
        for (int i = 0; i < FeedReceiver.WINDOW; i++) {
            long delivered = receiver.delivered();
            while (send() != 0) {
                feed.poll(16);
            }
            while (receiver.delivered() == delivered) {
                feed.poll(16);
                receiver.poll(16);
                assertTrue(System.nanoTime() - deadline < 0, () -> "received " + to);
            }
        }
        assertEquals(FeedReceiver.WINDOW, receiver.delivered() - before);
        assertEquals(first, before + lost, "delivered or lost of those that were sent without a poll");
        assertTrue(lost > 0);
        assertEquals(lost, receiver.lost());
    }

    @Test
    void shouldCountWhatIsOfNoFeed() {
        Path base = TestDirectory.create();
        resources.push(() -> TestDirectory.delete(base));
        Fabric fabric = embedded(base, "alpha");
        Messenger receiving = messenger(fabric, "loopback");
        Messenger other = messenger(fabric, "loopback");
        FeedPath to = FeedPath.of(receiving);
        open(new FeedPath[] {path(messenger(fabric, "loopback"), receiving)}, new FeedPath[] {to});
        long peer = other.peer(receiving.address()).number();
        assertEquals(0, other.endpoint().inject(message, 0, 64, peer));
        assertEquals(0, other.endpoint().inject(message, 0, 0, peer));
        other.memory().buffer().setMemory(0, 4096, (byte) 1);
        assertEquals(0, other.endpoint().send(other.memory().address(), 4096, peer, 1));
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (to.unrecognized() < 2 || to.failures() < 1) {
            receiver.poll(16);
            assertTrue(System.nanoTime() - deadline < 0, to::toString);
        }
        assertEquals(FabricErrno.ETRUNC, to.lastErrno());
        sendAndReceive(100);
        assertEquals(100, received.cardinality());
    }

    @Test
    void shouldRefuseWhatCannotWork() {
        Path base = TestDirectory.create();
        resources.push(() -> TestDirectory.delete(base));
        Messenger udp = messenger(embedded(base, "alpha"), "udp");
        FeedPath path = FeedPath.of(udp);
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> FeedSender.over(LONGEST)).errno());
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> FeedSender.over(1472, path)).errno());
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> FeedReceiver.over(null, LONGEST, path)).errno());
        assertEquals(-FabricErrno.EINVAL, FeedSender.over(LONGEST, path).send(message, 0, LONGEST + 1));
    }
}
