package org.jfabric.client;

import org.jfabric.info.Flags;

/**
 * The port of an endpoint whose client outlives the driver: notes each operation that the queues have taken, until its
 * entry is read.
 *
 * <p>Owner: for each direction the holder of the lock of its completion queue's submissions.
 */
public final class RecordedPort extends EndpointPort {
    private final QueuePort queues;
    private final OutstandingOperations sends;
    private final OutstandingOperations receives;
    private final LossCounter losses;
    private long sent;
    private long received;

    /** Counts operations that were lost. */
    @FunctionalInterface
    public interface LossCounter {
        void onLost(long flags);
    }

    /**
     * A port of fresh queues.
     *
     * @param sends    of the completion queue of sends; null if the endpoint does not send.
     * @param receives of that of receives; null if the endpoint does not receive.
     */
    public RecordedPort(
        QueuePort queues, OutstandingOperations sends, OutstandingOperations receives, LossCounter losses) {
        this.queues = queues;
        this.sends = sends;
        this.receives = receives;
        this.losses = losses;
    }

    @Override
    public int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        return sent(queues.send(flags, buf, len, destAddr, tag, data, context), context, flags | Flags.SEND);
    }

    @Override
    public int inject(long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context) {
        return sent(
            queues.inject(flags, nativeAddress, len, destAddr, tag, data, context), context, flags | Flags.SEND);
    }

    @Override
    public int post(WorkRequest work) {
        if (work.isTriggered) {
            throw new UnsupportedOperationException("deferred work in a fabric that reconnects");
        }
        int result = queues.post(work);
        return work.kind == WorkRequest.RECEIVE ? received(result, work.context, work.flags)
            : sent(result, work.context, work.kind == WorkRequest.SEND ? work.flags | Flags.SEND : work.flags);
    }

    @Override
    public long claimInject(int len, long scratch) {
        return queues.claimInject(len, scratch);
    }

    @Override
    public int commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context) {
        return sent(
            queues.commitInject(flags, payload, len, destAddr, tag, data, context), context, flags | Flags.SEND);
    }

    @Override
    public int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return received(queues.receive(flags, buf, len, srcAddr, tag, ignore, context), context, flags);
    }

    @Override
    public int giveBack(long[] contexts, int count) {
        return queues.giveBack(contexts, count);
    }

    @Override
    public int cancel(long context) {
        return queues.cancel(context);
    }

    @Override
    public int outstandingSends() {
        return queues.outstandingSends();
    }

    @Override
    public long completedSends() {
        return queues.completedSends();
    }

    @Override
    public long sendsLeft() {
        return queues.sendsLeft();
    }

    @Override
    public long receivesLeft() {
        return queues.receivesLeft();
    }

    @Override
    public long untakenSends() {
        long untaken = queues.untakenSends();
        sends.removeUntaken(this, false, sent - untaken);
        return untaken;
    }

    @Override
    public long untakenReceives() {
        long untaken = queues.untakenReceives();
        receives.removeUntaken(this, true, received - untaken);
        return untaken;
    }

    void onLost(long flags) {
        losses.onLost(flags);
    }

    private int sent(int result, long context, long flags) {
        if (result == 0) {
            sends.add(this, context, flags, sent++);
        }
        return result;
    }

    private int received(int result, long context, long flags) {
        if (result == 0) {
            receives.add(this, context, flags | Flags.RECV, received++);
        }
        return result;
    }
}
