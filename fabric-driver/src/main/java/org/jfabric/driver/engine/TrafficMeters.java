package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.collections.Long2LongHashMap;
import org.jfabric.layout.MetricLabel;

/**
 * Publishes the traffic of endpoints, their peers and the links in rounds: each 100 ms all peers are visited once, at
 * most 16 in a duty cycle. Nothing is published while messages are processed.
 *
 * <p>Endpoints and links count all peers, also those that have no row of their own because the number of rows is
 * limited.
 *
 * <p>Owner: progress agent.
 */
final class TrafficMeters {
    private static final long PERIOD_NS = 100_000_000;
    /** Least time between two rounds of a thread that sleeps often, and what each peer adds to it. */
    private static final long LEAST_PERIOD_NS = 1_000_000;
    private static final long LEAST_PERIOD_OF_PEER_NS = 10_000;
    private static final int STEP = 16;
    private static final List<String> OF_ENDPOINTS =
        List.of("outstanding_sends", "posted_receives", "waiting_messages");
    private static final List<String> OF_PEERS = List.of("up", "waiting_sends", "waiting_messages");

    private final EngineCounters counters;
    private final List<EngineEndpoint> endpoints = new ArrayList<>();
    private final Map<String, TrafficRow> links = new HashMap<>();
    private final Long2LongHashMap clients = new Long2LongHashMap(0);
    private final long[] changes = new long[TrafficRow.COUNTERS.size()];
    private int endpointsLeft;
    private int peersLeft;
    private boolean inRound;
    private long roundNs;
    private int endpoint;
    private int slot;
    /** Peers and endpoints that this round, or the last one, has come to. */
    private int visited;

    TrafficMeters(EngineCounters counters) {
        this.counters = counters;
        this.endpointsLeft = counters.endpointLimit();
        this.peersLeft = counters.peerLimit();
    }

    void open(long clientId, String name, long pid) {
        clients.put(clientId, counters.open(MetricLabel.INFO, MetricLabel.text("jfabric_client",
            "client", String.valueOf(clientId), "name", name, "pid", String.valueOf(pid))));
    }

    /** A client has ended; does nothing for one that is not shown. */
    void close(long clientId) {
        long address = clients.remove(clientId);
        if (address != 0) {
            counters.close(address);
        }
    }

    /** Counts an endpoint from now on. */
    void open(EngineEndpoint added) {
        endpoints.add(added);
        if (endpointsLeft > 0) {
            endpointsLeft--;
            added.traffic().row(new TrafficRow(counters, "jfabric_endpoint_", OF_ENDPOINTS,
                "client", String.valueOf(added.session().clientId()), "id", String.valueOf(added.settings().id()),
                "endpoint", added.settings().address()));
        }
    }

    /** An endpoint is closed; does nothing if it is not counted. */
    void close(EngineEndpoint closed) {
        if (!endpoints.remove(closed)) {
            return;
        }
        PeerTable peers = closed.peers();
        for (int i = 0; i < peers.slots(); i++) {
            if (peers.at(i) != null) {
                close(closed, peers.at(i).peer());
            }
        }
        add(closed, closed.traffic());
        TrafficRow row = closed.traffic().row();
        if (row != null) {
            closed.traffic().row(null);
            endpointsLeft++;
            row.close();
        }
    }

    void close(EngineEndpoint of, Peer peer) {
        add(of, peer.address(), peer.traffic());
        TrafficRow row = peer.traffic().row();
        if (row != null) {
            peer.traffic().row(null);
            peersLeft++;
            row.close();
        }
    }

    /** One step of a round, if it is time; returns whether a round has begun. */
    boolean poll(long nowNs) {
        boolean begins = !inRound && begins(nowNs, PERIOD_NS);
        if (inRound) {
            step(STEP);
        }
        return begins;
    }

    /** A whole round before the thread sleeps, or the rest of one; returns false if there was one just now. */
    boolean pollAll(long nowNs) {
        boolean due = inRound
            || begins(nowNs, Math.min(PERIOD_NS, LEAST_PERIOD_NS + visited * LEAST_PERIOD_OF_PEER_NS));
        if (due) {
            step(Integer.MAX_VALUE);
        }
        return due;
    }

    private boolean begins(long nowNs, long periodNs) {
        if (nowNs - roundNs < periodNs && roundNs != 0) {
            return false;
        }
        roundNs = nowNs;
        inRound = true;
        endpoint = 0;
        slot = 0;
        visited = 0;
        return true;
    }

    private void step(int limit) {
        for (int i = 0; i < limit; i++) {
            if (endpoint >= endpoints.size()) {
                inRound = false;
                return;
            }
            visited++;
            EngineEndpoint at = endpoints.get(endpoint);
            if (slot < at.peers().slots()) {
                PeerSends peer = at.peers().at(slot++);
                if (peer != null) {
                    publish(at, peer);
                }
            } else {
                publish(at);
                endpoint++;
                slot = 0;
            }
        }
    }

    private void publish(EngineEndpoint at) {
        add(at, at.traffic());
        TrafficRow row = at.traffic().row();
        if (row != null) {
            row.gauge(0, at.outstandingSends());
            row.gauge(1, at.outstandingReceives());
            row.gauge(2, at.waitingMessages());
        }
    }

    private void publish(EngineEndpoint at, PeerSends sends) {
        Peer peer = sends.peer();
        Traffic traffic = peer.traffic();
        if (traffic.row() == null && peersLeft > 0 && peer.channel() != null) {
            peersLeft--;
            traffic.row(new TrafficRow(counters, "jfabric_peer_", OF_PEERS,
                "client", String.valueOf(at.session().clientId()), "id", String.valueOf(at.settings().id()),
                "endpoint", at.settings().address(), "peer", peer.address(), "link", at.links().to(peer.address())));
        }
        add(at, peer.address(), traffic);
        TrafficRow row = traffic.row();
        if (row != null) {
            row.gauge(0, peer.isUp() ? 1 : 0);
            row.gauge(1, sends.outbox().waiting());
            row.gauge(2, sends.receives().held().count());
        }
    }

    private void add(EngineEndpoint at, String peerAddress, Traffic traffic) {
        if (traffic.take(changes)) {
            TrafficRow link = traffic.linkRow();
            if (link == null) {
                link = links.computeIfAbsent(at.links().to(peerAddress),
                    name -> new TrafficRow(counters, "jfabric_link_", List.of(), "link", name));
                traffic.linkRow(link);
            }
            link.add(changes);
            addTo(traffic.row());
            addTo(at.traffic().row());
        }
    }

    /** Adds what an endpoint counts without a peer. */
    private void add(EngineEndpoint at, Traffic own) {
        if (own.take(changes)) {
            addTo(at.traffic().row());
        }
    }

    private void addTo(TrafficRow row) {
        if (row != null) {
            row.add(changes);
        }
    }
}
