package org.jfabric.samples.market;

import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/** A host that reads market data from the oldest quote to the last one: a driver, and a reader that checks each. */
final class MarketReader implements StreamListener {
    private static final int LIMIT = 16;
    private static final long SLOW_NS = 200_000;
    private static final long DEADLINE_NS = 60_000_000_000L;

    private final String name;
    private final long pauseNs;
    private long next;
    private long lost;

    /**
     * A host.
     *
     * @param isSlow whether it pauses after each few quotes.
     */
    MarketReader(String name, boolean isSlow) {
        this.name = name;
        this.pauseNs = isSlow ? SLOW_NS : 0;
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        if (buffer.getLong(offset) != next) {
            throw new IllegalStateException(name + ": quote " + buffer.getLong(offset) + " in place of " + next);
        }
        next++;
    }

    @Override
    public void onGap(long first, long last) {
        lost += last - first + 1;
        next = last + 1;
    }

    /** The writer may begin later. */
    private Subscription open(Fabric fabric, String socket, long beganNs) {
        while (true) {
            try {
                return Subscription.on(fabric, "stream://" + socket + "/quotes").fromOldest().open();
            } catch (FabricException e) {
                boolean isMissing = e.errno() == FabricErrno.ECONNREFUSED || e.errno() == FabricErrno.EHOSTUNREACH;
                if (!isMissing || System.nanoTime() - beganNs > DEADLINE_NS) {
                    throw e;
                }
                System.out.println(name + ": waits for the writer");
            }
        }
    }

    /** Reads until so many have come, and says so. */
    void read(String socket, long count) {
        long beganNs = System.nanoTime();
        try (FabricDriver driver = MarketData.driver(name); Fabric fabric = driver.fabric();
            Subscription quotes = open(fabric, socket, beganNs)) {
            while (next < count) {
                int result = quotes.poll(this, LIMIT);
                if (result < 0 && result != -FabricErrno.EAGAIN) {
                    throw new IllegalStateException(name + ": " + FabricErrno.name(-result) + " after " + next);
                }
                if (result > 0 && pauseNs > 0) {
                    LockSupport.parkNanos(pauseNs);
                }
                if (System.nanoTime() - beganNs > DEADLINE_NS) {
                    throw new IllegalStateException(name + ": " + next + " of " + count + " quotes");
                }
            }
        }
        System.out.println(name + ": " + next + " quotes in order, " + lost + " lost");
    }
}
