package org.jfabric.driver.metrics;

import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.status.CountersReader;

/** The metrics of a driver and of its process, for those who ask in this process; any thread. */
public final class MetricsSource implements AutoCloseable {
    private final CountersReader counters;
    private final Path directory;
    /** Guarded by this object: after {@link #close()} the counters' memory is gone. */
    private boolean closed;

    /**
     * Creates a source.
     *
     * @param counters  memory that is valid until {@link #close()}.
     * @param directory of the driver.
     */
    public MetricsSource(CountersReader counters, Path directory) {
        this.counters = counters;
        this.directory = directory;
    }

    /**
     * Reads all of them.
     *
     * @return null if the driver has ended, or its file was cut just now.
     */
    public List<Metric> read() {
        List<Metric> metrics = readCounters();
        if (metrics != null) {
            metrics.addAll(ProcessMetrics.of(directory));
        }
        return metrics;
    }

    private synchronized List<Metric> readCounters() {
        try {
            return closed ? null : MetricsSnapshot.of(counters);
        } catch (InternalError cut) {
            return null;
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
    }
}
