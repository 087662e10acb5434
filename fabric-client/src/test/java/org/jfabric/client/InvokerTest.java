package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InvokerTest {
    private final Cycles driver = new Cycles();
    private final Invoker invoker = new Invoker(driver, null, null);

    @BeforeEach
    void begin() {
        // the first polls of an application are after a pause
        for (int i = 0; i < 32; i++) {
            invoker.poll(1);
        }
        driver.forget();
    }

    @Test
    void shouldRunAWholeCycleOnceInThirtyTwoPollsWhileThereIsWorkForOne() {
        driver.needsCycle = true;
        for (int i = 0; i < 32 * 3; i++) {
            assertEquals(1, invoker.poll(1));
        }
        assertEquals(3, driver.whole);
        assertEquals(32 * 3 - 3, driver.ofMessages);
    }

    @Test
    void shouldRunAWholeCycleOnceIn20MicrosecondsInAnyCase() {
        driver.pollNs = 100;
        for (int i = 0; i < 1_000; i++) {
            assertEquals(1, invoker.poll(1));
        }
        int each = 20_000 / 100 + 32;
        assertTrue(driver.whole >= 1_000 / each && driver.whole <= 1_000 * 100 / 20_000, "cycles " + driver.whole);
        assertEquals(1_000 - driver.whole, driver.ofMessages);
    }

    @Test
    void shouldDoWhatHasWaitedInEachCallAfterAPause() {
        for (int i = 0; i < 5; i++) {
            driver.nowNs += 1_000_000;
            invoker.poll(1);
            assertEquals(i + 1, driver.afterPause);
            // of other objects, until the next pause
            for (int others = 0; others < 20; others++) {
                invoker.poll(1);
            }
            assertEquals(i + 1, driver.afterPause);
        }
    }

    @Test
    void shouldFindOutWithinFewPollsThatCallsHaveBecomeSeldom() {
        driver.pollNs = 20;
        for (int i = 0; i < 100_000; i++) {
            invoker.poll(1);
            invoker.onEmpty();
        }
        assertEquals(0, driver.afterPause);
        driver.pollNs = 0;
        int polls = 0;
        for (; driver.afterPause == 0; polls++) {
            driver.nowNs += 20_000_000;
            invoker.poll(1);
            invoker.onEmpty();
        }
        assertTrue(polls <= 8, "polls " + polls);
    }

    @Test
    void shouldReadTheClockInOneOf8PollsThatFindNothingAndOneOf32Others() {
        driver.pollNs = 20;
        for (int i = 0; i < 100; i++) {
            invoker.poll(1);
        }
        driver.reads = 0;
        for (int i = 0; i < 320; i++) {
            invoker.poll(1);
        }
        assertEquals(10, driver.reads);
        driver.reads = 0;
        for (int i = 0; i < 320; i++) {
            invoker.poll(1);
            invoker.onEmpty();
        }
        assertTrue(driver.reads >= 39 && driver.reads <= 41, "read " + driver.reads);
    }

    /** As of an application with hundreds of quiet endpoints, which a call after a pause polls all. */
    @Test
    void shouldSpendNoMoreThanAnEighthOfTheTimeOnWhatHasWaited() {
        driver.catchUpNs = 10_000_000;
        long beginNs = driver.nowNs;
        for (int i = 0; i < 1_000; i++) {
            driver.nowNs += 600_000;
            invoker.poll(1);
        }
        long spentNs = driver.afterPause * driver.catchUpNs;
        assertTrue(spentNs > 0 && spentNs <= (driver.nowNs - beginNs) / 8 + driver.catchUpNs,
            spentNs + " ns of " + (driver.nowNs - beginNs));
    }

    /** As of an application whose listener has waited in it. */
    @Test
    void shouldSoonDoWhatHasWaitedAfterACallThatTookLong() {
        driver.catchUpNs = 60_000_000_000L;
        driver.nowNs += 20_000_000;
        invoker.poll(1);
        assertEquals(1, driver.afterPause);
        driver.catchUpNs = 0;
        driver.nowNs += 100_000_000;
        invoker.poll(1);
        assertEquals(2, driver.afterPause);
    }

    @Test
    void shouldNotAskADriverThatOtherThreadsMayUse() {
        driver.onDomainOpened(true, null);
        for (int i = 0; i < 32 * 3; i++) {
            assertEquals(1, invoker.poll(1));
        }
        assertEquals(3, driver.whole);
        assertEquals(0, driver.asked);
    }

    @Test
    void shouldRunAWholeCycleEachTimeOnTheControlPath() {
        assertEquals(1, invoker.cycle());
        assertEquals(1, invoker.cycle());
        assertEquals(2, driver.whole);
        assertEquals(0, driver.ofMessages);
    }

    @Test
    void shouldTakeNoMoreMessagesThanTheCallerWouldReadEntries() {
        for (int i = 0; i < 32; i++) {
            invoker.poll(3);
            assertEquals(3, driver.limit, "poll " + i);
        }
        for (int entryLimit : new int[] {0, 64, Integer.MAX_VALUE}) {
            invoker.poll(entryLimit);
            assertEquals(64, driver.limit, "limit " + entryLimit);
        }
    }

    /** The application looks for the completion in a listener, for example by a poll set. */
    @Test
    void shouldGiveAnEntryItsSlotBeforeTheApplicationIsCalled() {
        DirectEntry entry = new DirectEntry();
        List<String> calls = new ArrayList<>();
        entry.writer(() -> calls.add("slot of " + entry.take()));
        // any word but 0 is an event
        RecordConsumer events = new RecordConsumer(
            ring(RecordRingDescriptor.word(16, 2)), 1024, ring(0), 255);
        Invoker[] self = new Invoker[1];
        Invoker listening = self[0] = new Invoker(driver, events,
            () -> self[0].afterCycle(() -> calls.add("listener, open " + entry.isOpen(7))));
        driver.nowNs += 1_000_000_000;
        driver.onCycle = () -> {
            assertTrue(entry.isOpen(7));
            entry.put();
        };
        listening.poll(1, entry, 7);
        assertEquals(List.of("slot of " + entry.record(), "listener, open false"), calls);
        assertFalse(entry.isPending());
    }

    @Test
    void shouldGiveAnEntryItsSlotIfTheCallFails() {
        DirectEntry entry = new DirectEntry();
        List<Long> slots = new ArrayList<>();
        entry.writer(() -> slots.add(entry.take()));
        driver.onCycle = () -> {
            entry.put();
            throw new IllegalStateException("of the application");
        };
        assertThrows(IllegalStateException.class, () -> invoker.poll(1, entry, 0));
        assertEquals(List.of(entry.record()), slots);
        assertFalse(entry.isOpen(0));
    }

    private static long ring(long word) {
        MemorySegment memory = Arena.global().allocate(2048, 64);
        memory.set(ValueLayout.JAVA_LONG, 0, word);
        return memory.address();
    }

    private static final class Cycles extends SleeplessDriver {
        private long nowNs;
        /** What a poll takes. */
        private long pollNs;
        private long catchUpNs;
        private int reads;
        private int afterPause;
        private int whole;
        private int ofMessages;
        private int limit;
        private boolean needsCycle;
        private Runnable onCycle = () -> { };
        private int asked;

        void forget() {
            afterPause = 0;
            whole = 0;
            ofMessages = 0;
            asked = 0;
        }

        @Override
        public long nanoTime() {
            reads++;
            return nowNs;
        }

        @Override
        public int catchUp(int messageLimit) {
            onCycle.run();
            afterPause++;
            nowNs += catchUpNs;
            return 1;
        }

        @Override
        public int cycle(int messageLimit) {
            whole++;
            nowNs += pollNs;
            limit = messageLimit;
            return 1;
        }

        @Override
        public int pollMessages(int messageLimit) {
            onCycle.run();
            ofMessages++;
            nowNs += pollNs;
            limit = messageLimit;
            return 1;
        }

        @Override
        public boolean needsCycle() {
            asked++;
            return needsCycle;
        }

        @Override
        public Attachment attach() {
            throw new AssertionError();
        }

        @Override
        public void detach(long clientId) {
            throw new AssertionError();
        }

        @Override
        public EndpointPort port(long endpointId) {
            throw new AssertionError();
        }

        @Override
        public LentMessages lentMessages(long queueId) {
            return null;
        }

        @Override
        public void onFault(InternalError error) {
            throw error;
        }
    }
}
