package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.ffi.IoVector;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Reads the messages of one connection.
 *
 * <p>A read receives the available bytes, up to one buffer. Short messages are delivered from the buffer. If a payload
 * is longer than the bytes read ahead, the next read goes directly to the destination that the engine has given, and
 * only the bytes after the payload go to the buffer. A paused connection is not read; the bytes read ahead stay in the
 * buffer.
 *
 * <pre>
 *   buffer  | done  | header, payload, header, ... |  free |
 *           0       position                       end
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpReader {
    /** A shorter rest of a payload is read into the buffer, together with the bytes that follow it. */
    private static final int MIN_DIRECT = 4096;
    /** Failed reads after which the errno is requested: a destination whose file was truncated appears as no data. */
    private static final int READS_TO_DOUBT = 64;

    private final TcpConnection connection;
    private final BufferPool pool;
    private final IoVector vector;
    private final TcpHeader header = new TcpHeader();
    private final Placement placement = new Placement();
    private final ReadRequests reads = new ReadRequests();
    /** The peer's write that is being placed. */
    private final RemoteRanges written = new RemoteRanges();
    private final PieceList writtenPieces = new PieceList();
    /** The pieces were found since the last poll began; no region is closed before the next one. */
    private boolean areFound;
    /** Bytes are being copied to or from memory of an access; still true afterwards if that memory has failed. */
    private boolean isCopying;
    /** Address of the bytes read ahead, 0 if there is no buffer. */
    private long buffer;
    private int position;
    private int end;
    private boolean inPayload;
    private boolean isPaused;
    private long payloadLeft;
    private int fruitless;
    /** Number of messages that did not arrive at once as a whole, and of answers to reads. */
    private long begun;
    /** Bytes read from the socket. */
    private long received;
    /** Messages that were processed. */
    private long processed;
    /** Number of complete answers to reads of this side. */
    private long answered;
    private final StallWatch messageWatch = new StallWatch();
    private final StallWatch answerWatch = new StallWatch();
    /** The receive of the current message has ended: the rest of the message is read and dropped. */
    private boolean isDropping;

    TcpReader(TcpConnection connection, BufferPool pool, IoVector vector) {
        this.connection = connection;
        this.pool = pool;
        this.vector = vector;
    }

    /** Whether the engine has no room for the current message, so that the socket is not read. */
    boolean isPaused() {
        return isPaused;
    }

    /** Whether a message has begun and is incomplete. */
    boolean isInMessage() {
        return inPayload || position < end;
    }

    /** Whether the rest of a message, or an answer to a read of this side, is awaited from the peer. */
    boolean isMidMessage() {
        return (inPayload || !reads.isEmpty()) && !isPaused;
    }

    /**
     * Whether a message that has begun, or an answer to a read of this side, makes no progress.
     *
     * @param isRead whether the socket is read now, unless the reader is paused.
     */
    boolean isStalled(boolean isRead, long nowNs, long timeoutNs) {
        boolean isWaiting = isRead && !isPaused;
        boolean messageStalls = messageWatch.isStalled(
            isWaiting && inPayload, begun, received, header.payloadLength(), nowNs, timeoutNs);
        boolean answerStalls = answerWatch.isStalled(
            isWaiting && !reads.isEmpty(), answered, received, reads.lengthBytes(), nowNs, timeoutNs);
        return messageStalls || answerStalls;
    }

    /** Whether the bytes read ahead may hold a whole message, which a poll has left because of its limit. */
    boolean hasMore() {
        return position < end && !isPaused && !isPartial();
    }

    private boolean isPartial() {
        return !inPayload && header.decode(buffer + position, end - position, connection.isBigEndian())
            == TcpHeader.MORE;
    }

    /**
     * Processes messages.
     *
     * @param limit largest number of messages.
     * @return number of messages processed and of reads that received bytes.
     */
    int poll(int limit) {
        int work = 0;
        areFound = false;
        if (isCopying) {
            // a fault has interrupted the copy; the rest of the payload may not pass through the buffer
            abort();
        }
        if (isPaused) {
            if (!isResumed()) {
                return 0;
            }
            work = 1;
        }
        int taken = consume(limit);
        work += taken;
        if (taken < limit && !isPaused && connection.isUp() && read()) {
            work += 1 + consume(limit - taken);
        }
        // a pause is work: the thread must not sleep in the cycle in which the engine asks to be woken
        return isPaused ? work + 1 : work;
    }

    /**
     * Reads the message that begins the connection. Returns null if the message is incomplete, or the connection has
     * ended.
     */
    CmMessage readCm() {
        if (!read()) {
            return null;
        }
        CmMessage message = CmMessage.decode(new UnsafeBuffer(buffer, end), 0, end);
        if (message != null) {
            position = message.length();
        }
        return message;
    }

    /** Gives the buffer back if it is empty. */
    void relax() {
        if (buffer != 0 && position == end) {
            pool.give(buffer);
            buffer = 0;
            position = 0;
            end = 0;
        }
    }

    void close() {
        isPaused = false;
        inPayload = false;
        position = end;
        relax();
    }

    // ---- the stream ----

    private int consume(int limit) {
        int taken = 0;
        // payloadLeft is 0 here if a memory fault of the destination has kept the completion from being reported
        while (taken < limit && (position < end || inPayload && payloadLeft == 0) && !isPaused && connection.isUp()) {
            if (inPayload) {
                takePayload();
            } else {
                int length = header.decode(buffer + position, end - position, connection.isBigEndian());
                if (length == TcpHeader.MORE) {
                    break;
                }
                if (length == TcpHeader.BROKEN) {
                    connection.broken("sent a message with " + header.brokenBy());
                    break;
                }
                position += length;
                begin();
            }
            // a memory fault inside a call of the engine leaves the loop; position is already behind the bytes it
            // concerned
            taken += inPayload || isPaused ? 0 : 1;
        }
        processed += taken;
        return taken;
    }

    /** Bytes read from the socket so far. */
    long received() {
        return received;
    }

    /** Messages processed so far. */
    long processed() {
        return processed;
    }

    private void begin() {
        if (header.isAck()) {
            if (!connection.writer().onAck()) {
                connection.broken("acknowledged a message that did not request it");
            }
            return;
        }
        switch (header.op()) {
            case TcpHeader.OP_MESSAGE, TcpHeader.OP_TAGGED -> beginMessage();
            case TcpHeader.OP_READ_REQUEST -> {
                int errno = connection.writer().exposed().request(header, connection.remote());
                if (errno != 0) {
                    connection.refused("reads memory that it may not read", errno);
                }
            }
            case TcpHeader.OP_READ_RESPONSE -> beginAnswer();
            default -> beginWrite();
        }
    }

    private void beginMessage() {
        long length = header.payloadLength();
        if (length <= end - position && connection.streams().canStore(length)) {
            long address = buffer + position;
            position += (int) length;
            try {
                connection.handler().onMessage(kind(), header.tag(), header.data(), address, (int) length);
            } finally {
                // also if memory fails meanwhile: acknowledgements have no numbers, so that none may be missing
                answer();
            }
        } else {
            payloadLeft = length;
            inPayload = true;
            begun++;
            // the placement of the last message must not be taken for that of a pause
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            place();
        }
    }

    /** The answer to a read of the peer's memory goes directly to its destination. */
    private void beginAnswer() {
        if (reads.isEmpty() || reads.oldest().length != header.payloadLength()) {
            connection.broken("answered a read of memory that was not requested");
            return;
        }
        ReadRequests.Read read = reads.oldest();
        placement.set(Placement.Action.DIRECT, read.address, read.pieces, read.length, 0);
        payloadLeft = read.length;
        inPayload = true;
        begun++;
        if (payloadLeft == 0) {
            finish();
        }
    }

    /** The bytes of a peer's write go directly to their place, once there is a slot for the report. */
    private void beginWrite() {
        header.copyTo(written);
        payloadLeft = header.payloadLength();
        inPayload = true;
        begun++;
        areFound = false;
        RemoteHandler remote = connection.remote();
        int errno = header.asksForCommit() && remote != null ? remote.commitRefusal(written) : 0;
        if (errno != 0) {
            connection.refused("requested a commit of memory that cannot be committed", errno);
        } else {
            placeWrite();
        }
    }

    private void placeWrite() {
        if (!findWritten()) {
            return;
        }
        boolean wasPaused = isPaused;
        isPaused = header.asksForCommit() && !connection.writer().mayOweCommit()
            || !connection.remote().begin(Flags.REMOTE_WRITE, header.hasData());
        if (wasPaused != isPaused) {
            connection.updateInterest();
        }
        if (!isPaused && payloadLeft == 0) {
            finish();
        }
    }

    /** Finds the memory of the peer's write in this poll; false if the peer may not write there. */
    private boolean findWritten() {
        if (!areFound) {
            RemoteHandler remote = connection.remote();
            int errno = remote == null ? FabricErrno.EACCES
                : remote.find(written, Flags.REMOTE_WRITE, writtenPieces);
            if (errno != 0) {
                connection.refused("writes to memory that it may not write", errno);
                return false;
            }
            placement.set(Placement.Action.DIRECT, 0, writtenPieces, header.payloadLength(), 0);
            areFound = true;
        }
        return true;
    }

    /**
     * Records the destination of a read's answer.
     *
     * @param isAccess whether the engine reads; else the protocol above does.
     */
    void await(long operation, boolean isAccess, long address, PieceList pieces, long length) {
        reads.add(operation, isAccess, address, pieces, length);
    }

    /** Whether no further read may be requested now. */
    boolean isFull() {
        return reads.isFull();
    }

    boolean awaitsAnswer() {
        return !reads.isEmpty();
    }

    private long kind() {
        return (header.isTagged() ? Flags.TAGGED : Flags.MSG) | (header.hasData() ? Flags.REMOTE_CQ_DATA : 0);
    }

    private void place() {
        if (header.op() == TcpHeader.OP_WRITE) {
            placeWrite();
            return;
        }
        connection.streams().place(kind(), header.tag(), header.data(), header.payloadLength(), placement);
        boolean wasPaused = isPaused;
        isPaused = placement.action() == Placement.Action.PAUSE;
        if (placement.action() == Placement.Action.REFUSE) {
            connection.broken("sent a message that the endpoint cannot take");
        } else if (wasPaused != isPaused) {
            connection.updateInterest();
        }
        if (!isPaused && connection.isUp()) {
            finishOrDrop();
        }
    }

    private boolean isResumed() {
        place();
        return !isPaused;
    }

    /** Copies the bytes of the payload that were read ahead to their destination. */
    private void takePayload() {
        if (isCopying) {
            abort();
        }
        if (isWrite() && (isDropping || !findWritten())) {
            return;
        }
        long offset = payloadOffset();
        int bytes = (int) Math.min(payloadLeft, end - position);
        long stored = Math.min(bytes, placement.lengthBytes() - offset);
        long source = buffer + position;
        position += bytes;
        payloadLeft -= bytes;
        if (stored > 0) {
            boolean isAccess = header.op() == TcpHeader.OP_READ_RESPONSE || isWrite();
            isCopying = isAccess;
            if (isAccess) {
                // an application that polls its memory sees the bytes of earlier accesses first
                UnsafeApi.storeFence();
            }
            placement.copyFrom(offset, source, stored);
            if (isAccess) {
                // a memory fault must not come after the report
                FaultPoint.pass();
                isCopying = false;
            }
        }
        finishOrDrop();
    }

    /** Ends the message if all of it is here, or its receive if that is full: it need not wait for the rest. */
    private void finishOrDrop() {
        if (payloadLeft == 0) {
            finish();
        } else if (!isDropping && isMessage() && payloadOffset() >= placement.lengthBytes()) {
            connection.streams().onPlaced(placement);
            // not before: a memory fault in that call leaves the receive to the next poll
            isDropping = true;
            placement.set(Placement.Action.DIRECT, 0, 0, 0);
        }
    }

    private boolean isMessage() {
        return header.op() == TcpHeader.OP_MESSAGE || header.op() == TcpHeader.OP_TAGGED;
    }

    private boolean isWrite() {
        return header.op() == TcpHeader.OP_WRITE;
    }

    private void finish() {
        inPayload = false;
        boolean wasDropping = isDropping;
        isDropping = false;
        if (header.op() == TcpHeader.OP_READ_RESPONSE) {
            long operation = reads.oldest().operation;
            boolean isAccess = reads.oldest().isAccess;
            reads.remove();
            answered++;
            if (isAccess) {
                connection.remote().onEnded(operation, wasDropping ? FabricErrno.EIO : 0);
            } else {
                connection.onPulled(operation, wasDropping ? FabricErrno.EFAULT : 0);
            }
            return;
        }
        if (isWrite() && header.asksForCommit()) {
            finishCommit();
            return;
        }
        try {
            if (isWrite()) {
                connection.remote().end(written, Flags.REMOTE_WRITE, header.hasData(), header.data());
            } else if (!wasDropping) {
                connection.streams().onPlaced(placement);
            }
        } finally {
            answer();
        }
    }

    private void finishCommit() {
        boolean isBegun = false;
        try {
            connection.remote().commit(
                written, header.hasData(), header.data(), connection.writer().oweCommit());
            isBegun = true;
        } finally {
            if (!isBegun) {
                // memory has failed meanwhile: no acknowledgement would follow, of it and of anything behind it
                connection.refused("has written what could not be put on stable storage", FabricErrno.EIO);
            }
        }
    }

    private void answer() {
        if (header.wantsAck() && connection.isUp()) {
            connection.writer().oweAck();
        }
    }

    // ---- the socket ----

    private boolean read() {
        if (buffer == 0) {
            buffer = pool.take();
        }
        if (position > 0) {
            UnsafeApi.copyMemory(buffer + position, buffer, end - position);
            end -= position;
            position = 0;
        }
        if (inPayload && isWrite() && !findWritten()) {
            return false;
        }
        long direct = inPayload && end == 0 ? placement.lengthBytes() - payloadOffset() : 0;
        if (direct >= MIN_DIRECT) {
            return readDirect(direct);
        }
        long got = connection.port().receive(buffer + end, pool.length() - end);
        if (got == 0) {
            connection.ended();
        } else if (got > 0) {
            end += (int) got;
            received += got;
        }
        return got > 0;
    }

    private long payloadOffset() {
        return header.payloadLength() - payloadLeft;
    }

    /** Reads to the payload's destination, and the bytes that follow it to the buffer, which is empty. */
    private boolean readDirect(long direct) {
        vector.clear();
        addPlaces(payloadOffset(), direct);
        vector.add(buffer, pool.length());
        long got = connection.port().receiveVector(vector);
        if (got == TcpPort.FAILED && ++fruitless % READS_TO_DOUBT == 0) {
            got = connection.port().receiveError(vector);
            if (got == -FabricErrno.EFAULT) {
                abort();
            }
        }
        if (got <= 0) {
            if (got == 0) {
                connection.ended();
            }
            return false;
        }
        fruitless = 0;
        received += got;
        long placed = Math.min(got, direct);
        payloadLeft -= placed;
        end = (int) (got - placed);
        finishOrDrop();
        return true;
    }

    private void addPlaces(long offset, long bytes) {
        PieceList pieces = placement.pieces();
        if (pieces == null) {
            vector.add(placement.address() + offset, bytes);
            return;
        }
        long skip = offset;
        long left = bytes;
        for (int i = 0; i < pieces.count() && left > 0; i++) {
            long here = pieces.length(i) - skip;
            if (here > 0) {
                vector.add(pieces.address(i) + skip, Math.min(here, left));
                left -= here;
            }
            skip = Math.max(0, skip - pieces.length(i));
        }
    }

    /** The file of the destination's memory was truncated. */
    private void abort() {
        isDropping = true;
        isCopying = false;
        if (isWrite()) {
            connection.refused("writes to memory whose file was truncated", FabricErrno.EFAULT);
        } else if (header.op() != TcpHeader.OP_READ_RESPONSE) {
            connection.streams().onAborted(placement, FabricErrno.EFAULT);
        }
        placement.set(Placement.Action.DIRECT, 0, 0, 0);
    }
}
