package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.function.Consumer;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each way that a message can take, one at a time. */
class EngineProtocolTest {
    private final Script script = new Script(1);
    private final Engines rig = new Engines(script);
    private Engines.Node a;
    private Engines.Node b;

    private void open(Consumer<Engines> change) {
        change.accept(rig);
        a = rig.add("a");
        b = rig.add("b");
        a.fiAddr(b);
        b.fiAddr(a);
    }

    private void assertDelivered(
        CompletionReader.Entry entry, long context, int length, long tag, int seed, int offset) {
        assertEquals(0, entry.errno());
        assertEquals(context, entry.context());
        assertEquals(Flags.RECV | Flags.TAGGED, entry.flags());
        assertEquals(length, entry.length());
        assertEquals(tag, entry.tag());
        assertEquals(0, entry.source());
        b.assertFilled(offset, length, seed);
    }

    private void assertSent(long context) {
        CompletionReader.Entry entry = a.next();
        assertEquals(0, entry.errno());
        assertEquals(context, entry.context());
        assertEquals(Flags.SEND | Flags.TAGGED, entry.flags());
    }

    private void assertAtRest() {
        rig.settle();
        a.assertNoEntry();
        b.assertNoEntry();
        a.assertAtRest();
        b.assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, false", "1, 0, false", "1024, 0, false", "1000, 100, false", "0, 100, true", "777, 100, true",
        "1025, 0, false", "70000, 0, true"})
    void shouldDeliverExpectedMessageWhenReceiveIsPosted(int length, int streamPercent, boolean delayed) {
        open(r -> {
            script.streamPercent = streamPercent;
            script.maxDelaySteps = delayed ? 5 : 0;
        });
        a.fill(0, length, 5);
        assertEquals(0, b.trecv(4096, length + 8, 9, 200));
        assertEquals(0, a.tsend(b, 0, length, 9, 100));
        assertSent(100);
        assertDelivered(b.next(), 200, length, 9, 5, 4096);
        assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "64, 0", "1024, 0", "777, 100", "0, 100", "1025, 0", "70000, 0"})
    void shouldKeepMessageWhenNoReceiveIsPosted(int length, int streamPercent) {
        open(r -> script.streamPercent = streamPercent);
        a.fill(0, length, 6);
        a.tsend(b, 0, length, 9, 100);
        rig.settle();
        b.assertNoEntry();
        assertEquals(1, b.endpoint.receiver().unexpectedMessages());
        b.trecv(8192, length, 10, 201);
        b.trecv(4096, length, 9, 200);
        assertDelivered(b.next(), 200, length, 9, 6, 4096);
        assertSent(100);
        b.endpoint.cancel(201);
        assertEquals(FabricErrno.ECANCELED, b.next().errno());
        assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({"100, 0, 0", "0, 100, 0", "0, 0, 0", "0, 0, 100"})
    void shouldTakeAnnouncedPayloadWhenPulledOrInSegments(int done, int pending, int wouldBlock) {
        open(r -> {
            script.pullDonePercent = done;
            script.pullPendingPercent = pending;
            script.maxDelaySteps = 3;
        });
        a.fill(0, 100_000, 3);
        for (int i = 0; i < 4; i++) {
            b.trecv(i * 100_000, 100_000, 9 + i, 200 + i);
            a.tsend(b, i * 1000, 40_000 + i, 9 + i, 100 + i);
        }
        script.wouldBlockPercent = wouldBlock / 2;
        for (int i = 0; i < 4; i++) {
            assertEquals(0, a.next().errno());
            assertEquals(0, b.next().errno());
        }
        b.assertFilled(0, 40_000, 3);
        assertAtRest();
    }

    @Test
    void shouldMatchWhileFillingWhenReceiveComesInTheMiddleOfTheStream() {
        open(r -> script.streamPercent = 100);
        a.fill(0, 1000, 4);
        a.tsend(b, 0, 1000, 9, 100);
        while (b.endpoint.receiver().scan().storedBlocks() == 0) {
            rig.step();
        }
        assertEquals(0, b.trecv(0, 1000, 9, 200));
        b.assertNoEntry();
        assertEquals(0, b.endpoint.receiver().unexpectedMessages());
        assertDelivered(b.next(), 200, 1000, 9, 4, 0);
        assertSent(100);
        assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(ints = {800, 5000})
    void shouldReportTruncationWhenMessageIsLonger(int length) {
        for (int way = 0; way < 4; way++) {
            if (way == 0) {
                open(r -> { });
            }
            script.streamPercent = way == 1 ? 100 : 0;
            script.pullDonePercent = way == 2 ? 0 : 100;
            a.fill(0, length, way);
            if (way != 3) {
                b.trecv(0, 300, 9, 200);
            }
            a.tsend(b, 0, length, 9, 100);
            if (way == 3) {
                rig.settle();
                b.trecv(0, 300, 9, 200);
            }
            CompletionReader.Entry entry = b.next();
            assertEquals(FabricErrno.ETRUNC, entry.errno());
            assertEquals(300, entry.length());
            assertEquals(length - 300, entry.olen());
            assertEquals(200, entry.context());
            assertEquals(9, entry.tag());
            b.assertFilled(0, 300, way);
            assertSent(100);
            assertAtRest();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1024", "100, 1024", "0, 0", "0, 16"})
    void shouldSendBytesOfTheCallWhenInjectedPayloadIsOverwritten(int pendingPercent, int eagerLimit) {
        open(r -> {
            script.pendingSendPercent = pendingPercent;
            script.maxDelaySteps = 4;
            r.eagerLimitBytes = eagerLimit;
        });
        for (int i = 0; i < 10; i++) {
            b.trecv(i * 64, 64, i, 200 + i);
            a.fill(0, 60, 40 + i);
            assertEquals(0, a.inject(Flags.TAGGED, 0, 60, a.fiAddr(b), i, 0));
            a.fill(0, 60, 99);
        }
        for (int i = 0; i < 10; i++) {
            assertDelivered(b.next(), 200 + i, 60, i, 40 + i, i * 64);
        }
        rig.settle();
        assertEquals(10, a.completions.retired());
        assertAtRest();
    }

    @Test
    void shouldCarryCompletionDataOnlyWhenAsked() {
        open(r -> { });
        b.trecv(0, 64, 1, 201);
        b.trecv(0, 64, 2, 202);
        a.send(Engines.TAGGED | Flags.REMOTE_CQ_DATA, a.buf(0), 10, a.fiAddr(b), 1, 0xABCD_EF01_2345_6789L, 101);
        a.send(Engines.TAGGED, a.buf(0), 10, a.fiAddr(b), 2, 77, 102);
        CompletionReader.Entry first = b.next();
        assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, first.flags());
        assertEquals(0xABCD_EF01_2345_6789L, first.data());
        CompletionReader.Entry second = b.next();
        assertEquals(Flags.RECV | Flags.TAGGED, second.flags());
        assertEquals(0, second.data());
        rig.settle();
        a.assertAtRest();
    }

    @Test
    void shouldKeepTaggedAndUntaggedApartWhenBothArePosted() {
        open(r -> { });
        b.receive(Engines.MSG, b.buf(0), 64, -1, 0, 0, 201);
        b.receive(Engines.TAGGED, b.buf(64), 64, -1, 0, -1L, 202);
        a.send(Engines.TAGGED, a.buf(0), 8, a.fiAddr(b), 5, 0, 101);
        a.send(Engines.MSG, a.buf(0), 9, a.fiAddr(b), 0, 0, 102);
        CompletionReader.Entry tagged = b.next();
        assertEquals(202, tagged.context());
        assertEquals(5, tagged.tag());
        CompletionReader.Entry untagged = b.next();
        assertEquals(201, untagged.context());
        assertEquals(Flags.RECV | Flags.MSG, untagged.flags());
        a.completions.takeAll();
        assertAtRest();
    }

    @Test
    void shouldTakeOnlyTheNamedSourceWhenReceiveIsDirected() {
        open(r -> r.directed = true);
        Engines.Node c = rig.add("c");
        long fromA = b.fiAddr(a);
        long fromC = b.fiAddr(c);
        b.receive(Engines.TAGGED, b.buf(0), 64, fromC, 1, 0, 201);
        b.receive(Engines.TAGGED, b.buf(64), 64, -1, 1, 0, 202);
        a.tsend(b, 0, 8, 1, 101);
        CompletionReader.Entry entry = b.next();
        assertEquals(202, entry.context());
        assertEquals(fromA, entry.source());
        c.tsend(b, 0, 8, 1, 103);
        entry = b.next();
        assertEquals(201, entry.context());
        assertEquals(fromC, entry.source());
        b.receive(Engines.TAGGED, b.buf(0), 64, 99, 1, 0, 203);
        assertEquals(FabricErrno.EINVAL, b.next().errno());
    }

    @Test
    void shouldReportNoSourceWhenSenderIsNotInTheAddressVector() {
        open(r -> { });
        Engines.Node c = rig.add("c");
        b.trecv(0, 64, 1, 201);
        c.tsend(b, 0, 8, 1, 103);
        assertEquals(-1, b.next().source());
        b.trecv(0, 64, 1, 201);
        c.tsend(b, 0, 8, 1, 103);
        long fromC = b.fiAddr(c);
        assertEquals(fromC, b.next().source());
        assertEquals(0, b.addresses.remove(fromC));
        b.trecv(0, 64, 1, 201);
        c.tsend(b, 0, 8, 1, 103);
        assertEquals(-1, b.next().source());
    }

    @Test
    void shouldForgetTheSenderOfStoredMessagesWhenItsAddressIsRemoved() {
        open(r -> r.directed = true);
        long fromA = b.fiAddr(a);
        a.tsend(b, 0, 8, 1, 101);
        rig.settle();
        b.receive(Engines.TAGGED, b.buf(0), 64, fromA, 2, 0, 200);
        b.addresses.remove(fromA);
        assertEquals(FabricErrno.ECANCELED, b.next().errno());
        Engines.Node c = rig.add("c");
        assertEquals(fromA, b.fiAddr(c), "place is used again");
        b.receive(Engines.TAGGED, b.buf(0), 64, fromA, 1, 0, 201);
        b.assertNoEntry();
        b.receive(Engines.TAGGED, b.buf(0), 64, -1, 1, 0, 202);
        CompletionReader.Entry entry = b.next();
        assertEquals(202, entry.context());
        assertEquals(-1, entry.source());
    }

    @Test
    void shouldKeepTheOrderOfOnePeerWhenSizesAreMixed() {
        for (int seed = 0; seed < 50; seed++) {
            Script random = new Script(seed).randomize();
            Engines mixed = new Engines(random);
            Engines.Node from = mixed.add("a");
            Engines.Node to = mixed.add("b");
            int[] lengths = new int[40];
            for (int i = 0; i < 40; i++) {
                int length = random.random().nextInt(4) == 0 ? random.random().nextInt(20_000) : i;
                lengths[i] = length;
                assertEquals(0, from.tsend(to, 0, length, 7, i));
            }
            for (int i = 0; i < 40; i++) {
                to.trecv(0, 20_000, 7, i);
                if (random.random().nextBoolean()) {
                    mixed.step();
                }
            }
            mixed.settle();
            int[] received = new int[40];
            for (CompletionReader.Entry entry : to.completions.takeAll()) {
                received[(int) entry.context()] = (int) entry.length();
            }
            // receives were posted in this order, and so each has the message of the same number
            assertArrayEquals(lengths, received, "seed " + seed);
            from.assertAtRest();
            to.assertAtRest();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {FabricErrno.EFAULT, FabricErrno.EINVAL})
    void shouldWriteErrorEntryAndGoOnWhenRequestNamesSomethingInvalid(int errno) {
        open(r -> { });
        long to = a.fiAddr(b);
        long[] buffers = {
            0, MemoryRegionDescriptor.address(9, 0x42, 0), MemoryRegionDescriptor.address(0xFFFF, 0x42, 0),
            MemoryRegionDescriptor.address(a.regionIndex, 0x43, 0), a.buf(Engines.MEMORY - 7),
            a.buf(Engines.MEMORY + 100)};
        if (errno == FabricErrno.EFAULT) {
            for (long buffer : buffers) {
                a.send(Engines.TAGGED, buffer, 8, to, 1, 0, 55);
                assertFailed(a, Flags.SEND, errno);
                a.receive(Engines.TAGGED, buffer, 8, -1, 1, 0, 55);
                assertFailed(a, Flags.RECV, errno);
            }
            a.send(Engines.TAGGED, a.buf(0), -1, to, 1, 0, 55);
            assertFailed(a, Flags.SEND, errno);
            a.receive(Engines.TAGGED, a.buf(0), Long.MIN_VALUE, -1, 1, 0, 55);
            assertFailed(a, Flags.RECV, errno);
        } else {
            for (long address : new long[] {1, -1, -2, Long.MAX_VALUE, Long.MIN_VALUE}) {
                a.send(Engines.TAGGED, a.buf(0), 8, address, 1, 0, 55);
                assertFailed(a, Flags.SEND, errno);
                a.inject(Flags.TAGGED, 0, 8, address, 1, 0);
                assertEquals(errno, a.next().errno());
            }
            a.inject(Flags.TAGGED, 0, Engines.INJECT_SIZE + 1, to, 1, 0);
            assertEquals(errno, a.next().errno());
            a.inject(Flags.TAGGED, 0, -1, to, 1, 0);
            assertEquals(errno, a.next().errno());
        }
        b.trecv(0, 8, 1, 200);
        a.tsend(b, 0, 8, 1, 100);
        assertSent(100);
        assertEquals(200, b.next().context());
        assertAtRest();
    }

    private void assertFailed(Engines.Node node, long kind, int errno) {
        CompletionReader.Entry entry = node.next();
        assertEquals(errno, entry.errno());
        assertEquals(55, entry.context());
        assertEquals(kind | Flags.TAGGED, entry.flags());
    }

    @Test
    void shouldCancelWhatHasNotBegunAndNothingElse() {
        open(r -> script.maxConnectSteps = 0);
        b.trecv(0, 64, 1, 200);
        b.trecv(64, 64, 1, 200);
        b.endpoint.cancel(200);
        assertEquals(FabricErrno.ECANCELED, b.next().errno());
        b.endpoint.cancel(12345);
        a.tsend(b, 0, 8, 1, 100);
        a.tsend(b, 0, 9, 1, 101);
        a.endpoint.cancel(101);
        CompletionReader.Entry cancelled = a.next();
        assertEquals(FabricErrno.ECANCELED, cancelled.errno());
        assertEquals(101, cancelled.context());
        assertSent(100);
        assertEquals(8, b.next().length());
        a.endpoint.cancel(100);
        b.endpoint.cancel(200);
        a.tsend(b, 0, 5000, 2, 102);
        rig.settle();
        a.endpoint.cancel(102);
        a.assertNoEntry();
        b.trecv(0, 5000, 2, 202);
        assertEquals(0, b.next().errno());
        assertSent(102);
        assertAtRest();
    }

    @Test
    void shouldCancelNothingWhenContextIsZero() {
        open(r -> { });
        b.trecv(0, 64, 1, 0);
        b.endpoint.cancel(0);
        b.assertNoEntry();
        assertEquals(1, b.endpoint.receiver().outstanding());
    }

    @Test
    void shouldAnswerAgainWhenAsManyOperationsAsItHoldsAreOutstanding() {
        open(r -> {
            r.txSize = 3;
            r.rxSize = 2;
        });
        for (int i = 0; i < 3; i++) {
            assertEquals(0, a.tsend(b, 0, 5000, i, 100 + i));
        }
        assertEquals(-FabricErrno.EAGAIN, a.tsend(b, 0, 1, 9, 104));
        assertEquals(-FabricErrno.EAGAIN, a.inject(Flags.TAGGED, 0, 1, 0, 9, 0));
        assertEquals(0, b.trecv(0, 5000, 8, 1));
        assertEquals(0, b.trecv(0, 5000, 9, 2));
        assertEquals(-FabricErrno.EAGAIN, b.trecv(0, 5000, 0, 3));
        b.endpoint.cancel(1);
        b.next();
        assertEquals(0, b.trecv(0, 5000, 0, 3));
        assertEquals(3, b.next().context());
        rig.settle();
        assertEquals(2, a.endpoint.outstandingSends());
        assertEquals(0, a.tsend(b, 0, 1, 9, 104));
    }

    @Test
    void shouldTalkToItselfWhenAddressIsItsOwn() {
        open(r -> { });
        long self = a.addresses.insert(a.address);
        a.fill(0, 3000, 8);
        a.trecv(10_000, 3000, 1, 200);
        a.send(Engines.TAGGED, a.buf(0), 100, self, 1, 0, 100);
        a.trecv(20_000, 3000, 1, 201);
        a.send(Engines.TAGGED, a.buf(0), 3000, self, 1, 0, 101);
        for (int i = 0; i < 4; i++) {
            assertEquals(0, a.next().errno());
        }
        a.assertFilled(10_000, 100, 8);
        a.assertFilled(20_000, 3000, 8);
        assertNull(a.completions.take());
        rig.settle();
        a.assertAtRest();
    }
}
