package org.jfabric.simulation.soak;

import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jfabric.Fabric;
import org.jfabric.info.Flags;

/**
 * The drivers of one world, with options that the seed chooses: small limits, so that all of them are reached.
 * Subclasses provide the processes and the clock.
 */
public abstract class SoakDrivers implements AutoCloseable {
    /** Completion queue slots for more messages than a window has. */
    static final int LARGE_SHARE = 512;

    protected final String link;
    /** Whether the calls of applications run the drivers. */
    protected final boolean isInvoker;
    protected final Map<String, String> options = new TreeMap<>();
    final int eagerLimitBytes;
    /** {@code jfabric.queue.cqDriverShare}; -1 is the default. */
    final int driverShare;

    /** Draws the options. */
    protected SoakDrivers(String link, boolean isInvoker, Random random) {
        this.link = link;
        this.isInvoker = isInvoker;
        eagerLimitBytes = 256 << random.nextInt(6);
        options.put("jfabric.engine.eagerLimitBytes", Integer.toString(eagerLimitBytes));
        int budget = 16 + random.nextInt(6);
        options.put("jfabric.engine.unexpectedBudgetBytes", Integer.toString(1 << budget));
        options.put("jfabric.engine.creditWindowBytes", Integer.toString(1 << 13 + random.nextInt(budget - 12)));
        options.put("jfabric.engine.announcementLimit", Integer.toString(1 << random.nextInt(7)));
        options.put("jfabric.engine.queuePollBatch", Integer.toString(1 << random.nextInt(6)));
        int ring = 16 + random.nextInt(4);
        options.put("jfabric.shm.ringLengthBytes", Integer.toString(1 << ring));
        options.put("jfabric.shm.segmentLengthBytes", Integer.toString(1 << 10 + random.nextInt(ring - 13)));
        options.put("jfabric.shm.regionCacheSize", Integer.toString(1 << random.nextInt(3)));
        if (random.nextBoolean()) {
            options.put("jfabric.queue.tqLengthBytes", "4096");
            options.put("jfabric.queue.rqLengthBytes", "4096");
        }
        driverShare = random.nextInt(3) == 0 ? LARGE_SHARE : random.nextBoolean() ? 1 + random.nextInt(12) : -1;
        options.put("jfabric.queue.cqDriverShare", Integer.toString(driverShare));
        if (random.nextInt(3) != 0) {
            options.put("jfabric.queue.slabLengthBytes", "65536");
        }
        if (random.nextInt(4) == 0) {
            options.put("jfabric.threading.idleSpinNs", "0");
        }
    }

    protected final int count() {
        return "loopback".equals(link) ? 1 : 2;
    }

    /** Whether the wire is that of libfabric, which has fewer levels, orders and answers. */
    final boolean isOfLibfabric() {
        return "tcp".equals(link) || "rxm".equals(link);
    }

    /** Flags of levels that messages may have: tcp has no match, and rxm has it for some messages only. */
    final long levels() {
        return isOfLibfabric() ? ~Flags.MATCH_COMPLETE : -1L;
    }

    /** Capabilities of accesses to memory. Atomic operations over rxm are in no order with reads and writes. */
    final long accesses() {
        return switch (link) {
            case "tcp" -> Flags.RMA | Flags.RMA_EVENT;
            case "rxm" -> Flags.RMA;
            default -> Flags.RMA | Flags.ATOMIC | Flags.RMA_EVENT;
        };
    }

    /**
     * Opens a fabric on one of the drivers; it is closed with its driver.
     *
     * @param driver below {@link #count()}.
     */
    protected abstract Fabric open(int driver);

    /** Called when a poll was empty: runs the drivers. */
    protected abstract void pump();

    /** Called after each random operation. */
    protected void onStep() {
        // real drivers have threads, or run within the calls of the application
    }

    /** The clock for deadlines. Returns the nanoseconds since any moment. */
    protected abstract long nanoTime();

    /** The longest time that an operation may take, in nanoseconds. */
    protected abstract long patienceNs();

    /** The state of the drivers, for failures. */
    protected abstract String state();

    /** The entries of the drivers' error logs. */
    protected abstract List<String> errors();

    /**
     * Makes the exception for a failed check of a world.
     *
     * @param cause never null.
     */
    protected AssertionError failure(String text, Throwable cause) {
        return new AssertionError(text, cause);
    }

    /** The options that run a world again. */
    protected abstract String replay(long seed);

    @Override
    public abstract void close();
}
