package org.jfabric.driver.engine;


/** Receives one record after the other during a snapshot of an endpoint's queues. Owner: progress agent. */
abstract class QueueVisitor {
    /** For subclasses. */
    protected QueueVisitor() {
    }

    /**
     * A receive that no message has matched.
     *
     * @param tagged      whether it is for tagged messages.
     * @param tag         tag.
     * @param ignore      bits of the tag that are not compared.
     * @param source      fi_addr, negative for any.
     * @param lengthBytes of its buffer.
     * @param sinceNs     time of the cycle in which it was posted.
     */
    abstract void onPosted(
        boolean tagged, long tag, long ignore, int source, long lengthBytes, long sinceNs);

    /** A receive whose payload is arriving. */
    abstract void onUnderWay();

    /**
     * A message that no receive has matched.
     *
     * @param tagged      whether it is tagged.
     * @param tag         tag.
     * @param sender      the sending peer.
     * @param source      its fi_addr, negative if it is in no address vector.
     * @param announced   whether the payload waits at the sender.
     * @param lengthBytes of the payload.
     * @param sinceNs     time of the cycle in which it arrived.
     */
    abstract void onUnexpected(
        boolean tagged, long tag, Peer sender, int source, boolean announced, long lengthBytes, long sinceNs);

    /**
     * A remote access that has not ended.
     *
     * @param peer        whose memory it accesses.
     * @param kind        {@code ACCESS_*} of {@link org.jfabric.layout.ViewDescriptor}.
     * @param key         of the peer's region.
     * @param waiting     whether it has not begun.
     * @param lengthBytes of the peer's memory.
     * @param sinceNs     time of the cycle in which it was queued or sent.
     */
    abstract void onAccess(Peer peer, int kind, long key, boolean waiting, long lengthBytes, long sinceNs);

    /**
     * Another endpoint.
     *
     * @param peer         that is, was or will be connected.
     * @param heldMessages number of its queued messages without a receive.
     * @param state        {@code PEER_*} of {@link org.jfabric.layout.ViewDescriptor}.
     */
    abstract void onPeer(Peer peer, int heldMessages, int state);
}
