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
    private EndpointSides sides;
    private PeerSends[] byFiAddr = new PeerSends[16];
    /** Receive contexts that a {@code fi_addr} names; null before the first. */
    private Long2ObjectHashMap<PeerSends> byContext;
    /** Whether a context of a scalable endpoint was ever a peer: several peers may have one source. */
    private boolean hasContexts;
    /** The only peer of a connection-oriented endpoint, else null. */
    private PeerSends only;

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

    /** Sets what serves the peers; before there is one. */
    void serve(EndpointSides newSides) {
        sides = newSides;
    }

    /** The link's detail of the failure that is being processed. Returns always the same object. */
    LinkFailure failure() {
        return failure;
    }

    /**
     * The peer of a destination address. Returns the peer, which may not be connected yet; null if the address is not
     * valid.
     */
    PeerSends peer(long fiAddr) {
        PeerSends peer = known(fiAddr);
        return peer != null ? peer : resolve(fiAddr);
    }

    /**
     * The peer of a destination address, if something was sent to it before. Returns the same as {@link #peer}, or
     * null.
     */
    PeerSends known(long fiAddr) {
        PeerSends[] table = byFiAddr;
        if (fiAddr >= 0 && fiAddr < table.length) {
            PeerSends peer = table[(int) fiAddr];
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
        return only != null ? only.peer().address() : addresses.address(fiAddr);
    }

    /**
     * The state of the channel to an address.
     *
     * @param address of a remote endpoint, even if nothing was sent to it yet.
     * @return one of {@code PEER_*} of {@link ViewDescriptor}.
     */
    int state(String address) {
        PeerSends peer = known.find(current(address));
        return peer == null ? ViewDescriptor.PEER_DOWN : state(peer.peer());
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
    PeerSends inbound(String address) {
        PeerSends peer = known.find(address);
        if (peer == null) {
            String endpoint = ContextName.endpoint(address);
            peer = new PeerSends(address, source(endpoint), this, context, sides);
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
    void connect(PeerSends peer) {
        if (peer == only) {
            peer.fail(FabricErrno.ENOTCONN);
            return;
        }
        String first = choice == null ? null : choice.again(peer.peer().address());
        if (first == null || first.equals(peer.peer().address())) {
            dial(peer);
        } else {
            moveTo(first, peer);
        }
    }

    private void dial(PeerSends peer) {
        for (Way way : ways) {
            String address = peer.peer().address();
            if (way.takes(address)) {
                peer.peer().connecting(way.link().connect(way.local(), way.plain(address), peer));
                return;
            }
        }
        peer.fail(FabricErrno.EHOSTUNREACH);
    }

    /**
     * Hands what waits for a peer to another of its addresses.
     *
     * @param peer  that could not be connected; nothing was sent to it.
     * @param errno positive fabric errno.
     * @return false if there is no other: the peer has failed.
     */
    boolean connectElsewhere(PeerSends peer, int errno) {
        context.leaveQuick();
        String next = choice == null ? null : choice.next(peer.peer().address(), errno);
        if (next != null) {
            context.onNextLink(errno, next);
            moveTo(next, peer);
        }
        return next != null;
    }

    /** The sends to a peer go by another of its addresses from now on. */
    private void moveTo(String address, PeerSends from) {
        PeerSends to = inbound(address);
        int source = from.peer().source();
        if (source >= 0 && source < byFiAddr.length && byFiAddr[source] == from) {
            byFiAddr[source] = to;
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
    PeerSends only(String address) {
        only = new PeerSends(address, Peer.UNKNOWN_SOURCE, this, context, sides);
        // the application has connected to it or accepted it
        only.receives().held().ofUnknownPeer(false);
        known.add(only);
        return only;
    }

    /** Drops the peer of a connection attempt that failed. */
    void drop(PeerSends peer) {
        context.onForgotten(peer.peer());
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
        PeerSends peer = known.find(address);
        if (peer != null && peer.peer().source() < 0) {
            peer.receives().source(fiAddr);
        }
        if (hasContexts) {
            learnContexts(address, fiAddr);
        }
        sides.receiver().learnSource(address, fiAddr);
    }

    private void learnContexts(String address, int fiAddr) {
        for (int i = 0, slots = known.slots(); i < slots; i++) {
            PeerSends peer = known.get(i);
            if (peer != null && peer.peer().source() < 0 && peer.peer().endpointAddress().equals(address)) {
                peer.receives().source(fiAddr);
            }
        }
    }

    /** Whether another context of a peer's endpoint, or the peer by another link, still reaches this endpoint. */
    boolean isUpElsewhere(Peer down) {
        if (!hasContexts && choice == null || down.source() < 0) {
            return false;
        }
        for (int i = 0, slots = known.slots(); i < slots; i++) {
            PeerSends other = known.get(i);
            if (other != null && other.peer() != down && other.peer().source() == down.source() && other.isUp()) {
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
            PeerSends peer = known.get(i);
            if (peer != null && peer.peer().source() == fiAddr) {
                // two entries may have an address in common
                peer.receives().source(
                    choice == null ? Peer.UNKNOWN_SOURCE : source(peer.peer().endpointAddress()));
            }
        }
        sides.receiver().forgetSource((int) fiAddr);
    }

    /**
     * Drops a peer, so that an endpoint with many short-lived peers does not accumulate them.
     *
     * @param peer down and in no address vector.
     */
    void forget(Peer peer) {
        context.onForgotten(peer);
        PeerSends found = known.find(peer.address());
        if (found != null && found.peer() == peer) {
            known.remove(found);
        }
    }

    List<PeerSends> all() {
        return known.all();
    }

    /** The number of peer indices. Returns a count that may grow; a peer keeps its index. */
    int slots() {
        return known.slots();
    }

    /** The peer at an index, or null. */
    PeerSends at(int slot) {
        return known.get(slot);
    }

    /** What comes from the peers. */
    List<PeerReceives> receives() {
        return known.all().stream().map(PeerSends::receives).toList();
    }

    /** The state of the channel, one of {@code PEER_*} of {@link ViewDescriptor}. */
    static int state(Peer peer) {
        return peer.isUp() ? ViewDescriptor.PEER_UP
            : peer.channel() == null ? ViewDescriptor.PEER_DOWN : ViewDescriptor.PEER_CONNECTING;
    }

    private PeerSends resolve(long fiAddr) {
        String address = addresses.address(fiAddr);
        if (address == null) {
            return null;
        }
        boolean isContext = addresses.isContext(fiAddr);
        if (isContext && !namesContexts) {
            return null;
        }
        PeerSends peer = inbound(current(address));
        if (peer.peer().source() < 0) {
            // of a context the entry of its endpoint
            peer.receives().source((int) fiAddr);
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
