package org.jfabric.client;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class InvokerTest {
    private final Cycles driver = new Cycles();
    private final Invoker invoker = new Invoker(driver, null, null);

    @Test
    void shouldRunAWholeCycleOnceInThirtyTwoPolls() {
        for (int i = 0; i < 32 * 3; i++) {
            assertEquals(1, invoker.poll());
        }
        assertEquals(3, driver.whole);
        assertEquals(32 * 3 - 3, driver.ofMessages);
    }

    @Test
    void shouldRunAWholeCycleEachTimeOnTheControlPath() {
        assertEquals(1, invoker.cycle());
        assertEquals(1, invoker.cycle());
        assertEquals(2, driver.whole);
        assertEquals(0, driver.ofMessages);
    }

    private static final class Cycles extends EmbeddedDriver {
        private int whole;
        private int ofMessages;

        @Override
        public int cycle() {
            whole++;
            return 1;
        }

        @Override
        public int pollMessages() {
            ofMessages++;
            return 1;
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
    }
}
