package org.jfabric.client;

/**
 * The port of an attached client's endpoint: a transmit queue and a receive queue, or one of them if the endpoint has
 * only that direction.
 *
 * <p>Owner: for each direction the one submitting thread. Source: design of the data path, hop 2.
 */
public final class QueuePort extends EndpointPort {
    private final TransmitQueue transmit;
    private final ReceiveQueue receive;

    /**
     * A port of queues at their start.
     *
     * @param transmit null if the endpoint does not send; then nothing is sent here.
     * @param receive  null if the endpoint does not receive; then nothing is received here.
     */
    public QueuePort(TransmitQueue transmit, ReceiveQueue receive) {
        this.transmit = transmit;
        this.receive = receive;
    }

    @Override
    public int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        return transmit.send(flags, buf, len, destAddr, tag, data, context);
    }

    @Override
    public int inject(long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context) {
        return transmit.inject(flags, nativeAddress, len, destAddr, tag, data, context);
    }

    @Override
    public int post(WorkRequest work) {
        return work.kind == WorkRequest.RECEIVE ? receive.post(work) : transmit.post(work);
    }

    @Override
    public long claimInject(int len, long scratch) {
        return transmit.claimInject(len);
    }

    @Override
    public int commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context) {
        transmit.commitInject(flags, payload, len, destAddr, tag, data, context);
        return 0;
    }

    @Override
    public int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return receive.receive(flags, buf, len, srcAddr, tag, ignore, context);
    }

    @Override
    public int giveBack(long[] contexts, int count) {
        return receive.giveBack(contexts, count);
    }

    @Override
    public int cancel(long context) {
        return transmit == null ? receive.cancel(context, 0)
            : transmit.cancel(context, receive == null ? 0 : receive.position());
    }

    @Override
    public int outstandingSends() {
        return (int) transmit.outstanding();
    }

    @Override
    public long completedSends() {
        return transmit.completed();
    }

    @Override
    public long sendsLeft() {
        return transmit.sizeLeft();
    }

    @Override
    public long receivesLeft() {
        return receive.sizeLeft();
    }

    @Override
    public long untakenSends() {
        return transmit.untaken();
    }

    @Override
    public long untakenReceives() {
        return receive.untaken();
    }
}
