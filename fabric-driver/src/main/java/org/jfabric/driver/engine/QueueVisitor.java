package org.jfabric.driver.engine;


/** Receives one record after the other during a snapshot of an endpoint's queues. Owner: progress agent. */
abstract class QueueVisitor {
    protected QueueVisitor() {
    }

    /**
     * A receive that no message has matched.
     *
     * @param ignore      bits of the tag that are not compared.
     * @param source      fi_addr, negative for any.
     */
    abstract void onPosted(
        boolean tagged, long tag, long ignore, int source, long lengthBytes, long sinceNs);

    /** A receive whose payload is arriving. */
    abstract void onUnderWay();

    /**
     * A message that no receive has matched.
     *
     * @param source      its fi_addr, negative if it is in no address vector.
     */
    abstract void onUnexpected(
        boolean tagged, long tag, Peer sender, int source, boolean announced, long lengthBytes, long sinceNs);

    /**
     * A remote access that has not ended.
     *
     * @param kind        {@code ACCESS_*} of {@link org.jfabric.layout.ViewDescriptor}.
     * @param waiting     whether it has not begun.
     * @param sinceNs     time of the cycle in which it was queued or sent.
     */
    abstract void onAccess(Peer peer, int kind, long key, boolean waiting, long lengthBytes, long sinceNs);
}
