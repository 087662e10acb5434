package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

/**
 * Counters in the driver's {@code cnc} file that exist as long as the object that they count. Owner: progress agent.
 */
public abstract class EngineCounters {
    /** Counters that are not published: every counter is the same spare word. */
    public static final EngineCounters NONE = new EngineCounters() {
        private final long spare = UnsafeApi.allocateMemory(Long.BYTES);

        @Override
        public long open(int type, String label) {
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
     * Opens a counter.
     *
     * @param type  one of the types of {@link org.jfabric.layout.MetricLabel}.
     * @param label {@code MetricLabel.text}, or a readable name with type {@code OTHER}.
     * @return native address of its 8 bytes; one writer, the progress agent.
     */
    public abstract long open(int type, String label);

    /** Endpoints that may have counters of their own at the same time. Returns a count; 0 unless it is overridden. */
    public int endpointLimit() {
        return 0;
    }

    /**
     * Peers, of all endpoints, that may have counters of their own at the same time. Returns a count; 0 unless it is
     * overridden.
     */
    public int peerLimit() {
        return 0;
    }

    /**
     * Closes a counter.
     *
     * @param address from {@link #open}.
     */
    public abstract void close(long address);
}
