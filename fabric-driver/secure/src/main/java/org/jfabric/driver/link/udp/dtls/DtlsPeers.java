package org.jfabric.driver.link.udp.dtls;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DtlsConfig;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.udp.DatagramSessions;
import org.jfabric.driver.link.udp.UdpChannel;
import org.jfabric.driver.link.udp.UdpEndpoint;
import org.jfabric.driver.link.udp.UdpPort;
import org.jfabric.driver.link.udp.dtls.DtlsCounters.Kind;
import org.jfabric.driver.tls.TlsFailure;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricErrno;

/**
 * The sessions and handshakes of one endpoint, by the addresses of its peers.
 *
 * <pre>
 *   a send without a session      the channel waits, this side begins a handshake
 *   a hello of a client           the peer's handshake, beside a session of the same address
 *   both at once                  the greater random number prevails, once the peer has returned its cookie
 *   messages without an answer    a question, then a new handshake; if that fails too, the session ends
 *   no message for long           the session ends
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class DtlsPeers extends DatagramSessions {
    private static final long ARRAY = UnsafeApi.arrayBaseOffset(byte[].class);
    private static final long CHECK_NS = 20_000_000L;
    private static final long SWEEP_NS = 1_000_000_000L;
    private static final int SWEEPS = 8;
    private static final String REMEDY = "No message was exchanged with it; all others continue. See docs/security.md.";

    private final UdpEndpoint endpoint;
    private final UdpPort port;
    private final DtlsResources resources;
    private final Map<DtlsAddress, DtlsPeer> peers = new HashMap<>();
    private final List<DtlsHandshake> shaking = new ArrayList<>();
    private final DtlsAddress wanted = new DtlsAddress();
    private final long silenceNs;
    private final long idleTimeoutNs;
    private final long sweepNs;
    private long nextCheckNs;
    private long nextSweepNs;

    DtlsPeers(UdpEndpoint endpoint, UdpPort port, DtlsResources resources) {
        this.endpoint = endpoint;
        this.port = port;
        this.resources = resources;
        silenceNs = resources.config().get(DtlsConfig.SILENCE_NS);
        idleTimeoutNs = resources.config().get(DtlsConfig.IDLE_TIMEOUT_NS);
        sweepNs = Math.min(SWEEP_NS, Math.min(silenceNs, idleTimeoutNs) / SWEEPS);
        nextCheckNs = nowNs();
        nextSweepNs = nextCheckNs;
        resources.add(this);
    }

    @Override
    protected long slot(int index) {
        return resources.slot(index);
    }

    @Override
    protected long scratch() {
        return resources.scratch();
    }

    @Override
    protected boolean isData(long address, int length) {
        return DtlsRecord.isRecord(address, length) && DtlsRecord.type(address) == DtlsRecord.DATA;
    }

    @Override
    protected void onDropped() {
        resources.counters().add(Kind.WITHOUT_RECEIVE);
    }

    DtlsResources resources() {
        return resources;
    }

    long nowNs() {
        return resources.nowNs();
    }

    @Override
    protected boolean isEmpty() {
        return peers.isEmpty();
    }

    @Override
    protected boolean isShaking() {
        return !shaking.isEmpty();
    }

    /** The random bytes of a hello of a client. */
    static byte[] random(byte[] hello) {
        return Arrays.copyOfRange(hello, DtlsRecord.RANDOM, DtlsRecord.RANDOM + DtlsRecord.RANDOM_BYTES);
    }

    private DtlsPeer find(long nameAddress) {
        return peers.get(wanted.set(nameAddress));
    }

    private DtlsPeer findOrAdd(long nameAddress) {
        DtlsPeer found = find(nameAddress);
        if (found == null) {
            found = new DtlsPeer(nameAddress);
            peers.put(found.key, found);
        }
        return found;
    }

    private void removeIfUnused(DtlsPeer peer) {
        if (peer.isUnused()) {
            peers.remove(peer.key, peer);
        }
    }

    // ---- sending ----

    @Override
    protected boolean isReady(UdpChannel channel) {
        DtlsPeer peer = find(channel.nameAddress());
        if (peer != null && peer.session != null) {
            return true;
        }
        if (peer == null) {
            peer = findOrAdd(channel.nameAddress());
        }
        peer.waiting = channel;
        begin(peer);
        return false;
    }

    private void begin(DtlsPeer peer) {
        if (!peer.isBeingProved()) {
            peer.outgoing = new DtlsHandshake(this, peer, true);
            shaking.add(peer.outgoing);
            peer.outgoing.advance();
        }
    }

    @Override
    protected int seal(UdpChannel channel, TransmitOperation operation, long to) {
        DtlsPeer peer = find(channel.nameAddress());
        if (peer == null || peer.session == null) {
            return -FabricErrno.ECONNRESET;
        }
        int length = peer.session.seal(DtlsSession.MESSAGE, operation, to);
        if (length > 0) {
            peer.session.onSent(nowNs());
        } else if (length == -FabricErrno.ECONNRESET) {
            // the next message begins another session
            dropSession(peer);
            removeIfUnused(peer);
        }
        return length;
    }

    private void send(DtlsPeer peer, byte kind) {
        long scratch = resources.scratch();
        send(peer, scratch, peer.session.seal(kind, null, scratch));
    }

    /** Sends a datagram of a handshake. What the kernel does not take is lost, as on the network. */
    void send(DtlsPeer peer, byte[] datagram) {
        long scratch = resources.scratch();
        UnsafeApi.copyMemory(datagram, ARRAY, null, scratch, datagram.length);
        send(peer, scratch, datagram.length);
    }

    private void send(DtlsPeer peer, long address, int length) {
        if (length > 0) {
            MessageVector single = resources.single();
            single.name(0, peer.nameAddress(), peer.nameLength());
            single.piece(0, 0, address, length);
            single.pieceCount(0, 1);
            port.send(single, 1);
        }
    }

    @Override
    protected void forget(UdpChannel channel) {
        DtlsPeer peer = find(channel.nameAddress());
        if (peer != null && peer.waiting == channel) {
            peer.waiting = null;
            removeIfUnused(peer);
        }
    }

    // ---- receiving ----

    @Override
    protected int onDatagram(long name, long address, int length) {
        if (!DtlsRecord.isRecord(address, length)) {
            resources.counters().add(Kind.PLAIN, FabricErrno.ECONNREFUSED,
                () -> "peer " + new DtlsPeer(name) + " speaks plain, and DTLS is required here", REMEDY);
            return NO_MESSAGE;
        }
        DtlsPeer peer = find(name);
        int type = DtlsRecord.type(address);
        boolean isOfSession = type == DtlsRecord.DATA
            || type == DtlsRecord.ALERT && DtlsRecord.epoch(address) == DtlsRecord.EPOCH_OF_SESSION;
        if (isOfSession && peer != null && peer.session != null) {
            int opened = peer.session.open(address, length, nowNs());
            // the alert may belong to the handshake that is to replace the session
            if (opened >= 0 || type == DtlsRecord.DATA || opened == DtlsSession.ENDED) {
                return onOpened(peer, opened);
            }
        } else if (type == DtlsRecord.DATA) {
            resources.counters().add(Kind.WITHOUT_SESSION);
            return NO_MESSAGE;
        }
        byte[] datagram = new byte[length];
        UnsafeApi.copyMemory(null, address, datagram, ARRAY, length);
        if (DtlsRecord.isClientHello(address, length)) {
            onHello(name, datagram);
        } else if (peer != null) {
            onHandshake(peer, datagram);
        } else {
            resources.counters().add(Kind.WITHOUT_SESSION);
        }
        return NO_MESSAGE;
    }

    private int onOpened(DtlsPeer peer, int opened) {
        switch (opened) {
            case DtlsSession.ENDED -> {
                dropSession(peer);
                removeIfUnused(peer);
            }
            case DtlsSession.REFUSED -> onRefused(peer);
            case DtlsSession.ASKED -> send(peer, DtlsSession.ANSWER);
            case DtlsSession.FORGED -> resources.counters().add(Kind.FORGED);
            default -> {
                return Math.max(opened, NO_MESSAGE);
            }
        }
        return NO_MESSAGE;
    }

    /** The access list of the peer does not have this driver's key. */
    private void onRefused(DtlsPeer peer) {
        UdpChannel refused = peer.served;
        dropSession(peer);
        removeIfUnused(peer);
        resources.counters().add(Kind.UNPROVED, FabricErrno.ECONNREFUSED,
            () -> "peer " + peer + " does not admit this driver's key, by its access list", REMEDY);
        if (refused != null && !refused.isClosed()) {
            refused.down(FabricErrno.ECONNREFUSED);
        }
    }

    private void onHello(long name, byte[] hello) {
        DtlsPeer peer = find(name);
        DtlsHandshake present = peer == null ? null : peer.incoming;
        if (present != null && present.isAbandonedBy(hello)) {
            drop(present);
            present = null;
        }
        if (present == null) {
            present = accept(name);
        }
        if (present != null) {
            present.arrive(hello);
        }
    }

    /** Begins the peer's handshake, if access list and limits admit it. */
    private DtlsHandshake accept(long name) {
        DtlsPeer peer = findOrAdd(name);
        if (resources.access() != null && !resources.access().admits(peer.host())) {
            refused(peer.host(), "any key");
        } else if (resources.admit(peer.host())) {
            // making room may have removed a peer without anything left
            peers.putIfAbsent(peer.key, peer);
            peer.incoming = new DtlsHandshake(this, peer, false);
            shaking.add(peer.incoming);
            resources.began(peer.incoming);
            return peer.incoming;
        }
        removeIfUnused(peer);
        return null;
    }

    private void refused(InetAddress host, String what) {
        resources.counters().add(Kind.NOT_ADMITTED, FabricErrno.EACCES,
            () -> "host " + host.getHostAddress() + " with " + what + " is not in the access list "
                + resources.access(),
            "If it is to connect, add a line for it.");
    }

    private void onHandshake(DtlsPeer peer, byte[] datagram) {
        if (peer.incoming != null && peer.incoming.isVerified()) {
            peer.incoming.arrive(datagram);
        } else if (peer.outgoing != null) {
            peer.outgoing.arrive(datagram);
        } else if (peer.session != null) {
            for (byte[] repeated : peer.session.repeatedFlight(nowNs())) {
                send(peer, repeated);
            }
        }
    }

    // ---- handshakes ----

    /** The peer's handshake has shown that the peer receives: of two at the same time one remains. */
    void onVerified(DtlsHandshake incoming) {
        DtlsHandshake outgoing = incoming.peer().outgoing;
        if (outgoing != null) {
            drop(outgoing.prevailsOver(incoming) ? incoming : outgoing);
        }
    }

    /** Ends a handshake without a report. */
    void drop(DtlsHandshake handshake) {
        handshake.end();
        over(handshake);
        removeIfUnused(handshake.peer());
    }

    private void over(DtlsHandshake handshake) {
        DtlsPeer peer = handshake.peer();
        shaking.remove(handshake);
        resources.ended(handshake);
        if (peer.outgoing == handshake) {
            peer.outgoing = null;
        } else if (peer.incoming == handshake) {
            peer.incoming = null;
        }
    }

    /** Both sides have proved their keys. */
    void onProved(DtlsHandshake handshake) {
        DtlsPeer peer = handshake.peer();
        String key = TlsIdentity.peerKey(handshake.engine());
        DtlsSession proved = new DtlsSession(handshake, resources, nowNs());
        if (resources.access() != null && !resources.access().admits(peer.host(), key)) {
            long scratch = resources.scratch();
            send(peer, scratch, proved.seal(DtlsSession.REFUSAL, null, scratch));
            send(peer, proved.end());
            refused(peer.host(), "the key " + key);
            over(handshake);
            fail(peer, FabricErrno.EACCES);
            return;
        }
        DtlsResources.lengthen(handshake.engine());
        over(handshake);
        if (peer.incoming != null) {
            drop(peer.incoming);
        }
        if (peer.session != null) {
            resources.onSessionEnded();
        }
        peer.session = proved;
        // a sender that waited for its session has put the peer in here again
        peers.putIfAbsent(peer.key, peer);
        resources.onSessionBegan();
        endpoint.recognise(peer.nameAddress(), peer.toString());
        UdpChannel waiting = peer.waiting;
        peer.waiting = null;
        peer.served = waiting;
        if (waiting != null) {
            waiting.handler().onWritable();
        }
    }

    /** A handshake has not proved the peer. */
    void onFailed(DtlsHandshake handshake, TlsFailure failure) {
        DtlsPeer peer = handshake.peer();
        over(handshake);
        // whoever sends a hello with a false address would fill the log
        if (handshake.isClient() || handshake.isVerified()) {
            resources.counters().add(
                Kind.UNPROVED, failure.errno(), () -> "peer " + peer + ' ' + failure.text(), REMEDY);
        }
        fail(peer, failure.errno());
    }

    /** Without a session and another handshake the messages that wait fail. */
    private void fail(DtlsPeer peer, int errno) {
        if (!peer.isBeingProved()) {
            if (peer.session != null && peer.session.silentNs(nowNs()) > silenceNs) {
                dropSession(peer);
            }
            UdpChannel waiting = peer.waiting;
            peer.waiting = null;
            removeIfUnused(peer);
            if (waiting != null) {
                waiting.down(errno);
            }
        }
    }

    // ---- sessions ----

    private void dropSession(DtlsPeer peer) {
        peer.session = null;
        peer.served = null;
        resources.onSessionEnded();
    }

    /** Ends a session and notifies the peer, which begins a new one when it sends again. */
    void endSession(DtlsPeer peer) {
        send(peer, peer.session.end());
        dropSession(peer);
        removeIfUnused(peer);
    }

    /** The peer whose session was used least recently; null if there is none. */
    DtlsPeer leastRecent() {
        DtlsPeer oldest = null;
        for (DtlsPeer peer : peers.values()) {
            if (peer.session != null && (oldest == null || peer.session.usedNs() - oldest.session.usedNs() < 0)) {
                oldest = peer;
            }
        }
        return oldest;
    }

    @Override
    protected int poll() {
        if (peers.isEmpty()) {
            return 0;
        }
        long nowNs = nowNs();
        if (nowNs - nextCheckNs < 0) {
            return 0;
        }
        nextCheckNs = nowNs + CHECK_NS;
        for (DtlsHandshake handshake : List.copyOf(shaking)) {
            handshake.check(nowNs);
        }
        if (nowNs - nextSweepNs >= 0) {
            nextSweepNs = nowNs + sweepNs;
            for (DtlsPeer peer : List.copyOf(peers.values())) {
                if (peer.session != null) {
                    check(peer, nowNs);
                }
            }
        }
        return 0;
    }

    private void check(DtlsPeer peer, long nowNs) {
        DtlsSession session = peer.session;
        long silentNs = session.silentNs(nowNs);
        if (nowNs - session.usedNs() > idleTimeoutNs) {
            endSession(peer);
        } else if (session.isWorn() || silentNs > silenceNs) {
            begin(peer);
        } else if (silentNs > silenceNs / 2) {
            send(peer, DtlsSession.QUESTION);
        }
    }

    @Override
    protected void close() {
        List.copyOf(shaking).forEach(this::drop);
        for (DtlsPeer peer : List.copyOf(peers.values())) {
            peer.waiting = null;
            if (peer.session != null) {
                endSession(peer);
            }
        }
        peers.clear();
        resources.remove(this);
    }
}
