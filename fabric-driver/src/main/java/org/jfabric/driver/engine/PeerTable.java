package org.jfabric.driver.engine;

import java.util.Arrays;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.driver.link.ContextName;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.ViewDescriptor;

/**
 * The peers of one endpoint: by {@code fi_addr} for sends, by address for channels that the other side opens.
 *
 * <p>Owner: progress agent.
 */
final class PeerTable {
    private final AddressTable addresses;
    private final List<Way> ways;
    /** The choice among several addresses of a peer; null unless the endpoint has an address for each link. */
    private final PeerWays choice;
    private final PeerContext context;
    private final LinkFailure failure = new LinkFailure();
    private final PeerList known = new PeerList();
    private final boolean namesContexts;
    private TransmitShare share;
    private Peer[] byFiAddr = new Peer[16];
    /** Receive contexts that a {@code fi_addr} names; null before the first. */
    private Long2ObjectHashMap<Peer> byContext;
    /** Whether a context of a scalable endpoint was ever a peer: several peers may have one source. */
    private boolean hasContexts;
    /** The only peer of a connection-oriented endpoint, else null. */
    private Peer only;

    /**
     * A table without peers.
     *
     * @param ways          links of the endpoint, the preferred one first.
     * @param own           address of the endpoint for all links, or null if each link has the same.
     * @param namesContexts whether destinations may name receive contexts.
     */
    PeerTable(
        AddressTable addresses, List<Way> ways, BestName own, PeerContext context, boolean namesContexts) {
        this.namesContexts = namesContexts;
        this.addresses = addresses;
        this.ways = ways;
        this.choice = own == null ? null : new PeerWays(own, ways);
        this.context = context;
    }

    /** The link's detail of the failure that is being processed. Returns always the same object. */
    LinkFailure failure() {
        return failure;
    }

    /**
     * The peer of a destination address. Returns the peer, which may not be connected yet; null if the address is not
     * valid.
     */
    Peer peer(long fiAddr) {
        Peer peer = known(fiAddr);
        return peer != null ? peer : resolve(fiAddr);
    }

    /**
     * The peer of a destination address, if something was sent to it before. Returns the same as {@link #peer}, or
     * null.
     */
    Peer known(long fiAddr) {
        Peer[] table = byFiAddr;
        if (fiAddr >= 0 && fiAddr < table.length) {
            Peer peer = table[(int) fiAddr];
            if (peer != null) {
                return peer;
            }
        }
        return only != null || byContext == null ? only : byContext.get(fiAddr);
    }

    /** What a peer may have of the endpoint's sends. */
    void share(TransmitShare newShare) {
        share = newShare;
    }

    /** Whether there are at least two peers. */
    boolean hasSeveral() {
        return known.hasSeveral();
    }

    /** Returns whether a source address may be named in a receive. */
    boolean isValid(long fiAddr) {
        return addresses.address(fiAddr) != null;
    }

    /**
     * The address that sends to a destination go to; no peer is created. Returns the address; null if the address
     * vector does not hold it, or a connection has no peer.
     */
    String address(long fiAddr) {
        return only != null ? only.address() : addresses.address(fiAddr);
    }

    /**
     * The state of the channel to an address.
     *
     * @param address of a remote endpoint, even if nothing was sent to it yet.
     * @return one of {@code PEER_*} of {@link ViewDescriptor}.
     */
    int state(String address) {
        Peer peer = known.find(current(address));
        return peer == null ? ViewDescriptor.PEER_DOWN : state(peer);
    }

    /** The address of a peer by the link that sends go by. */
    String current(String address) {
        return choice == null ? address : choice.current(address);
    }

    /** The addresses of a peer that can be tried, the best one first. */
    List<String> addresses(String address) {
        return choice == null ? List.of(address) : choice.addresses(address);
    }

    /** The choice among several addresses of a peer; null unless the endpoint has an address for each link. */
    PeerWays choice() {
        return choice;
    }

    /** The {@code fi_addr} of an address, which may be one of several of a peer. */
    int source(String endpointAddress) {
        int source = addresses.find(endpointAddress);
        return source == Peer.UNKNOWN_SOURCE && choice != null ? choice.source(endpointAddress) : source;
    }

    /** The peer with that address, for a channel that the other side opens. Returns the existing peer or a new one. */
    Peer inbound(String address) {
        Peer peer = known.find(address);
        if (peer == null) {
            String endpoint = ContextName.endpoint(address);
            peer = new Peer(address, source(endpoint), context);
            known.add(peer);
            hasContexts |= !endpoint.equals(address);
        }
        return peer;
    }

    /**
     * Begins a channel to a peer that has none, or fails the peer. A send does not connect a connection-oriented
     * endpoint again.
     *
     * @param peer down or new.
     */
    void connect(Peer peer) {
        if (peer == only) {
            peer.fail(FabricErrno.ENOTCONN);
            return;
        }
        String first = choice == null ? null : choice.again(peer.address());
        if (first == null || first.equals(peer.address())) {
            dial(peer);
        } else {
            moveTo(first, peer);
        }
    }

    private void dial(Peer peer) {
        for (Way way : ways) {
            if (way.takes(peer.address())) {
                peer.connecting(way.link().connect(way.local(), way.plain(peer.address()), peer));
                return;
            }
        }
        peer.fail(FabricErrno.EHOSTUNREACH);
    }

    /**
     * A peer could not be connected.
     *
     * @param peer  without a channel; nothing was sent to it.
     * @return the next of its addresses, to {@link #moveTo}; null if the peer has failed.
     */
    String elsewhere(Peer peer, int errno) {
        return choice == null ? null : choice.next(peer.address(), errno);
    }

    /** The sends to a peer go by another of its addresses from now on. */
    void moveTo(String address, Peer from) {
        Peer to = inbound(address);
        if (from.source() >= 0 && from.source() < byFiAddr.length && byFiAddr[from.source()] == from) {
            byFiAddr[from.source()] = to;
        }
        from.moveSendsTo(to);
        if (to.channel() == null) {
            dial(to);
        } else {
            to.scheduleWaiting();
        }
    }

    /**
     * Creates the peer of a connection. All sends go to it, whatever destination they name, and it has no source
     * address.
     */
    Peer only(String address) {
        only = new Peer(address, Peer.UNKNOWN_SOURCE, context);
        // the application has connected to it or accepted it
        only.held().ofUnknownPeer(false);
        known.add(only);
        return only;
    }

    /** Drops the peer of a connection attempt that failed. */
    void drop(Peer peer) {
        context.onForgotten(peer);
        known.remove(peer);
        only = null;
    }

    /**
     * The address vector has a new entry. A peer that was known by its address only now has a {@code fi_addr}, and so
     * have its queued messages, even if the peer is down.
     */
    void onInserted(long fiAddr, String address) {
        if (choice != null) {
            choice.insert((int) fiAddr, address);
        }
        for (String each : addresses(address)) {
            learn(each, (int) fiAddr);
        }
        introduce(address);
    }

    private void learn(String address, int fiAddr) {
        Peer peer = known.find(address);
        if (peer != null && peer.source() < 0) {
            peer.source(fiAddr);
        }
        if (hasContexts) {
            learnContexts(address, fiAddr);
        }
        context.receiver().learnSource(address, fiAddr);
    }

    private void learnContexts(String address, int fiAddr) {
        for (int i = 0, slots = known.slots(); i < slots; i++) {
            Peer peer = known.get(i);
            if (peer != null && peer.source() < 0 && peer.endpointAddress().equals(address)) {
                peer.source(fiAddr);
            }
        }
    }

    /** Whether another context of a peer's endpoint, or the peer by another link, still reaches this endpoint. */
    boolean isUpElsewhere(Peer down) {
        if (!hasContexts && choice == null || down.source() < 0) {
            return false;
        }
        for (int i = 0, slots = known.slots(); i < slots; i++) {
            Peer peer = known.get(i);
            if (peer != null && peer != down && peer.source() == down.source() && peer.isUp()) {
                return true;
            }
        }
        return false;
    }

    /** Announces the entries of the address vector to the links, after the endpoint was attached to them. */
    void introduceAll() {
        for (int i = 0, size = addresses.size(); i < size; i++) {
            String address = addresses.address(i);
            if (address != null) {
                if (choice != null) {
                    choice.insert(i, address);
                }
                introduce(address);
            }
        }
    }

    private void introduce(String address) {
        for (String each : addresses(address)) {
            for (Way way : ways) {
                String plain = way.plain(each);
                if (plain != null) {
                    way.link().onInserted(way.local(), plain);
                }
            }
        }
    }

    /** The address vector lost an entry: sends to it are invalid, its sender is unknown (FI_ADDR_NOTAVAIL). */
    void onRemoved(long fiAddr) {
        share.onRemoved(fiAddr);
        if (fiAddr >= 0 && fiAddr < byFiAddr.length && byFiAddr[(int) fiAddr] != null) {
            byFiAddr[(int) fiAddr] = null;
        }
        if (byContext != null) {
            byContext.clear();
        }
        if (choice != null) {
            choice.remove(fiAddr);
        }
        for (int i = 0, slots = known.slots(); i < slots; i++) {
            Peer peer = known.get(i);
            if (peer != null && peer.source() == fiAddr) {
                // two entries may have an address in common
                peer.source(choice == null ? Peer.UNKNOWN_SOURCE : source(peer.endpointAddress()));
            }
        }
        context.receiver().forgetSource((int) fiAddr);
    }

    /**
     * Drops a peer, so that an endpoint with many short-lived peers does not accumulate them.
     *
     * @param peer down and in no address vector.
     */
    void forget(Peer peer) {
        context.onForgotten(peer);
        known.remove(peer);
    }

    List<Peer> all() {
        return known.all();
    }

    /** The number of peer indices. Returns a count that may grow; a peer keeps its index. */
    int slots() {
        return known.slots();
    }

    /** The peer at an index, or null. */
    Peer at(int slot) {
        return known.get(slot);
    }

    /**
     * Calls the visitor for the peer at an index, if there is one.
     *
     * @param slot    from 0.
     */
    void visit(int slot, QueueVisitor visitor) {
        Peer peer = known.get(slot);
        if (peer != null) {
            visitor.onPeer(peer, peer.held().count(), state(peer));
        }
    }

    private static int state(Peer peer) {
        return peer.isUp() ? ViewDescriptor.PEER_UP
            : peer.channel() == null ? ViewDescriptor.PEER_DOWN : ViewDescriptor.PEER_CONNECTING;
    }

    private Peer resolve(long fiAddr) {
        String address = addresses.address(fiAddr);
        if (address == null) {
            return null;
        }
        boolean isContext = addresses.isContext(fiAddr);
        if (isContext && !namesContexts) {
            return null;
        }
        Peer peer = inbound(current(address));
        if (peer.source() < 0) {
            // of a context the entry of its endpoint
            peer.source((int) fiAddr);
        }
        if (isContext) {
            byContext = byContext == null ? new Long2ObjectHashMap<>() : byContext;
            byContext.put(fiAddr, peer);
            return peer;
        }
        if (fiAddr >= byFiAddr.length) {
            byFiAddr = Arrays.copyOf(byFiAddr, Math.max(byFiAddr.length * 2, (int) fiAddr + 1));
        }
        byFiAddr[(int) fiAddr] = peer;
        return peer;
    }
}
