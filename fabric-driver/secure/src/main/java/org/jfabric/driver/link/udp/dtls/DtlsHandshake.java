package org.jfabric.driver.link.udp.dtls;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DtlsConfig;
import org.jfabric.driver.link.support.HandshakeTask;
import org.jfabric.driver.tls.TlsFailure;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.info.FabricErrno;

/**
 * A handshake of DTLS with one peer. Its slow steps run on the resource thread. Datagrams that arrive meanwhile wait
 * here. Datagrams that get no answer are repeated, which the JDK's engine does when {@code wrap} is called while it
 * waits for the peer.
 *
 * <pre>
 *   client                                      server
 *   hello                                  ──▶
 *                                          ◀──  cookie
 *   hello with the cookie                  ──▶  {@link #isVerified()}: the client receives at its address
 *                                          ◀──  hello, certificate, key
 *   certificate, key, signature, end       ──▶
 *                                          ◀──  end
 * </pre>
 *
 * <p>Owner: progress agent; the engine is the resource thread's while a task runs.
 */
final class DtlsHandshake {
    /** Longest datagram, so that it is not cut into fragments. */
    static final int DATAGRAM_BYTES = 1200;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final long ARRAY = UnsafeApi.arrayBaseOffset(byte[].class);
    /** Datagrams that may wait; a side sends less before it waits for the other. */
    private static final int MAX_ARRIVED = 24;
    private static final int MAX_STEPS = 512;
    private static final long FIRST_REPEAT_NS = 200_000_000L;
    private static final long LAST_REPEAT_NS = 3_200_000_000L;
    /** A peer that begins again while its old handshake has been silent for so long was restarted. */
    private static final long SILENT_NS = 1_000_000_000L;

    private final DtlsPeers owner;
    private final DtlsPeer peer;
    private final boolean isClient;
    private final ArrayDeque<byte[]> arrived = new ArrayDeque<>();
    /** Datagrams of the last flight, which a server repeats after its end when the peer asks for them. */
    private final List<byte[]> flight = new ArrayList<>();
    private SSLEngine engine;
    private ByteBuffer opening = NOTHING;
    /** The random bytes of the hello that has begun it. */
    private byte[] random;
    private boolean isTasking;
    private boolean isNewFlight = true;
    private boolean isVerified;
    private boolean isOver;
    private long deadlineNs;
    /** Time at which the last flight is repeated; 0 while this side does not wait for the peer. */
    private long repeatNs;
    private long intervalNs = FIRST_REPEAT_NS;
    private long arrivedNs;

    DtlsHandshake(DtlsPeers owner, DtlsPeer peer, boolean isClient) {
        this.owner = owner;
        this.peer = peer;
        this.isClient = isClient;
        arrivedNs = owner.nowNs();
        deadlineNs = arrivedNs + owner.resources().config().get(DtlsConfig.HANDSHAKE_TIMEOUT_NS);
    }

    DtlsPeer peer() {
        return peer;
    }

    boolean isClient() {
        return isClient;
    }

    /** Whether the peer is known to receive at its address. */
    boolean isVerified() {
        return isVerified;
    }

    /** The engine of the handshake that has ended well. */
    SSLEngine engine() {
        return engine;
    }

    List<byte[]> flight() {
        return flight;
    }

    /** Whether this handshake prevails against one that the peer has begun at the same time; both sides agree. */
    boolean prevailsOver(DtlsHandshake other) {
        return random != null && Arrays.compareUnsigned(random, other.random) > 0;
    }

    /** Whether a hello is the beginning of another handshake, by which the peer has abandoned this one. */
    boolean isAbandonedBy(byte[] hello) {
        return random != null && !Arrays.equals(random, DtlsPeers.random(hello))
            && (!isVerified || owner.nowNs() - arrivedNs > SILENT_NS);
    }

    void arrive(byte[] datagram) {
        arrivedNs = owner.nowNs();
        if (random == null && !isClient) {
            random = DtlsPeers.random(datagram);
        }
        if (arrived.size() < MAX_ARRIVED) {
            arrived.addLast(datagram);
        }
        advance();
    }

    /** Takes it as far as it goes now. */
    void advance() {
        if (isTasking || isOver) {
            return;
        }
        if (engine == null) {
            runTask();
            return;
        }
        owner.resources().out().clear();
        try {
            int steps = 0;
            while (!isOver && step()) {
                if (++steps > MAX_STEPS) {
                    throw new SSLException("the handshake makes no progress");
                }
            }
        } catch (SSLException failed) {
            refused(TlsFailure.of(failed));
        }
    }

    private boolean step() throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                send();
                runTask();
                return false;
            }
            case NEED_WRAP -> {
                seal();
                return true;
            }
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                send();
                return !isOver && open();
            }
            default -> {
                TlsIdentity.requireProved(engine);
                send();
                if (!isOver) {
                    isOver = true;
                    owner.onProved(this);
                }
                return false;
            }
        }
    }

    /** Seals a record behind those of the same datagram. */
    private void seal() throws SSLException {
        ByteBuffer out = owner.resources().out();
        int begin = out.position();
        SSLEngineResult result = engine.wrap(NOTHING, out);
        if (result.getStatus() != Status.OK && out.position() == begin) {
            throw new SSLException("the handshake ended: " + result.getStatus());
        }
        if (begin > 0 && out.position() > DATAGRAM_BYTES) {
            int end = out.position();
            out.position(begin);
            send();
            System.arraycopy(out.array(), begin, out.array(), 0, end - begin);
            out.position(end - begin);
        }
    }

    /** Sends the sealed records as one datagram. */
    private void send() {
        ByteBuffer out = owner.resources().out();
        int length = out.position();
        out.clear();
        if (length == 0) {
            return;
        }
        byte[] datagram = Arrays.copyOf(out.array(), length);
        if (isNewFlight) {
            isNewFlight = false;
            flight.clear();
        }
        if (isClient && random == null) {
            random = DtlsPeers.random(datagram);
        }
        boolean isHello = !isClient && datagram[0] == DtlsRecord.HANDSHAKE && length > DtlsRecord.HEADER_BYTES
            && datagram[DtlsRecord.HEADER_BYTES] == DtlsRecord.SERVER_HELLO;
        if (isHello && !isVerified) {
            isVerified = true;
            // before the peer gets the hello, for which it would leave its other handshake
            owner.onVerified(this);
        }
        if (!isOver) {
            flight.add(datagram);
            owner.send(peer, datagram);
        }
    }

    /** Opens a record; false if none has arrived. */
    private boolean open() throws SSLException {
        ByteBuffer plain = owner.resources().plain().clear();
        if (engine.getHandshakeStatus() == HandshakeStatus.NEED_UNWRAP_AGAIN) {
            engine.unwrap(NOTHING, plain);
            return true;
        }
        if (!opening.hasRemaining()) {
            byte[] next = arrived.pollFirst();
            if (next == null) {
                await();
                return false;
            }
            opening = ByteBuffer.wrap(next);
        }
        repeatNs = 0;
        isNewFlight = true;
        SSLEngineResult result = engine.unwrap(opening, plain);
        if (result.getStatus() == Status.CLOSED) {
            throw new SSLException("the peer ended the handshake");
        }
        if (result.getStatus() != Status.OK) {
            // the rest of the datagram is no record
            opening = NOTHING;
        }
        return true;
    }

    /** Without a cookie nothing is repeated: the address may be another host's. */
    private void await() {
        if (repeatNs == 0 && (isClient || isVerified)) {
            repeatNs = Math.max(1, owner.nowNs() + intervalNs);
        }
    }

    /** Ends a handshake that takes too long, or repeats the last flight. */
    void check(long nowNs) {
        if (isOver || isTasking || engine == null && isClient) {
            return;
        }
        if (nowNs - deadlineNs > 0) {
            isOver = true;
            owner.onFailed(this, new TlsFailure(FabricErrno.ETIMEDOUT, isClient
                ? "did not answer the handshake of DTLS: it is not there, it speaks plain, or the network loses it"
                : "has begun a handshake of DTLS and not ended it"));
        } else if (repeatNs != 0 && nowNs - repeatNs > 0) {
            intervalNs = Math.min(2 * intervalNs, LAST_REPEAT_NS);
            repeatNs = 0;
            isNewFlight = true;
            owner.resources().out().clear();
            try {
                seal();
                send();
            } catch (SSLException failed) {
                refused(TlsFailure.of(failed));
            }
            advance();
        }
    }

    /** One side does not trust the other, or sends nonsense: notifies the peer, as far as the engine does. */
    private void refused(TlsFailure failure) {
        isOver = true;
        ByteBuffer out = owner.resources().out().clear();
        try {
            while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP
                && engine.wrap(NOTHING, out).bytesProduced() > 0) {
                owner.send(peer, Arrays.copyOf(out.array(), out.position()));
                out.clear();
            }
        } catch (SSLException ended) {
            // the peer's deadline ends it
            out.clear();
        }
        owner.onFailed(this, failure);
    }

    /** Ends it without a report. */
    void end() {
        isOver = true;
    }

    /** Another handshake takes its place. */
    void drop() {
        owner.drop(this);
    }

    private void runTask() {
        isTasking = true;
        owner.resources().tasks().submit(new Task());
    }

    /** Reads changed files and makes the engine, or computes. */
    private final class Task extends HandshakeTask {
        @Override
        protected boolean isOver() {
            return isOver;
        }

        @Override
        protected void execute() throws SSLException {
            SSLEngine made = engine;
            if (made == null) {
                engine = owner.resources().begin(isClient);
                return;
            }
            for (Runnable task = made.getDelegatedTask(); task != null; task = made.getDelegatedTask()) {
                task.run();
            }
        }

        @Override
        protected void onDone() {
            onTaskDone(null);
        }

        @Override
        protected void onFailed(Throwable cause) {
            onTaskDone(cause);
        }

        private void onTaskDone(Throwable cause) {
            isTasking = false;
            owner.resources().onTaskDone();
            if (isOver) {
                return;
            }
            if (cause != null) {
                isOver = true;
                owner.resources().onError(cause);
                owner.onFailed(DtlsHandshake.this, new TlsFailure(FabricErrno.EIO, "could not be examined: " + cause));
                return;
            }
            if (isClient && random == null) {
                // the time for waiting behind other handshakes does not count
                deadlineNs = owner.nowNs() + owner.resources().config().get(DtlsConfig.HANDSHAKE_TIMEOUT_NS);
            }
            advance();
        }
    }
}
