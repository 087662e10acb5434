package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.TcpSocket;
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
 *   pinned message  a long one that the system does not copy: the header is written, then the payload; no further
 *                   message is accepted until the system reports that it no longer uses the payload
 *   answers         acknowledgements for the peer's messages and answers to its reads, whenever there is room
 *
 *   buffer  | written | waits ......... | free |  then the rest of the long payload, if there is one
 *           0         head              tail
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpWriter {
    /** Levels for which the peer is asked to acknowledge; the last one by another flag. */
    private static final long ACKNOWLEDGED
        = Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.COMMIT_COMPLETE;
    /** Writes of the peer that wait for stable storage: each has a record of the engine. */
    private static final int MAX_COMMITS = 1024;
    private static final long PAGE_MASK = 4095;
    /** A copy is slow to a destination that is less than so many bytes above its source, in their pages. */
    private static final int SLOW_DISTANCE = 32;
    /** Size of the buffers into which Linux copies what is sent. */
    private static final int SYSTEM_BUFFER = 32 * 1024;

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
    private final ExposedMemory exposed;
    /** The message whose payload is being written without a copy, or null. */
    private TransmitOperation longOperation;
    /** The read of the peer that is being answered, or null. */
    private RemoteRanges answered;
    private boolean answersAccess;
    /** The memory of that read, found anew for each call of the system. */
    private final PieceList answer = new PieceList();
    private long answerLength;
    private long longSent;
    /** Sends that are not copied, null without. */
    private TcpPins pins;
    /** Shortest payload that is not copied. */
    private long pinBytes = Long.MAX_VALUE;
    /** The long message is sent without a copy. */
    private boolean isPinned;
    /** All of the pinned message is written, and the system may still use its memory. */
    private boolean awaitsRelease;
    /** The peer has acknowledged the pinned message before the system has released it. */
    private boolean isAckHeld;
    /** The oldest read of the peer waits until the engine has room for its report. */
    private boolean awaitsReport;
    private final OwedAcks owed = new OwedAcks();
    /** The socket accepts no more bytes; an event reports when it does. */
    private boolean isBlocked;
    private boolean wroteInCycle;
    /** A call of the engine was refused, so that {@code onWritable} must follow. */
    private boolean refused;

    TcpWriter(TcpConnection connection, BufferPool pool, IoVector vector, int copyLimit, long writesCounter,
        ExposedMemory exposed) {
        this.connection = connection;
        this.pool = pool;
        this.vector = vector;
        this.copyLimit = copyLimit;
        this.writesCounter = writesCounter;
        this.exposed = exposed;
    }

    /**
     * As {@link Channel#send}, and as {@link RemoteChannel#write} for a whole write: {@link Channel#DONE} if it has
     * ended.
     */
    int send(TransmitOperation operation) {
        long payload = operation.length;
        boolean isShort = payload <= copyLimit;
        int needed = (operation.hasRanges ? TcpHeader.MAX_LENGTH : TcpHeader.MAX_SENT_LENGTH)
            + (isShort ? (int) payload : 0);
        if (hasLongPayload() || !hasRoom(needed)) {
            refused = true;
            return -FabricErrno.EAGAIN;
        }
        boolean isAwaited = (operation.flags & ACKNOWLEDGED) != 0;
        int flags = ((operation.flags & Flags.REMOTE_CQ_DATA) != 0 ? TcpHeader.FLAG_CQ_DATA : 0)
            | (!isAwaited ? 0 : (operation.flags & Flags.COMMIT_COMPLETE) != 0
                ? TcpHeader.FLAG_COMMIT : TcpHeader.FLAG_WANTS_ACK);
        boolean isWrite = operation.isRemote();
        int header = isWrite
            ? TcpHeader.encodeWrite(buffer + tail, connection.isBigEndian(), flags, operation)
            : TcpHeader.encodeMessage(buffer + tail, connection.isBigEndian(),
                (operation.flags & Flags.TAGGED) != 0, flags, operation.tag, operation.data, payload);
        if (isShort) {
            operation.copyTo(0, buffer + tail + header, payload);
            if (isWrite) {
                // bytes that could not be read must not be written into the peer's memory
                FaultPoint.pass();
            }
            header += (int) payload;
        } else {
            longOperation = operation;
            longSent = 0;
            isPinned = payload >= pinBytes && pins.isOn();
        }
        // behind the copy: if that fails nothing of the message is sent
        tail += header;
        if (isAwaited) {
            awaited.add(operation.id(), isWrite ? Flags.RMA : operation.awaitedOfPeer());
        }
        connection.onUse();
        if (!isShort || !wroteInCycle && (operation.flags & Flags.MORE) == 0) {
            write(false);
        }
        // StreamHandler.onAcknowledged reports delivery; for the link the message is done when the system has it
        return longOperation != null || isAwaitedOfPeerAlone(operation) ? Channel.PENDING : Channel.DONE;
    }

    /** Sends a read of the peer's memory; false if there is no room. */
    boolean request(RemotePayload source, long length) {
        if (!hasRoomForRead()) {
            return false;
        }
        tail += TcpHeader.encodeReadRequest(buffer + tail, connection.isBigEndian(), source, length);
        connection.onUse();
        return true;
    }

    /** As {@link RemoteChannel#read}; false if there is no room. */
    boolean read(TransmitOperation operation) {
        if (!hasRoomForRead()) {
            return false;
        }
        tail += TcpHeader.encodeReadRequest(buffer + tail, connection.isBigEndian(), operation);
        connection.onUse();
        if (!wroteInCycle && (operation.flags & Flags.MORE) == 0) {
            write(false);
        }
        return true;
    }

    private boolean hasRoomForRead() {
        boolean hasRoom = !hasLongPayload() && hasRoom(TcpHeader.MAX_LENGTH) && !connection.reader().isFull();
        refused |= !hasRoom;
        return hasRoom;
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

    /** The channel is closed: reads of the peer get no answer any more. */
    void dropReads() {
        exposed.dropWaiting();
        awaitsReport = false;
    }

    /** A message of the peer has arrived that must be acknowledged. */
    void oweAck() {
        owed.add();
    }

    /** Whether one more write of the peer may wait for stable storage; else it waits in front of the connection. */
    boolean mayOweCommit() {
        return owed.held() < MAX_COMMITS;
    }

    /**
     * A write of the peer has arrived that must be acknowledged when it is on stable storage, and nothing behind it
     * before. Returns what names it in {@link #settle}.
     */
    long oweCommit() {
        return owed.hold();
    }

    /** A write of {@link #oweCommit} is on stable storage. */
    void settle(long commit) {
        owed.release(commit);
        connection.onUse();
    }

    /** The peer has acknowledged the oldest message that waits for it; false if there is none. */
    boolean onAck() {
        if (awaited.isEmpty()) {
            return false;
        }
        long operation = awaited.operation();
        if (longOperation != null && longOperation.id() == operation) {
            // the peer cannot have received a message that is not written completely
            boolean isReceived = awaitsRelease && !isAckHeld;
            isAckHeld |= isReceived;
            return isReceived;
        }
        long levels = awaited.levels();
        awaited.remove();
        if (levels == Flags.RMA) {
            connection.remote().onEnded(operation, 0);
        } else if (levels == 0) {
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
        return head == tail && !hasLongPayload() && owed.ready() == 0 && !exposed.hasWaiting();
    }

    /** Whether {@link #poll()} would write. */
    boolean hasWork() {
        return !isBlocked && (head != tail || hasUnsentPayload() || owed.ready() != 0
            || exposed.hasWaiting() && !awaitsReport && !awaitsRelease);
    }

    /** Whether a read of the peer waits until the engine has room for its report, so that each poll asks again. */
    boolean awaitsReport() {
        return awaitsReport;
    }

    /** Writes waiting bytes, and reports to the engine a long message that is written, and that there is room. */
    int poll() {
        int work = 0;
        boolean awaitedReport = awaitsReport;
        awaitsReport = false;
        if (hasWork()) {
            TransmitOperation begun = longOperation;
            write(connection.isUp());
            work = awaitedReport && awaitsReport ? 0 : 1;
            if (begun != null && longOperation == null && connection.isUp()) {
                report(begun);
            }
        }
        if (isPinned) {
            work += release();
        }
        wroteInCycle = false;
        if (refused && !hasLongPayload() && !isBlocked && !connection.reader().isFull() && connection.isUp()) {
            refused = false;
            connection.handler().onWritable();
            work++;
        }
        return work;
    }

    private void report(TransmitOperation ended) {
        if (isAwaitedOfPeerAlone(ended)) {
            return;
        }
        if (ended.isRemote()) {
            connection.remote().onEnded(ended.id(), 0);
        } else {
            connection.handler().onSent(ended.id(), 0);
        }
    }

    /** Sends payloads of that length or longer without a copy from now on. */
    void pin(TcpPins newPins, long fromBytes) {
        pins = newPins;
        pinBytes = fromBytes;
    }

    /** Whether the system may still read memory of a message. */
    boolean isHeld() {
        return pins != null && pins.isHeld();
    }

    /** Takes the system's reports, and ends the pinned message if all of it is written and released. */
    private int release() {
        int work = pins.poll();
        if (!awaitsRelease || pins.isHeld() || !connection.isUp()) {
            return work;
        }
        TransmitOperation ended = longOperation;
        boolean isAcked = isAckHeld;
        longOperation = null;
        isPinned = false;
        awaitsRelease = false;
        isAckHeld = false;
        report(ended);
        if (isAcked && connection.isUp()) {
            onAck();
        }
        return work + 1;
    }

    /** Writes of a pinned message its header, or a piece of its payload. */
    private long writePinned() {
        return head != tail ? connection.port().sendBeforePinned(vector) : pins.send(vector);
    }

    /**
     * Writes as much as the socket accepts now.
     *
     * @param inPoll whether the engine may be called: it is for reads of the peer that access its regions.
     */
    private void write(boolean inPoll) {
        wroteInCycle = true;
        boolean more = true;
        while (more && !isBlocked && connection.isOpen() && connection.failure() == 0) {
            encodeAnswers(inPoll);
            more = head != tail || hasUnsentPayload();
            if (more && (answered == null || findAnswer())) {
                long wanted = gather();
                long written = !hasUnsentPayload()
                    ? connection.port().send(buffer + head, tail - head)
                    : isPinned ? writePinned() : connection.port().sendVector(vector);
                UnsafeApi.putLongRelease(null, writesCounter, UnsafeApi.getLong(writesCounter) + 1);
                advance(written, wanted);
            }
        }
        if (head == tail && !hasLongPayload()) {
            head = 0;
            tail = 0;
        }
    }

    /** Finds the memory of the read that is being answered; false if the peer may not read it any more. */
    private boolean findAnswer() {
        int errno = exposed.find(answered, connection.remote(), answer);
        if (errno != 0) {
            connection.refused("reads memory that it may not read any more", errno);
        }
        return errno == 0;
    }

    private long gather() {
        if (!hasUnsentPayload()) {
            return tail - head;
        }
        vector.clear();
        vector.add(buffer + head, tail - head);
        if (isPinned && head != tail) {
            // the buffer is used again before the system would release it
            return tail - head;
        }
        TransmitOperation operation = longOperation;
        if (operation != null && operation.pieces == null) {
            long source = operation.address + longSent;
            vector.add(source, firstPart(source, tail - head, operation.length - longSent));
            return vector.lengthBytes();
        }
        PieceList pieces = operation != null ? operation.pieces : answer;
        long skip = longSent;
        for (int i = 0; i < pieces.count(); i++) {
            long here = Math.max(0, pieces.length(i) - skip);
            vector.add(pieces.address(i) + pieces.length(i) - here, here);
            skip = Math.max(0, skip - pieces.length(i));
        }
        return vector.lengthBytes();
    }

    /**
     * Bytes of the payload that the next call writes. Linux copies what it is given into buffers of 32 KiB, one byte
     * after the other, and begins with an empty one if all earlier bytes are acknowledged (sk_page_frag_refill in
     * net/core/sock.c). So behind a header the bytes of an aligned payload come to lie a little higher in their pages
     * than at their source, and then "rep movsb" of AMD's Zen 3 and 4 takes three times as long. A rest of less than
     * 32 bytes of a buffer is not used: a first call that leaves as much of it puts all that follows further away.
     */
    private static long firstPart(long source, int before, long left) {
        long distance = before - source & PAGE_MASK;
        long first = SYSTEM_BUFFER - (SLOW_DISTANCE - distance) - before;
        // behind more than one such buffer the rest of the last one is not known
        boolean isSlow = before > 0 && distance > 0 && distance < SLOW_DISTANCE && first > 0;
        return isSlow ? Math.min(left, first) : left;
    }

    private void advance(long written, long wanted) {
        if (written < 0) {
            // send gives no errno; if the connection is lost the reader detects its end
            isBlocked = true;
            if (answered != null && written == -FabricErrno.EFAULT) {
                connection.refused("reads memory whose file was truncated", FabricErrno.EFAULT);
            } else if (written == -TcpSocket.EPIPE && !connection.reader().isPaused()) {
                // the reader first takes what the peer has sent before its end
                connection.onUse();
            } else if (hasUnsentPayload() && written != -FabricErrno.EAGAIN) {
                connection.lost(written == -TcpSocket.EPIPE ? FabricErrno.ECONNRESET : (int) -written);
            }
            return;
        }
        int ofBuffer = (int) Math.min(written, tail - head);
        head += ofBuffer;
        longSent += written - ofBuffer;
        if (longOperation != null && longSent == longOperation.length) {
            if (isPinned) {
                awaitsRelease = true;
            } else {
                longOperation = null;
            }
        } else if (answered != null && longSent == answerLength) {
            RemoteRanges ended = answered;
            answered = null;
            if (answersAccess) {
                connection.remote().end(ended, Flags.REMOTE_READ, false, 0);
            }
            exposed.give(ended);
        }
        isBlocked = written < wanted;
    }

    /** Whether the acknowledgement alone ends the operation: the engine awaits no further level of a message. */
    private static boolean isAwaitedOfPeerAlone(TransmitOperation operation) {
        return operation.isRemote() ? (operation.flags & ACKNOWLEDGED) != 0
            : (operation.flags & Flags.TRANSMIT_COMPLETE) != 0 && !operation.isAcknowledged();
    }

    private void encodeAnswers(boolean inPoll) {
        while (owed.ready() > 0 && !hasUnsentPayload() && hasRoom(TcpHeader.BASE_LENGTH)) {
            TcpHeader.encodeAck(buffer + tail, connection.isBigEndian());
            tail += TcpHeader.BASE_LENGTH;
            owed.sent();
        }
        if (exposed.hasWaiting() && !hasLongPayload() && hasRoom(TcpHeader.BASE_LENGTH) && mayAnswer(inPoll)) {
            answered = exposed.take();
            answerLength = answered.totalBytes();
            longSent = 0;
            TcpHeader.encodeReadResponse(buffer + tail, connection.isBigEndian(), answerLength);
            tail += TcpHeader.BASE_LENGTH;
        }
    }

    /** Whether the oldest read of the peer can be answered now. */
    private boolean mayAnswer(boolean inPoll) {
        answersAccess = exposed.isAccess(exposed.oldest());
        if (!answersAccess) {
            return true;
        }
        awaitsReport = inPoll && !connection.remote().begin(Flags.REMOTE_READ, false);
        return inPoll && !awaitsReport;
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

    /** Whether bytes of such a payload are not written yet. */
    private boolean hasUnsentPayload() {
        return longOperation != null && !awaitsRelease || answered != null;
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
        isPinned = false;
        awaitsRelease = false;
        isAckHeld = false;
        answered = null;
        awaitsReport = false;
        owed.clear();
        head = 0;
        tail = 0;
        relax();
    }
}
