package org.jfabric;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * The objects to which a region is bound, and the rules of binding. They do not refer back: one that is closed is not
 * bound any more.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
final class RegionBindings {
    private static final long COUNTER_FLAGS = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** The ids of endpoints are one field of a command. */
    private static final int MAX_ENDPOINTS = 512;

    private final MemoryRegion region;
    private final Domain domain;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private Counter reads;
    private Counter writes;
    private boolean isEnabled;

    RegionBindings(MemoryRegion region, Domain domain, boolean isEnabled) {
        this.region = region;
        this.domain = domain;
        this.isEnabled = isEnabled;
    }

    void bind(Fid object, long flags) {
        switch (object) {
            case Counter counter -> bindCounter(counter, flags);
            case Endpoint endpoint -> bindEndpoint(endpoint, flags);
            default -> throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to a region", "Bind counters and endpoints.");
        }
    }

    private void bindCounter(Counter counter, long flags) {
        if ((flags & ~COUNTER_FLAGS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "bind flags are "
                + Flags.toString(flags, Flags.Kind.COUNTER_BIND) + ", known are "
                + Flags.toString(COUNTER_FLAGS, Flags.Kind.COUNTER_BIND));
        }
        if (flags == 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "bind flags name nothing to count", "Add Flags.REMOTE_WRITE, Flags.REMOTE_READ or both.");
        }
        requireBindable("a counter", counter.domain(), counter.isOpen());
        boolean countsReads = (flags & Flags.REMOTE_READ) != 0;
        boolean countsWrites = (flags & Flags.REMOTE_WRITE) != 0;
        if (countsReads && reads != null || countsWrites && writes != null) {
            throw new FabricException(FabricErrno.EINVAL, "a counter is bound for "
                + (countsReads && reads != null ? "REMOTE_READ" : "REMOTE_WRITE") + " already",
                "Bind one for each kind of access.");
        }
        if (countsReads) {
            reads = counter;
        }
        if (countsWrites) {
            writes = counter;
        }
    }

    private void bindEndpoint(Endpoint endpoint, long flags) {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "bind flags are " + Codes.hex(flags) + ", an endpoint has none", "Bind it with flags 0.");
        }
        requireBindable("an endpoint", endpoint.domain(), endpoint.isOpen());
        if (endpoints.contains(endpoint) || endpoints.size() == MAX_ENDPOINTS) {
            throw new FabricException(FabricErrno.EINVAL, "the region is bound to " + endpoints.size()
                + " endpoint(s), perhaps to this one already", "Bind each of at most " + MAX_ENDPOINTS + " once.");
        }
        endpoints.add(endpoint);
    }

    /** Everything that stands behind {@link MemoryRegion#enable()}. */
    void enable() {
        requireOpen(region.isOpen(), "the region");
        if (isEnabled) {
            return;
        }
        for (Endpoint endpoint : endpoints) {
            if (endpoint.state() != Endpoint.ENABLED) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "the region is bound to an endpoint that is "
                    + (endpoint.isOpen() ? "not enabled" : "closed"), "Enable the endpoint first.");
            }
        }
        requireOpen(isUnusedOrOpen(reads) && isUnusedOrOpen(writes), "a counter that the region is bound to");
        domain.commands().enableRegion(region.index(), reads == null ? 0 : reads.id(),
            writes == null ? 0 : writes.id(), () -> isEnabled = true,
            endpoints.stream().mapToLong(Endpoint::id).toArray());
    }

    /** Lets peers access it again that could, with the next driver. */
    void reopen() {
        if (isEnabled && region.attr().isBindable()) {
            isEnabled = false;
            enable();
        }
    }

    /** Refuses to close the region before the objects that it is bound to. */
    void requireUnused() {
        List<Fid> open = new ArrayList<>();
        for (Fid each : new Fid[] {reads, writes}) {
            if (each != null && each.isOpen() && !open.contains(each)) {
                open.add(each);
            }
        }
        endpoints.stream().filter(Endpoint::isOpen).forEach(open::add);
        if (!open.isEmpty()) {
            throw new FabricException(FabricErrno.EBUSY,
                "the region is bound to objects that are open: " + open, "Close them first.");
        }
    }

    private static boolean isUnusedOrOpen(Counter counter) {
        return counter == null || counter.isOpen();
    }

    private void requireBindable(String what, Domain of, boolean open) {
        requireOpen(region.isOpen(), "the region");
        if (isEnabled) {
            throw new FabricException(FabricErrno.EOPBADSTATE, what + " cannot be bound to a region that is enabled",
                "Register the region with Flags.RMA_EVENT, and bind everything before enable().");
        }
        if (of != domain) {
            throw new FabricException(FabricErrno.EDOMAIN, what + " of another domain cannot be bound");
        }
        requireOpen(open, what);
    }

    private static void requireOpen(boolean open, String what) {
        if (!open) {
            throw new FabricException(FabricErrno.EOPBADSTATE, what + " is closed", "Open another one.");
        }
    }
}
