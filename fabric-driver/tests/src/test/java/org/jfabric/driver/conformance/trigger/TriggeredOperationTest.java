package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages and receives with {@link Flags#TRIGGER}. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class TriggeredOperationTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-044", "CQ-001"})
    void shouldSendWhenTheThirdReceiveWasCounted(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Counter sends = pair.a.domain.openCounter(new CounterAttr());
            Endpoint endpoint = pair.counted(sends, pair.counter);
            long to = pair.b.av.insert(endpoint.name());
            pair.expect(1);
            SendRequest request = pair.message(0, 77, 7).flags(Flags.COMPLETION)
                .trigger(pair.trigger.threshold(pair.counter, 3));
            assertEquals(0, endpoint.messages().tsendmsg(request));
            for (int i = 1; i <= 3; i++) {
                pair.quiet();
                assertEquals(0, endpoint.trecv(pair.a.memory.address(64), 8, ANY, 5, 0, i));
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(64), 8, to, 5, i));
                if (i < 3) {
                    pair.b.await(i);
                    pair.awaitValue(pair.counter, i);
                }
            }
            FabricNode.Entry entry = pair.a.await(7);
            assertEquals(Flags.SEND | Flags.TAGGED, entry.flags());
            FabricNode.Entry first = pair.b.await();
            FabricNode.Entry second = pair.b.await();
            assertEquals(77, first.tag() + second.tag());
            assertEquals(77, pair.b.memory.buffer().getLong(0));
            pair.awaitValue(pair.counter, 3);
            pair.awaitValue(sends, 1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldStartInTheOrderOfThresholdsThenOfSubmission(Setup setup) {
        long[] thresholds = {5, 3, 5, 1, 3, 4, 2, 5, 1};
        int[] order = {3, 8, 6, 1, 4, 5, 0, 2, 7};
        try (TriggerPair pair = new TriggerPair(setup)) {
            pair.expect(2 * thresholds.length);
            for (int i = 0; i < thresholds.length; i++) {
                assertEquals(0, pair.sendAt(thresholds[i], i, i));
            }
            pair.quiet();
            // by more than one
            assertEquals(0, pair.counter.add(7));
            for (int expected : order) {
                assertEquals(expected, pair.nextTag());
            }
            for (int i = 0; i < thresholds.length; i++) {
                assertEquals(order[i], pair.a.await().context());
            }
            // reached already
            for (int i = 0; i < thresholds.length; i++) {
                assertEquals(0, pair.sendAt(7 - i % 3, i, i));
            }
            for (int i = 0; i < thresholds.length; i++) {
                assertEquals(i, pair.nextTag());
            }
            for (int i = 0; i < thresholds.length; i++) {
                assertEquals(i, pair.a.await().context());
            }
            pair.quiet();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldStartStepByStepWithAddAndSet(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            pair.expect(6);
            for (int i = 0; i < 6; i++) {
                assertEquals(0, pair.sendAt(10L * i + 10, i, i));
            }
            assertEquals(0, pair.counter.add(9));
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            assertEquals(0, pair.nextTag());
            assertEquals(0, pair.counter.set(39));
            assertEquals(1, pair.nextTag());
            assertEquals(2, pair.nextTag());
            for (int i = 0; i < 3; i++) {
                assertEquals(i, pair.a.await().context());
            }
            // errors do not help a triggered operation
            assertEquals(0, pair.counter.addErr(100));
            pair.quiet();
            assertEquals(0, pair.counter.set(5));
            assertEquals(0, pair.counter.add(34));
            pair.quiet();
            assertEquals(0, pair.counter.set(Long.MAX_VALUE));
            for (int i = 3; i < 6; i++) {
                assertEquals(i, pair.nextTag());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldTakeEveryFormOfSend(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            SendRequest request = new SendRequest();
            IoVec iov = new IoVec().add(pair.a.memory.address(0), 100).add(pair.a.memory.address(5000), 3)
                .add(pair.a.memory.address(9000), 57);
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            pair.a.fill(0, 100, 1);
            pair.a.memory.buffer().putBytes(5000, FabricNode.pattern(1, 100, 3));
            pair.a.memory.buffer().putBytes(9000, FabricNode.pattern(1, 103, 57));
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                request.memory(iov).destAddr(pair.toB).opContext(1).trigger(at1)));
            // the bytes of an inject are taken at once
            pair.a.fill(20_000, 16, 2);
            assertEquals(0, pair.a.endpoint.messages().sendmsg(request.clear().memory(pair.a.memory.address(20_000), 16)
                .destAddr(pair.toB).opContext(2).flags(Flags.INJECT | Flags.COMPLETION).trigger(at1)));
            pair.a.memory.buffer().setMemory(20_000, 16, (byte) 0);
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                request.clear().destAddr(pair.toB).opContext(3).trigger(at1)));
            // the bytes of others when they start
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                request.clear().memory(pair.a.memory.address(30_000), 1000)
                .destAddr(pair.toB).opContext(4).trigger(at1)));
            pair.a.fill(30_000, 1000, 4);
            int large = pair.pair.setup.heldLength();
            pair.a.fill(100_000, large, 5);
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                request.clear().memory(pair.a.memory.address(100_000), large)
                .destAddr(pair.toB).opContext(5).remoteCqData(55).trigger(at1)));
            int[] lengths = {160, 16, 0, 1000, large};
            for (int i = 0; i < lengths.length; i++) {
                assertEquals(0, pair.b.endpoint.recv(
                    pair.b.memory.address(1_000_000L * i), lengths[i], ANY, 10 + i));
            }
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            for (int i = 0; i < lengths.length; i++) {
                FabricNode.Entry entry = await(pair, pair.b);
                assertEquals(10 + i, entry.context());
                assertEquals(lengths[i], entry.len());
                pair.b.assertFilled(1_000_000L * i, lengths[i], i + 1);
                assertEquals(i == 4 ? 55 : 0, entry.data());
            }
            for (int i = 1; i <= 5; i++) {
                assertEquals(0, pair.a.await().err());
            }
            pair.quiet();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-044")
    void shouldPostReceivesWhenTriggered(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            ReceiveRequest request = new ReceiveRequest();
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            pair.a.memory.buffer().setMemory(0, 4096, (byte) 0);
            IoVec iov = new IoVec().add(pair.a.memory.address(0), 10).add(pair.a.memory.address(100), 90);
            assertEquals(0, pair.a.endpoint.messages().trecvmsg(request.memory(iov).tag(5).opContext(1).trigger(at1)));
            assertEquals(0, pair.a.endpoint.messages().recvmsg(
                request.clear().memory(pair.a.memory.address(200), 50).opContext(2).trigger(at1)));
            assertEquals(0, pair.a.endpoint.messages().trecvmsg(request.clear().memory(pair.a.memory.address(300), 50)
                .srcAddr(pair.toB).tag(0xF0).ignore(0xF).opContext(3)
                .trigger(new TriggeredContext().threshold(pair.counter, 2))));
            pair.b.fill(0, 100, 3);
            long buf = pair.b.memory.address();
            assertEquals(0, pair.b.endpoint.tsend(buf, 100, pair.toA, 5, 11));
            assertEquals(0, pair.b.endpoint.tsend(buf, 50, pair.toA, 0xF5, 12));
            for (int i = 0; i < TriggerPair.QUIET; i++) {
                pair.a.assertQuiet(1);
                pair.pair.pump();
            }
            assertEquals(0, pair.counter.add(1));
            assertEquals(100, pair.a.await(1).len());
            FabricNode.assertPattern(pair.a.memory.buffer(), 0, 10, 3, 0);
            FabricNode.assertPattern(pair.a.memory.buffer(), 100, 90, 3, 10);
            for (int i = 0; i < TriggerPair.QUIET; i++) {
                pair.a.assertQuiet(1);
            }
            assertEquals(0, pair.b.endpoint.send(buf, 50, pair.toA, 13));
            pair.a.await(2);
            assertEquals(0, pair.counter.add(1));
            FabricNode.Entry entry = pair.a.await(3);
            assertEquals(0xF5, entry.tag());
            assertEquals(pair.toB, entry.source());
            pair.a.assertFilled(300, 50, 3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCancelWhatWaitsWithOneErrorEntry(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            pair.expect(1);
            for (int i = 1; i <= 4; i++) {
                assertEquals(0, pair.sendAt(1, i, i));
            }
            assertEquals(0, pair.a.endpoint.messages().trecvmsg(
                pair.receive(9, 9, 5).trigger(pair.trigger.threshold(pair.counter, 1))));
            for (long context : new long[] {2, 5, 1, 4}) {
                assertEquals(0, pair.a.endpoint.cancel(context));
                pair.assertFailed(context, FabricErrno.ECANCELED);
                assertEquals(0, pair.a.endpoint.cancel(context));
            }
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            assertEquals(3, pair.nextTag());
            pair.a.await(3);
            pair.quiet();
            assertEquals(0, pair.a.endpoint.cancel(3));
            pair.quiet();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTakePlaceAndSlotWhileItWaits(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            long sends = pair.a.endpoint.txSizeLeft();
            int posted = 0;
            int result = pair.sendAt(1, 1, 1);
            while (result == 0) {
                posted++;
                result = pair.sendAt(1, 1, 1);
                if (result == -FabricErrno.EAGAIN && posted < sends) {
                    // the ring of requests is shorter than that of outstanding operations
                    pair.a.awaitRead(posted);
                    result = pair.sendAt(1, 1, 1);
                }
            }
            assertEquals(-FabricErrno.EAGAIN, result);
            assertEquals(sends, posted);
            assertEquals(0, pair.a.endpoint.txSizeLeft());
            assertEquals(-FabricErrno.EAGAIN, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2));
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.a.endpoint.cancel(1));
                pair.assertFailed(1, FabricErrno.ECANCELED);
            }
            pair.await("the places", () -> pair.a.endpoint.txSizeLeft() == 3, () -> pair.a.endpoint.txSizeLeft());
            assertEquals(0, pair.counter.add(1));
            for (int i = 0; i < posted - 3; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 3));
                await(pair, pair.b);
                pair.a.await(1);
            }
            pair.await("all places", () -> pair.a.endpoint.txSizeLeft() == sends,
                () -> pair.a.endpoint.txSizeLeft());
            pair.quiet();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailAtItsStartLikeAnyOther(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).destAddr(pair.toB + 1000).trigger(at1)));
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                pair.message(0, 1, 2).memory(0x123456, 8).trigger(at1)));
            assertEquals(0, pair.a.endpoint.messages().trecvmsg(
                pair.receive(0, 1, 3).memory(0x123456, 8)
                    .trigger(new TriggeredContext().threshold(pair.counter, 2))));
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            pair.assertFailed(1, FabricErrno.EINVAL);
            pair.assertFailed(2, FabricErrno.EFAULT);
            pair.quiet();
            assertEquals(0, pair.counter.add(1));
            pair.assertFailed(3, FabricErrno.EFAULT);
            pair.pair.assertTransfers(pair.a.endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveEverythingBackWhenTheEndpointCloses(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            for (int round = 0; round < 20; round++) {
                Endpoint endpoint = pair.pair.open(pair.a.info);
                for (int i = 0; i < 40; i++) {
                    pair.trigger.threshold(pair.counter, 1);
                    assertEquals(0, endpoint.messages().tsendmsg(pair.message(0, 1, i + 1).trigger(pair.trigger)));
                    assertEquals(0, endpoint.messages().trecvmsg(pair.receive(0, 1, i + 1).trigger(pair.trigger)));
                }
                assertEquals(FabricErrno.EBUSY, assertThrows(FabricException.class, pair.counter::close).errno());
                assertTrue(pair.counter.isOpen());
                endpoint.close();
            }
            assertEquals(0, pair.counter.add(1));
            pair.quiet();
            // 20 times 80 slots are more than the queue has
            pair.pair.assertTransfers(pair.a.endpoint);
            pair.counter.close();
            assertFalse(pair.counter.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseWhatCannotBeAtOnce(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(pair.message(0, 1, 1).flags(Flags.TRIGGER)));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).trigger(new TriggeredContext())));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).trigger(new TriggeredContext().threshold(pair.counter, -1))));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).destAddr(-1).trigger(at1)));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).memory(pair.a.memory.address(), -1).trigger(at1)));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(pair.message(0, 1, 1)
                .memory(pair.a.memory.address(), endpoint.injectSize() + 1).flags(Flags.INJECT).trigger(at1)));
            assertEquals(-FabricErrno.EFAULT, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).memory(0x1234, 8).flags(Flags.INJECT).trigger(at1)));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).flags(Flags.PEEK).trigger(at1)));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().trecvmsg(
                pair.receive(0, 1, 1).flags(Flags.PEEK).trigger(at1)));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().trecvmsg(pair.receive(0, 1, 1).flags(Flags.TRIGGER)));
            Counter closed = pair.a.domain.openCounter(new CounterAttr());
            closed.close();
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).trigger(new TriggeredContext().threshold(closed, 0))));
            Counter foreign = pair.a.fabric.domain(pair.a.info).openCounter(new CounterAttr());
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(
                pair.message(0, 1, 1).trigger(new TriggeredContext().threshold(foreign, 0))));
            pair.quiet();
            pair.pair.assertTransfers(endpoint);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldNeedTheCapability(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(0, pair.a.info.caps() & Flags.TRIGGER);
            Counter counter = pair.a.domain.openCounter(new CounterAttr());
            TriggeredContext at0 = new TriggeredContext().threshold(counter, 0);
            SendRequest send = new SendRequest().memory(pair.a.memory.address(), 8).destAddr(pair.toB).trigger(at0);
            ReceiveRequest receive = new ReceiveRequest().memory(pair.a.memory.address(), 8).trigger(at0);
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().sendmsg(send));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().tsendmsg(send));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().recvmsg(receive));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().trecvmsg(receive));
            Info granted = pair.a.fabric.info(new Info().linkName(setup.link).caps(TriggerPair.CAPS)).best();
            assertTrue((granted.caps() & Flags.TRIGGER) != 0);
            assertTrue((granted.txAttr().caps() & granted.rxAttr().caps() & Flags.TRIGGER) != 0);
            counter.close();
            UnsafeBuffer none = new UnsafeBuffer(new byte[48]);
            assertEquals(-FabricErrno.EAGAIN, pair.a.cq.read(none, 0, 1));
        }
    }

    private static FabricNode.Entry await(TriggerPair pair, FabricNode node) {
        FabricNode.Entry[] seen = new FabricNode.Entry[1];
        pair.await("an entry", () -> (seen[0] = node.poll()) != null, () -> node);
        return seen[0];
    }
}
