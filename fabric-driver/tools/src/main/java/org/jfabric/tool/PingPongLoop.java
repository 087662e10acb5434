package org.jfabric.tool;

import org.HdrHistogram.Histogram;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/**
 * The loops of both sides: post the receive for the answer, send, poll the completion queue until the answer is there.
 *
 * <p>Nothing in here allocates, takes a lock or reads a clock, but for the pass that is about clocks. The endpoint
 * suppresses entries of successful sends: the answer says the same, and UCX's and libfabric's own tests, which inject
 * what is small, do not have them either. A send that fails still has its entry. Owner: one thread.
 */
public final class PingPongLoop implements CompletionHandler {
    static final long TAG = 0x70696e67L;

    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final int POLL_LIMIT = 4;

    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final long peer;
    private final long receiveAddress;
    private final long sendAddress;
    private final long sizeBytes;
    private final boolean spinning;

    private long received;
    private long lastLength;

    /**
     * Prepares the loop.
     *
     * @param endpoint       sends and receives; suppresses entries of successful sends.
     * @param queue          has the entries of both directions.
     * @param receiveAddress native address that messages are received at.
     * @param sendAddress    native address that messages are sent from.
     * @param spinning       true to keep the core while waiting.
     */
    public PingPongLoop(
        Endpoint endpoint,
        CompletionQueue queue,
        long peer,
        long receiveAddress,
        long sendAddress,
        long sizeBytes,
        boolean spinning) {
        this.endpoint = endpoint;
        this.queue = queue;
        this.peer = peer;
        this.receiveAddress = receiveAddress;
        this.sendAddress = sendAddress;
        this.sizeBytes = sizeBytes;
        this.spinning = spinning;
    }

    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == RECEIVE) {
            lastLength = completion.len();
            received++;
        }
    }

    /** Length of the message received last. */
    public long lastLength() {
        return lastLength;
    }

    /** Messages received so far. */
    long received() {
        return received;
    }

    /** Sends first and takes the answer. Returns 0 or a negative errno. */
    int ping(long rounds) {
        for (long i = 0; i < rounds; i++) {
            int result = exchange();
            if (result != 0) {
                return result;
            }
        }
        return 0;
    }

    /**
     * As {@link #ping}, with a clock around each round trip.
     *
     * @param roundTrips receives their nanoseconds; must not have to grow.
     * @return 0 or a negative errno.
     */
    int ping(long rounds, Histogram roundTrips) {
        long highest = roundTrips.getHighestTrackableValue();
        for (long i = 0; i < rounds; i++) {
            long begin = System.nanoTime();
            int result = exchange();
            if (result != 0) {
                return result;
            }
            roundTrips.recordValue(Math.min(highest, System.nanoTime() - begin));
        }
        return 0;
    }

    /**
     * As {@link #ping(long, Histogram)}, and notes outliers.
     *
     * @param roundTrips receives their nanoseconds; must not have to grow.
     * @return 0 or a negative errno.
     */
    int ping(long rounds, Histogram roundTrips, OutlierProbe probe) {
        long highest = roundTrips.getHighestTrackableValue();
        for (long i = 0; i < rounds; i++) {
            long begin = System.nanoTime();
            int result = exchange();
            if (result != 0) {
                return result;
            }
            long end = System.nanoTime();
            roundTrips.recordValue(Math.min(highest, end - begin));
            probe.measured(begin, end);
        }
        return 0;
    }

    /**
     * Takes messages and answers them; the first receive was posted by {@link #arm()}.
     *
     * @param last   true if no more follow, so that no receive is left posted.
     * @return 0 or a negative errno.
     */
    int pong(long rounds, boolean last) {
        for (long i = rounds; i > 0; i--) {
            int result = await();
            if (result == 0) {
                result = postSend();
            }
            // while the answer travels: the next message cannot be here before this receive
            if (result == 0 && (i > 1 || !last)) {
                result = postReceive();
            }
            if (result != 0) {
                return result;
            }
        }
        return 0;
    }

    /** Posts a receive. Returns 0 or a negative errno. */
    public int arm() {
        return postReceive();
    }

    /** Sends a message. Returns 0 or a negative errno. */
    public int postSend() {
        int result;
        while ((result = endpoint.tsend(sendAddress, sizeBytes, peer, TAG, SEND)) == -FabricErrno.EAGAIN) {
            int polled = step();
            if (polled != 0) {
                return polled;
            }
        }
        return result;
    }

    /** Waits for the message of the receive that was posted. Returns 0 or a negative errno. */
    public int await() {
        long before = received;
        while (received == before) {
            int result = step();
            if (result != 0) {
                return result;
            }
        }
        return 0;
    }

    /** Runs a duty cycle of an invoked driver while there is nothing to exchange. Returns 0 or a negative errno. */
    public int cycle() {
        int result = queue.poll(this, POLL_LIMIT);
        return result >= 0 || result == -FabricErrno.EAGAIN ? 0 : result;
    }

    private int exchange() {
        int result = postSend();
        if (result == 0) {
            result = postReceive();
        }
        return result == 0 ? await() : result;
    }

    private int postReceive() {
        int result;
        while ((result = endpoint.trecv(
            receiveAddress, sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE)) == -FabricErrno.EAGAIN) {
            int polled = step();
            if (polled != 0) {
                return polled;
            }
        }
        return result;
    }

    private int step() {
        int result = queue.poll(this, POLL_LIMIT);
        if (result > 0) {
            return 0;
        }
        if (result != -FabricErrno.EAGAIN) {
            return result;
        }
        // no pause instruction while spinning: a poll is short, and a pause longer than a message may wait for it
        if (!spinning) {
            Thread.yield();
        }
        return 0;
    }
}
