package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.CountedNode.await;
import static org.jfabric.driver.kit.CountedNode.post;
import static org.jfabric.driver.kit.CountedNode.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.CountedNode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.CounterEvents;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What is counted, when, and by whom. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class CounterTest {
    private static final long ANY = -1L;
    /** No client has a region with that index. */
    private static final long UNREGISTERED = 0x7FFFL << 48;

    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[16 * 48]);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-018", "EP-049", "EP-051"})
    void shouldCountBesideTheEntriesOfTheQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, false, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, false, WaitObject.NONE)) {
            long toB = a.insert(b);
            assertEquals(0, b.receives.read());
            for (int i = 0; i < 2; i++) {
                assertEquals(0, b.endpoint.recv(b.buffer(), 64, ANY, i));
                assertEquals(0, b.endpoint.trecv(b.buffer(), 64, ANY, i, 0, 2 + i));
                assertEquals(0, a.endpoint.send(a.buffer(), 8, toB, i));
                assertEquals(0, a.endpoint.tsend(a.buffer(), 8, toB, i, 2 + i));
            }
            await("4 receives", () -> b.receives.read() == 4, a, b);
            await("4 sends", () -> a.sends.read() == 4, a, b);
            // what is counted has its entry already
            assertEquals(4, a.cq.read(entries, 0, 16));
            assertEquals(4, b.cq.read(entries, 0, 16));
            for (Counter untouched : new Counter[] {a.receives, b.sends}) {
                assertEquals(0, untouched.read());
                assertEquals(0, untouched.readErr());
            }
            assertEquals(0, a.sends.readErr());
            assertEquals(0, b.receives.readErr());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-054", "REF-036", "TAG-027"})
    void shouldCountSendsOfEveryKindThatHaveNoEntry(Setup setup) {
        int injects = 500;
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE);
             CountedNode plain = new CountedNode(pair.a, false, WaitObject.NONE)) {
            long toB = a.insert(b);
            long plainToB = plain.insert(b);
            for (int i = 0; i < 2; i++) {
                assertEquals(0, b.endpoint.recv(b.buffer(), 64, ANY, 1));
                assertEquals(0, b.endpoint.trecv(b.buffer(), 64, ANY, 1, 0, 1));
            }
            assertEquals(0, a.endpoint.send(a.buffer(), 8, toB, 1));
            assertEquals(0, a.endpoint.inject(payload, 0, 8, toB));
            assertEquals(0, a.endpoint.tsend(a.buffer(), 8, toB, 1, 1));
            assertEquals(0, a.endpoint.tinject(payload, 0, 8, toB, 1));
            await("4 sends", () -> a.sends.read() == 4, a, b);
            await("4 receives", () -> b.receives.read() == 4, a, b);
            // an inject has no entry, also where each other operation has one
            for (int i = 0; i < injects; i++) {
                post(() -> b.endpoint.trecv(b.buffer(), 64, ANY, 1, 0, 1), plain, b);
                post(() -> plain.endpoint.tinject(payload, 0, 8, plainToB, 1), plain, b);
            }
            await("the injects", () -> plain.sends.read() == injects, plain, b);
            await("the messages", () -> b.receives.read() == 4 + injects, plain, b);
            for (CountedNode node : new CountedNode[] {a, b, plain}) {
                assertEquals(-FabricErrno.EAGAIN, node.cq.read(entries, 0, 16), node.endpoint::toString);
                assertEquals(0, node.sends.readErr());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-036")
    void shouldCountASendWhenItReachesItsLevel(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
            long toB = a.insert(b);
            assertEquals(0, a.endpoint.messages().tsendmsg(a.buffer(), 8, 0, toB, 1, 1, Flags.DELIVERY_COMPLETE));
            await("the delivery", () -> a.sends.read() == 1, a, b);
            // over a stream nothing overtakes the second one on its way
            int before = setup.isForeign() ? 1 : 2;
            if (!setup.hasAllOfOwn()) {
                assertEquals(0, a.endpoint.messages().tsendmsg(
                    a.buffer(), setup.heldLength(), 0, toB, 2, 1, Flags.DELIVERY_COMPLETE));
            } else {
                assertEquals(0, a.endpoint.messages().tsendmsg(a.buffer(), 8, 0, toB, 2, 1, Flags.MATCH_COMPLETE));
            }
            assertEquals(0, a.endpoint.messages().tsendmsg(a.buffer(), 8, 0, toB, 3, 1, Flags.DELIVERY_COMPLETE));
            long counted = before;
            await("the later delivery", () -> a.sends.read() == counted, a, b);
            for (int i = 0; i < 1000; i++) {
                turn(a, b);
                assertEquals(counted, a.sends.read(), "the second message is not taken");
            }
            assertEquals(0, b.endpoint.trecv(b.buffer(), setup.heldLength(), ANY, 2, 0, 1));
            // the sender may be told of the match before the receive is counted
            await("the match", () -> a.sends.read() == 3 && b.receives.read() == 1, a, b);
            assertEquals(0, a.sends.readErr());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-161", "EP-162"})
    void shouldCountSuccessesAndHaveAnErrorEntryForTheOneThatFails(Setup setup) {
        int sends = 1000;
        int failing = 617;
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
            long toB = a.insert(b);
            for (int i = 0; i < sends; i++) {
                long buf = i == failing ? UNREGISTERED : a.buffer();
                long context = i;
                if (i != failing) {
                    post(() -> b.endpoint.trecv(b.buffer(), 64, ANY, 1, 0, context), a, b);
                }
                post(() -> a.endpoint.tsend(buf, 8, toB, 1, context), a, b);
            }
            await("999 sends", () -> a.sends.read() == sends - 1, a, b);
            await("999 receives", () -> b.receives.read() == sends - 1, a, b);
            assertEquals(1, a.sends.readErr());
            assertEquals(0, b.receives.readErr());
            assertEquals(-FabricErrno.EAVAIL, a.cq.read(entries, 0, 16));
            CompletionError error = new CompletionError();
            assertEquals(1, a.cq.readErr(error, 0));
            assertEquals(failing, error.opContext());
            assertEquals(FabricErrno.EFAULT, error.err());
            assertEquals(-FabricErrno.EAGAIN, a.cq.read(entries, 0, 16), "one entry in all");
            assertEquals(-FabricErrno.EAGAIN, b.cq.read(entries, 0, 16));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-051", "EP-162"})
    void shouldCountReceivesThatFail(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
            long toB = a.insert(b);
            assertEquals(0, b.endpoint.trecv(b.buffer(), 4, ANY, 1, 0, 11));
            assertEquals(0, a.endpoint.tsend(a.buffer(), 8, toB, 1, 1));
            await("the cut message", () -> b.receives.readErr() == 1, a, b);
            assertEquals(0, b.endpoint.recv(b.buffer(), 4, ANY, 12));
            assertEquals(0, b.endpoint.cancel(12));
            await("the cancelled receive", () -> b.receives.readErr() == 2, a, b);
            assertEquals(0, b.receives.read());
            CompletionError error = new CompletionError();
            assertEquals(1, b.cq.readErr(error, 0));
            assertEquals(FabricErrno.ETRUNC, error.err());
            assertEquals(1, b.cq.readErr(error, 0));
            assertEquals(FabricErrno.ECANCELED, error.err());
            // a peek receives nothing, and so it cannot fail to
            assertEquals(0, b.endpoint.messages().trecvmsg(0, 0, ANY, 77, 0, 14, Flags.PEEK));
            await("the answer to the peek", () -> b.cq.readErr(error, 0) == 1, a, b);
            assertEquals(FabricErrno.ENOMSG, error.err());
            // dropped at the close: neither a success nor a failure (EP-029)
            assertEquals(0, b.endpoint.recv(b.buffer(), 4, ANY, 13));
            b.endpoint.close();
            assertEquals(2, b.receives.readErr());
            assertEquals(0, b.receives.read());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-051")
    void shouldCountEachMessageOfAMultiReceiveBufferButNotItsRelease(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.MSG | Flags.MULTI_RECV), 64);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
             CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
            long toB = a.insert(b);
            for (int buffer = 1; buffer <= 2; buffer++) {
                assertEquals(0, b.endpoint.messages().recvmsg(b.buffer(), 256, ANY, buffer, Flags.MULTI_RECV));
                for (int i = 0; i < 3; i++) {
                    assertEquals(0, a.endpoint.inject(payload, 0, 8, toB));
                }
                int messages = 3 * buffer;
                await("the messages", () -> b.receives.read() == messages, a, b);
                assertEquals(buffer - 1, b.receives.readErr());
                // an operation that was cancelled
                assertEquals(0, b.endpoint.cancel(buffer));
                int cancelled = buffer;
                await("the end of the buffer", () -> b.receives.readErr() == cancelled, a, b);
                assertEquals(messages, b.receives.read());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldServeSeveralEndpointsAndBothDirections(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            FabricNode node = pair.a;
            Counter counter = node.domain.openCounter(new CounterAttr(), 77);
            assertEquals(77, counter.context());
            Endpoint first = bound(node, counter, Flags.SEND | Flags.RECV);
            Endpoint second = bound(node, counter, Flags.SEND);
            long toFirst = node.av.insert(first.name());
            assertEquals(0, first.recv(node.memory.address(), 64, ANY, 1));
            assertEquals(0, second.inject(payload, 0, 8, toFirst));
            assertEquals(0, first.recv(node.memory.address(), 64, ANY, 1));
            assertEquals(0, first.inject(payload, 0, 8, toFirst));
            Deadline.awaitParked("4 operations", () -> counter.read() == 4);
            assertRefused(FabricErrno.EBUSY, counter::close);
            first.close();
            assertRefused(FabricErrno.EBUSY, counter::close);
            assertTrue(counter.isOpen());
            assertEquals(4, counter.read());
            second.close();
            counter.close();
            counter.close();
            assertFalse(counter.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-036", "EP-056"})
    void shouldRefuseBindingsThatCannotBe(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Domain domain = pair.a.domain;
            Counter counter = domain.openCounter(new CounterAttr());
            Counter other = domain.openCounter(new CounterAttr());
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            Endpoint endpoint = domain.openEndpoint(pair.a.info);
            assertRefused(FabricErrno.EINVAL, () -> endpoint.bind(counter, 0));
            assertRefused(FabricErrno.EBADFLAGS, () -> endpoint.bind(counter, Flags.SEND | Flags.TAGGED));
            for (long kind : new long[] {Flags.READ, Flags.WRITE, Flags.REMOTE_READ, Flags.REMOTE_WRITE}) {
                // the endpoint has no remote memory access
                assertRefused(FabricErrno.EOPNOTSUPP, () -> endpoint.bind(counter, kind));
                assertRefused(FabricErrno.EOPNOTSUPP, () -> endpoint.bind(counter, Flags.SEND | kind));
            }
            endpoint.bind(counter, Flags.SEND);
            assertRefused(FabricErrno.EINVAL, () -> endpoint.bind(counter, Flags.SEND));
            assertRefused(FabricErrno.EINVAL, () -> endpoint.bind(other, Flags.SEND | Flags.RECV));
            endpoint.bind(other, Flags.RECV);
            assertRefused(FabricErrno.EINVAL, () -> endpoint.bind(counter, Flags.RECV));
            endpoint.bind(queue, Flags.TRANSMIT);
            assertRefused(FabricErrno.EINVAL, () -> endpoint.bind(pair.a.cq, Flags.TRANSMIT));
            // counters are no substitute for a queue: failures must have a place (EP-037, EP-038)
            endpoint.bind(pair.a.av);
            assertRefused(FabricErrno.ENOCQ, endpoint::enable);
            endpoint.bind(queue, Flags.RECV);
            endpoint.enable();
            Counter late = domain.openCounter(new CounterAttr());
            assertRefused(FabricErrno.EOPBADSTATE, () -> endpoint.bind(late, Flags.SEND));
            late.close();
            Endpoint fresh = domain.openEndpoint(pair.a.info);
            assertRefused(FabricErrno.EOPBADSTATE, () -> fresh.bind(late, Flags.SEND));
            Domain foreign = pair.a.fabric.domain(pair.a.info);
            Counter stranger = foreign.openCounter(new CounterAttr());
            assertRefused(FabricErrno.EDOMAIN, () -> fresh.bind(stranger, Flags.SEND));
            assertRefused(FabricErrno.EBUSY, foreign::close);
            stranger.close();
            foreign.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-034")
    void shouldBeReadAddedToAndSet(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE)) {
            Counter counter = a.sends;
            assertEquals(0, counter.add(5));
            assertEquals(0, counter.addErr(3));
            assertEquals(5, counter.read());
            assertEquals(3, counter.readErr());
            assertEquals(0, counter.set(100));
            assertEquals(0, counter.setErr(200));
            assertEquals(100, counter.read());
            assertEquals(200, counter.readErr());
            // what the driver counts comes on top
            long self = a.insert(a);
            assertEquals(0, a.endpoint.recv(a.buffer(), 64, ANY, 1));
            assertEquals(0, a.endpoint.inject(payload, 0, 8, self));
            assertEquals(0, a.endpoint.send(UNREGISTERED, 8, self, 2));
            await("a success", () -> counter.read() == 101, a);
            await("an error", () -> counter.readErr() == 201, a);
            assertEquals(0, counter.add(7));
            assertEquals(108, counter.read());
            // below what was counted, and back to the start
            assertEquals(0, counter.set(0));
            assertEquals(0, counter.setErr(0));
            assertEquals(0, counter.read());
            assertEquals(0, counter.readErr());
            assertEquals(0, counter.set(Long.MAX_VALUE));
            assertEquals(Long.MAX_VALUE, counter.read());
            assertEquals(0, counter.add(1));
            assertEquals(0, counter.read(), "never negative");
            assertEquals(0, a.receives.readErr());
            assertEquals(-FabricErrno.EINVAL, counter.add(-1));
            assertEquals(-FabricErrno.EINVAL, counter.addErr(-1));
            assertEquals(-FabricErrno.EINVAL, counter.set(-1));
            assertEquals(-FabricErrno.EINVAL, counter.setErr(Long.MIN_VALUE));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-034")
    void shouldAnswerNothingOnceItIsClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertRefused(FabricErrno.EINVAL, () -> pair.a.domain.openCounter(new CounterAttr().flags(1)));
            assertRefused(FabricErrno.EINVAL, () -> pair.a.domain.openCounter(null));
            Counter counter = pair.a.domain.openCounter(
                new CounterAttr().events(CounterEvents.COMP).waitObject(WaitObject.UNSPEC));
            assertEquals(0, counter.read());
            assertEquals(0, counter.readErr());
            counter.close();
            for (long answer : new long[] {counter.read(), counter.readErr(), counter.add(1), counter.addErr(1),
                counter.set(1), counter.setErr(1), counter.await(0, 0), counter.tryWait()}) {
                assertEquals(-FabricErrno.EOPBADSTATE, answer);
            }
            // with the fabric, whatever is bound
            CountedNode open = new CountedNode(pair.a, true, WaitObject.UNSPEC);
            pair.a.fabric.close();
            assertEquals(-FabricErrno.EOPBADSTATE, open.sends.read());
        }
    }

    private static Endpoint bound(FabricNode node, Counter counter, long flags) {
        Endpoint endpoint = node.domain.openEndpoint(node.info);
        endpoint.bind(node.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(counter, flags);
        endpoint.bind(node.av);
        endpoint.enable();
        return endpoint;
    }

    private static void assertRefused(int errno, Executable call) {
        assertEquals(errno, assertThrows(FabricException.class, call).errno());
    }
}
