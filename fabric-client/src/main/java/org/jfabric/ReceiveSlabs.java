package org.jfabric;

import java.util.Arrays;
import org.jfabric.client.MessageLender;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.SlabDescriptor;

/**
 * The receive slabs of the endpoints that report to one completion queue.
 *
 * <p>The list is replaced when an endpoint is enabled or closed, by a control call, and read by the reading threads;
 * what is in the slabs belongs to those. While an endpoint is being enabled its entries may be there before the
 * driver's answer was taken: they wait.
 */
final class ReceiveSlabs {
    private static final ReceiveSlab[] NONE = {};

    private volatile ReceiveSlab[] slabs = NONE;
    private volatile boolean enabling;

    /** Enables an endpoint with a slab; under the fabric's lock. */
    void enable(Endpoint endpoint) {
        enabling = true;
        try {
            endpoint.activation().enable();
            ReceiveSlab[] more = Arrays.copyOf(slabs, slabs.length + 1);
            more[slabs.length] = endpoint.slab();
            slabs = more;
        } finally {
            enabling = false;
        }
    }

    /** An index is used again after 65,536 endpoints; two that are open at once could not be distinguished. */
    void requireFree(int endpointIndex) {
        if (find(SlabDescriptor.context(endpointIndex, 1, 0)) != null) {
            throw new FabricException(FabricErrno.ENOSPC, "an endpoint with index " + endpointIndex
                + " and buffered receives reports to the completion queue already", "Use another completion queue.");
        }
    }

    /** Its endpoint is closed; under the fabric's lock. */
    void remove(ReceiveSlab slab) {
        slabs = Arrays.stream(slabs).filter(other -> other != slab).toArray(ReceiveSlab[]::new);
    }

    /**
     * An entry hands out a cell: remembers it.
     *
     * @return false if the entry is to be read later, because its endpoint is not known yet.
     */
    boolean take(long record, long cell, long context) {
        ReceiveSlab slab = find(context);
        if (slab == null) {
            // in this order: what is not being enabled any more is in the list
            boolean mayCome = enabling;
            slab = find(context);
            if (slab == null && mayCome) {
                return false;
            }
        }
        if (slab != null) {
            slab.take(record, cell);
        }
        return true;
    }

    /** The slab of an entry's endpoint; null if that is closed. */
    ReceiveSlab find(long context) {
        for (ReceiveSlab slab : slabs) {
            if (slab.isOf(context)) {
                return slab;
            }
        }
        return null;
    }

    /** The slab of the endpoint that lends a message; null if that is closed. */
    ReceiveSlab find(MessageLender lender) {
        for (ReceiveSlab slab : slabs) {
            if (slab.isOf(lender)) {
                return slab;
            }
        }
        return null;
    }

    /**
     * Gives back what the last reading call lent.
     *
     * @return whether something is still to be given back.
     */
    boolean giveBackLent() {
        boolean left = false;
        for (ReceiveSlab slab : slabs) {
            left |= slab.giveBackLent();
        }
        return left;
    }
}
