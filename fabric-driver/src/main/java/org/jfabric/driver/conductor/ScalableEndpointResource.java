package org.jfabric.driver.conductor;

import org.jfabric.client.ContextPlace;
import org.jfabric.driver.link.ContextName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A scalable endpoint of a client: the name of its contexts, each of which is an endpoint of the engine. Owner:
 * conductor.
 */
final class ScalableEndpointResource {
    private final long id;
    private final String name;
    private final boolean isNamed;
    private final boolean[] transmit;
    private final boolean[] receive;

    /**
     * A scalable endpoint without open contexts.
     *
     * @param isNamed  whether peers may name its receive contexts.
     */
    ScalableEndpointResource(long id, String name, boolean isNamed, int txCtxCnt, int rxCtxCnt) {
        this.id = id;
        this.name = name;
        this.isNamed = isNamed;
        this.transmit = new boolean[txCtxCnt];
        this.receive = new boolean[rxCtxCnt];
    }

    long id() {
        return id;
    }

    String name() {
        return name;
    }

    /**
     * Opens a context.
     *
     * @return its name, which its client does not see.
     * @throws FabricException {@code FI_EINVAL} for an index out of range, {@code FI_EBUSY} if it is open.
     */
    String open(ContextPlace place) {
        boolean[] contexts = contexts(place);
        int index = place.index();
        if (index < 0 || index >= contexts.length) {
            throw new FabricException(FabricErrno.EINVAL,
                "context " + index + " of a scalable endpoint with " + contexts.length, "Use an index below that.");
        }
        if (contexts[index]) {
            throw new FabricException(FabricErrno.EBUSY, "context " + index + " is open", "Open each context once.");
        }
        contexts[index] = true;
        return place.transmits() ? ContextName.transmit(name, index)
            : isNamed ? ContextName.receive(name, index) : ContextName.hidden(name, index);
    }

    /** Closes a context that was opened. */
    void close(ContextPlace place) {
        contexts(place)[place.index()] = false;
    }

    int openContexts() {
        return count(transmit) + count(receive);
    }

    private boolean[] contexts(ContextPlace place) {
        return place.transmits() ? transmit : receive;
    }

    private static int count(boolean[] contexts) {
        int open = 0;
        for (boolean each : contexts) {
            open += each ? 1 : 0;
        }
        return open;
    }
}
