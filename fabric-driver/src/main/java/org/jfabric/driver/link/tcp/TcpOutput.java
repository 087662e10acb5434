package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.ffi.IoVector;

/**
 * What goes out on one connection.
 *
 * <pre>
 *   short message   header and payload are copied behind what waits; the first of a cycle is written at once, what
 *                   follows in the same cycle leaves together, with the next poll
 *   long message    the header is copied, header and payload are written by one call, the payload from where it is;
 *                   what the system does not take now stays there, and no further message is taken meanwhile
 *   answers         acknowledgements that we owe, and what the peer reads of our memory, whenever there is room
 *
 *   buffer  | written | waits ......... | free |  then the rest of the long payload, if there is one
 *           0         head              tail
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpOutput {
    private final TcpConnection connection;
    private final BufferPool pool;
    private final IoVector vector;
    private final int copyLimit;
    private final long writesCounter;
    private final AwaitedAcks awaited = new AwaitedAcks();
    /** 0 while nothing waits. */
    private long buffer;
    private int head;
    private int tail;
    private final ExposedMemory exposed = new ExposedMemory();
    /** The message whose payload is being written from where it is, or null. */
    private TransmitOperation longOperation;
    /** What of our memory is being written as the answer to a read, or null. */
    private PieceList answered;
    private long longSent;
    private int acksOwed;
    /** The system takes no more; it tells when it does. */
    private boolean isBlocked;
    private boolean wroteInCycle;
    /** The engine was told to wait. */
    private boolean refused;

    TcpOutput(TcpConnection connection, BufferPool pool, IoVector vector, int copyLimit, long writesCounter) {
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
        // delivery is told by the engine's own way: to the link it is done when the system has it
        return longOperation != null || isAwaitedOfPeerAlone(operation) ? Channel.PENDING : Channel.DONE;
    }

    /** Asks the peer for its memory; false if there is no room. */
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

    /** Ends {@link ExposedMemory#expose}; a read that is not answered yet ends the connection. */
    void conceal(RemotePayload target) {
        if (!exposed.conceal(target, answered)) {
            answered = null;
            connection.lost(FabricErrno.EIO);
            connection.onUse();
        }
    }

    /** The peer has a message that wants to be acknowledged. */
    void oweAck() {
        acksOwed++;
    }

    /** The peer has acknowledged the oldest of our messages that wait for it; false if there is none. */
    boolean onAck() {
        if (awaited.isEmpty()) {
            return false;
        }
        long operation = awaited.operation();
        if (longOperation != null && longOperation.id() == operation) {
            // it cannot have what has not left yet
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

    /** The system takes more again. */
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

    /** Writes what waits; tells the engine what has left, and that there is room. */
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

    /** Writes what can be written now. */
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
            // of a short write nobody has asked why; if the connection is lost its end will be read
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

    /** Its end is told when the acknowledgement comes, and not by the engine's own way for such levels. */
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

    /** Makes room by moving what waits to the front. */
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

    /** Writes one message of the connection itself by one call; false if the system did not take it as a whole. */
    boolean writeWhole(CmMessage message) {
        if (!hasRoom(message.length())) {
            return false;
        }
        message.encode(new UnsafeBuffer(buffer, message.length()), 0);
        return connection.port().send(buffer, message.length()) == message.length();
    }

    /** Whether the rest of a payload is still where the application has it. */
    boolean hasLongPayload() {
        return longOperation != null || answered != null;
    }

    /** Gives the buffer back if nothing is in it. */
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
