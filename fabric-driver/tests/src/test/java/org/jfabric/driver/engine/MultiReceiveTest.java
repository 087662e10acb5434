package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Buffers that take many messages, over every way that a message can take. */
class MultiReceiveTest {
    private static final long RECEIVED = Flags.RECV | Flags.MSG;

    private final Script script = new Script(3);
    private final Engines rig = new Engines(script);
    private Engines.Node a;
    private Engines.Node b;
    private Engines.Node c;

    @BeforeEach
    void caps() {
        rig.caps = Flags.SOURCE | Flags.MULTI_RECV;
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private void open() {
        a = rig.add("a");
        b = rig.add("b");
        c = rig.add("c");
        b.fiAddr(a);
        b.fiAddr(c);
    }

    private void assertMessage(long context, long offset, int length, int seed) {
        CompletionReader.Entry entry = b.next();
        assertEquals(0, entry.errno(), () -> "" + entry);
        assertEquals(context, entry.context(), () -> "" + entry);
        assertEquals(RECEIVED, entry.flags(), () -> "" + entry);
        assertEquals(b.buf(offset), entry.buf(), () -> "" + entry);
        assertEquals(length, entry.length(), () -> "" + entry);
        b.assertFilled((int) offset, length, seed);
    }

    private void assertReleased(long context, int errno) {
        CompletionReader.Entry entry = b.next();
        assertEquals(errno, entry.errno(), () -> "" + entry);
        assertEquals(context, entry.context(), () -> "" + entry);
        assertEquals(Flags.MULTI_RECV, entry.flags(), () -> "" + entry);
        assertEquals(0, entry.length(), () -> "" + entry);
        assertEquals(0, entry.buf(), () -> "" + entry);
        assertEquals(-1, entry.source(), () -> "" + entry);
    }

    private void assertAtRest() {
        rig.settle();
        for (Engines.Node node : rig.nodes) {
            node.completions.takeAll();
        }
        rig.steps(2);
        b.assertNoEntry();
        rig.nodes.forEach(Engines.Node::assertAtRest);
    }

    private void send(Engines.Node from, int length, int seed) {
        from.fill(seed * 8192, length, seed);
        assertEquals(0, from.send(b, seed * 8192, length, 1000 + seed));
    }

    @ParameterizedTest
    @CsvSource({"64, 0, false, 0", "1000, 0, false, 0", "999, 100, false, 0", "5000, 0, false, 0", "5000, 0, false, 1",
        "5001, 0, false, 2", "100, 0, true, 0", "1000, 100, true, 0", "5000, 0, true, 2", "0, 0, true, 0"})
    void shouldPackMessagesAndReleaseTheBufferLast(int length, int streamPercent, boolean unexpected, int pull) {
        script.streamPercent = streamPercent;
        script.pullDonePercent = pull == 0 ? 100 : 0;
        script.pullPendingPercent = pull == 1 ? 100 : 0;
        open();
        int stride = length + 7 & -8;
        // room for three, and one byte less than the least free room behind them
        int total = 3 * stride + 99;
        if (!unexpected) {
            assertEquals(0, b.mrecv(4096, total, 100, 7));
        }
        for (int i = 0; i < 3; i++) {
            send(a, length, i + 1);
        }
        if (unexpected) {
            rig.settle();
            assertEquals(0, b.mrecv(4096, total, 100, 7));
        }
        int count = length == 0 ? 1 : 3;
        for (int i = 0; i < count; i++) {
            assertMessage(7, 4096 + (long) i * stride, length, i + 1);
        }
        assertReleased(7, 0);
        while (b.endpoint.receiver().unexpectedMessages() > 0) {
            b.receive(Engines.MSG, 0, 0, -1, 0, 0, 9);
            b.next();
        }
        assertAtRest();
    }

    @Test
    void shouldStartMessagesAtMultiplesOfEightWhateverTheBufferStartsAt() {
        open();
        assertEquals(0, b.mrecv(4099, 100, 10, 7));
        send(a, 3, 1);
        send(a, 9, 2);
        send(a, 0, 3);
        send(a, 60, 4);
        assertMessage(7, 4099, 3, 1);
        assertMessage(7, 4104, 9, 2);
        assertMessage(7, 4120, 0, 3);
        assertMessage(7, 4120, 60, 4);
        rig.settle();
        // ends at 4180, the next could start at 4184, the buffer ends at 4199
        b.assertNoEntry();
        send(a, 8, 5);
        assertMessage(7, 4184, 8, 5);
        assertReleased(7, 0);
        assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({"1012, false", "1011, true"})
    void shouldReleaseOnlyWhenLessThanTheLeastRoomIsFree(int length, boolean released) {
        open();
        assertEquals(0, b.mrecv(4096, length, 100, 7));
        for (int i = 0; i < 3; i++) {
            send(a, 304, i + 1);
            assertMessage(7, 4096 + i * 304L, 304, i + 1);
        }
        rig.settle();
        if (released) {
            assertReleased(7, 0);
        } else {
            b.assertNoEntry();
            send(a, 100, 5);
            assertMessage(7, 4096 + 912, 100, 5);
            assertReleased(7, 0);
        }
        assertAtRest();
    }

    @Test
    void shouldPassAMessageThatDoesNotFitToTheNextBuffer() {
        open();
        b.mrecv(4096, 450, 100, 7);
        b.mrecv(8192, 450, 100, 8);
        send(a, 304, 1);
        send(a, 200, 2);
        send(a, 20, 3);
        assertMessage(7, 4096, 304, 1);
        assertReleased(7, 0);
        assertMessage(8, 8192, 200, 2);
        assertMessage(8, 8192 + 200, 20, 3);
        b.endpoint.cancel(8);
        assertReleased(8, FabricErrno.ECANCELED);
        assertAtRest();
    }

    @Test
    void shouldLetAMessageThatDoesNotFitWaitForTheNextReceive() {
        open();
        b.mrecv(4096, 450, 100, 7);
        send(a, 304, 1);
        send(a, 200, 2);
        assertMessage(7, 4096, 304, 1);
        assertReleased(7, 0);
        rig.settle();
        assertEquals(1, b.endpoint.receiver().unexpectedMessages());
        b.mrecv(8192, 450, 100, 8);
        assertMessage(8, 8192, 200, 2);
        b.endpoint.cancel(8);
        assertReleased(8, FabricErrno.ECANCELED);
        assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTruncateOnlyWhatIsLongerThanAWholeBuffer(boolean unexpected) {
        open();
        if (unexpected) {
            send(a, 200, 1);
            rig.settle();
        }
        b.mrecv(4096, 150, 0, 7);
        if (!unexpected) {
            send(a, 200, 1);
        }
        CompletionReader.Entry entry = b.next();
        assertEquals(FabricErrno.ETRUNC, entry.errno());
        assertEquals(50, entry.olen());
        assertEquals(150, entry.length());
        assertEquals(b.buf(4096), entry.buf());
        assertEquals(RECEIVED, entry.flags());
        b.assertFilled(4096, 150, 1);
        rig.settle();
        // nothing is free, which is not less than nothing
        b.assertNoEntry();
        send(a, 1, 2);
        assertReleased(7, 0);
        b.receive(Engines.MSG, b.buf(0), 1, -1, 0, 0, 9);
        assertEquals(9, b.next().context());
        assertAtRest();
    }

    @Test
    void shouldWriteEntriesInBufferOrderWhenPayloadsFinishOutOfOrder() {
        script.pullDonePercent = 0;
        open();
        assertEquals(0, b.mrecv(4096, 8192, 200, 7));
        send(a, 5000, 1);
        while (!begun()) {
            rig.step();
        }
        // the request for segments is on its way to a, which is kept from seeing it
        a.channel(b).hold(true);
        send(c, 300, 2);
        send(c, 2000, 3);
        send(c, 500, 4);
        rig.steps(60);
        b.assertNoEntry();
        b.assertFilled(4096 + 5000, 300, 2);
        b.assertFilled(4096 + 5304, 2000, 3);
        a.channel(b).hold(false);
        assertMessage(7, 4096, 5000, 1);
        assertMessage(7, 4096 + 5000, 300, 2);
        assertMessage(7, 4096 + 5304, 2000, 3);
        assertMessage(7, 4096 + 7304, 500, 4);
        send(c, 240, 5);
        assertMessage(7, 4096 + 7808, 240, 5);
        assertReleased(7, 0);
        assertAtRest();
    }

    @Test
    void shouldTakeTwoMessagesThatStreamAtOnce() {
        for (int seed = 0; seed < 50; seed++) {
            Script own = new Script(seed);
            own.streamPercent = 100;
            Engines two = new Engines(own);
            two.caps = rig.caps;
            Engines.Node x = two.add("x");
            Engines.Node y = two.add("y");
            Engines.Node z = two.add("z");
            y.fiAddr(x);
            y.fiAddr(z);
            y.mrecv(4096, 1400, 200, 7);
            x.fill(0, 700, 1);
            z.fill(0, 555, 2);
            x.send(y, 0, 700, 100);
            z.send(y, 0, 555, 200);
            List<CompletionReader.Entry> entries = new ArrayList<>();
            entries.add(y.next());
            entries.add(y.next());
            entries.add(y.next());
            String where = "seed " + seed + ' ' + entries;
            boolean xFirst = entries.get(0).length() == 700;
            int second = 4096 + (xFirst ? 704 : 560);
            assertEquals(y.buf(4096), entries.get(0).buf(), where);
            assertEquals(y.buf(second), entries.get(1).buf(), where);
            assertEquals(xFirst ? 0 : 1, entries.get(0).source(), where);
            y.assertFilled(xFirst ? 4096 : second, 700, 1);
            y.assertFilled(xFirst ? second : 4096, 555, 2);
            assertEquals(Flags.MULTI_RECV, entries.get(2).flags(), where);
            two.settle();
            x.assertAtRest();
            y.assertAtRest();
            z.assertAtRest();
            two.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"100, 0, 0", "1000, 100, 0", "3000, 0, 0", "3000, 0, 2"})
    void shouldHoldMessagesBackWithoutASlotOfTheDriver(int length, int streamPercent, int pull) {
        script.streamPercent = streamPercent;
        script.pullDonePercent = pull == 0 ? 100 : 0;
        rig.driverShare = 3;
        rig.settings = new EngineSettings(1 << 20, 1 << 16, 64, 64);
        open();
        b.mrecv(4096, 1 << 17, 200, 7);
        for (int i = 0; i < 12; i++) {
            send(a, length, i + 1);
        }
        assertEquals(0, a.tsend(b, 0, 8, 5, 99));
        rig.settle();
        assertEquals(9, b.endpoint.receiver().unexpectedMessages() - 1);
        assertTrue(b.completions.isHeldBack());
        // a message with a tag is none of this
        b.trecv(0, 8, 5, 55);
        for (int i = 0; i < 3; i++) {
            assertMessage(7, 4096 + (long) i * (length + 7 & -8), length, i + 1);
        }
        assertEquals(55, b.next().context());
        for (int i = 3; i < 12; i++) {
            assertMessage(7, 4096 + (long) i * (length + 7 & -8), length, i + 1);
        }
        rig.settle();
        assertFalse(b.completions.isHeldBack());
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        assertAtRest();
    }

    /** The driver's slots are used up before its entries are as many as the reader waits for: no more will come. */
    @Test
    void shouldWakeASleepingReaderWhenItHoldsAMessageBack() {
        rig.driverShare = 3;
        open();
        b.mrecv(4096, 8192, 200, 7);
        b.completions.sleep(10);
        for (int i = 1; i <= 3; i++) {
            send(a, 10, i);
            rig.settle();
        }
        assertFalse(b.completions.isHeldBack());
        assertFalse(b.completions.isAwake(), "three entries of ten");
        send(a, 10, 4);
        rig.settle();
        assertTrue(b.completions.isHeldBack());
        assertTrue(b.completions.isAwake());
        for (int i = 1; i <= 4; i++) {
            assertMessage(7, 4096 + (i - 1) * 16L, 10, i);
        }
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        assertAtRest();
    }

    /** A slot becomes free and a message arrives in the same cycle, while an older one waits for the slot. */
    @Test
    void shouldTellEachSenderWhatItsMessageReachedWhileOthersAreHeldBack() {
        rig.driverShare = 1;
        open();
        b.mrecv(4096, 1 << 16, 200, 7);
        long[] levels = {Flags.MATCH_COMPLETE, Flags.DELIVERY_COMPLETE, 0};
        int count = 60;
        int read = 0;
        for (int i = 0; i < count; i++) {
            a.fill(i * 64, 64, i + 1);
            assertEquals(0, a.send(Engines.MSG | levels[i % 3], a.buf(i * 64), 64, a.fiAddr(b), 0, 0, 1000 + i));
            if (i % 4 != 0) {
                rig.step();
                read += b.completions.take() == null ? 0 : 1;
            }
        }
        while (read < count) {
            assertEquals(7, b.next().context());
            read++;
        }
        rig.settle();
        assertEquals(count, a.completions.takeAll().size());
        for (int i = 0; i < count; i++) {
            b.assertFilled(4096 + i * 64, 64, i + 1);
        }
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        assertAtRest();
    }

    @Test
    void shouldNotLetAReceiveBehindABufferTakeWhatIsHeldBackForIt() {
        rig.driverShare = 1;
        open();
        b.mrecv(4096, 4096, 200, 7);
        send(a, 100, 1);
        send(a, 101, 2);
        send(a, 102, 3);
        rig.settle();
        assertEquals(0, b.receive(Engines.MSG, b.buf(0), 1000, -1, 0, 0, 9));
        rig.settle();
        assertMessage(7, 4096, 100, 1);
        assertMessage(7, 4096 + 104, 101, 2);
        assertMessage(7, 4096 + 208, 102, 3);
        send(a, 103, 4);
        assertMessage(7, 4096 + 312, 103, 4);
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        send(a, 10, 5);
        assertEquals(9, b.next().context());
        assertAtRest();
    }

    @Test
    void shouldGiveWhatIsHeldBackToTheNextReceiveWhenTheBufferIsCancelled() {
        rig.driverShare = 1;
        open();
        b.mrecv(4096, 4096, 200, 7);
        send(a, 100, 1);
        send(a, 101, 2);
        rig.settle();
        b.receive(Engines.MSG, b.buf(0), 1000, -1, 0, 0, 9);
        rig.settle();
        b.endpoint.cancel(7);
        rig.steps(2);
        assertMessage(7, 4096, 100, 1);
        assertReleased(7, FabricErrno.ECANCELED);
        CompletionReader.Entry entry = b.next();
        assertEquals(9, entry.context());
        assertEquals(101, entry.length());
        b.assertFilled(0, 101, 2);
        assertAtRest();
    }

    @Test
    void shouldGoOnWithoutLimitWhenTheApplicationKeepsRoomItself() {
        rig.driverShare = 1;
        rig.mayOverrun = true;
        open();
        b.mrecv(4096, 8192, 200, 7);
        for (int i = 0; i < 20; i++) {
            send(a, 100, i + 1);
        }
        rig.settle();
        assertEquals(0, b.endpoint.receiver().unexpectedMessages());
        for (int i = 0; i < 20; i++) {
            assertMessage(7, 4096 + 104L * i, 100, i + 1);
        }
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        assertAtRest();
    }

    @ParameterizedTest
    @CsvSource({"100, 0", "600, 100", "3000, 0"})
    void shouldReleaseLastWhenCancelledWhileMessagesAreOnTheirWay(int length, int streamPercent) {
        script.streamPercent = streamPercent;
        script.pullDonePercent = 0;
        script.maxDelaySteps = 3;
        open();
        b.mrecv(4096, 8192, 200, 7);
        send(a, length, 1);
        while (b.endpoint.receiver().outstanding() == 1 && !begun()) {
            rig.step();
        }
        b.endpoint.cancel(7);
        assertMessage(7, 4096, length, 1);
        assertReleased(7, FabricErrno.ECANCELED);
        b.endpoint.cancel(7);
        assertAtRest();
    }

    /** Whether a message has taken its slot. */
    private boolean begun() {
        return b.completions.writer.driverQuota().inUse() != 0;
    }

    @ParameterizedTest
    @CsvSource({"600, 100, 100", "600, 100, 0", "3000, 0, 100"})
    void shouldFailOnlyThePartWhosePeerDied(int length, int streamPercent, int abortFirstPercent) {
        script.streamPercent = streamPercent;
        script.pullDonePercent = 0;
        script.abortFirstPercent = abortFirstPercent;
        open();
        b.mrecv(4096, 8192, 200, 7);
        send(a, length, 1);
        while (!begun()) {
            rig.step();
        }
        script.streamPercent = 0;
        send(c, 300, 2);
        for (int i = 0; i < 100 && b.completions.writer.driverQuota().inUse() != 2; i++) {
            b.channel(a).hold(true);
            rig.step();
        }
        b.assertNoEntry();
        b.channel(a).kill(FabricErrno.ECONNRESET);
        CompletionReader.Entry entry = b.next();
        assertEquals(FabricErrno.ECONNRESET, entry.errno(), () -> "" + entry);
        assertEquals(7, entry.context());
        assertEquals(RECEIVED, entry.flags());
        assertEquals(b.buf(4096), entry.buf());
        assertMessage(7, 4096 + length, 300, 2);
        assertTrue(b.region.useCount() > 0);
        b.endpoint.cancel(7);
        assertReleased(7, FabricErrno.ECANCELED);
        rig.settle();
        a.completions.takeAll();
        assertAtRest();
    }

    @Test
    void shouldReleaseABufferThatNamesAPeerWhenThatDies() {
        rig.directed = true;
        open();
        long fromA = b.fiAddr(a);
        assertEquals(0, b.receive(Engines.MSG | Flags.MULTI_RECV, b.buf(4096), 4096, fromA, 0, 100, 7));
        send(a, 100, 1);
        assertMessage(7, 4096, 100, 1);
        b.channel(a).kill(FabricErrno.ECONNRESET);
        assertReleased(7, FabricErrno.ECONNRESET);
        assertAtRest();
    }

    @Test
    void shouldGiveEverythingBackWhenTheEndpointIsClosed() {
        script.pullDonePercent = 0;
        rig.driverShare = 2;
        open();
        b.mrecv(4096, 1 << 16, 200, 7);
        send(a, 3000, 1);
        while (!begun()) {
            rig.step();
        }
        send(c, 10, 2);
        send(c, 10, 3);
        rig.settle();
        b.completions.takeAll();
        send(a, 3000, 4);
        rig.steps(2);
        b.engine.removeEndpoint(b.endpoint);
        b.completions.takeAll();
        assertEquals(0, b.region.useCount());
        assertEquals(0, b.completions.writer.driverQuota().inUse());
        assertFalse(b.completions.isHeldBack());
        assertEquals(b.posted, b.completions.taken() + b.completions.retired());
    }

    @Test
    void shouldRefuseABufferThatTheEndpointDoesNotOffer() {
        rig.caps = Flags.SOURCE;
        open();
        b.mrecv(4096, 4096, 100, 7);
        CompletionReader.Entry entry = b.next();
        assertEquals(FabricErrno.EBADFLAGS, entry.errno());
        assertEquals(7, entry.context());
        assertAtRest();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, Long.MAX_VALUE})
    void shouldSurviveAnyLeastRoom(long minFree) {
        open();
        assertEquals(0, b.mrecv(4096, 300, minFree, 7));
        assertEquals(0, b.receive(Engines.TAGGED | Flags.MULTI_RECV, b.buf(0), 10, -1, 5, 0, 8));
        CompletionReader.Entry refused = b.next();
        assertEquals(FabricErrno.EBADFLAGS, refused.errno());
        assertEquals(8, refused.context());
        send(a, 300, 1);
        assertMessage(7, 4096, 300, 1);
        if (minFree < 0) {
            b.endpoint.cancel(7);
            assertReleased(7, FabricErrno.ECANCELED);
        } else {
            assertReleased(7, 0);
        }
        assertEquals(0, b.receive(Engines.MSG | Flags.MULTI_RECV, 0x7FFF_0000_0000_0000L, 8, -1, 0, 0, 9));
        assertReleased(9, FabricErrno.EFAULT);
        assertAtRest();
    }

    @Test
    void shouldReleaseAlsoWhenMessagesAskForNoEntries() {
        rig.driverShare = 1;
        open();
        b.receive(Flags.MSG | Flags.MULTI_RECV, b.buf(4096), 1000, -1, 0, 100, 7);
        for (int i = 0; i < 9; i++) {
            send(a, 104, i + 1);
        }
        assertReleased(7, 0);
        assertAtRest();
    }
}
