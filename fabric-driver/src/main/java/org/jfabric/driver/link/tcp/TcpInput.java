package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.ffi.IoVector;

/**
 * What comes in on one connection.
 *
 * <p>A read takes what is there, up to one buffer; short messages are handed on where they lie. When a payload is
 * longer than what was read ahead, the next read goes straight to where the engine wants it, and only what follows it
 * goes to the buffer. A connection is paused by not reading it; what was read ahead stays.
 *
 * <pre>
 *   buffer  | taken | header, payload, header, ... |  free |
 *           0       position                       end
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpInput {
    /** Shorter rests of a payload are read into the buffer: with them comes what follows. */
    private static final int MIN_DIRECT = 4096;
    /** Fruitless reads after which the system is asked why: memory that was cut looks like nothing to read. */
    private static final int READS_TO_DOUBT = 64;

    private final TcpConnection connection;
    private final BufferPool pool;
    private final IoVector vector;
    private final TcpHeader header = new TcpHeader();
    private final Placement placement = new Placement();
    private final ReadRequests reads = new ReadRequests();
    /** 0 while nothing was read ahead. */
    private long buffer;
    private int position;
    private int end;
    private boolean inPayload;
    private boolean isPaused;
    private long payloadLeft;
    private int fruitless;
    /** Messages that have begun to come and were not whole at once, and answers to reads. */
    private long begun;
    /** Bytes read of the socket. */
    private long received;
    /** Answers to reads of ours that have come. */
    private long answered;
    private final StallWatch messageWatch = new StallWatch();
    private final StallWatch answerWatch = new StallWatch();
    /** The message in hand has ended with an error: the rest of it is read and dropped. */
    private boolean isAborted;

    TcpInput(TcpConnection connection, BufferPool pool, IoVector vector) {
        this.connection = connection;
        this.pool = pool;
        this.vector = vector;
    }

    /** Whether the engine has no place for what comes, so that the socket is not read. */
    boolean isPaused() {
        return isPaused;
    }

    /** Whether a message has begun and is not whole. */
    boolean isInMessage() {
        return inPayload || position < end;
    }

    /** Whether a message that has begun, or an answer to a read of ours, makes no progress. */
    boolean isStalled(long nowNs, long timeoutNs) {
        boolean messageStalls = messageWatch.isStalled(inPayload && !isPaused, begun, received, nowNs, timeoutNs);
        boolean answerStalls = answerWatch.isStalled(
            !reads.isEmpty() && !isPaused, answered, received, nowNs, timeoutNs);
        return messageStalls || answerStalls;
    }

    /** Whether something that was read may be a whole message: the limit of a poll has stopped before it. */
    boolean hasMore() {
        return position < end && !isPaused && !isPartial();
    }

    private boolean isPartial() {
        return !inPayload && header.decode(buffer + position, end - position, connection.isBigEndian())
            == TcpHeader.MORE;
    }

    /**
     * Takes messages.
     *
     * @param limit at most.
     * @return messages taken and reads that brought something.
     */
    int poll(int limit) {
        int work = 0;
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
        return work;
    }

    /**
     * Reads the message that begins the connection.
     *
     * @return null if more must come, or the connection has ended.
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

    /** Gives the buffer back if nothing is in it. */
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
        // a payload that is all here and not yet told of: a fault of its place has come in between
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
            // a fault of the engine's memory inside of a call leaves here; what it was about was passed before
            taken += inPayload || isPaused ? 0 : 1;
        }
        return taken;
    }

    private void begin() {
        if (header.isAck()) {
            if (!connection.output().onAck()) {
                connection.broken("acknowledged what was not asked for");
            }
            return;
        }
        switch (header.op()) {
            case TcpHeader.OP_MESSAGE, TcpHeader.OP_TAGGED -> beginMessage();
            case TcpHeader.OP_READ_REQUEST -> {
                if (!connection.output().exposed().request(header)) {
                    connection.broken("asked for memory that it may not read");
                }
            }
            case TcpHeader.OP_READ_RESPONSE -> beginAnswer();
            // no endpoint of this link lets its memory be written, so no peer has a key for that
            default -> connection.broken("wrote to memory (operation " + header.op() + ") that it may not write");
        }
    }

    private void beginMessage() {
        long length = header.payloadLength();
        if (length <= end - position && connection.streams().canStore(length)) {
            long address = buffer + position;
            position += (int) length;
            connection.handler().onMessage(kind(), header.tag(), header.data(), address, (int) length);
            answer();
        } else {
            payloadLeft = length;
            inPayload = true;
            begun++;
            // the last message's answer must not look like that of a pause
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            place();
        }
    }

    /** What we have asked for of the peer's memory goes straight to its place. */
    private void beginAnswer() {
        if (reads.isEmpty() || reads.oldest().length != header.payloadLength()) {
            connection.broken("answered a read of memory that was not asked for");
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

    /** Keeps where the answer to a read goes. */
    void await(long operation, long address, PieceList pieces, long length) {
        reads.add(operation, address, pieces, length);
    }

    boolean awaitsAnswer() {
        return !reads.isEmpty();
    }

    private long kind() {
        return (header.isTagged() ? Flags.TAGGED : Flags.MSG) | (header.hasData() ? Flags.REMOTE_CQ_DATA : 0);
    }

    private void place() {
        connection.streams().place(kind(), header.tag(), header.data(), header.payloadLength(), placement);
        boolean wasPaused = isPaused;
        isPaused = placement.action() == Placement.Action.PAUSE;
        if (placement.action() == Placement.Action.REFUSE) {
            connection.broken("sent a message that the endpoint cannot take");
        } else if (wasPaused != isPaused) {
            connection.updateInterest();
        }
        if (!isPaused && payloadLeft == 0 && connection.isUp()) {
            finish();
        }
    }

    private boolean isResumed() {
        place();
        return !isPaused;
    }

    /** Moves what was read ahead of the payload to its place. */
    private void takePayload() {
        long offset = payloadOffset();
        int bytes = (int) Math.min(payloadLeft, end - position);
        long stored = Math.min(bytes, placement.lengthBytes() - offset);
        long source = buffer + position;
        position += bytes;
        payloadLeft -= bytes;
        if (stored > 0) {
            placement.copyFrom(offset, source, stored);
        }
        if (payloadLeft == 0) {
            finish();
        }
    }

    private void finish() {
        inPayload = false;
        boolean wasAborted = isAborted;
        isAborted = false;
        if (header.op() == TcpHeader.OP_READ_RESPONSE) {
            long operation = reads.oldest().operation;
            reads.remove();
            answered++;
            connection.onPulled(operation, wasAborted ? FabricErrno.EFAULT : 0);
            return;
        }
        if (!wasAborted) {
            connection.streams().onPlaced(placement);
        }
        answer();
    }

    private void answer() {
        if (header.wantsAck() && connection.isUp()) {
            connection.output().oweAck();
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

    /** Reads to the payload's place, and what follows it to the buffer, which is empty. */
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
        if (payloadLeft == 0) {
            finish();
        }
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

    /** The memory that the payload goes to was cut. */
    private void abort() {
        isAborted = true;
        if (header.op() != TcpHeader.OP_READ_RESPONSE) {
            connection.streams().onAborted(placement, FabricErrno.EFAULT);
        }
        placement.set(Placement.Action.DIRECT, 0, 0, 0);
    }
}
