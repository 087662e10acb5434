package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The loops over a port that is its own other side. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PortLoopsTest {
    private static final long STALL_NS = 20_000_000;

    private static class Echo implements Port {
        private final long answers;
        private long sent;
        private long received;
        private int refusals;

        /** Answers no more than so many messages. */
        Echo(long answers) {
            this.answers = answers;
        }

        @Override
        public boolean trySend() {
            if (refusals++ % 3 == 0) {
                return false;
            }
            sent++;
            return true;
        }

        @Override
        public void poll() {
            if (received < answers && received < sent) {
                received++;
            }
        }

        @Override
        public long received() {
            return received;
        }
    }

    @Test
    void shouldSendEachMessageOfAnExchangeAfterTheAnswerToTheOneBefore() {
        Echo echo = new Echo(Long.MAX_VALUE);
        PortLoops loops = new PortLoops(echo);
        assertTrue(loops.exchangePing(1_000) > 0);
        assertTrue(loops.exchangePing(77) > 0);
        assertEquals(1_077, echo.sent);
        assertEquals(1_077, echo.received);
    }

    @Test
    void shouldSendAStreamAndTakeOneAnswer() {
        Echo echo = new Echo(1);
        new PortLoops(echo).streamPing(1_000);
        assertEquals(1_000, echo.sent);
        assertEquals(1, echo.received);
    }

    @Test
    void shouldMeasureEachMessageOfAPacedPassFromWhenItWasDue() {
        Echo echo = new Echo(Long.MAX_VALUE);
        PortLoops loops = new PortLoops(echo);
        Histogram answers = loops.pacedPing(500, SideSettings.INTERVAL_NS, 0);
        assertEquals(500, answers.getTotalCount());
        assertEquals(500, echo.sent);
        assertTrue(loops.pacedNs() >= 499 * SideSettings.INTERVAL_NS, () -> "took " + loops.pacedNs());
    }

    @Test
    void shouldLeaveTheFirstMessagesOutOfTheDistribution() {
        Echo echo = new Echo(Long.MAX_VALUE);
        Histogram answers = new PortLoops(echo).pacedPing(500, SideSettings.INTERVAL_NS, 450);
        assertEquals(50, answers.getTotalCount());
        assertEquals(500, echo.sent);
    }

    /** A side that stalls delays messages that were not even sent yet; each of them has to show it. */
    @Test
    void shouldCountAStallInEveryMessageThatItDelays() {
        Echo stalled = new Echo(Long.MAX_VALUE) {
            private long end;

            @Override
            public boolean trySend() {
                // from the first one, which is due: whatever happened before is no part of it
                end = end == 0 ? System.nanoTime() + STALL_NS : end;
                if (System.nanoTime() - end < 0) {
                    return false;
                }
                return super.trySend();
            }
        };
        Histogram answers = new PortLoops(stalled).pacedPing(100, SideSettings.INTERVAL_NS, 0);
        // the hundredth was due after 1 ms, so the stall of 20 ms delays all by more than half of it
        assertEquals(100, answers.getCountBetweenValues(STALL_NS / 2, answers.getHighestTrackableValue()));
    }
}
