package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.ffi.ChannelDescriptor;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Completion queues with a descriptor as wait object, where the driver has threads of its own. */
@Tag("conformance")
@Timeout(120)
class DescriptorWaitTest {
    private static final int DEADLINE_MS = Deadline.ms(20);

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement({"CQ-022", "CQ-030", "REF-048"})
    void shouldBeReadableWhenAnEntryComes(WaitSetup setup) throws IOException {
        try (var place = setup.open(); WaitNode node = node(place); Selector selector = Selector.open()) {
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            assertEquals(0, node.queue.tryWait());
            assertEquals(0, selector.selectNow(), "nothing is there");
            node.complete(7);
            assertEquals(1, selector.select(DEADLINE_MS));
            selector.selectedKeys().clear();
            node.awaitEntry();
            assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait(), "an entry waits");
            assertEquals(7, node.take());
            assertEquals(-FabricErrno.EAGAIN, node.take());
            assertEquals(0, node.queue.tryWait());
            assertEquals(0, selector.selectNow(), "old wake-ups are gone");
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement({"CQ-036", "CQ-052", "REF-029"})
    void shouldWaitTogetherWithASocket(WaitSetup setup) throws IOException {
        try (var place = setup.open(); WaitNode node = node(place); Selector selector = Selector.open();
             ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress());
                 SocketChannel accepted = server.accept()) {
                accepted.configureBlocking(false);
                WaitObjectHandle handle = new WaitObjectHandle();
                assertEquals(0, PortedCalls.control(node.queue, ControlCommand.GETWAIT.code(), handle));
                assertEquals(WaitObject.FD, handle.waitObject());
                assertSame(node.queue.channel(), handle.channel());
                SelectionKey ofQueue = handle.channel().register(selector, SelectionKey.OP_READ);
                SelectionKey ofSocket = accepted.register(selector, SelectionKey.OP_READ);
                for (int round = 0; round < 20; round++) {
                    assertEquals(0, node.queue.tryWait());
                    client.write(ByteBuffer.wrap(new byte[1]));
                    assertEquals(ofSocket, next(selector), "round " + round);
                    assertEquals(1, accepted.read(ByteBuffer.allocate(8)));
                    node.complete(round);
                    assertEquals(ofQueue, next(selector), "round " + round);
                    node.awaitEntry();
                    assertEquals(round, node.take());
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("CQ-031")
    void shouldGoOnWhateverTheDescriptorIsSignalledAs(WaitSetup setup) throws IOException {
        try (var place = setup.open(); WaitNode node = node(place); Selector selector = Selector.open()) {
            SelectionKey key = node.queue.channel().register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            assertEquals(0, node.queue.tryWait());
            // a socket can be written to at any time: signalled although nothing came
            assertEquals(key, next(selector));
            assertTrue(key.isWritable());
            assertFalse(key.isReadable());
            assertEquals(-FabricErrno.EAGAIN, node.take());
            assertEquals(0, node.queue.tryWait(), "the waiter just asks again");
            node.complete(9);
            for (long end = System.nanoTime() + WaitNode.DEADLINE_NS; !key.isReadable();) {
                assertTrue(System.nanoTime() - end < 0, "a channel that can be read");
                assertEquals(key, next(selector));
            }
            node.awaitEntry();
            assertEquals(9, node.take());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("CQ-109")
    void shouldBeReadableWhenSignalled(WaitSetup setup) throws Exception {
        try (var place = setup.open(); WaitNode node = node(place); Selector selector = Selector.open()) {
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            assertEquals(0, node.queue.tryWait());
            Thread other = new Thread(() -> node.queue.signal());
            other.start();
            assertEquals(1, selector.select(DEADLINE_MS));
            selector.selectedKeys().clear();
            other.join();
            assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait(), "takes the signal");
            assertEquals(-FabricErrno.EAGAIN, node.take());
            // nobody waits: it sticks until the next attempt to wait, once (AMB-07)
            assertEquals(0, node.queue.tryWait());
            assertEquals(0, node.queue.signal());
            assertEquals(0, node.queue.signal());
            assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait());
            assertEquals(0, node.queue.tryWait());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldAlsoBlockInTheQueuesOwnCalls(WaitSetup setup) throws Exception {
        try (var place = setup.open(); WaitNode node = node(place)) {
            node.post(3);
            Thread other = new Thread(() -> node.send(3));
            other.start();
            UnsafeBuffer entries = new UnsafeBuffer(new byte[48]);
            assertEquals(1, node.queue.sread(entries, 0, 1, 0, Deadline.ns(20)));
            assertEquals(3, entries.getLong(0));
            other.join();
            assertEquals(-FabricErrno.EAGAIN, node.queue.sread(entries, 0, 1, 0, 1_000_000));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldWakeASelectorWhenTheQueueIsClosed(WaitSetup setup) throws Exception {
        try (var place = setup.open(); Selector selector = Selector.open()) {
            WaitNode node = node(place);
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            assertEquals(0, node.queue.tryWait());
            Thread closer = new Thread(node::close);
            closer.start();
            long deadline = System.nanoTime() + WaitNode.DEADLINE_NS;
            while (node.queue.isOpen()) {
                assertTrue(System.nanoTime() - deadline < 0, "the selector sleeps");
                selector.select(DEADLINE_MS);
                selector.selectedKeys().clear();
            }
            closer.join();
            assertEquals(-FabricErrno.EOPBADSTATE, node.queue.tryWait());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldTellTheNumberOnlyWhereTheJvmIsOpened(WaitSetup setup) {
        assumeTrue(!ChannelDescriptor.isAvailable(), "this JVM is opened");
        try (var place = setup.open(); WaitNode node = node(place)) {
            FabricException hidden = assertThrows(FabricException.class, node.queue::fd);
            assertEquals(FabricErrno.EOPNOTSUPP, hidden.errno());
            assertTrue(hidden.getMessage().contains("--add-opens java.base/sun.nio.ch=ALL-UNNAMED"));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("CQ-029")
    void shouldIgnoreAWaitSetThatItDoesNotUse(WaitSetup setup) {
        try (var place = setup.open(); WaitNode node = new WaitNode(place.owner(), place.peer(),
            new CompletionQueueAttr().waitObject(WaitObject.FD).waitSetId(0x7777_7777_7777L), 0)) {
            assertEquals(0, node.queue.tryWait());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Tag("compiled")
    void shouldAllocateNothing(WaitSetup setup) {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
            && bean.isThreadAllocatedMemorySupported(), "this JVM does not count allocation per thread");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (var place = setup.open(); WaitNode node = node(place)) {
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 200 && least != 0; attempt++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 500; i++) {
                    node.queue.signal();
                    node.queue.tryWait();
                    node.queue.tryWait();
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    private static WaitNode node(WaitSetup.Place place) {
        return new WaitNode(place.owner(), place.peer(), WaitObject.FD);
    }

    private static SelectionKey next(Selector selector) throws IOException {
        assertEquals(1, selector.select(DEADLINE_MS));
        SelectionKey key = selector.selectedKeys().iterator().next();
        selector.selectedKeys().clear();
        return key;
    }
}
