package org.jfabric.driver.engine.match;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class TagMatcherAllocationTest {
    private static final int DEPTH = 256;
    private static final int ROUNDS = 200;
    private static final int ATTEMPTS = 5;

    private final TagMatcher matcher = new TagMatcher(DEPTH, DEPTH, true);
    private final PostedReceive[] receives = new PostedReceive[DEPTH];
    private final UnexpectedMessage[] messages = new UnexpectedMessage[DEPTH];

    @Test
    void shouldAllocateNothingWhenAllOperationsRunAfterWarmUp() {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean threads
            && threads.isThreadAllocatedMemorySupported(), "this JVM does not count allocation per thread");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int i = 0; i < DEPTH; i++) {
            receives[i] = new PostedReceive();
            messages[i] = new UnexpectedMessage();
        }
        for (int i = 0; i < ROUNDS; i++) {
            runAllOperations();
        }
        // A compiled method replacing an interpreted one in the middle may charge a few bytes to the first attempts.
        long allocatedBytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS && allocatedBytes != 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                runAllOperations();
            }
            allocatedBytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertEquals(0, allocatedBytes, "bytes allocated by " + ROUNDS + " rounds of " + DEPTH);
    }

    private void runAllOperations() {
        receiveExpected();
        receiveUnexpected();
        peekClaimDiscard();
        failPeer();
    }

    private void receiveExpected() {
        for (int i = 0; i < DEPTH; i++) {
            receives[i].accept(i / 2, i % 5 == 0 ? 1L << 40 : 0, i % 3 == 0 ? i % 7 : TagMatcher.ANY_SOURCE);
            assertNull(matcher.postReceive(receives[i]));
        }
        int left = DEPTH;
        for (int i = 0; i < DEPTH; i++) {
            left -= matcher.arrive(i / 2, i % 7) == null ? 0 : 1;
        }
        for (int i = 0; i < DEPTH; i++) {
            left -= matcher.cancel(receives[i]) ? 1 : 0;
        }
        assertEquals(0, left);
    }

    private void receiveUnexpected() {
        keepAll();
        for (int i = 0; i < DEPTH; i++) {
            receives[i].accept(i / 2, i % 5 == 0 ? 1L << 40 : 0, i % 7);
            assertSame(messages[i], matcher.postReceive(receives[i]));
        }
    }

    private void peekClaimDiscard() {
        keepAll();
        for (int i = 0; i < DEPTH; i++) {
            UnexpectedMessage message = matcher.peek(i / 2, 0, TagMatcher.ANY_SOURCE);
            assertNotNull(message);
            if (i % 3 == 0) {
                matcher.claim(message);
            }
            matcher.removeUnexpected(message);
        }
        assertEquals(0, matcher.unexpectedCount() + matcher.claimedCount());
    }

    private void failPeer() {
        for (int i = 0; i < DEPTH; i++) {
            receives[i].accept(i, 0, i % 2);
            assertNull(matcher.postReceive(receives[i]));
        }
        for (int source = 0; source < 2; source++) {
            PostedReceive receive = matcher.nextDirected(null, source);
            while (receive != null) {
                PostedReceive next = matcher.nextDirected(receive, source);
                matcher.cancel(receive);
                receive = next;
            }
        }
        assertEquals(0, matcher.postedCount());
    }

    private void keepAll() {
        for (int i = 0; i < DEPTH; i++) {
            messages[i].arrived(i / 2, i % 7);
            matcher.addUnexpected(messages[i]);
        }
    }
}
