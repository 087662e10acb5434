package org.jfabric.driver.link.udp.dtls;

import java.nio.ByteBuffer;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;

/**
 * The keys that this endpoint shares with one peer: seals messages into records and opens them. Each message is one
 * record, and each record one datagram.
 *
 * <pre>
 *   plain text: | 1 byte: kind | the message |
 *   kind        0 message, 1 question whether the peer still has the session, 2 answer, 3 the
 *               access list does not admit this driver
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class DtlsSession {
    /** Bytes of a record beyond the message: header, number and check of AES-GCM, kind. Other ciphers need less. */
    static final int OVERHEAD_BYTES = DtlsRecord.HEADER_BYTES + 8 + 16 + 1;
    /** Longest message: a record has at most 16 KiB. */
    static final int MAX_MESSAGE_BYTES = (16 << 10) - 1;

    static final byte MESSAGE = 0;
    static final byte QUESTION = 1;
    static final byte ANSWER = 2;
    static final byte REFUSAL = 3;

    /** Results of {@link #open}: the record was changed, repeated, or has no message. */
    static final int NOTHING = -1;
    static final int ENDED = -2;
    /** The peer asks for an answer. */
    static final int ASKED = -3;
    /** The record is not the peer's, or was opened before. */
    static final int FORGED = -4;
    /** The peer does not admit this driver. */
    static final int REFUSED = -5;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    private static final long ARRAY = UnsafeApi.arrayBaseOffset(byte[].class);
    /** Long before the numbers of records, or what a key may encrypt, come to their end. */
    private static final long MAX_RECORDS = 1L << 32;
    private static final long MAX_BYTES = 1L << 36;
    private static final long REPEAT_NS = 50_000_000L;

    private final SSLEngine engine;
    private final DtlsResources resources;
    private final ReplayWindow window = new ReplayWindow();
    /** The last datagrams of a server's handshake, until the peer has used the session; else empty. */
    private List<byte[]> flight;
    private long flightNs;
    private long records;
    private long bytes;
    private long usedNs;
    /** Time of the first message without anything from the peer since; 0 if there is none. */
    private long unansweredNs;

    /** A session whose handshake has just ended. */
    DtlsSession(DtlsHandshake handshake, DtlsResources resources, long nowNs) {
        engine = handshake.engine();
        flight = handshake.isClient() ? List.of() : List.copyOf(handshake.flight());
        this.resources = resources;
        usedNs = nowNs;
        flightNs = nowNs;
    }

    /**
     * Seals a message.
     *
     * @param operation of the message; null for a question or an answer.
     * @return length of the record, or a negative errno.
     */
    int seal(byte kind, TransmitOperation operation, long to) {
        ByteBuffer text = resources.text().clear();
        text.put(kind);
        if (operation != null && !gather(operation, text)) {
            return -FabricErrno.EFAULT;
        }
        ByteBuffer out = resources.out().clear();
        try {
            SSLEngineResult result = engine.wrap(text.flip(), out);
            if (result.getStatus() != Status.OK || text.hasRemaining()) {
                return -FabricErrno.ECONNRESET;
            }
        } catch (SSLException ended) {
            return -FabricErrno.ECONNRESET;
        }
        int length = out.position();
        UnsafeApi.copyMemory(out.array(), ARRAY, null, to, length);
        records++;
        bytes += length;
        return length;
    }

    /** Copies the message; false if its memory is not there any more, as that of a file that was truncated. */
    private static boolean gather(TransmitOperation operation, ByteBuffer text) {
        try {
            PieceList pieces = operation.pieces;
            if (pieces == null) {
                put(operation.address, operation.length, text);
            } else {
                for (int i = 0; i < pieces.count(); i++) {
                    put(pieces.address(i), pieces.length(i), text);
                }
            }
            FaultPoint.pass();
            return true;
        } catch (InternalError fault) {
            return false;
        }
    }

    private static void put(long address, long length, ByteBuffer text) {
        UnsafeApi.copyMemory(null, address, text.array(), ARRAY + text.position(), length);
        text.position(text.position() + (int) length);
    }

    void onSent(long nowNs) {
        usedNs = nowNs;
        if (unansweredNs == 0) {
            unansweredNs = Math.max(1, nowNs);
        }
    }

    /**
     * Opens a record of data or an alert.
     *
     * @param address native memory of the record, which the message replaces.
     * @return length of the message, or a constant.
     */
    int open(long address, int length, long nowNs) {
        long number = DtlsRecord.number(address);
        if (DtlsRecord.epoch(address) != DtlsRecord.EPOCH_OF_SESSION || !window.isNew(number)) {
            return FORGED;
        }
        ByteBuffer in = resources.in().clear();
        UnsafeApi.copyMemory(null, address, in.array(), ARRAY, length);
        ByteBuffer plain = resources.plain().clear();
        try {
            SSLEngineResult result = engine.unwrap(in.limit(length), plain);
            if (result.getStatus() == Status.CLOSED || engine.isInboundDone()) {
                return ENDED;
            }
            // the engine opens what is the peer's and drops the rest without a word
            if (result.bytesProduced() == 0) {
                return DtlsRecord.type(address) == DtlsRecord.DATA ? FORGED : NOTHING;
            }
        } catch (SSLException ended) {
            return ENDED;
        }
        window.add(number);
        flight = List.of();
        unansweredNs = 0;
        return switch (plain.get(0)) {
            case MESSAGE -> {
                usedNs = nowNs;
                int message = plain.position() - 1;
                UnsafeApi.copyMemory(plain.array(), ARRAY + 1, null, address, message);
                yield message;
            }
            case QUESTION -> ASKED;
            case REFUSAL -> REFUSED;
            default -> NOTHING;
        };
    }

    /** The datagrams to repeat because the peer has not got the end of the handshake; empty if it has. */
    List<byte[]> repeatedFlight(long nowNs) {
        if (flight.isEmpty() || nowNs - flightNs < REPEAT_NS) {
            return List.of();
        }
        flightNs = nowNs;
        return flight;
    }

    /** Time of the last message in either direction. */
    long usedNs() {
        return usedNs;
    }

    /** Nanoseconds for which messages were sent and nothing has come back; 0 if something has. */
    long silentNs(long nowNs) {
        return unansweredNs == 0 ? 0 : nowNs - unansweredNs;
    }

    /** Whether its keys have been used for long enough. */
    boolean isWorn() {
        return records > MAX_RECORDS || bytes > MAX_BYTES;
    }

    /** Ends it; returns the record that says so to the peer, empty if there is none. */
    byte[] end() {
        ByteBuffer out = resources.out().clear();
        try {
            engine.closeOutbound();
            engine.wrap(EMPTY, out);
        } catch (SSLException ex) {
            // the peer finds out when it asks
            out.clear();
        }
        byte[] record = new byte[out.position()];
        out.get(0, record);
        return record;
    }
}
