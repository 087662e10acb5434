package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MutexCond;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Completion queues with a lock and condition as wait object. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class MutexCondTest {
    private static final int ROUNDS = 300;
    private static final long DEADLINE_NS = Deadline.ns(20);

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_SHARED", "LOOPBACK_DEDICATED"})
    @Requirement({"CQ-032", "CQ-052", "REF-029"})
    void shouldWakeAWaiterAtTheCondition(WaitSetup setup) throws Exception {
        try (var place = setup.open();
             WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.MUTEX_COND)) {
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(node.queue, ControlCommand.GETWAIT.code(), handle));
            assertEquals(WaitObject.MUTEX_COND, handle.waitObject());
            assertNull(handle.channel());
            MutexCond pair = handle.mutexCond();
            for (int round = 0; round < ROUNDS; round++) {
                long context = round;
                node.post(context);
                Thread sender = new Thread(() -> node.send(context));
                sender.start();
                awaitEntry(node, pair);
                assertEquals(context, node.take());
                sender.join();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_SHARED", "LOOPBACK_DEDICATED"})
    void shouldReleaseAWaiterBySignalAndByClose(WaitSetup setup) throws Exception {
        try (var place = setup.open()) {
            WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.MUTEX_COND);
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(node.queue, ControlCommand.GETWAIT.code(), handle));
            Thread other = new Thread(node.queue::signal);
            other.start();
            assertEquals(-FabricErrno.EAGAIN, awaitReason(node, handle.mutexCond()));
            other.join();
            assertEquals(-FabricErrno.EAGAIN, node.take());
            Thread closer = new Thread(node::close);
            closer.start();
            assertEquals(-FabricErrno.EOPBADSTATE, awaitReason(node, handle.mutexCond()));
            closer.join();
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_SHARED", "LOOPBACK_DEDICATED"})
    void shouldAlsoBlockInTheQueuesOwnCalls(WaitSetup setup) throws Exception {
        try (var place = setup.open();
             WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.MUTEX_COND)) {
            node.post(5);
            Thread other = new Thread(() -> node.send(5));
            other.start();
            UnsafeBuffer entries = new UnsafeBuffer(new byte[48]);
            assertEquals(1, node.queue.sread(entries, 0, 1, 0, DEADLINE_NS));
            assertEquals(5, entries.getLong(0));
            other.join();
        }
    }

    /** In INVOKER somebody else has to run the cycles: the lock decides who uses the domain. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED"})
    @Requirement("CQ-032")
    void shouldWakeAWaiterOfAnEmbeddingApplication(Setup setup) throws Exception {
        try (FabricPair place = new FabricPair(setup);
             WaitNode node = new WaitNode(place.a, place.a, WaitObject.MUTEX_COND)) {
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(node.queue, ControlCommand.GETWAIT.code(), handle));
            MutexCond pair = handle.mutexCond();
            boolean[] taken = new boolean[1];
            Thread other = new Thread(() -> {
                for (boolean sent = false, done = false; !done; sent = true) {
                    pair.lock().lock();
                    try {
                        if (!sent) {
                            node.complete(9);
                        }
                        place.a.poll();
                        done = taken[0];
                    } finally {
                        pair.lock().unlock();
                    }
                    Thread.yield();
                }
            });
            pair.lock().lock();
            try {
                other.start();
                long deadline = System.nanoTime() + WaitNode.DEADLINE_NS;
                while (node.queue.tryWait() == 0) {
                    assertTrue(pair.condition().awaitNanos(deadline - System.nanoTime()) > 0, "nobody woke us");
                }
                assertEquals(9, node.take());
                taken[0] = true;
            } finally {
                pair.lock().unlock();
            }
            other.join();
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    @Requirement({"CQ-032", "CQ-035"})
    void shouldBeRefusedWithADriverInAnotherProcess(WaitSetup setup) {
        try (var place = setup.open()) {
            FabricException refused = assertThrows(FabricException.class, () -> place.owner().domain
                .openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.MUTEX_COND)));
            assertEquals(FabricErrno.ENOSYS, refused.errno());
            refused = assertThrows(FabricException.class, () -> place.owner().fabric.openWaitSet(
                new WaitSetAttr().waitObject(WaitObject.MUTEX_COND)));
            assertEquals(FabricErrno.ENOSYS, refused.errno());
        }
    }

    private static void awaitEntry(WaitNode node, MutexCond pair) throws InterruptedException {
        assertEquals(-FabricErrno.EAGAIN, awaitReason(node, pair));
    }

    private static int awaitReason(WaitNode node, MutexCond pair) throws InterruptedException {
        pair.lock().lock();
        try {
            long leftNs = DEADLINE_NS;
            int reason;
            while ((reason = node.queue.tryWait()) == 0) {
                leftNs = pair.condition().awaitNanos(leftNs);
                assertTrue(leftNs > 0, "nobody woke us");
            }
            return reason;
        } finally {
            pair.lock().unlock();
        }
    }
}
