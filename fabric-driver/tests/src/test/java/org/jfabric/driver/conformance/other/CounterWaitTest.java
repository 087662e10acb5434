package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.CountedNode.DEADLINE_NS;
import static org.jfabric.driver.kit.CountedNode.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.MutexCond;
import org.jfabric.PollSet;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.WaitSet;
import org.jfabric.driver.kit.CountedNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.info.WaitSetAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiting for counters, in their own calls and by every wait object. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CounterWaitTest {
    private static final long ANY = -1L;
    private static final long UNREGISTERED = 0x7FFFL << 48;
    private static final long SHORT_NS = 2_000_000;
    private static final int DEADLINE_MS = Deadline.ms(20);

    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
    private final long[] contexts = new long[4];

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-035")
    void shouldReturnAtTheThresholdForAnErrorOrWhenTheTimeIsOver(Setup setup) {
        for (WaitObject waitObject : new WaitObject[] {WaitObject.UNSPEC, WaitObject.YIELD}) {
            try (FabricPair pair = new FabricPair(setup);
                 CountedNode a = new CountedNode(pair.a, true, waitObject)) {
                Counter sends = a.sends;
                long self = a.insert(a);
                assertEquals(0, sends.await(0, 0));
                assertEquals(-FabricErrno.ETIMEDOUT, sends.await(1, 0));
                assertEquals(-FabricErrno.ETIMEDOUT, sends.await(1, SHORT_NS));
                for (int i = 0; i < 3; i++) {
                    send(a, self);
                }
                assertEquals(0, sends.await(3, DEADLINE_NS));
                assertEquals(0, sends.await(2, -1), "it is more");
                assertEquals(-FabricErrno.ETIMEDOUT, sends.await(4, SHORT_NS));
                assertEquals(0, a.endpoint.send(UNREGISTERED, 8, self, 4));
                int answer;
                // it may have failed before the wait began, which is no change during the wait
                while ((answer = sends.await(4, SHORT_NS)) == -FabricErrno.ETIMEDOUT && sends.readErr() == 0) {
                    Thread.yield();
                }
                assertTrue(answer == -FabricErrno.EAVAIL || sends.readErr() == 1, FabricErrno.name(-answer));
                assertEquals(3, sends.read());
                // the threshold counts before the error
                assertEquals(0, sends.await(3, DEADLINE_NS));
                assertEquals(-FabricErrno.EINVAL, sends.await(-1, 0));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-035")
    void shouldBeWokenByWhatAnotherThreadAdds(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.UNSPEC)) {
            Counter counter = a.receives;
            for (int round = 0; round < 100; round++) {
                long before = counter.read();
                long errors = counter.readErr();
                boolean fails = round % 4 == 3;
                Thread other = new Thread(() -> {
                    // not enough, then enough or an error
                    assertEquals(0, counter.add(1));
                    assertEquals(0, fails ? counter.addErr(1) : counter.set(before + 5));
                });
                other.start();
                assertEquals(fails ? -FabricErrno.EAVAIL : 0, awaitOrChanged(counter, before + 5, errors));
                other.join();
            }
            assertEquals(25, counter.readErr());
        }
    }

    /** As await, but an error that came before the wait ends it too. */
    private static int awaitOrChanged(Counter counter, long threshold, long errors) {
        int answer;
        do {
            answer = counter.await(threshold, SHORT_NS);
        } while (answer == -FabricErrno.ETIMEDOUT && counter.readErr() == errors);
        return answer == -FabricErrno.ETIMEDOUT ? -FabricErrno.EAVAIL : answer;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-012")
    void shouldDriveManualProgressByWaiting(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.UNSPEC);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.UNSPEC)) {
            long toB = a.insert(b);
            // one message ahead, so that the two drivers know each other
            post(b);
            send(a, toB);
            await("the first message", () -> b.receives.read() == 1 && a.sends.read() == 1, a, b);
            for (int i = 2; i < 50; i++) {
                post(b);
                send(a, toB);
                // nothing else runs the cycles of the receiver's driver
                assertEquals(0, b.receives.await(i, DEADLINE_NS));
                assertEquals(0, a.sends.await(i, DEADLINE_NS));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-049")
    void shouldBeReportedByAPollSetUntilItIsRead(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PollSet set = pair.a.domain.openPollSet(0);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE)) {
            Counter own = pair.a.domain.openCounter(new CounterAttr(), 0xC1);
            set.add(own, 0);
            set.add(a.sends, 0);
            assertRefused(FabricErrno.EALREADY, () -> set.add(own, 0));
            assertEquals(0, set.poll(contexts, 4));
            assertEquals(0, own.add(1));
            assertEquals(1, set.poll(contexts, 4));
            assertEquals(0xC1, contexts[0]);
            assertEquals(1, set.poll(contexts, 4), "it was not read");
            assertEquals(0, own.readErr());
            assertEquals(1, set.poll(contexts, 4), "the value was not read");
            assertEquals(1, own.read());
            assertEquals(0, set.poll(contexts, 4));
            assertEquals(0, own.addErr(1));
            assertEquals(1, set.poll(contexts, 4));
            assertEquals(1, own.readErr());
            // in INVOKER the poll itself runs the cycles
            long self = a.insert(a);
            send(a, self);
            Deadline.awaitParked("the send", () -> set.poll(contexts, 4) == 1);
            assertEquals(0, contexts[0]);
            assertEquals(1, a.sends.read());
            assertEquals(0, set.poll(contexts, 4));
            assertRefused(FabricErrno.EBUSY, own::close);
            set.del(own, 0);
            assertRefused(FabricErrno.EINVAL, () -> set.del(own, 0));
            own.close();
            assertRefused(FabricErrno.EINVAL, () -> set.add(own, 0));
            set.del(a.sends, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-047", "REF-029"})
    void shouldSignalItsWaitSet(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup); WaitSet set = pair.a.fabric.openWaitSet(new WaitSetAttr())) {
            CounterAttr attr = new CounterAttr().waitObject(WaitObject.SET);
            assertRefused(FabricErrno.EINVAL, () -> pair.a.domain.openCounter(attr));
            Counter counter = pair.a.domain.openCounter(attr.waitSetId(set.id()));
            assertRefused(FabricErrno.EBUSY, set::close);
            assertEquals(-FabricErrno.ENOSYS, counter.await(1, 0));
            assertEquals(-FabricErrno.ENOSYS, counter.tryWait());
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(counter, ControlCommand.GETWAITOBJ.code(), handle));
            assertEquals(WaitObject.SET, handle.waitObject());
            assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
            Thread other = new Thread(() -> counter.add(1));
            other.start();
            assertEquals(0, set.await(Deadline.ns(20)));
            other.join();
            assertEquals(0, set.await(0), "a counter that is not read keeps the set signalled");
            assertEquals(1, counter.read());
            assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(counter, Flags.SEND);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            assertEquals(0, endpoint.inject(payload, 0, 8, pair.a.av.insert(endpoint.name())));
            assertEquals(0, set.await(Deadline.ns(20)));
            assertEquals(2, counter.read());
            endpoint.close();
            counter.close();
            assertEquals(-FabricErrno.ETIMEDOUT, set.await(0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement({"REF-029", "REF-034", "REF-048"})
    void shouldBeReadableWhenSomethingIsCounted(WaitSetup setup) throws Exception {
        try (var place = setup.open(); CountedNode b = new CountedNode(place.owner(), true, WaitObject.FD);
             CountedNode a = new CountedNode(place.peer(), true, WaitObject.NONE);
            Selector selector = Selector.open()) {
            long toB = a.insert(b);
            Counter counter = b.receives;
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(counter, ControlCommand.GETWAIT.code(), handle));
            assertEquals(WaitObject.FD, handle.waitObject());
            assertSame(counter.channel(), handle.channel());
            counter.channel().register(selector, SelectionKey.OP_READ);
            for (int i = 1; i <= 50; i++) {
                assertEquals(0, counter.tryWait());
                assertEquals(0, selector.selectNow(), "nothing was counted");
                if (i % 5 != 0) {
                    post(b);
                    send(a, toB);
                } else {
                    assertEquals(0, i % 2 == 0 ? counter.add(1) : counter.set(i));
                }
                assertWoken(selector, counter);
                assertEquals(i, counter.read());
                if (i % 5 == 0) {
                    assertEquals(0, counter.tryWait());
                    assertEquals(0, i % 2 == 0 ? counter.addErr(1) : counter.setErr(100 * i));
                    assertWoken(selector, counter);
                    assertTrue(counter.readErr() > i);
                }
            }
            assertEquals(0, counter.await(50, 0), "it blocks in its own calls too");
        }
    }

    private static void assertWoken(Selector selector, Counter counter) throws IOException {
        assertEquals(1, selector.select(key -> { }, DEADLINE_MS));
        Deadline.awaitParked("the count", () -> counter.tryWait() == -FabricErrno.EAGAIN);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = WaitSetup.class, names = {"LOOPBACK_SHARED", "LOOPBACK_DEDICATED"})
    @Requirement("REF-029")
    void shouldSignalALockAndItsCondition(WaitSetup setup) throws Exception {
        try (var place = setup.open(); CountedNode b = new CountedNode(place.owner(), true, WaitObject.MUTEX_COND);
             CountedNode a = new CountedNode(place.peer(), true, WaitObject.NONE)) {
            long toB = a.insert(b);
            Counter counter = b.receives;
            WaitObjectHandle handle = new WaitObjectHandle();
            assertEquals(0, PortedCalls.control(counter, ControlCommand.GETWAIT.code(), handle));
            MutexCond pair = handle.mutexCond();
            for (int i = 1; i <= 50; i++) {
                post(b);
                Thread other = new Thread(i % 5 == 0 ? () -> counter.add(1) : () -> send(a, toB));
                pair.lock().lock();
                try {
                    other.start();
                    long deadline = System.nanoTime() + DEADLINE_NS;
                    while (counter.tryWait() == 0) {
                        assertTrue(pair.condition().awaitNanos(deadline - System.nanoTime()) > 0, "nobody woke us");
                    }
                } finally {
                    pair.lock().unlock();
                }
                assertEquals(i, counter.read());
                other.join();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-029")
    void shouldTellItsWaitObjectOrThatThereIsNone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            WaitObjectHandle handle = new WaitObjectHandle();
            for (WaitObject none : new WaitObject[] {WaitObject.NONE, WaitObject.UNSPEC, WaitObject.YIELD}) {
                Counter counter = pair.a.domain.openCounter(new CounterAttr().waitObject(none));
                assertEquals(none, counter.waitObject());
                assertEquals(0, PortedCalls.control(counter, ControlCommand.GETWAITOBJ.code(), handle));
                assertEquals(none, handle.waitObject());
                assertEquals(-FabricErrno.ENODATA, PortedCalls.control(counter, ControlCommand.GETWAIT.code(), handle));
                assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(counter, 4711, handle));
                assertEquals(-FabricErrno.EINVAL, PortedCalls.control(counter, ControlCommand.GETWAIT.code(), null));
                assertEquals(-FabricErrno.ENOSYS, counter.tryWait());
                assertEquals(none == WaitObject.NONE ? -FabricErrno.ENOSYS : -FabricErrno.ETIMEDOUT,
                    counter.await(1, 0));
                assertRefused(FabricErrno.ENODATA, counter::channel);
                assertRefused(FabricErrno.ENODATA, counter::fd);
                counter.close();
            }
            for (WaitObject refused : new WaitObject[] {WaitObject.POLLFD, WaitObject.CRITSEC_COND}) {
                assertRefused(FabricErrno.ENOSYS,
                    () -> pair.a.domain.openCounter(new CounterAttr().waitObject(refused)));
            }
            if (setup.daemon) {
                // a lock can be shared only within a process
                assertRefused(FabricErrno.ENOSYS,
                    () -> pair.a.domain.openCounter(new CounterAttr().waitObject(WaitObject.MUTEX_COND)));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("REF-035")
    void shouldEndTheWaitAtCloseAndInterrupt(WaitSetup setup) throws Exception {
        try (var place = setup.open()) {
            Counter counter = place.owner().domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC));
            Thread.currentThread().interrupt();
            assertEquals(-FabricErrno.EINTR, counter.await(1, -1));
            assertTrue(Thread.interrupted());
            int[] answer = new int[1];
            Thread waiting = new Thread(() -> answer[0] = counter.await(1, -1));
            waiting.start();
            counter.close();
            waiting.join();
            assertEquals(-FabricErrno.EOPBADSTATE, answer[0]);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldKeepItsValuesAfterTheDriversEnd(Setup setup) {
        try (FabricPair pair = FabricPair.withOwnDaemons(setup);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.UNSPEC)) {
            send(b, b.insert(b));
            assertEquals(0, b.sends.await(1, DEADLINE_NS));
            pair.killDriverOfB();
            assertEquals(-FabricErrno.ENODEV, b.sends.await(2, DEADLINE_NS));
            assertEquals(0, b.sends.await(1, DEADLINE_NS));
            assertEquals(1, b.sends.read());
            assertEquals(0, b.sends.readErr());
        }
    }

    private static void post(CountedNode node) {
        assertEquals(0, node.endpoint.recv(node.buffer(), 64, ANY, 1));
    }

    private void send(CountedNode node, long dest) {
        CountedNode.post(() -> node.endpoint.inject(payload, 0, 8, dest), node);
    }

    private static void assertRefused(int errno, Executable call) {
        assertEquals(errno, assertThrows(FabricException.class, call).errno());
    }
}
