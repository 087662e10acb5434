package org.jfabric.driver.engine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both ways in which credit travels lead to the same credit, also where their counts wrap. */
class ByteCreditTest {
    private static final int LINE = 64;
    private static final int MAX_MORE_LINES = 0x7FFF;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldKnowTheSameCreditFromLinesAsFromBytes(long seed) {
        Random random = new Random(seed);
        ByteCredit byBytes = new ByteCredit();
        ByteCredit byBoth = new ByteCredit();
        // a window that is no multiple of a line: what is beyond the last line can never be spent
        long granted = 1_000;
        byBytes.onGrant((int) granted);
        byBoth.onGrant((int) granted);
        for (int i = 0; i < 300_000; i++) {
            String state = "seed " + seed + " step " + i + " granted " + granted;
            long more = (long) LINE * switch (random.nextInt(4)) {
                case 0 -> 0;
                case 1 -> random.nextInt(4);
                case 2 -> random.nextInt(MAX_MORE_LINES);
                default -> MAX_MORE_LINES;
            };
            granted += more;
            assertEquals(more > 0, byBytes.onGrant((int) granted), state);
            boolean changed = random.nextInt(3) == 0
                ? byBoth.onGrant((int) granted) : byBoth.onGrantLines((int) (granted >>> 6) & 0xFFFF);
            assertEquals(more > 0, changed, state);
            assertEquals(granted, byBoth.leftBytes(), state);
            assertEquals(granted, byBytes.leftBytes(), state);
        }
    }

    /** Links hand a message over without asking for a place only if there is room for it, then it must be taken. */
    @Test
    void shouldHoldExactlyTheMessagesThatItSaysItCanHold() {
        ByteCredit credit = new ByteCredit();
        assertFalse(credit.canHold(0), "nothing is reserved before the channel begins");
        credit.begin(5 * LINE);
        assertTrue(credit.canHold(4 * LINE));
        assertFalse(credit.canHold(4 * LINE + 1));
        assertTrue(credit.hold(2 * LINE));
        assertTrue(credit.canHold(LINE));
        assertFalse(credit.canHold(LINE + 1));
        assertFalse(credit.hold(LINE + 1));
        assertTrue(credit.hold(LINE));
        assertFalse(credit.canHold(0), "all is used");
        assertEquals(0, credit.left(LINE, credit.epoch()));
        assertTrue(credit.canHold(LINE));
    }
}
