package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.link.scripted.Script;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory for early messages, of which peers that no address vector holds can only fill a part. */
class EngineStrangerTest {
    private static final int BUDGET = 1 << 16;
    private static final int WINDOW = 1 << 13;
    private static final int ANNOUNCEMENTS = 4;

    private final Script script = new Script(1);
    private final Engines rig = new Engines(script);

    EngineStrangerTest() {
        rig.settings = new EngineSettings(BUDGET, WINDOW, ANNOUNCEMENTS, 4);
        rig.txSize = 1000;
        rig.rxSize = 1000;
    }

    @AfterEach
    void close() {
        rig.close();
    }

    private void crowd(Engines.Node receiver, String name) {
        for (int i = 0; i < 100; i++) {
            rig.add(name + i).tsend(receiver, 0, 1000, 1, 1);
            rig.settle();
        }
    }

    @Test
    void shouldKeepAWindowForAKnownPeerWhenManyStrangersCameFirst() {
        Engines.Node receiver = rig.add("b");
        crowd(receiver, "s");
        assertTrue(script.announcements > 0, "strangers have used up their part");
        assertTrue(receiver.endpoint.receiver().scan().unreservedBytes() >= BUDGET / 2);
        Engines.Node known = rig.add("k");
        receiver.fiAddr(known);
        int before = script.announcements;
        for (int i = 0; i < WINDOW / (1024 + 64); i++) {
            known.tsend(receiver, 0, 1000, 1, 1);
        }
        rig.settle();
        assertEquals(before, script.announcements, "the known peer has its whole window");
    }

    @Test
    void shouldCountAPeerByWhatItIsNow() {
        Engines.Node receiver = rig.add("b");
        crowd(receiver, "s");
        long unreserved = receiver.endpoint.receiver().scan().unreservedBytes();
        // the first ones become known: their part is free for other strangers
        for (int i = 0; i < 2; i++) {
            receiver.fiAddr(rig.nodes.get(1 + i));
        }
        int before = script.announcements;
        rig.add("late").tsend(receiver, 0, 1000, 1, 1);
        rig.settle();
        assertEquals(before, script.announcements);
        assertTrue(receiver.endpoint.receiver().scan().unreservedBytes() < unreserved);
        // and all of it comes back, whoever held it
        for (Engines.Node node : rig.nodes) {
            if (node != receiver) {
                node.engine.removeEndpoint(node.endpoint);
            }
        }
        rig.settle();
        for (int i = 0; i < 101; i++) {
            receiver.trecv(0, 1024, 1, 1);
        }
        rig.settle();
        receiver.completions.takeAll();
        assertEquals(BUDGET, receiver.endpoint.receiver().scan().unreservedBytes());
        assertEquals(0, receiver.endpoint.receiver().scan().storedBlocks());
        crowd(receiver, "t");
        assertTrue(receiver.endpoint.receiver().scan().unreservedBytes() >= BUDGET / 2);
    }

    /** A peer of our own keeps to its limit; one that does not is ended before its announcements fill the memory. */
    @Test
    void shouldEndAStrangerThatAnnouncesWithoutEnd() {
        Engines.Node receiver = rig.add("b");
        rig.settings = new EngineSettings(BUDGET, WINDOW, 1000, 4);
        Engines.Node known = rig.add("k");
        receiver.fiAddr(known);
        Engines.Node stranger = rig.add("s");
        for (int i = 0; i < 500; i++) {
            known.tsend(receiver, 0, 60_000, 1, 1);
            stranger.tsend(receiver, 0, 60_000, 2, 1);
        }
        rig.settle();
        assertEquals(1, receiver.errors.size(), receiver.errors::toString);
        assertEquals(500, receiver.endpoint.receiver().unexpectedMessages(), "those of the known peer");
    }
}
