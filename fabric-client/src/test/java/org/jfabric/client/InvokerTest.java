package org.jfabric.client;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class InvokerTest {
    private final Cycles driver = new Cycles();
    private final Invoker invoker = new Invoker(driver, null, null);

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
    void shouldRunAWholeCycleOnceIn128PollsInAnyCase() {
        for (int i = 0; i < 128 * 3; i++) {
            assertEquals(1, invoker.poll(1));
        }
        assertEquals(3, driver.whole);
        assertEquals(128 * 3 - 3, driver.ofMessages);
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

    private static final class Cycles extends SleeplessDriver {
        private int whole;
        private int ofMessages;
        private int limit;
        private boolean needsCycle;
        private int asked;

        @Override
        public int cycle(int messageLimit) {
            whole++;
            limit = messageLimit;
            return 1;
        }

        @Override
        public int pollMessages(int messageLimit) {
            ofMessages++;
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
