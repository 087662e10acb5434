package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.ContextName;
import org.jfabric.info.FabricErrno;

/**
 * An address vector: {@code fi_addr} counts from 0 in the order of insertion; a removed place is used again.
 *
 * <p>Endpoints that are bound to it are notified of changes. Owner: progress agent.
 */
public final class AddressTable {
    /** Entries at most. */
    private static final int MAX_ENTRIES = 1 << 20;

    private final List<String> addresses = new ArrayList<>();
    private final Map<String, Integer> indices = new HashMap<>();
    private int holes;
    private final List<PeerTable> peers = new ArrayList<>();
    private final int rxCtxBits;

    /** An empty address vector whose addresses name no receive contexts. */
    public AddressTable() {
        this(0);
    }

    /**
     * An empty address vector.
     *
     * @param rxCtxBits the highest bits of a {@code fi_addr} that are the index of a receive context; 0: none.
     */
    public AddressTable(int rxCtxBits) {
        this.rxCtxBits = rxCtxBits;
    }

    /**
     * Inserts an address; the same address gets the same {@code fi_addr}. Returns its {@code fi_addr}, or {@code
     * -FI_ENOMEM}.
     */
    public long insert(String address) {
        Integer known = indices.get(address);
        if (known != null) {
            return known;
        }
        int index = holes == 0 ? -1 : addresses.indexOf(null);
        if (index < 0) {
            index = addresses.size();
            if (index == MAX_ENTRIES) {
                return -FabricErrno.ENOMEM;
            }
            addresses.add(address);
        } else {
            addresses.set(index, address);
            holes--;
        }
        indices.put(address, index);
        for (PeerTable table : peers) {
            table.onInserted(index, address);
        }
        return index;
    }

    /**
     * Removes an address.
     *
     * @param fiAddr from {@link #insert}.
     * @return 0 or {@code -FI_EINVAL}.
     */
    public int remove(long fiAddr) {
        String address = entry(fiAddr);
        if (address == null) {
            return -FabricErrno.EINVAL;
        }
        addresses.set((int) fiAddr, null);
        holes++;
        indices.remove(address);
        for (PeerTable table : peers) {
            table.onRemoved(fiAddr);
        }
        return 0;
    }

    /**
     * The address of an entry, or of a receive context of it.
     *
     * @param fiAddr any value.
     * @return the address, or null if there is none.
     */
    public String address(long fiAddr) {
        String address = entry(fiAddr);
        return address != null || rxCtxBits == 0 ? address : context(fiAddr);
    }

    /**
     * Whether an address is one of a receive context.
     *
     * @param fiAddr of which {@link #address} has one.
     */
    boolean isContext(long fiAddr) {
        return entry(fiAddr) == null;
    }

    private String context(long fiAddr) {
        int shift = Long.SIZE - rxCtxBits;
        String address = entry(fiAddr & (1L << shift) - 1);
        return address == null ? null : ContextName.receive(address, (int) (fiAddr >>> shift));
    }

    private String entry(long fiAddr) {
        return fiAddr >= 0 && fiAddr < addresses.size() ? addresses.get((int) fiAddr) : null;
    }

    /** Whether a table could have an entry of that number. */
    static boolean mayBeEntry(long fiAddr) {
        return fiAddr >= 0 && fiAddr < MAX_ENTRIES;
    }

    /** The number of indices in use so far, free ones between others included. */
    public int size() {
        return addresses.size();
    }

    /** The entry of an address. Returns its {@code fi_addr}, or {@link TagMatcher#UNKNOWN_SOURCE}. */
    public int find(String address) {
        Integer index = indices.get(address);
        return index == null ? TagMatcher.UNKNOWN_SOURCE : index;
    }

    /** Binds an endpoint to this address vector. */
    public void bind(PeerTable table) {
        peers.add(table);
    }

    public void unbind(PeerTable table) {
        peers.remove(table);
    }

    /** Returns whether an endpoint uses this address vector. */
    public boolean isBound() {
        return !peers.isEmpty();
    }
}
