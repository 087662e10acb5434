package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.WaitSet;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several completion queues awaited together. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class WaitSetTest {
    private static final int DEADLINE_MS = Deadline.ms(20);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-027", "CQ-028", "REF-047"})
    void shouldWaitForSeveralQueues(Setup setup) {
        for (WaitObject waitObject : new WaitObject[] {WaitObject.UNSPEC, WaitObject.YIELD}) {
            try (FabricPair pair = new FabricPair(setup);
                 WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr().waitObject(waitObject));
                 WaitNode first = node(pair.a, pair.a, set);
                 WaitNode second = node(pair.a, pair.a, set)) {
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(20_000_000));
                second.complete(4);
                assertEquals(0, set.await(Deadline.ns(20)));
                assertEquals(4, second.take());
                assertEquals(-FabricErrno.EAGAIN, first.take());
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
                first.complete(5);
                assertEquals(0, set.await(Deadline.ns(20)));
                assertEquals(0, set.await(0), "an unread entry keeps the set signalled");
                assertEquals(5, first.take());
                UnsafeBuffer entries = new UnsafeBuffer(new byte[48]);
                assertEquals(-FabricErrno.ENOSYS, first.queue.sread(entries, 0, 1, 0, 0), "CQ-084");
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAlsoWaitForEventQueues(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr());
             WaitNode node = node(pair.a, pair.a, set)) {
            EventQueueAttr attr = new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.SET);
            assertEquals(FabricErrno.EINVAL,
                assertThrows(FabricException.class, () -> pair.a.fabric.openEventQueue(attr)).errno());
            EventEntry event = new EventEntry();
            try (EventQueue events = pair.a.fabric.openEventQueue(attr.waitSetId(set.id()))) {
                assertEquals(FabricErrno.EBUSY, assertThrows(FabricException.class, set::close).errno());
                assertEquals(-FabricErrno.ENOSYS, events.sread(event, 0, 0));
                assertEquals(-FabricErrno.ENOSYS, events.tryWait());
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(10_000_000));
                assertEquals(1, events.write(7, null, 9, 8, 0));
                assertEquals(0, set.await(Deadline.ns(20)));
                assertEquals(1, events.read(event, 0));
                assertEquals(-FabricErrno.ETIMEDOUT, set.await(10_000_000));
                node.complete(4);
                assertEquals(0, set.await(Deadline.ns(20)));
                assertEquals(4, node.take());
            }
            assertEquals(-FabricErrno.ETIMEDOUT, set.await(10_000_000));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldWakeForAnEventHoweverItIsWaitedFor(WaitSetup setup) throws Exception {
        try (var place = setup.open();
             WaitSet sleeping = place.owner().fabric.openWaitSet(new WaitSetAttr());
             WaitSet selected = place.owner().fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD));
             EventQueue first = events(place.owner(), sleeping);
             EventQueue second = events(place.owner(), selected);
             Selector selector = Selector.open()) {
            selected.channel().register(selector, SelectionKey.OP_READ);
            EventEntry event = new EventEntry();
            for (int round = 0; round < Effort.rounds(40, 100); round++) {
                boolean sleeps = round % 2 == 0;
                EventQueue chosen = sleeps ? first : second;
                assertTrue(sleeps || selected.tryWait() == 0, () -> "something is left in " + selected);
                long context = round;
                Thread writer = new Thread(() -> chosen.write(1, null, 0, context, 0));
                writer.start();
                if (sleeps) {
                    assertEquals(0, sleeping.await(Deadline.ns(20)));
                } else {
                    assertEquals(1, selector.select(key -> { }, DEADLINE_MS));
                }
                writer.join();
                assertEquals(1, chosen.read(event, 0));
                assertEquals(context, event.context());
            }
        }
    }

    private static EventQueue events(FabricNode node, WaitSet set) {
        return node.fabric.openEventQueue(
            new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.SET).waitSetId(set.id()));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("CQ-028")
    void shouldWakeASleepingWaiter(WaitSetup setup) throws Exception {
        try (var place = setup.open();
             WaitSet set = place.owner().fabric.openWaitSet(new WaitSetAttr());
             WaitNode first = node(place.owner(), place.peer(), set);
             WaitNode second = node(place.owner(), place.peer(), set)) {
            for (int round = 0; round < Effort.rounds(60, 200); round++) {
                WaitNode chosen = round % 3 == 0 ? first : second;
                long context = round;
                chosen.post(context);
                Thread sender = new Thread(() -> chosen.send(context));
                sender.start();
                assertEquals(0, set.await(Deadline.ns(20)));
                assertEquals(context, chosen.take());
                sender.join();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-027", "CQ-029"})
    void shouldRefuseQueuesWithoutAnOpenSet(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long id : new long[] {0, -1, 12345}) {
                FabricException refused = assertThrows(FabricException.class, () -> pair.a.domain.openCompletionQueue(
                    new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(id)));
                assertEquals(FabricErrno.EINVAL, refused.errno());
            }
            WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr());
            set.close();
            FabricException refused = assertThrows(FabricException.class, () -> pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(set.id())));
            assertEquals(FabricErrno.EINVAL, refused.errno());
            for (WaitObject other : new WaitObject[] {WaitObject.NONE, WaitObject.UNSPEC, WaitObject.YIELD}) {
                pair.a.domain.openCompletionQueue(
                    new CompletionQueueAttr().waitObject(other).waitSetId(set.id())).close();
            }
            // with another wait object the set is not looked at, and never signalled
            try (WaitSet idle = pair.a.fabric.openWaitSet(new WaitSetAttr());
                 WaitNode node = new WaitNode(pair.a, pair.a,
                     new CompletionQueueAttr().waitObject(WaitObject.UNSPEC).waitSetId(idle.id()), 0)) {
                node.complete(1);
                node.awaitEntry();
                assertEquals(-FabricErrno.ETIMEDOUT, idle.await(0));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-047")
    void shouldNotCloseWhileAQueueIsAttached(Setup setup) throws IOException {
        try (FabricPair pair = new FabricPair(setup)) {
            WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr());
            assertEquals(1, waitFiles(pair.directory("alpha")));
            WaitNode node = node(pair.a, pair.a, set);
            FabricException busy = assertThrows(FabricException.class, set::close);
            assertEquals(FabricErrno.EBUSY, busy.errno());
            assertTrue(set.isOpen());
            node.complete(1);
            assertEquals(0, set.await(Deadline.ns(20)), "it works on");
            node.close();
            set.close();
            set.close();
            assertFalse(set.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, set.await(0));
            assertEquals(-FabricErrno.EOPBADSTATE, set.tryWait());
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(
                set, ControlCommand.GETWAITOBJ.code(), new WaitObjectHandle()));
            assertEquals(0, waitFiles(pair.directory("alpha")));
            WaitSet left = pair.a.fabric.openWaitSet(new WaitSetAttr());
            pair.a.fabric.close();
            assertFalse(left.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, left.await(0));
            if (setup.daemon) {
                Deadline.awaitParked("the file of a client that is gone",
                    () -> waitFiles(pair.directory("alpha")) == 0);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseOtherWaitObjectsAndFlags(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (WaitObject waitObject : new WaitObject[] {WaitObject.POLLFD, WaitObject.CRITSEC_COND}) {
                assertEquals(FabricErrno.ENOSYS, assertThrows(FabricException.class, () -> pair.a.fabric.openWaitSet(
                    new WaitSetAttr().waitObject(waitObject))).errno());
            }
            for (WaitObject waitObject : new WaitObject[] {WaitObject.NONE, WaitObject.SET}) {
                assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> pair.a.fabric.openWaitSet(
                    new WaitSetAttr().waitObject(waitObject))).errno());
            }
            assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> pair.a.fabric.openWaitSet(
                new WaitSetAttr().flags(1))).errno());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-109", "REF-047"})
    void shouldBeSignalledByItsQueues(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr());
             WaitNode node = node(pair.a, pair.a, set)) {
            assertEquals(0, node.queue.signal());
            assertEquals(0, set.await(Deadline.ns(20)), "a signal without a waiter sticks");
            assertEquals(-FabricErrno.EAGAIN, node.take());
            assertEquals(-FabricErrno.ETIMEDOUT, set.await(1_000_000), "once");
            Thread.currentThread().interrupt();
            assertEquals(-FabricErrno.EINTR, set.await(Deadline.ns(20)));
            assertTrue(Thread.interrupted());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement({"CQ-028", "CQ-036", "REF-048"})
    void shouldShareOneDescriptor(WaitSetup setup) throws IOException {
        try (var place = setup.open();
             WaitSet set = place.owner().fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.FD));
             WaitNode first = node(place.owner(), place.peer(), set);
             WaitNode second = node(place.owner(), place.peer(), set);
             Selector selector = Selector.open()) {
            set.channel().register(selector, SelectionKey.OP_READ);
            for (int round = 0; round < 50; round++) {
                WaitNode chosen = round % 2 == 0 ? first : second;
                assertEquals(0, set.tryWait());
                chosen.complete(round);
                assertEquals(1, selector.select(DEADLINE_MS));
                selector.selectedKeys().clear();
                chosen.awaitEntry();
                assertEquals(-FabricErrno.EAGAIN, set.tryWait());
                assertEquals(round, chosen.take());
            }
            assertEquals(0, set.tryWait());
            first.queue.signal();
            assertEquals(1, selector.select(DEADLINE_MS));
            assertEquals(-FabricErrno.EAGAIN, set.tryWait());
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0,
                PortedCalls.control(first.queue, ControlCommand.GETWAIT.code(), handle), "the set's object");
            assertEquals(set.channel(), handle.channel());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_SHARED", "LOOPBACK_DEDICATED"})
    void shouldShareOneCondition(WaitSetup setup) throws Exception {
        try (var place = setup.open();
             WaitSet set = place.owner().fabric.openWaitSet(new WaitSetAttr().waitObject(WaitObject.MUTEX_COND));
             WaitNode node = node(place.owner(), place.peer(), set)) {
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(set, ControlCommand.GETWAIT.code(), handle));
            assertNotNull(handle.mutexCond());
            node.post(1);
            Thread sender = new Thread(() -> node.send(1));
            sender.start();
            handle.mutexCond().lock().lock();
            try {
                long left = WaitNode.DEADLINE_NS;
                while (set.tryWait() == 0) {
                    left = handle.mutexCond().condition().awaitNanos(left);
                    assertTrue(left > 0, "nobody woke us");
                }
            } finally {
                handle.mutexCond().lock().unlock();
            }
            assertEquals(1, node.take());
            sender.join();
        }
    }

    private static WaitNode node(FabricNode owner, FabricNode peer, WaitSet set) {
        return new WaitNode(
            owner, peer, new CompletionQueueAttr().waitObject(WaitObject.SET).waitSetId(set.id()), 0);
    }

    private static long waitFiles(Path directory) {
        try (var files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".wait")).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
