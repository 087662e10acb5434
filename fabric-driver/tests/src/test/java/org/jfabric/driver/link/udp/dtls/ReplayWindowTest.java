package org.jfabric.driver.link.udp.dtls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReplayWindowTest {
    @Test
    void shouldAgreeWithASetOfNumbers() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ReplayWindow window = new ReplayWindow();
        Set<Long> seen = new HashSet<>();
        long newest = -1;
        for (int i = 0; i < 200_000; i++) {
            long number = Math.max(0, newest + random.nextInt(40) - (random.nextInt(20) == 0 ? 2000 : 30)
                + (random.nextInt(500) == 0 ? 3000 : 0));
            boolean isExpected = !seen.contains(number) && number > newest - ReplayWindow.SIZE;
            assertEquals(isExpected, window.isNew(number), "seed " + seed + " step " + i);
            if (isExpected) {
                window.add(number);
                seen.add(number);
                newest = Math.max(newest, number);
            }
        }
    }

    @Test
    void shouldTakeEachNumberOnceUpToTheGreatest() {
        ReplayWindow window = new ReplayWindow();
        long last = (1L << 48) - 1;
        assertTrue(window.isNew(0));
        window.add(0);
        assertFalse(window.isNew(0));
        assertTrue(window.isNew(last));
        window.add(last);
        assertFalse(window.isNew(last));
        assertFalse(window.isNew(1));
        assertTrue(window.isNew(last - 1));
        assertFalse(window.isNew(last - ReplayWindow.SIZE));
    }
}
