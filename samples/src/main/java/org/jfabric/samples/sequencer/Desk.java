package org.jfabric.samples.sequencer;

import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.Destination;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * Sends orders to the sequencer, and reads what that publishes: an order that comes back is confirmed. One that does
 * not come is sent again, with the same sequence.
 */
final class Desk implements StreamListener {
    private static final int WINDOW = 32;
    private static final long RESEND_NS = 200_000_000;
    private static final long PAUSE_NS = 20_000_000;
    private static final Set<Integer> AWAY = Set.of(FabricErrno.ECONNREFUSED, FabricErrno.EHOSTUNREACH,
        FabricErrno.ECONNRESET, FabricErrno.ETIMEDOUT, FabricErrno.ESHUTDOWN);

    private final Fabric fabric;
    private final String sequencer;
    private final int number;
    private final Messenger out;
    private final Destination in;
    private final UnsafeBuffer order = new UnsafeBuffer(new byte[DeskOrder.LENGTH]);
    private final CompletionError error = new CompletionError();
    private LogPosition next;
    private long confirmed;
    private long resends;

    /**
     * A desk.
     *
     * @param fabric    of the desk's driver.
     * @param sequencer name of the sequencer's driver.
     * @param number    of the desk.
     * @param confirmed sequence of its last order.
     */
    Desk(Fabric fabric, String sequencer, int number, long confirmed) {
        this.fabric = fabric;
        this.sequencer = sequencer;
        this.number = number;
        this.confirmed = confirmed;
        out = fabric.messenger().open();
        in = out.peer("jfabric://" + sequencer + "/in");
    }

    /** The group that a sequencer publishes. */
    static String orders(String sequencer) {
        return "jfabric://" + sequencer + "/orders";
    }

    /** Sends orders up to a sequence; returns when all are confirmed. */
    void send(long last) {
        while (confirmed < last) {
            Subscription.Builder place = Subscription.on(fabric, orders(sequencer));
            try (Subscription orders = (next == null ? place.fromOldest() : place.from(next)).open()) {
                send(orders, last);
                next = orders.next();
            } catch (FabricException e) {
                if (!AWAY.contains(e.errno())) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private void send(Subscription orders, long last) {
        long sent = confirmed;
        long seen = confirmed;
        long sinceNs = System.nanoTime();
        int result = 0;
        while (confirmed < last && (result >= 0 || result == -FabricErrno.EAGAIN)) {
            while (sent < Math.min(last, confirmed + WINDOW) && post(sent + 1)) {
                sent++;
            }
            result = orders.poll(this, WINDOW);
            sent = Math.max(sent, confirmed);
            if (confirmed != seen) {
                seen = confirmed;
                sinceNs = System.nanoTime();
            } else if (sent != confirmed && System.nanoTime() - sinceNs > RESEND_NS) {
                resends += sent - confirmed;
                sent = confirmed;
                sinceNs = System.nanoTime();
            } else if (result < 0) {
                LockSupport.parkNanos(10_000);
            }
        }
        resends += sent - confirmed;
    }

    private boolean post(long sequence) {
        DeskOrder.put(order, 0, number, sequence, 1 + sequence % 100);
        int result = out.send(in, order, 0, DeskOrder.LENGTH, DeskOrder.TAG);
        if (result == -FabricErrno.EAGAIN && out.poll(entry -> { }, WINDOW) == -FabricErrno.EAVAIL) {
            // the sequencer did not get an order that was sent before
            out.queue().readErr(error, 0);
        }
        return result == 0;
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        if (DeskOrder.desk(buffer, offset) == number) {
            confirmed = DeskOrder.sequence(buffer, offset);
        }
    }

    @Override
    public void onGap(long first, long last) {
        throw new IllegalStateException("orders " + first + " to " + last + " are not in the log any more");
    }

    /** Orders that were sent again. */
    long resends() {
        return resends;
    }
}
