package org.jfabric.driver.link.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PeerRateTest {
    private static final long SECOND_NS = 1_000_000_000L;

    /** Whatever the peer sends: in no interval more than the rate, a burst and one message. */
    @Test
    void shouldKeepToTheRateInEveryInterval() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long rate = 1_000_000;
        int longest = 50_000;
        long nowNs = random.nextLong();
        PeerRate peer = new PeerRate.Limits(rate, 0).newRate(nowNs);
        int steps = 20_000;
        long[] takenBefore = new long[steps + 1];
        long[] timesNs = new long[steps + 1];
        long waitingNs = 0;
        for (int i = 0; i < steps; i++) {
            long passedNs = random.nextInt(random.nextInt(50) == 0 ? 300_000_000 : 2_000_000);
            nowNs += passedNs;
            timesNs[i] = nowNs;
            takenBefore[i + 1] = takenBefore[i];
            if (random.nextInt(3) > 0) {
                if (peer.isOver(nowNs)) {
                    waitingNs += passedNs;
                } else {
                    int bytes = random.nextInt(longest);
                    peer.charge(bytes, 1, nowNs);
                    takenBefore[i + 1] += bytes;
                }
            }
        }
        assertTrue(waitingNs > 0, "seed " + seed);
        for (int round = 0; round < 200_000; round++) {
            int from = random.nextInt(steps);
            int to = from + random.nextInt(steps - from);
            double seconds = (timesNs[to] - timesNs[from] + PeerRate.BURST_NS) / (double) SECOND_NS;
            long taken = takenBefore[to + 1] - takenBefore[from];
            assertTrue(taken <= rate * seconds + longest + 1, "seed " + seed + " from " + from + " to " + to);
        }
    }

    /** A peer that always has something to send gets its whole share. */
    @Test
    void shouldGiveTheWholeRate() {
        PeerRate peer = new PeerRate.Limits(0, 1000).newRate(0);
        int taken = 0;
        for (long nowNs = 0; nowNs <= 10 * SECOND_NS; nowNs += 100_000) {
            if (!peer.isOver(nowNs)) {
                peer.charge(1 << 20, 1, nowNs);
                taken++;
            }
        }
        assertTrue(taken >= 10_000 && taken <= 10_102, "taken " + taken);
    }

    @Test
    void shouldShareTheRateOfAHostAndRememberIt() throws Exception {
        assertNull(new PeerRate.Limits(0, 0).newRate(0));
        InetAddress host = InetAddress.getByName("192.0.2.1");
        PeerRates rates = new PeerRates(new PeerRate.Limits(1000, 0));
        PeerRate first = rates.take(host, 0);
        assertSame(first, rates.take(host, 0));
        first.charge(5000, 1, 0);
        rates.give(host, 0);
        rates.give(host, 0);
        assertTrue(rates.take(host, SECOND_NS).isOver(SECOND_NS), "a new connection does not make the peer's debt go");
        rates.give(host, SECOND_NS);
        assertEquals(1, rates.size());
        InetAddress other = InetAddress.getByName("192.0.2.2");
        assertFalse(rates.take(other, 6 * SECOND_NS).isOver(6 * SECOND_NS));
        assertEquals(1, rates.size(), "the paid debt is forgotten");
        rates.give(other, 6 * SECOND_NS);
        assertEquals(0, rates.size());
    }
}
