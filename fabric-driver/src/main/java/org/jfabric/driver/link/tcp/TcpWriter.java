package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.ffi.IoVector;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Writes the messages of one connection.
 *
 * <pre>
 *   short message   header and payload are appended to the buffer; the first of a cycle is written at once, the
 *                   following ones of the cycle are written together, with the next poll
 *   long message    the header is appended; one call writes it and the payload, which is not copied; until the
 *                   system has accepted the rest of the payload, no further message is accepted
 *   answers         acknowledgements for the peer's messages and answers to its reads, whenever there is room
 *
 *   buffer  | written | waits ......... | free |  then the rest of the long payload, if there is one
 *           0         head              tail
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpWriter {
    private final TcpConnection connection;
    private final BufferPool pool;
    private final IoVector vector;
    private final int copyLimit;
    private final long writesCounter;
    private final AwaitedAcks awaited = new AwaitedAcks();
    /** Address of the buffer, 0 if there is none. */
    private long buffer;
    private int head;
    private int tail;
    private final ExposedMemory exposed = new ExposedMemory();
    /** The message whose payload is being written without a copy, or null. */
    private TransmitOperation longOperation;
    /** The local memory that is being written as the answer to a read, or null. */
    private PieceList answered;
    private long longSent;
    private int acksOwed;
    /** The socket accepts no more bytes; an event reports when it does. */
    private boolean isBlocked;
    private boolean wroteInCycle;
    /** A call of the engine was refused, so that {@code onWritable} must follow. */
    private boolean refused;

    TcpWriter(TcpConnection connection, BufferPool pool, IoVector vector, int copyLimit, long writesCounter) {
        this.connection = connection;
        this.pool = pool;
        this.vector = vector;
        this.copyLimit = copyLimit;
        this.writesCounter = writesCounter;
    }

    /** As {@link Channel#send}. */
    int send(TransmitOperation operation) {
        long payload = operation.length;
        boolean isShort = payload <= copyLimit;
        int needed = TcpHeader.MAX_SENT_LENGTH + (isShort ? (int) payload : 0);
        if (hasLongPayload() || !hasRoom(needed)) {
            refused = true;
            return -FabricErrno.EAGAIN;
        }
        boolean isTagged = (operation.flags & Flags.TAGGED) != 0;
        boolean isAwaited = (operation.flags & (Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE)) != 0;
        int flags = ((operation.flags & Flags.REMOTE_CQ_DATA) != 0 ? TcpHeader.FLAG_CQ_DATA : 0)
            | (isAwaited ? TcpHeader.FLAG_WANTS_ACK : 0);
        tail += TcpHeader.encodeMessage(
            buffer + tail, connection.isBigEndian(), isTagged, flags, operation.tag, operation.data, payload);
        if (isAwaited) {
            awaited.add(operation.id(), operation.awaitedOfPeer());
        }
        if (isShort) {
            operation.copyTo(0, buffer + tail, payload);
            tail += (int) payload;
        } else {
            longOperation = operation;
            longSent = 0;
        }
        connection.onUse();
        if (!isShort || !wroteInCycle && (operation.flags & Flags.MORE) == 0) {
            write();
        }
        // StreamHandler.onAcknowledged reports delivery; for the link the message is done when the system has it
        return longOperation != null || isAwaitedOfPeerAlone(operation) ? Channel.PENDING : Channel.DONE;
    }

    /** Sends a read of the peer's memory; false if there is no room. */
    boolean request(RemotePayload source, long length) {
        if (hasLongPayload() || !hasRoom(TcpHeader.MAX_LENGTH)) {
            refused = true;
            return false;
        }
        tail += TcpHeader.encodeReadRequest(buffer + tail, connection.isBigEndian(), source, length);
        connection.onUse();
        return true;
    }

    /** Memory that the peer may read. */
    ExposedMemory exposed() {
        return exposed;
    }

    /** Reverses {@link ExposedMemory#expose}; if a read of the memory is not answered yet, the connection ends. */
    void conceal(RemotePayload target) {
        if (!exposed.conceal(target, answered)) {
            answered = null;
            connection.lost(FabricErrno.EIO);
            connection.onUse();
        }
    }

    /** A message of the peer has arrived that must be acknowledged. */
    void oweAck() {
        acksOwed++;
    }

    /** The peer has acknowledged the oldest message that waits for it; false if there is none. */
    boolean onAck() {
        if (awaited.isEmpty()) {
            return false;
        }
        long operation = awaited.operation();
        if (longOperation != null && longOperation.id() == operation) {
            // the peer cannot have received a message that is not written completely
            return false;
        }
        long levels = awaited.levels();
        awaited.remove();
        if (levels == 0) {
            connection.handler().onSent(operation, 0);
        } else {
            connection.streams().onAcknowledged(operation, levels, 0);
        }
        return true;
    }

    boolean awaitsAck() {
        return !awaited.isEmpty();
    }

    /** The socket accepts bytes again. */
    void onWritable() {
        isBlocked = false;
    }

    boolean isBlocked() {
        return isBlocked;
    }

    /** Whether nothing waits to be written. */
    boolean isClear() {
        return head == tail && !hasLongPayload() && acksOwed == 0 && !exposed.hasWaiting();
    }

    /** Whether {@link #poll()} would write. */
    boolean hasWork() {
        return !isBlocked && !isClear();
    }

    /** Writes waiting bytes, and reports to the engine a long message that is written, and that there is room. */
    int poll() {
        int work = 0;
        if (hasWork()) {
            TransmitOperation begun = longOperation;
            write();
            work = 1;
            if (begun != null && longOperation == null && connection.isUp() && !isAwaitedOfPeerAlone(begun)) {
                connection.handler().onSent(begun.id(), 0);
            }
        }
        wroteInCycle = false;
        if (refused && !hasLongPayload() && !isBlocked && connection.isUp()) {
            refused = false;
            connection.handler().onWritable();
            work++;
        }
        return work;
    }

    /** Writes as much as the socket accepts now. */
    private void write() {
        wroteInCycle = true;
        boolean more = true;
        while (more && !isBlocked && connection.isOpen()) {
            encodeAnswers();
            more = head != tail || hasLongPayload();
            if (more) {
                long wanted = gather();
                long written = !hasLongPayload()
                    ? connection.port().send(buffer + head, tail - head)
                    : connection.port().sendVector(vector);
                UnsafeApi.putLongRelease(null, writesCounter, UnsafeApi.getLong(writesCounter) + 1);
                advance(written, wanted);
            }
        }
        if (head == tail && !hasLongPayload()) {
            head = 0;
            tail = 0;
        }
    }

    private long gather() {
        if (!hasLongPayload()) {
            return tail - head;
        }
        vector.clear();
        vector.add(buffer + head, tail - head);
        TransmitOperation operation = longOperation;
        if (operation != null && operation.pieces == null) {
            vector.add(operation.address + longSent, operation.length - longSent);
            return vector.lengthBytes();
        }
        PieceList pieces = operation != null ? operation.pieces : answered;
        long skip = longSent;
        for (int i = 0; i < pieces.count(); i++) {
            long here = Math.max(0, pieces.length(i) - skip);
            vector.add(pieces.address(i) + pieces.length(i) - here, here);
            skip = Math.max(0, skip - pieces.length(i));
        }
        return vector.lengthBytes();
    }

    private void advance(long written, long wanted) {
        if (written < 0) {
            // send gives no errno; if the connection is lost the reader detects its end
            isBlocked = true;
            if (hasLongPayload() && written != -FabricErrno.EAGAIN) {
                connection.lost((int) -written);
            }
            return;
        }
        int ofBuffer = (int) Math.min(written, tail - head);
        head += ofBuffer;
        longSent += written - ofBuffer;
        if (longOperation != null && longSent == longOperation.length) {
            longOperation = null;
        } else if (answered != null && longSent == answered.lengthBytes()) {
            exposed.give(answered);
            answered = null;
        }
        isBlocked = written < wanted;
    }

    /**
     * Whether onSent reports the completion when the acknowledgement arrives, because the engine awaits no level from
     * the peer.
     */
    private static boolean isAwaitedOfPeerAlone(TransmitOperation operation) {
        return (operation.flags & Flags.TRANSMIT_COMPLETE) != 0 && !operation.isAcknowledged();
    }

    private void encodeAnswers() {
        while (acksOwed > 0 && !hasLongPayload() && hasRoom(TcpHeader.BASE_LENGTH)) {
            TcpHeader.encodeAck(buffer + tail, connection.isBigEndian());
            tail += TcpHeader.BASE_LENGTH;
            acksOwed--;
        }
        if (exposed.hasWaiting() && !hasLongPayload() && hasRoom(TcpHeader.BASE_LENGTH)) {
            answered = exposed.take();
            longSent = 0;
            TcpHeader.encodeReadResponse(buffer + tail, connection.isBigEndian(), answered.lengthBytes());
            tail += TcpHeader.BASE_LENGTH;
        }
    }

    /** Whether there is room; moves the waiting bytes to the front if necessary. */
    private boolean hasRoom(int length) {
        if (buffer == 0) {
            buffer = pool.take();
        }
        if (tail + length <= pool.length()) {
            return true;
        }
        if (head == 0) {
            return false;
        }
        UnsafeApi.copyMemory(buffer + head, buffer, tail - head);
        tail -= head;
        head = 0;
        return tail + length <= pool.length();
    }

    /** Writes a connection management message by one call; false if the system did not accept all of it. */
    boolean writeWhole(CmMessage message) {
        if (!hasRoom(message.length())) {
            return false;
        }
        message.encode(new UnsafeBuffer(buffer, message.length()), 0);
        return connection.port().send(buffer, message.length()) == message.length();
    }

    /** Whether a payload is being written directly from the application's memory. */
    boolean hasLongPayload() {
        return longOperation != null || answered != null;
    }

    /** Gives the buffer back if it is empty. */
    void relax() {
        if (buffer != 0 && isClear()) {
            pool.give(buffer);
            buffer = 0;
        }
    }

    void close() {
        longOperation = null;
        answered = null;
        acksOwed = 0;
        head = 0;
        tail = 0;
        relax();
    }
}
