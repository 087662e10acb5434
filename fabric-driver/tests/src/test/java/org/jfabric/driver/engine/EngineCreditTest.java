package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Byte credit: what a receiver that does not post costs, and that no credit is ever lost or made up. */
class EngineCreditTest {
    private final Script script = new Script(2);
    private final Engines rig = new Engines(script);

    private static long held(Engines.Node node) {
        return node.endpoint.peers().all().stream().mapToLong(peer -> peer.receives().held().heldBytes()).sum();
    }

    @Test
    void shouldHoldSendersWithinTheBudgetWhenNothingIsPosted() {
        rig.settings = new EngineSettings(1 << 16, 1 << 14, 4, 4);
        rig.txSize = 1000;
        Engines.Node b = rig.add("b");
        for (int i = 0; i < 12; i++) {
            Engines.Node sender = rig.add("s" + i);
            b.fiAddr(sender);
            for (int k = 0; k < 300; k++) {
                sender.tsend(b, 0, k % 1024, 1, k + 1);
            }
        }
        rig.settle();
        assertTrue(held(b) <= 1 << 16, "held " + held(b));
        assertTrue(held(b) > 1 << 15, "held " + held(b));
        long announced = b.endpoint.receiver().unexpectedMessages() - b.endpoint.receiver().scan().storedBlocks();
        assertTrue(announced <= 12 * 5, "announced " + announced);
        for (int k = 0; k < 12 * 300; k++) {
            b.trecv(0, 1024, 1, 7);
            if (k % 8 == 0) {
                rig.step();
            }
            assertTrue(held(b) <= 1 << 16, "held " + held(b));
            b.completions.takeAll();
            assertTrue(b.endpoint.receiver().outstanding() < 64);
        }
        rig.settle();
        rig.nodes.forEach(Engines.Node::assertAtRest);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldAnnounceNoShortMessageWhoseCreditIsOnItsWay(boolean tellsTaken) {
        script.tellsTaken = tellsTaken;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        int messages = 3 * ((1 << 14) / (1024 + 64));
        for (int i = 0; i < messages; i++) {
            assertEquals(0, b.trecv(0, 1024, 1, 200 + i));
            assertEquals(0, a.tsend(b, 0, 1000, 1, 100 + i));
        }
        rig.settle();
        // where a link cannot tell what the peer has taken, nobody can know whether credit will come
        assertEquals(tellsTaken, script.announcements == 0, script.announcements + " announcements");
        for (int i = 0; i < messages; i++) {
            assertEquals(200 + i, b.next().context());
        }
        assertEquals(messages, a.completions.takeAll().size());
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldAnnounceToAPeerThatTakesNothingAndRestThen() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        assertEquals(0, a.tsend(b, 0, 8, 1, 99));
        rig.settle();
        b.channel(a).hold(true);
        for (int i = 0; i < 30; i++) {
            assertEquals(0, a.tsend(b, 0, 1000, 1, 100 + i));
        }
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (script.announcements < rig.settings.announcementLimit() || a.engine.hasScheduled()) {
            assertTrue(System.nanoTime() - deadlineNs < 0, script.announcements + " announcements");
            a.engine.clock().update();
            rig.step();
        }
        b.channel(a).hold(false);
        for (int i = -1; i < 30; i++) {
            assertEquals(0, b.trecv(0, 1024, 1, 200 + i));
        }
        rig.settle();
        assertEquals(31, a.completions.takeAll().size());
        assertEquals(31, b.completions.takeAll().size());
        a.assertAtRest();
        b.assertAtRest();
    }

    /** The entry is there before the sender knows: whoever posts again behind it must not find the place taken. */
    @Test
    void shouldMakeRoomForAnotherReceiveBeforeTheSenderCanBeTold() {
        rig.settings = new EngineSettings(1 << 20, 1 << 14, 64, 4);
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        int messages = 20;
        for (int i = 0; i < messages; i++) {
            assertEquals(0, a.tsend(b, 0, 5000, 1, 100 + i));
        }
        rig.settle();
        assertEquals(messages, b.endpoint.receiver().unexpectedMessages());
        script.capacityFrames = 0;
        int posted = 0;
        while (b.trecv(0, 5000, 1, 200 + posted) == 0) {
            posted++;
        }
        assertEquals(messages, b.completions.takeAll().size());
        a.assertNoEntry();
        // a few at once; the others keep their places, so that a sender that does not listen cannot fill the memory
        int early = posted - rig.rxSize;
        assertTrue(early > 0 && early < messages, () -> early + " of " + messages);
        assertEquals(posted - early, b.endpoint.outstandingReceives());
        assertEquals(early, b.endpoint.receiver().completed().get());
        script.capacityFrames = Integer.MAX_VALUE;
        rig.settle();
        assertEquals(messages, a.completions.takeAll().size());
        assertEquals(posted - messages, b.endpoint.outstandingReceives());
        assertEquals(messages, b.endpoint.receiver().completed().get());
        for (int i = messages; i < posted; i++) {
            assertEquals(0, a.tsend(b, 0, 8, 1, 100 + i));
            rig.settle();
            assertEquals(200 + i, b.next().context());
        }
        assertEquals(posted - messages, a.completions.takeAll().size());
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldStillMatchOtherTagsWhenCreditIsUsedUp() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.trecv(0, 1024, 2, 200);
        for (int i = 0; i < 1 << 14; i += 1024) {
            a.tsend(b, 0, 1000, 1, 100);
        }
        a.tsend(b, 0, 1000, 2, 101);
        assertEquals(200, b.next().context());
        assertTrue(script.announcements > 0);
        a.tsend(b, 0, 900, 3, 102);
        b.trecv(0, 1024, 3, 201);
        assertEquals(201, b.next().context());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "100, 0, 0", "0, 100, 3", "50, 50, 3"})
    void shouldReturnAllCreditWhenStoreIsDrainedManyTimes(int streamPercent, int pendingPercent, int delay) {
        script.streamPercent = streamPercent;
        script.pendingSendPercent = pendingPercent;
        script.maxDelaySteps = delay;
        script.wouldBlockPercent = delay * 10;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        int window = (1 << 14) / (1024 + 64);
        for (int round = 0; round < 300; round++) {
            for (int i = 0; i < window; i++) {
                assertEquals(0, a.tsend(b, 0, 1000 + i, i, 100 + i));
            }
            rig.settle();
            assertEquals(0, script.announcements, "credit was lost by round " + round);
            assertEquals(window, b.endpoint.receiver().scan().storedBlocks());
            for (int i = window - 1; i >= 0; i--) {
                b.trecv(0, 1024, i, 200 + i);
            }
            rig.settle();
            assertEquals(window, a.completions.takeAll().size());
            assertEquals(window, b.completions.takeAll().size());
        }
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldGoOnGrantingWhenMoreThan32BitsOfCreditWereSpent() {
        rig.settings = new EngineSettings(1 << 21, 1 << 20, 4, 4);
        rig.eagerLimitBytes = 1 << 16;
        script.eagerLimitBytes = 1 << 16;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        long spent = 0;
        while (spent < (1L << 32) + (1L << 24)) {
            for (int i = 0; i < 4; i++) {
                b.trecv(0, 1 << 16, 1, 1);
                a.tsend(b, 0, 1 << 16, 1, 1);
                spent += (1 << 16) + 64;
            }
            rig.steps(3);
            a.completions.takeAll();
            b.completions.takeAll();
        }
        rig.settle();
        assertEquals(0, script.announcements);
        a.assertAtRest();
        b.assertAtRest();
    }

    @Test
    void shouldKeepGrantWhenTheCallThatCarriedItIsCancelled() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        int window = (1 << 14) / (1024 + 64);
        a.tsend(b, 0, 0, 99, 1);
        b.tsend(a, 0, 0, 99, 1);
        rig.settle();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < window - 1; i++) {
                a.tsend(b, 0, 1024, 1, 1);
            }
            rig.settle();
            // what b would tell its peer along with this send is not sent, and then the send is no more
            for (int i = 0; i < window - 1; i++) {
                b.trecv(0, 1024, 1, 1);
            }
            script.wouldBlockPercent = 100;
            b.tsend(a, 0, 0, 98, 77);
            rig.steps(2);
            b.endpoint.cancel(77);
            script.wouldBlockPercent = 0;
            rig.settle();
            assertEquals(0, script.announcements, "round " + round);
            a.completions.takeAll();
            b.completions.takeAll();
        }
    }

    private static long credit(Engines.Node sender) {
        return sender.endpoint.peers().all().getFirst().peer().credit().leftBytes();
    }

    private void exchange(Engines.Node sender, Engines.Node receiver, int messages) {
        for (int received = 0, posted = 0, sent = 0; received < messages;) {
            posted += posted < messages && receiver.trecv(0, 1024, 1, 1) == 0 ? 1 : 0;
            sent += sent < posted && sender.tsend(receiver, 0, 1000, 1, 1) == 0 ? 1 : 0;
            rig.step();
            sender.completions.takeAll();
            received += receiver.completions.takeAll().size();
        }
        rig.settle();
        sender.completions.takeAll();
    }

    /** Those that are connected only keep little; who sends gets more, as long as enough is left for others. */
    @Test
    void shouldHaveCreditForEverySenderHoweverManyThereAre() {
        int budget = 4 << 20;
        int window = 256 << 10;
        rig.settings = new EngineSettings(budget, window, 4, 4);
        Engines.Node b = rig.add("b");
        List<Engines.Node> senders = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Engines.Node sender = rig.add("s" + i);
            senders.add(sender);
            b.fiAddr(sender);
            exchange(sender, b, 1);
            assertTrue(credit(sender) > 1 << 10, "sender " + i + " has " + credit(sender));
        }
        Engines.Node last = senders.getLast();
        exchange(last, b, 2_000);
        assertEquals(0, script.announcements);
        assertTrue(b.endpoint.receiver().scan().unreservedBytes() >= 0);
        rig.nodes.forEach(Engines.Node::assertAtRest);
        senders.forEach(each -> each.engine.removeEndpoint(each.endpoint));
        rig.settle();
        assertEquals(budget, b.endpoint.receiver().scan().unreservedBytes());
    }

    @Test
    void shouldTakeCreditFromSendersThatHadMuchForThoseThatCome() {
        int budget = 1 << 20;
        int window = 256 << 10;
        rig.settings = new EngineSettings(budget, window, 4, 4);
        Engines.Node b = rig.add("b");
        Engines.Node first = rig.add("first");
        b.fiAddr(first);
        exchange(first, b, 2_000);
        assertTrue(credit(first) > window / 2, "it uses much: " + credit(first));
        List<Engines.Node> others = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Engines.Node other = rig.add("s" + i);
            others.add(other);
            b.fiAddr(other);
            exchange(other, b, 1);
            exchange(first, b, 300);
        }
        assertTrue(credit(first) < window * 3 / 8, "others came: " + credit(first));
        assertTrue(credit(first) > 16 << 10, "it still sends: " + credit(first));
        assertTrue(credit(others.getLast()) > 1 << 10, "the last one has " + credit(others.getLast()));
        assertEquals(0, script.announcements);
        rig.nodes.forEach(Engines.Node::assertAtRest);
        others.forEach(each -> each.engine.removeEndpoint(each.endpoint));
        first.engine.removeEndpoint(first.endpoint);
        rig.settle();
        assertEquals(budget, b.endpoint.receiver().scan().unreservedBytes());
    }

    /** Who came when nothing was left gets credit when others go, though it could only announce till then. */
    @Test
    void shouldGiveCreditToAPeerWhoseWindowWasTooSmall() {
        int budget = 1 << 16;
        rig.settings = new EngineSettings(budget, 1 << 14, 4, 4);
        Engines.Node b = rig.add("b");
        List<Engines.Node> senders = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Engines.Node sender = rig.add("s" + i);
            senders.add(sender);
            b.fiAddr(sender);
            exchange(sender, b, 1);
        }
        Engines.Node last = senders.removeLast();
        exchange(last, b, 4);
        assertTrue(credit(last) < 1024 + 64, "a message is longer: " + credit(last));
        assertTrue(script.announcements > 0);
        senders.forEach(each -> each.engine.removeEndpoint(each.endpoint));
        rig.settle();
        exchange(last, b, 40);
        int before = script.announcements;
        exchange(last, b, 40);
        assertEquals(before, script.announcements);
        last.assertAtRest();
        last.engine.removeEndpoint(last.endpoint);
        rig.settle();
        assertEquals(budget, b.endpoint.receiver().scan().unreservedBytes());
    }

    /** A window of messages in advance of the receives is stored as before, though the channel began with less. */
    @Test
    void shouldGrowAWindowWhoseMessagesWaitForReceives() {
        int window = 256 << 10;
        rig.settings = new EngineSettings(4 << 20, window, 4, 4);
        rig.txSize = 1_000;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.fiAddr(a);
        int messages = window / (1024 + 64) - 8;
        for (int i = 0; i < messages; i++) {
            assertEquals(0, a.tsend(b, 0, 1000, 1, 1));
            rig.steps(2);
        }
        rig.settle();
        assertEquals(0, script.announcements);
        assertEquals(messages, b.endpoint.receiver().scan().storedBlocks());
        for (int i = 0; i < messages; i++) {
            assertEquals(0, b.trecv(0, 1024, 1, 1));
            b.completions.takeAll();
        }
        rig.settle();
        a.completions.takeAll();
        b.completions.takeAll();
        a.assertAtRest();
        b.assertAtRest();
    }

    /** An application that takes one message at a time, and answers none: its sender must not wait for long. */
    @Test
    void shouldSendCreditThatNothingCarriesAfterAWhile() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        int window = (1 << 14) / (1024 + 64);
        for (int i = 0; i < window; i++) {
            assertEquals(0, a.tsend(b, 0, 1000, 1, 1));
        }
        rig.settle();
        long before = credit(a);
        long nowNs = System.nanoTime();
        for (int i = 0; i < 3; i++) {
            assertEquals(0, b.trecv(0, 1024, 1, 1));
        }
        rig.settle();
        assertEquals(before, credit(a), "there is more than half a window to come");
        b.engine.sendCredit(nowNs);
        rig.settle();
        assertEquals(before + 3 * (1024 + 64), credit(a));
        // and not with each message
        assertEquals(0, b.trecv(0, 1024, 1, 1));
        rig.settle();
        b.engine.sendCredit(nowNs + 900_000);
        rig.settle();
        assertEquals(before + 3 * (1024 + 64), credit(a));
        b.engine.sendCredit(nowNs + 1_000_000);
        rig.settle();
        assertEquals(before + 4 * (1024 + 64), credit(a));
    }

    @Test
    void shouldSendCreditToAPeerThatIsAheadOfWhatWasTakenAndToNoOther() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        assertEquals(0, b.trecv(0, 1024, 1, 1));
        assertEquals(0, a.tsend(b, 0, 1000, 1, 1));
        rig.settle();
        long before = credit(a);
        long nowNs = System.nanoTime();
        b.engine.sendCredit(nowNs);
        rig.settle();
        assertEquals(before, credit(a), "it has nearly all, and may sleep");
        assertEquals(0, b.trecv(0, 1024, 1, 1));
        assertEquals(0, a.tsend(b, 0, 1000, 1, 1));
        rig.settle();
        b.channel(a).hold(true);
        assertEquals(0, a.tsend(b, 0, 1000, 1, 1));
        long behind = credit(a);
        b.engine.sendCredit(nowNs + 1_000_000);
        rig.steps(5);
        assertEquals(behind + 2 * (1024 + 64), credit(a));
        b.channel(a).hold(false);
    }

    @Test
    void shouldGiveTheWindowsOfGonePeersToNewOnes() {
        rig.settings = new EngineSettings(1 << 16, 1 << 14, 4, 4);
        Engines.Node b = rig.add("b");
        for (int i = 0; i < 40; i++) {
            Engines.Node sender = rig.add("s" + i);
            sender.tsend(b, 0, 1000, 1, 1);
            rig.settle();
            assertEquals(1, b.endpoint.receiver().scan().storedBlocks());
            sender.engine.removeEndpoint(sender.endpoint);
            rig.settle();
            assertEquals(1, b.endpoint.receiver().scan().storedBlocks());
            b.trecv(0, 1024, 1, 1);
            assertEquals(0, b.next().errno());
        }
        assertEquals(0, script.announcements);
        assertEquals(1 << 16, b.endpoint.receiver().scan().unreservedBytes());
    }

    @Test
    void shouldCountMessagesOfEarlierChannelsOnceWhenPeerReconnectsOften() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        for (int i = 0; i < 30; i++) {
            a.tsend(b, 0, 1000, i, 1);
            rig.settle();
            b.channel(a).kill(FabricErrno.ECONNRESET);
            rig.settle();
        }
        assertEquals(30, b.endpoint.receiver().scan().storedBlocks());
        int window = (1 << 14) / (1024 + 64);
        for (int i = 0; i < window; i++) {
            a.tsend(b, 0, 1000, 100, 1);
        }
        rig.settle();
        assertEquals(0, script.announcements);
        for (int i = 29; i >= 0; i--) {
            b.trecv(0, 1024, i, 1);
        }
        for (int i = 0; i < window; i++) {
            b.trecv(0, 1024, 100, 1);
        }
        rig.settle();
        assertEquals(0, b.errors.size());
        a.assertAtRest();
        b.assertAtRest();
        b.channel(a).kill(FabricErrno.ECONNRESET);
        rig.settle();
        assertEquals(1 << 20, b.endpoint.receiver().scan().unreservedBytes());
        assertEquals(1 << 20, a.endpoint.receiver().scan().unreservedBytes());
    }

    @Test
    void shouldStoreWithinCreditWhateverTheSizesWhenStoreIsFragmented() {
        rig.settings = new EngineSettings(1 << 17, 1 << 17, 4, 4);
        rig.txSize = 2000;
        rig.rxSize = 2000;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        b.fiAddr(a);
        for (int i = 0; i < 500; i++) {
            a.tsend(b, 0, 64, i, 1);
        }
        rig.settle();
        for (int i = 0; i < 500; i++) {
            if (i % 250 != 0) {
                b.trecv(0, 64, i, 1);
            }
        }
        rig.settle();
        for (int size : new int[] {65, 129, 257, 513, 1000}) {
            for (int i = 0; i < 20; i++) {
                a.tsend(b, 0, size, 1000 + i, 1);
            }
        }
        rig.settle();
        assertEquals(0, b.errors.size());
        assertEquals(0, script.announcements);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldCloseOnlyThePeerThatBreaksTheProtocol(int kind) {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        Engines.Node c = rig.add("c");
        b.fiAddr(a);
        b.fiAddr(c);
        a.tsend(b, 0, 8, 50, 1);
        c.tsend(b, 0, 8, 51, 1);
        b.tsend(a, 0, 5000, 52, 300);
        b.tsend(c, 0, 5000, 52, 301);
        rig.settle();
        b.assertNoEntry();
        PeerSends peer = b.peer(a);
        breakProtocol(b, peer, kind);
        rig.settle();
        assertEquals(1, b.errors.size(), () -> "" + b.errors);
        assertEquals(1, b.engine.violations());
        assertNull(peer.channel());
        CompletionReader.Entry failed = b.next();
        assertEquals(300, failed.context());
        assertEquals(FabricErrno.EIO, failed.errno());
        b.assertNoEntry();
        assertNotNull(b.peer(c).channel());
        b.trecv(0, 64, 50, 1);
        assertEquals(0, b.next().errno(), "what had come whole stays");
        b.trecv(0, 64, 51, 1);
        assertEquals(0, b.next().errno());
        a.tsend(b, 0, 8, 53, 1);
        b.trecv(0, 64, 53, 202);
        assertEquals(202, b.next().context(), "a new channel works");
        c.trecv(0, 5000, 52, 1);
        assertEquals(301, b.next().context());
    }

    private void breakProtocol(Engines.Node b, PeerSends peer, int kind) {
        long announcedId = b.endpoint.sender().find(0) == null ? 1 : 0;
        switch (kind) {
            case 0 -> {
                for (int i = 0; i < 20 && peer.channel() != null; i++) {
                    peer.onMessage(Flags.TAGGED, 1, 0, b.memory, 1024);
                }
            }
            case 1 -> peer.frameHandler().onSegment(12345, 0, b.memory, 10);
            case 2 -> peer.frameHandler().onSegment(0, 0, b.memory, -4);
            case 3 -> peer.frameHandler().onFinished(0x7777_0000_0000L, 0);
            case 4 -> peer.frameHandler().onFinished(-1, 0);
            case 5 -> peer.frameHandler().onSegmentsRequested(99, 0, 10);
            case 6 -> peer.frameHandler().onSegmentsRequested(announcedId, 0, 5001);
            case 7 -> {
                RemotePayload payload = new RemotePayload();
                payload.set(1, -1, 0, 0, 0);
                peer.frameHandler().onAnnounce(Flags.TAGGED, 1, 0, payload);
            }
            case 8 -> {
                RemotePayload payload = new RemotePayload();
                for (int i = 0; i < 70_000 && peer.channel() != null; i++) {
                    payload.set(i, 10, 0, 0, 0);
                    peer.frameHandler().onAnnounce(Flags.TAGGED, 1, 0, payload);
                }
            }
            case 9 -> {
                Placement placement = new Placement();
                peer.streamHandler().place(Flags.TAGGED, 1, 0, Long.MAX_VALUE - 10, placement);
                assertEquals(Placement.Action.REFUSE, placement.action());
            }
            default -> {
                Placement placement = new Placement();
                peer.streamHandler().place(Flags.TAGGED, 1, 0, 1 << 20, placement);
                assertEquals(Placement.Action.REFUSE, placement.action());
            }
        }
    }
}
