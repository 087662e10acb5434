package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

/**
 * Counters that come and go with what they count, in the driver's {@code cnc} file. Owner: progress agent.
 */
public abstract class EngineCounters {
    /** An engine without anybody to look: every counter is the same spare word. */
    public static final EngineCounters NONE = new EngineCounters() {
        private final long spare = UnsafeApi.allocateMemory(Long.BYTES);

        @Override
        public long open(String label) {
            return spare;
        }

        @Override
        public void close(long address) {
            // the spare word stays
        }
    };

    /** For the driver's implementation. */
    protected EngineCounters() {
    }

    /**
     * Makes a counter.
     *
     * @param label for people.
     * @return native address of its 8 bytes; one writer, the progress agent.
     */
    public abstract long open(String label);

    /**
     * Gives a counter back.
     *
     * @param address from {@link #open}.
     */
    public abstract void close(long address);
}
