package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicReference;
import org.jfabric.CompletionQueue;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.WaitSet;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What a completion queue tells about its wait object, and what it refuses. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class WaitObjectControlTest {
    private static final int GETWAIT = ControlCommand.GETWAIT.code();
    private static final int GETWAITOBJ = ControlCommand.GETWAITOBJ.code();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-026", "CQ-053", "REF-029"})
    void shouldTellTheKindAndNoObjectWhereThereIsNone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (WaitObject waitObject : new WaitObject[] {WaitObject.NONE, WaitObject.UNSPEC, WaitObject.YIELD}) {
                try (CompletionQueue queue = open(pair, waitObject, 0)) {
                    WaitObjectHandle handle = new WaitObjectHandle();
                    assertEquals(-FabricErrno.ENODATA,
                        PortedCalls.control(queue, GETWAIT, handle), waitObject::toString);
                    assertEquals(0, PortedCalls.control(queue, GETWAITOBJ, handle));
                    assertEquals(waitObject, handle.waitObject());
                    assertNull(handle.channel());
                    assertNull(handle.mutexCond());
                    assertEquals(FabricErrno.ENODATA,
                        assertThrows(FabricException.class, queue::channel).errno());
                    assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class, queue::fd).errno());
                    assertEquals(-FabricErrno.ENOSYS, queue.tryWait());
                    assertEquals(waitObject == WaitObject.NONE ? -FabricErrno.ENOSYS : 0, queue.signal());
                }
            }
            try (WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr());
                 CompletionQueue queue = open(pair, WaitObject.SET, set.id())) {
                WaitObjectHandle handle = new WaitObjectHandle();
                assertEquals(-FabricErrno.ENODATA, PortedCalls.control(queue, GETWAIT, handle));
                assertEquals(0, PortedCalls.control(queue, GETWAITOBJ, handle));
                assertEquals(WaitObject.SET, handle.waitObject());
                assertEquals(0, PortedCalls.control(set, GETWAITOBJ, handle));
                assertEquals(WaitObject.UNSPEC, handle.waitObject());
                assertEquals(-FabricErrno.ENOSYS, queue.tryWait());
                assertEquals(-FabricErrno.ENOSYS, set.tryWait());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-050")
    // closed early on purpose
    @SuppressWarnings("try")
    void shouldRefuseOtherCommands(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = open(pair, WaitObject.UNSPEC, 0);
            WaitObjectHandle handle = new WaitObjectHandle();
            for (int command : new int[] {12345, -1, 0, ControlCommand.ENABLE.code(), Integer.MAX_VALUE}) {
                assertEquals(-FabricErrno.ENOSYS,
                    PortedCalls.control(queue, command, handle), () -> "command " + command);
            }
            queue.close();
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(queue, GETWAIT, handle));
        }
    }

    /** Under assertions, which the tests run with. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-051")
    void shouldNoticeThatAnotherThreadUsesTheQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); WaitNode node = new WaitNode(pair.a, pair.a, WaitObject.UNSPEC)) {
            node.complete(1);
            node.awaitEntry();
            AtomicReference<Throwable> noticed = new AtomicReference<>();
            assertEquals(1, node.queue.poll(completion -> {
                Thread other = new Thread(() -> PortedCalls.control(node.queue, GETWAITOBJ, new WaitObjectHandle()));
                other.setUncaughtExceptionHandler((thread, thrown) -> noticed.set(thrown));
                other.start();
                join(other);
            }, 1));
            assertInstanceOf(AssertionError.class, noticed.get());
            assertEquals(0,
                PortedCalls.control(node.queue, GETWAITOBJ, new WaitObjectHandle()), "one after the other is fine");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement(value = "CQ-035", refused = "CQ-034")
    void shouldRefuseWaitObjectsThatAreNotHere(Setup setup) {
        assertEquals(WaitObject.YIELD, WaitObject.of(5), "AMB-05");
        try (FabricPair pair = new FabricPair(setup)) {
            for (WaitObject waitObject : new WaitObject[] {WaitObject.POLLFD, WaitObject.CRITSEC_COND}) {
                assertEquals(FabricErrno.ENOSYS,
                    assertThrows(FabricException.class, () -> open(pair, waitObject, 0)).errno());
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static CompletionQueue open(FabricPair pair, WaitObject waitObject, long waitSetId) {
        return pair.a.domain.openCompletionQueue(
            new CompletionQueueAttr().waitObject(waitObject).waitSetId(waitSetId));
    }
}
