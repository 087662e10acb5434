package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;

/** When the short path has to be left, and what must not be used any more that it has kept. */
class ExpectedReceivesTest {
    private static final int LENGTH = 64;
    /** More than keep the queue closed behind its first spill. */
    private static final int POSTS = 40;

    private final Script script = new Script(1);
    private final Engines rig = new Engines(script);
    private Engines.Node a;
    private Engines.Node b;
    private long context;

    private void open() {
        a = rig.add("a");
        b = rig.add("b");
        b.fiAddr(a);
        for (int i = 0; i < 3; i++) {
            // the first one waits for the channel
            transfer(1);
        }
    }

    private void transfer(long tag) {
        receive(tag);
        send(tag);
        assertEnds(a, context, 0);
        assertEnds(b, context, 0);
    }

    private void receive(long tag) {
        assertEquals(0, b.trecv(0, LENGTH, tag, ++context));
    }

    private void send(long tag) {
        a.fill(0, LENGTH, (int) tag);
        assertEquals(0, a.tsend(b, 0, LENGTH, tag, context));
    }

    private static void assertEnds(Engines.Node node, long context, int errno) {
        CompletionReader.Entry entry = node.next();
        assertEquals(context, entry.context());
        assertEquals(errno, entry.errno());
    }

    private void close() {
        rig.settle();
        a.assertAtRest();
        b.assertAtRest();
        rig.close();
    }

    /** A message that is announced, but short enough to hold back the entries behind it. */
    @Test
    void shouldKeepTheEntriesInOrderBehindAPayloadThatIsStillToCome() {
        rig.eagerLimitBytes = 4096;
        open();
        assertEquals(0, b.trecv(0, 2000, 2, 1000));
        script.pullDonePercent = 0;
        script.pullPendingPercent = 100;
        script.maxDelaySteps = 100;
        a.tsend(b, 0, 2000, 2, 1000);
        for (int i = 0; i < 200 && b.peer(a).receives().entryOrder().isEmpty(); i++) {
            rig.step();
        }
        assertFalse(b.peer(a).receives().entryOrder().isEmpty());
        script.maxDelaySteps = 0;
        long first = context + 1;
        for (int i = 0; i < POSTS; i++) {
            receive(3);
        }
        assertEquals(0, a.tsend(b, 0, LENGTH, 3, 1001));
        rig.steps(3);
        b.assertNoEntry();
        assertEnds(b, 1000, 0);
        assertEnds(b, first, 0);
        for (long posted = first + 1; posted <= context; posted++) {
            b.endpoint.cancel(posted);
            assertEnds(b, posted, FabricErrno.ECANCELED);
        }
        close();
    }

    /** Announced ones, ones that are too long, and untagged ones cost themselves and nothing else. */
    @Test
    void shouldTakeAllOthersWhereMessagesOfAnotherKindComeBetween() {
        open();
        long before = b.endpoint.receiver().expectedMessages();
        int others = 0;
        for (int i = 0; i < 100; i++) {
            for (int tag = 1; tag <= 4; tag++) {
                receive(tag);
            }
            boolean isAnnounced = i % 2 == 0;
            assertEquals(0, b.receive(Engines.MSG, b.buf(0), LENGTH, -1, 0, 0, 2_000));
            for (int tag = 1; tag <= 4; tag++) {
                boolean isOther = tag == i % 4 + 1;
                others += isOther ? 1 : 0;
                assertEquals(0, a.tsend(b, 0, !isOther ? LENGTH : isAnnounced ? 5000 : LENGTH + 8, tag, 1));
                if (tag == 2) {
                    assertEquals(0, a.send(b, 0, LENGTH, 1));
                }
            }
            rig.settle();
            assertEquals(5, a.completions.takeAll().size());
            assertEquals(5, b.completions.takeAll().size());
        }
        assertEquals(before + 400 - others, b.endpoint.receiver().expectedMessages());
        close();
    }

    @Test
    void shouldPayForACancelOnceForEachReceiveThatItMoved() {
        open();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 8; i++) {
                receive(7);
            }
            b.endpoint.cancel(context);
            assertEnds(b, context, FabricErrno.ECANCELED);
            long before = b.endpoint.receiver().expectedMessages();
            for (int i = 0; i < 8; i++) {
                // the first seven of these end those from before
                receive(7);
                assertEquals(0, a.tsend(b, 0, LENGTH, 7, 1));
                rig.settle();
            }
            assertTrue(b.endpoint.receiver().expectedMessages() > before, "round " + round);
            for (int i = 0; i < 7; i++) {
                assertEquals(0, a.tsend(b, 0, LENGTH, 7, 1));
            }
            rig.settle();
            assertEquals(15, b.completions.takeAll().size());
            a.completions.takeAll();
        }
        close();
    }

    /** No send needs an operation, whichever peer it goes to. */
    @Test
    void shouldSendToAnyPeerInTurnWithoutAnOperation() {
        open();
        Engines.Node c = rig.add("c");
        c.fiAddr(a);
        assertEquals(0, c.trecv(0, LENGTH, 1, 1));
        assertEquals(0, a.tsend(c, 0, LENGTH, 1, 1));
        assertEnds(a, 1, 0);
        assertEnds(c, 1, 0);
        int before = script.shortSends;
        for (int i = 0; i < 100; i++) {
            Engines.Node to = i % 2 == 0 ? b : c;
            assertEquals(0, to.trecv(0, LENGTH, 2, 10));
            assertEquals(0, a.tsend(to, 0, LENGTH, 2, 11));
            // it has ended when the call returns
            assertEquals(11, a.completions.take().context());
            rig.settle();
            assertEquals(10, to.next().context());
        }
        assertEquals(before + 100, script.shortSends);
        close();
    }

    @Test
    void shouldGiveAMessageThatWaitsToTheReceiveOfItsTag() {
        open();
        send(2);
        assertEnds(a, context, 0);
        long first = context + 1;
        for (int i = 0; i < POSTS; i++) {
            receive(3);
        }
        assertEquals(0, b.trecv(0, LENGTH, 2, 1000));
        assertEnds(b, 1000, 0);
        for (long posted = first; posted <= context; posted++) {
            assertEquals(0, a.tsend(b, 0, LENGTH, 3, posted));
            assertEnds(b, posted, 0);
        }
        close();
    }

    @Test
    void shouldGiveCreditAndMemoryBack() {
        open();
        // several times the window of credit
        for (int i = 0; i < 1000; i++) {
            transfer(i);
        }
        assertEquals(0, script.announcements);
        close();
    }

    @Test
    void shouldTakeAMessageWithDataToTheOldestReceive() {
        open();
        receive(2);
        receive(2);
        assertEquals(0, a.send(
            Engines.TAGGED | Flags.REMOTE_CQ_DATA, a.buf(0), LENGTH, a.fiAddr(b), 2, 77, context));
        CompletionReader.Entry entry = b.next();
        assertEquals(context - 1, entry.context());
        assertEquals(77, entry.data());
        send(2);
        assertEnds(b, context, 0);
        close();
    }

    @Test
    void shouldNotUseARegionThatIsClosed() {
        open();
        a.session.regions().close(a.regionIndex);
        assertEquals(0, a.tsend(b, 0, LENGTH, 1, 1000));
        assertEnds(a, 1000, FabricErrno.EFAULT);
        receive(1);
        b.session.regions().close(b.regionIndex);
        assertEquals(0, b.trecv(0, LENGTH, 1, 1001));
        assertEnds(b, 1001, FabricErrno.EFAULT);
        // what was posted before holds its memory
        assertEquals(0, a.send(Engines.TAGGED, a.twinBuf(0), LENGTH, a.fiAddr(b), 1, 0, context));
        assertEnds(b, context, 0);
        close();
    }

    @Test
    void shouldNotSendToAnAddressThatIsRemoved() {
        open();
        long toB = a.fiAddr(b);
        a.addresses.remove(toB);
        assertEquals(0, a.send(Engines.TAGGED, a.buf(0), LENGTH, toB, 1, 0, 1000));
        assertEnds(a, 1000, FabricErrno.EINVAL);
        rig.steps(5);
        b.assertNoEntry();
        close();
    }

    @Test
    void shouldSendOverTheChannelThatFollowedALostOne() {
        open();
        a.channel(b).kill(FabricErrno.ECONNRESET);
        rig.settle();
        // the other side opens the next channel
        assertEquals(0, a.trecv(0, LENGTH, 5, 1000));
        assertEquals(0, b.tsend(a, 0, LENGTH, 5, 1001));
        assertEnds(a, 1000, 0);
        assertEnds(b, 1001, 0);
        transfer(1);
        close();
    }
}
