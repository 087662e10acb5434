package org.jfabric.driver.link.support;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * The peers of one reliable-datagram endpoint by address, and the answers to their connection requests. There is at
 * most one connection with each peer, whichever side requested it. When both sides request one at the same time, the
 * request of the side with the greater address continues.
 *
 * <pre>
 *   request of a peer while   there is no connection      accept
 *                             our request is under way    accept if the peer's address is greater, and abandon ours;
 *                                                         else reject
 *                             connected, same process     reject
 *                             connected, another process  queue it until it is known whether the old connection is
 *                                                         over: accept then; else reject
 *   request of a peer that is in no address vector, beyond the limits of such peers: refuse, and count
 * </pre>
 *
 * <p>Owner: progress agent.
 *
 * @param <P> the link's class of peers.
 * @param <R> the link's class of requests.
 */
public final class CrossingRequests<P extends CrossingPeer, R extends PeerRequest> {
    private final LocalEndpoint endpoint;
    private final Takeover takeover;
    private final UnknownPeers places;
    private final Function<R, P> newPeer;
    private final BiConsumer<R, P> accept;
    private final Map<String, P> byAddress = new HashMap<>();
    /** Peers that are in no address vector. */
    private final List<P> unknown = new ArrayList<>();
    /** Queued requests, by address: at most one for each peer that has a connection. */
    private final Map<String, R> held = new HashMap<>();

    /**
     * Makes an object without peers.
     *
     * @param takeover whether a request of another process may end the connection of a peer that no longer exists.
     * @param newPeer  makes the peer of a request, and calls {@link #add}.
     */
    public CrossingRequests(
        LocalEndpoint endpoint, Takeover takeover, UnknownPeers places, Function<R, P> newPeer,
        BiConsumer<R, P> accept) {
        this.endpoint = endpoint;
        this.takeover = takeover;
        this.places = places;
        this.newPeer = newPeer;
        this.accept = accept;
    }

    // ---- peers ----

    /** Finds a peer. Returns the peer, or null. */
    public P find(String address) {
        return byAddress.get(address);
    }

    /** Adds a peer, and replaces one with the same address. */
    public void add(P peer) {
        byAddress.put(peer.remoteAddress(), peer);
    }

    /**
     * Removes a peer.
     *
     * @param peer a peer whose connection has ended, or was never established.
     */
    public void remove(P peer) {
        becomesKnown(peer);
        byAddress.remove(peer.remoteAddress(), peer);
    }

    /**
     * The application has inserted an address. The peer with this address counts as known until its connection ends,
     * even if the address is removed.
     */
    public void onInserted(String address) {
        P peer = byAddress.get(address);
        if (peer != null) {
            becomesKnown(peer);
        }
    }

    private void becomesKnown(P peer) {
        if (unknown.remove(peer)) {
            places.leave(peer.remote().inetAddress());
        }
    }

    // ---- requests ----

    /**
     * Answers a request of another endpoint, or queues it.
     *
     * @param local   where this endpoint listens.
     */
    public void answer(R request, SocketName local) {
        answer(request, local, false);
    }

    private void answer(R request, SocketName local, boolean isHeld) {
        P peer = byAddress.get(request.remote().toString());
        if (peer == null) {
            acceptNew(request);
        } else if (peer.isUp()) {
            takeOver(request, peer, local, isHeld);
        } else if (peer.process() != 0 || peer.isConnecting() && request.remote().compareTo(local) < 0) {
            // another request of the peer was accepted, or this side's request continues
            request.reject();
        } else {
            peer.dropAttempt();
            accept.accept(request, peer);
        }
    }

    private void acceptNew(R request) {
        boolean isUnknown = !endpoint.knows(request.remote().toString());
        if (isUnknown && !admit(request.remote().inetAddress())) {
            request.refuse();
            return;
        }
        P peer = newPeer.apply(request);
        if (isUnknown) {
            unknown.add(peer);
        }
        accept.accept(request, peer);
    }

    /** A request of another process replaces the connection if that has ended; other requests are rejected. */
    private void takeOver(R request, P peer, SocketName local, boolean isHeld) {
        String address = peer.remoteAddress();
        int verdict = MessageChannel.LIVES;
        if (peer.process() != 0 && peer.process() != request.process() && takeover == Takeover.PROBE
            && !held.containsKey(address)) {
            verdict = peer.messages().probe();
        }
        if (verdict == MessageChannel.LIVES) {
            request.reject();
        } else if (verdict == MessageChannel.OVER) {
            peer.lose(FabricErrno.ECONNRESET);
            answer(request, local, isHeld);
        } else {
            held.put(address, request);
            if (!isHeld) {
                request.hold();
            }
        }
    }

    /**
     * Admits an unknown peer. If the limit is reached, connections of unknown peers that have closed their end are
     * closed first, even if some of their data is unread.
     */
    private boolean admit(InetAddress host) {
        for (int i = unknown.size() - 1; i >= 0 && !places.hasPlace(host); i--) {
            P peer = i < unknown.size() ? unknown.get(i) : null;
            if (peer != null && peer.isUp() && peer.messages().hasLeft()
                && places.couldLeaveTo(peer.remote().inetAddress(), host)) {
                peer.lose(FabricErrno.ECONNRESET);
            }
        }
        return places.admit(host);
    }

    // ---- steps ----

    /**
     * Answers queued requests whose answers are known by now.
     *
     * @param local where this endpoint listens.
     * @return number of requests that were answered, or abandoned by their peers.
     */
    public int poll(SocketName local) {
        if (held.isEmpty()) {
            // in each poll of a link: without an iterator
            return 0;
        }
        int answered = 0;
        for (String address : List.copyOf(held.keySet())) {
            R request = held.remove(address);
            if (request == null) {
                continue;
            }
            if (request.isOver()) {
                request.release();
                P peer = byAddress.get(address);
                if (peer != null && peer.isUp()) {
                    peer.messages().endProbe();
                }
            } else {
                answer(request, local, true);
            }
            answered += held.containsKey(address) ? 0 : 1;
        }
        return answered;
    }

    /** Whether requests are queued. */
    public boolean isHolding() {
        return !held.isEmpty();
    }

    /**
     * Ends connections of unknown peers that have begun a message and do not send the rest of it.
     *
     * @param nowNs     current time in nanoseconds.
     * @param timeoutNs nanoseconds allowed without progress.
     */
    public int endStalled(long nowNs, long timeoutNs) {
        int ended = 0;
        for (int i = unknown.size() - 1; i >= 0; i--) {
            P peer = i < unknown.size() ? unknown.get(i) : null;
            if (peer != null && peer.isUp() && peer.isStalled(nowNs, timeoutNs)) {
                peer.loseStalled();
                ended++;
            }
        }
        return ended;
    }

    /** Whether there are unknown peers. */
    public boolean hasUnknown() {
        return !unknown.isEmpty();
    }

    /** Whether an unknown peer has begun a message and not sent the rest of it yet. */
    public boolean hasUnknownMidMessage() {
        for (P peer : unknown) {
            if (peer.isUp() && peer.isMidMessage()) {
                return true;
            }
        }
        return false;
    }

    /** Abandons the queued requests. */
    public void close(Consumer<R> end) {
        held.values().forEach(end);
        held.clear();
    }
}
