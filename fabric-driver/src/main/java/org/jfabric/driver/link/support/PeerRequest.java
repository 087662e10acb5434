package org.jfabric.driver.link.support;

import org.jfabric.info.SocketName;

/**
 * A peer's connection request, as {@link CrossingRequests} sees it.
 *
 * <p>Owner: progress agent.
 */
public interface PeerRequest {
    /** The address at which the requesting endpoint listens. */
    SocketName remote();

    /** The number of this incarnation of the requesting endpoint. Returns any number. */
    int process();

    /**
     * Whether the peer is known to have abandoned its request.
     *
     * @return true if no answer is needed any more; {@link #release} follows.
     */
    boolean isOver();

    /** Queues the request: it is answered later. */
    void hold();

    /** Rejects the request, because there is a connection already, or because this side's own request continues. */
    void reject();

    /** Refuses the request, because the limit of unknown peers is reached. */
    void refuse();

    /** Releases the resources of a request that the peer has abandoned or whose endpoint closes. */
    void release();
}
