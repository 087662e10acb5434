package org.jfabric;

import java.util.Arrays;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The aliases of one endpoint: further objects for it, with default operation flags of their own. Each change of the
 * endpoint is copied to them, so that a call through one of them costs what it costs at the endpoint itself.
 *
 * <p>Opening and closing: under the fabric's lock. Copying: the thread of the change.
 */
final class EndpointAliases {
    private static final Endpoint[] NONE = {};

    private final Endpoint endpoint;
    /** Replaced as a whole: {@link #isEmpty()} reads it without a lock. */
    private volatile Endpoint[] open = NONE;

    EndpointAliases(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Adds an alias, with the endpoint's present state. */
    synchronized void add(Endpoint alias) {
        alias.follow(endpoint);
        Endpoint[] longer = Arrays.copyOf(open, open.length + 1);
        longer[open.length] = alias;
        open = longer;
    }

    synchronized void remove(Endpoint alias) {
        open = Arrays.stream(open).filter(each -> each != alias).toArray(Endpoint[]::new);
    }

    /** The endpoint has changed; {@link #add} waits or comes later, so that no alias misses it. */
    synchronized void update() {
        for (Endpoint alias : open) {
            alias.follow(endpoint);
        }
    }

    boolean isEmpty() {
        return open.length == 0;
    }

    /** Refuses to close the endpoint before its aliases. */
    void requireNone() {
        if (open.length != 0) {
            throw new FabricException(
                FabricErrno.EBUSY, "the endpoint has open aliases: " + open.length, "Close these first.");
        }
    }

    /** The endpoint is closed with its fabric. */
    void markClosed() {
        for (Endpoint alias : open) {
            alias.markClosed();
        }
        open = NONE;
    }
}
