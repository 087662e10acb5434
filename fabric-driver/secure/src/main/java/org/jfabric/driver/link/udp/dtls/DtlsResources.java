package org.jfabric.driver.link.udp.dtls;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.DtlsConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.support.HandshakeTasks;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.driver.link.udp.DatagramSecurity;
import org.jfabric.driver.link.udp.UdpEndpoint;
import org.jfabric.driver.link.udp.UdpPort;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricException;

/**
 * What the dtls endpoints of a link have in common: the driver's identity, buffers, limits and counters. The buffers
 * are on the heap: for direct ones the JDK's ciphers allocate arrays in each call. They keep nothing from one call to
 * the next, so that all sessions share them.
 *
 * <p>Owner: progress agent; {@link #begin} is for any thread.
 */
public final class DtlsResources implements DatagramSecurity {
    /** Room for any record, with what the JDK demands beyond its length. */
    private static final int RECORD_BYTES = 17 << 10;
    /** No multiple of a page: the first lines of all records must not share a cache set. */
    private static final int SLOT_BYTES = RECORD_BYTES + 192;
    private static final int DATAGRAM_BYTES = 65_536;
    /** A session's records may have any length. */
    private static final int LONGEST_BYTES = (16 << 10) + 256;

    private final TlsIdentity identity;
    private final AccessList access;
    private final DriverConfig config;
    private final LinkServices services;
    private final HandshakeTasks tasks;
    private final DtlsCounters counters;
    private final UnknownPeers places;
    /** The handshakes that peers have begun, the oldest first. */
    private final Set<DtlsHandshake> incoming = new LinkedHashSet<>();
    private final List<DtlsPeers> endpoints = new ArrayList<>();
    private final ByteBuffer in = ByteBuffer.allocate(DATAGRAM_BYTES);
    private final ByteBuffer plain = ByteBuffer.allocate(RECORD_BYTES);
    private final ByteBuffer text = ByteBuffer.allocate(DtlsSession.MAX_MESSAGE_BYTES + 1);
    private final ByteBuffer out = ByteBuffer.allocate(2 * RECORD_BYTES);
    private final MessageVector single = new MessageVector(1, 1);
    private final long scratch = UnsafeApi.allocateMemory(DATAGRAM_BYTES);
    private final long slots;
    private int sessions;

    /**
     * Without sessions.
     *
     * @param access the peers that are admitted, null for all with a trusted key.
     */
    DtlsResources(LinkServices services, TlsIdentity identity, AccessList access, DriverConfig config) {
        this.services = services;
        this.identity = identity;
        this.access = access;
        this.config = config;
        tasks = new HandshakeTasks(services);
        counters = new DtlsCounters(services);
        places = new UnknownPeers(
            new UnknownPeers.Limits(config.get(DtlsConfig.HANDSHAKE_LIMIT), config.get(DtlsConfig.HANDSHAKES_PER_HOST)),
            () -> counters.address(DtlsCounters.Kind.REFUSED));
        // as many sealed records as are sent with one system call
        slots = UnsafeApi.allocateMemory((long) config.get(UdpConfig.BATCH_SIZE) * SLOT_BYTES);
    }

    /** Makes the engine of a session by the newest files, and begins its handshake; a resource thread. */
    SSLEngine begin(boolean isClient) throws SSLException {
        if (access != null) {
            access.refresh();
        }
        SSLEngine engine = identity.engine(isClient);
        // the session gets its limit here; the shorter one is for the datagrams of the handshake alone
        setPacketBytes(engine, LONGEST_BYTES);
        engine.beginHandshake();
        setPacketBytes(engine, DtlsHandshake.DATAGRAM_BYTES);
        return engine;
    }

    /** The handshake is done: a message may have any length. */
    static void lengthen(SSLEngine engine) {
        setPacketBytes(engine, LONGEST_BYTES);
    }

    private static void setPacketBytes(SSLEngine engine, int bytes) {
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setMaximumPacketSize(bytes);
        engine.setSSLParameters(parameters);
    }

    @Override
    public DtlsPeers open(UdpEndpoint endpoint, UdpPort port) {
        return new DtlsPeers(endpoint, port, this);
    }

    /** The peers that are admitted, or null if all are. */
    AccessList access() {
        return access;
    }

    DriverConfig config() {
        return config;
    }

    DtlsCounters counters() {
        return counters;
    }

    HandshakeTasks tasks() {
        return tasks;
    }

    /** A pause between cycles counts for a short time only: what has arrived meanwhile is still to be read. */
    long nowNs() {
        return services.attendedNs();
    }

    void onError(Throwable error) {
        services.onError(error);
    }

    /** A slow step of a handshake has ended. */
    void onTaskDone() {
        tasks.onTaskDone();
        FabricException ofKeys = identity.takeProblem();
        FabricException ofAccess = access == null ? null : access.takeProblem();
        if (ofKeys != null) {
            onError(ofKeys);
        }
        if (ofAccess != null) {
            onError(ofAccess);
        }
    }

    // ---- limits ----

    /** Begins to poll an endpoint's peers. */
    void add(DtlsPeers endpoint) {
        endpoints.add(endpoint);
    }

    void remove(DtlsPeers endpoint) {
        endpoints.remove(endpoint);
    }

    /** Whether a host may begin one more handshake; the oldest one whose peer has shown nothing yet makes room. */
    boolean admit(InetAddress host) {
        if (!places.hasPlace(host)) {
            for (DtlsHandshake oldest : incoming) {
                if (!oldest.isVerified() && places.couldLeaveTo(oldest.peer().host(), host)) {
                    oldest.drop();
                    counters.add(DtlsCounters.Kind.REFUSED);
                    break;
                }
            }
        }
        return places.admit(host);
    }

    /** An admitted handshake has begun. */
    void began(DtlsHandshake handshake) {
        incoming.add(handshake);
    }

    /** A handshake is over; one that this side has begun is ignored. */
    void ended(DtlsHandshake handshake) {
        if (incoming.remove(handshake)) {
            places.leave(handshake.peer().host());
        }
    }

    /** A session has begun; ends the one that was used least recently if there are too many. */
    void onSessionBegan() {
        sessions++;
        if (sessions <= config.get(DtlsConfig.SESSION_LIMIT)) {
            return;
        }
        DtlsPeers holder = null;
        DtlsPeer oldest = null;
        for (DtlsPeers endpoint : endpoints) {
            DtlsPeer candidate = endpoint.leastRecent();
            if (candidate != null
                && (oldest == null || candidate.session.usedNs() - oldest.session.usedNs() < 0)) {
                oldest = candidate;
                holder = endpoint;
            }
        }
        if (oldest != null) {
            holder.endSession(oldest);
        }
    }

    void onSessionEnded() {
        sessions--;
    }

    /** Number of sessions of all endpoints. */
    public int sessions() {
        return sessions;
    }

    /** Number of handshakes that peers have begun. */
    public int incoming() {
        return incoming.size();
    }

    // ---- buffers ----

    /** For a received datagram. */
    ByteBuffer in() {
        return in;
    }

    /** For the plain text of a record. */
    ByteBuffer plain() {
        return plain;
    }

    /** For a message that is being sealed. */
    ByteBuffer text() {
        return text;
    }

    /** For sealed records. */
    ByteBuffer out() {
        return out;
    }

    /** For the description of one datagram. */
    MessageVector single() {
        return single;
    }

    /** Native memory for any datagram. */
    long scratch() {
        return scratch;
    }

    /** Native memory for the sealed record of one of the messages that are sent together. */
    long slot(int index) {
        return slots + (long) index * SLOT_BYTES;
    }

    @Override
    public void close() {
        UnsafeApi.freeMemory(scratch);
        UnsafeApi.freeMemory(slots);
    }
}
