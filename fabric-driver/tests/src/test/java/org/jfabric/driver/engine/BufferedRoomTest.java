package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.driver.link.scripted.Script;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;

/** Who gets the room for buffered messages, and when the client is told that there is none. */
class BufferedRoomTest {
    private static final int MESSAGES = 8;

    private static Engines rig(Script script, int cells) {
        Engines rig = new Engines(script);
        rig.slabCells = cells;
        rig.slabLimitBytes = 128;
        rig.slabLeastBytes = 16;
        return rig;
    }

    @Test
    void shouldServeTaggedAndUntaggedMessagesInTurnWhenCellsAreShort() {
        Engines rig = rig(new Script(1), 1);
        Engines.Node from = rig.add("from");
        Engines.Node to = rig.add("to");
        for (int i = 0; i < MESSAGES; i++) {
            assertEquals(0, to.trecv(0, 0, 5, i));
            assertEquals(0, from.send(to, 0, 100, i));
            assertEquals(0, from.tsend(to, 0, 100, 5, i));
        }
        int[] taken = new int[2];
        int last = -1;
        int run = 0;
        for (int i = 0; i < 2 * MESSAGES; i++) {
            rig.settle();
            CompletionReader.Entry entry = to.completions.take();
            assertNotNull(entry, "message " + i);
            int kind = (entry.flags() & Flags.TAGGED) != 0 ? 1 : 0;
            run = kind == last ? run + 1 : 1;
            last = kind;
            assertTrue(run <= 2 || taken[1 - kind] == MESSAGES, "message " + i + ": " + run + " of kind " + kind);
            taken[kind]++;
            to.endpoint.giveBack(new long[] {entry.context()}, 1);
        }
        assertEquals(MESSAGES, taken[0]);
        rig.settle();
        from.completions.takeAll();
        to.assertAtRest();
        rig.close();
    }

    @Test
    void shouldNotTellTheClientOfMissingRoomWhileLongMessagesHaveIt() {
        int shown = 0;
        for (long seed = 0; seed < 100; seed++) {
            Engines rig = rig(new Script(seed).randomize(), 2 * MESSAGES);
            Engines.Node from = rig.add("from");
            Engines.Node to = rig.add("to");
            for (int i = 0; i < MESSAGES; i++) {
                assertEquals(0, from.send(to, 0, 200 + i * 300, i));
            }
            for (int i = 0; i < 1000; i++) {
                rig.step();
                assertFalse(to.completions.isHeldBack(), "seed " + seed);
                for (CompletionReader.Entry entry : to.completions.takeAll()) {
                    if ((entry.flags() & Flags.MORE) != 0) {
                        shown++;
                        // a peer announces only so many that nobody has decided on
                        assertEquals(0, to.receive(Engines.MSG | Flags.DISCARD, 0, 0, -1, entry.context(), 0, i));
                    }
                }
            }
            rig.close();
        }
        assertEquals(100 * MESSAGES, shown);
    }
}
