package org.jfabric.driver.engine;

import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.WaitLabel;
import org.jfabric.layout.Words;

/**
 * Remote memory access between an endpoint and one peer. Checks the peer's requests (RMA and atomic operations), passes
 * them to {@link RemoteTarget}, and queues the answers until the channel has accepted them. Answers of the peer go to
 * {@link RemoteSends}.
 *
 * <p>Answers are sent in the order in which they are added, and an answer that waits delays all later ones. One is sent
 * immediately if none is queued and the channel accepts it. Else it is queued, and the peer is flushed in each duty
 * cycle until the queue is empty. A read stays queued until the channel has accepted its last byte. The memory grows to
 * the greatest number ever queued and does not shrink.
 *
 * <p>An access that is to be reported on this side needs a slot in the completion queue. Without one, the last piece of
 * a read waits here, and all later answers with it. Of a write or an atomic operation only the id is kept. When there
 * is a slot it is answered by {@code FI_EAGAIN}, and the peer sends it again.
 *
 * <p>On wires of libfabric the link moves the bytes by itself between {@link #begin} and {@link #end}. An access
 * without a slot waits there in front of the connection's other bytes, and a counter shows it.
 *
 * <p>Owner: progress agent.
 */
final class PeerRemote extends RemoteHandler {
    /** Greatest number of queued answers: what the greatest tx_attr.size allows a peer to have outstanding. */
    private static final int LIMIT = 1 << 16;
    /**
     * Offsets of the words of a queued answer. There are four kinds:
     *
     * <pre>
     *               OPERATION  KEY            ADDRESS               LENGTH            SENT                      GRANT
     *   an errno    id         0              0                     ~errno, negative  0                         0
     *   a read      id         of the region  offset in the region  of the range      bytes that were accepted  1 or 0
     *   old values  id         0              native address        of the values     {@link #VALUES}           0
     *   placed      writes     0              0                     0                 {@link #PLACED}           0
     * </pre>
     *
     * <p>GRANT is 1 if the peer asks for the right to read the region from a mapping of its own.
     */
    private static final int OPERATION = 0;
    private static final int KEY = 1;
    private static final int ADDRESS = 2;
    private static final int LENGTH = 3;
    private static final int SENT = 4;
    private static final int GRANT = 5;
    private static final int WORDS = 8;
    private static final long VALUES = -1;
    private static final long PLACED = -2;
    /** Short writes that are answered at once at most, so that the peer's transmit queue does not fill up. */
    private static final int MAX_OWED = 16;

    private final Peer peer;
    private final PeerSends sends;
    private final RemoteSends requests;
    private final RemoteTarget target;
    private final PeerSchedule schedule;
    private final GrowingQueue answers = new GrowingQueue(WORDS);
    /** The channel is copying bytes of the read at the head of the queue, which may raise a memory fault. */
    private boolean isCopying;
    /** The read at the head has sent all but its last piece, and waits for a completion slot for its report. */
    private boolean readWaits;
    /** A write or atomic operation of the peer waits for a completion slot; its id is the next field. */
    private boolean writeWaits;
    private long waitingWrite;
    /** Old values of queued answers: a ring with one place for each; null before the first one had to wait. */
    private UnsafeBuffer values;
    private int valueBytes;
    private int firstValues;
    private int valuesCount;
    /** The last write that was refused: its further pieces are ignored, so that no part of it is placed or reported. */
    private long refusedWrite;
    private boolean hasRefusedWrite;
    /** An access on a wire that is not read meanwhile waits for a completion slot. */
    private boolean streamWaits;
    /** Slots that accesses in progress on such a wire have reserved. */
    private int reserved;
    /** Address of the counter that shows the wait; 0 while there is none. */
    private long holdingCounter;
    /** Answers that may still be sent in this call. */
    private int left;
    /** Short writes of the peer that are placed and not answered. */
    private int owed;
    private boolean isOwing;
    private PeerRemote nextOwing;
    /** Short writes of this side that the peer has placed, and whose ends are still to be processed. */
    private long placed;
    /** Counts the ends of connections, to distinguish a request of an earlier one. */
    private int connection;
    /** Writes of this connection that wait for stable storage. */
    private int commits;
    /** Whether the peer reports each access, so that it may keep writes waiting. Assumed until its first answer. */
    private boolean peerReports = true;

    PeerRemote(PeerSends sends, EndpointSides sides) {
        this.peer = sends.peer();
        this.sends = sends;
        this.requests = sides.sender().remote();
        this.target = sides.target();
        this.schedule = sides.schedule();
    }

    /**
     * Whether any write to the peer may have to wait there for a completion slot. Then later operations must not begin
     * before it has ended, or they would overtake it.
     */
    boolean peerReports() {
        return peerReports;
    }

    /** The peer's address for completion entries. */
    long source() {
        return peer.sourceAddress();
    }

    @Override
    public void onWrite(RemoteAccess access, long offset, long source, long length) {
        long range = access.lengthBytes();
        if (range < 0 || offset < 0 || offset > range - length || length == 0 && range != 0) {
            // without the numbers: the log keeps each message once, and a peer must not fill it
            peer.violation("wrote bytes outside of the range that it named");
        } else if (!hasRefusedWrite || access.operation() != refusedWrite) {
            target.write(this, access, offset, source, length);
        }
    }

    @Override
    public void onShortWrite(RemoteAccess access, long source) {
        target.write(this, access, 0, source, access.lengthBytes());
    }

    @Override
    public void onPlaced(long count) {
        if (count <= 0) {
            peer.violation("answered no write");
            return;
        }
        // more than can be outstanding is a violation, whatever the sum
        placed = Math.min(placed + Math.min(count, LIMIT), LIMIT);
        endPlaced();
    }

    /** Ends the writes that the peer has placed. A memory fault may interrupt it, {@link #recover} continues. */
    private void endPlaced() {
        while (placed > 0) {
            placed--;
            if (!requests.onPlaced(sends)) {
                peer.violation("answered a short write that was not sent");
                return;
            }
        }
        sends.scheduleWaiting();
    }

    /**
     * A short write of the peer is placed, which is answered together with others: at the begin of the next poll, so
     * that an application that polls its memory sees the bytes, and may answer, first.
     */
    void owePlaced() {
        if (++owed >= MAX_OWED) {
            settle();
        } else if (!isOwing) {
            isOwing = true;
            schedule.owe(this);
        }
    }

    /** Answers the short writes that were placed. */
    void settle() {
        if (owed != 0) {
            long count = owed;
            owed = 0;
            add(count, 0, 0, 0, PLACED);
        }
    }

    /** Removes this from the engine's list of held-back answers, and sends them. */
    PeerRemote settleInTurn() {
        PeerRemote next = nextOwing;
        nextOwing = null;
        isOwing = false;
        settle();
        return next;
    }

    /** Links this into the engine's list. */
    void nextOwing(PeerRemote next) {
        nextOwing = next;
    }

    /** The engine's list was lost; {@link #recover} answers. */
    void unlisted() {
        isOwing = false;
        nextOwing = null;
    }

    @Override
    public void onAnnouncedWrite(RemoteAccess access, RemotePayload payload) {
        target.pull(this, access, payload);
    }

    /** Copies the bytes of an announced write; false if they have to be sent. */
    boolean pull(RemotePayload payload, RegisteredRegion region, long address, long length) {
        PayloadChannel channel = peer.payloads();
        return channel != null && channel.pull(payload, region, address, null, length) == Channel.DONE;
    }

    @Override
    public void onRead(RemoteAccess access) {
        if (access.lengthBytes() < 0) {
            peer.violation("reads a negative number of bytes");
            return;
        }
        add(access.operation(), access.key(), access.address(), access.lengthBytes(), 0, access.asksForGrant() ? 1 : 0);
    }

    @Override
    public void onAtomic(RemoteAccess access, long operands, long length) {
        int size = AtomicExecutor.sizeBytes(access.form(), access.datatype(), access.atomicOperation());
        if (size == 0) {
            answer(access.operation(), FabricErrno.EOPNOTSUPP);
            return;
        }
        long limit = peer.remoteMemory().atomicLimitBytes() / size;
        long elements = 0;
        for (int i = 0; i < access.ranges().count(); i++) {
            long term = access.ranges().lengthBytes(i);
            // each term is checked, so that the sum cannot overflow
            elements = term < 0 || term > limit ? limit + 1 : elements + term;
        }
        boolean reads = access.atomicOperation() == AtomicOperation.ATOMIC_READ.code();
        int lists = reads ? 0 : access.form() == AtomicForm.COMPARE ? 2 : 1;
        if (elements > limit && reads && length == 0) {
            // well formed, but its answer does not fit
            answer(access.operation(), FabricErrno.EINVAL);
        } else if (elements > limit || length != lists * elements * size) {
            // without the numbers, as above
            peer.violation("requested an atomic operation whose operands do not fit its elements");
        } else {
            target.execute(this, access, elements * size, operands);
        }
    }

    @Override
    public void onReply(long operation, int errno, boolean reports, long offset, long source, long length) {
        peerReports = reports;
        if (!requests.onReply(sends, operation, errno, offset, source, length)) {
            peer.violation("answered a remote access that was not requested");
        }
    }

    @Override
    public void onEnded(long operation, int errno) {
        if (!requests.onEnded(sends, operation, errno)) {
            peer.violation("ended a remote access that was not requested");
        }
    }

    @Override
    public int find(RemoteRanges ranges, long right, PieceList pieces) {
        return target.find(ranges, right, pieces);
    }

    @Override
    public boolean begin(long right, boolean hasData) {
        if (!hasData && !target.reportsAll()) {
            return true;
        }
        if (target.reserve()) {
            reserved++;
        } else if (!isAhead(right) || !target.mayReportLate()) {
            holdBack();
            return false;
        }
        endHold();
        return true;
    }

    /** Whether a write comes ahead of bytes that one of our own operations needs to end. */
    private boolean isAhead(long right) {
        return right == Flags.REMOTE_WRITE && peer.channel() != null && peer.channel().awaitsPeer();
    }

    @Override
    public void end(RemoteRanges ranges, long right, boolean hasData, long data) {
        report(ranges, right, hasData, data);
        target.count(ranges, right);
    }

    /** Reports an access that had begun, if it is reported: in the slot that {@link #begin} has reserved, or late. */
    void report(RemoteRanges ranges, long right, boolean hasData, long data) {
        if (hasData || target.reportsAll()) {
            long flags = Flags.RMA | right | (hasData ? Flags.REMOTE_CQ_DATA : 0);
            long reported = hasData ? data : 0;
            if (reserved > 0) {
                reserved--;
                target.reportReserved(this, flags, ranges.totalBytes(), reported);
            } else {
                target.reportLate(this, flags, ranges.totalBytes(), reported);
            }
        }
    }

    @Override
    public int commitRefusal(RemoteRanges ranges) {
        return target.commitRefusal(ranges);
    }

    @Override
    public void commit(RemoteRanges ranges, boolean hasData, long data, long operation) {
        target.commit(this, ranges, hasData, data, operation);
    }

    /** An access of a wire that is not read meanwhile waits for a slot. */
    private void holdBack() {
        if (!streamWaits) {
            streamWaits = true;
            if (!readWaits && !writeWaits) {
                target.waitForSlot(this);
            }
        }
        if (holdingCounter == 0) {
            holdingCounter = peer.context().openWaitCounter(peer, WaitLabel.COMPLETIONS);
            UnsafeApi.putLongRelease(null, holdingCounter, 1);
        }
    }

    /** Nothing waits any more. */
    private void endHold() {
        if (holdingCounter != 0) {
            peer.context().closeCounter(holdingCounter);
            holdingCounter = 0;
        }
    }

    /** Answers a request without bytes: 0 or a positive fabric errno. Does nothing if the peer is down. */
    void answer(long operation, int errno) {
        if (errno != 0 && errno != FabricErrno.EAGAIN && errno != FabricErrno.ENODATA) {
            hasRefusedWrite = true;
            refusedWrite = operation;
        }
        add(operation, 0, 0, ~(long) errno, 0);
    }

    /** Answers a fetching atomic operation with the old values. They are copied if the answer has to wait. */
    void answerWithValues(long operation, long address, long length) {
        settle();
        if (answers.count() == 0 && peer.isUp() && reply(operation, 0, 0, address, length)) {
            return;
        }
        if (valuesCount == AtomicForm.MAX_FETCHES) {
            peer.violation("has more atomic operations outstanding than " + AtomicForm.MAX_FETCHES);
            return;
        }
        if (values == null) {
            valueBytes = peer.remoteMemory().atomicLimitBytes();
            values = new UnsafeBuffer(
                BufferUtil.allocateDirectAligned(AtomicForm.MAX_FETCHES * valueBytes, Long.BYTES));
        }
        int slot = (firstValues + valuesCount++) % AtomicForm.MAX_FETCHES;
        long copy = values.addressOffset() + (long) slot * valueBytes;
        Words.copy(address, copy, length);
        add(operation, 0, copy, length, VALUES);
    }

    /** The peer's write or atomic operation found no completion slot. It is answered when there is one: send again. */
    void keepWaiting(long operation) {
        if (writeWaits) {
            peer.violation("wrote again before a write that waits for a completion slot was answered");
            return;
        }
        writeWaits = true;
        waitingWrite = operation;
        if (!readWaits && !streamWaits) {
            target.waitForSlot(this);
        }
    }

    /** There may be a completion slot. {@link RemoteTarget} has removed this from its list of waiting peers. */
    void retry() {
        // the link asks again in its next poll
        streamWaits = false;
        if (writeWaits) {
            writeWaits = false;
            answer(waitingWrite, FabricErrno.EAGAIN);
        }
        if (readWaits) {
            readWaits = false;
            peer.schedule();
        }
    }

    /**
     * Sends a bounded number of queued answers. Returns false if some are left, so that the caller must schedule the
     * peer; true also if the rest waits for a completion slot.
     */
    boolean flush() {
        left = RemoteSends.PIECE_BURST;
        while (answers.count() != 0 && !readWaits && left > 0) {
            int at = answers.first();
            boolean sent = answers.get(at + LENGTH) < 0
                ? reply(answers.get(at + OPERATION), (int) ~answers.get(at + LENGTH), 0, 0, 0)
                : answers.get(at + SENT) == VALUES ? sendValues(at)
                : answers.get(at + SENT) == PLACED ? sendPlaced(at) : serve(at);
            if (answers.count() == 0) {
                // the channel went down inside the call, which cleared the queue
                return true;
            }
            if (!sent) {
                return readWaits;
            }
            answers.removeFirst();
        }
        return answers.count() == 0 || readWaits;
    }

    /** An access to shared memory failed: if a read was being copied, it is answered by an error. */
    void recover() {
        if (isCopying && answers.count() != 0) {
            answers.set(answers.first() + LENGTH, ~(long) FabricErrno.EIO);
        }
        isCopying = false;
        settle();
        endPlaced();
    }

    /** Number of the connection that requests come by. */
    int connection() {
        return connection;
    }

    /** A write of the peer waits for stable storage from now on; false if the peer has broken the limit. */
    boolean beginCommit() {
        if (commits == LIMIT) {
            peer.violation("has more commits outstanding than " + LIMIT);
            return false;
        }
        commits++;
        return true;
    }

    /** A write of this connection does not wait any more. */
    void endCommit(long operation, int errno) {
        commits--;
        // not as a refusal: pieces of a later write that was refused may follow
        add(operation, 0, 0, ~(long) errno, 0);
    }

    /** Drops everything, because the channel is down. */
    void clear() {
        connection++;
        commits = 0;
        answers.clear();
        firstValues = 0;
        valuesCount = 0;
        isCopying = false;
        owed = 0;
        placed = 0;
        peerReports = true;
        hasRefusedWrite = false;
        if (readWaits || writeWaits || streamWaits) {
            readWaits = false;
            writeWaits = false;
            streamWaits = false;
            target.forget(this);
        }
        endHold();
        target.giveBack(reserved);
        reserved = 0;
    }

    /** Sends old values, and frees their place; false if the channel is full. */
    private boolean sendValues(int at) {
        boolean sent = reply(answers.get(at + OPERATION), 0, 0, answers.get(at + ADDRESS), answers.get(at + LENGTH));
        if (sent && valuesCount != 0) {
            firstValues = (firstValues + 1) % AtomicForm.MAX_FETCHES;
            valuesCount--;
        }
        return sent;
    }

    private boolean sendPlaced(int at) {
        left--;
        int result = peer.remoteMemory().placed(answers.get(at + OPERATION), sends.grant());
        if (result == -FabricErrno.EOPNOTSUPP) {
            // the credit does not fit a short record: the next frame carries it
            sends.grantNotSent();
            result = peer.frames().sendGrant(sends.grant()) < 0 ? -FabricErrno.EAGAIN
                : peer.remoteMemory().placed(answers.get(at + OPERATION), sends.grant());
        }
        if (result < 0) {
            sends.grantNotSent();
            return false;
        }
        return true;
    }

    /** Sends some bytes of a read; true once the last ones, or why there are none, were accepted. */
    private boolean serve(int at) {
        long length = answers.get(at + LENGTH);
        long limit = peer.remoteMemory().pieceLimitBytes();
        while (left > 0) {
            long sent = answers.get(at + SENT);
            // looked up for each piece: the region may have been closed since the last one
            RegisteredRegion region = target.find(
                answers.get(at + KEY), Flags.REMOTE_READ, answers.get(at + ADDRESS), length);
            boolean isCopied = region == null;
            if (isCopied) {
                region = target.findCopied(
                    answers.get(at + KEY), Flags.REMOTE_READ, answers.get(at + ADDRESS), length);
            }
            if (region == null) {
                return refuseRead(at, target.refusal(answers.get(at + KEY), Flags.REMOTE_READ));
            }
            long bytes = Math.min(length - sent, isCopied ? Math.min(limit, RemoteTarget.COPY_BYTES) : limit);
            boolean isLast = sent + bytes == length;
            if (isLast && !target.mayEndRead()) {
                readWaits = true;
                if (!writeWaits && !streamWaits) {
                    target.waitForSlot(this);
                }
                return false;
            }
            if (isLast && answers.get(at + GRANT) != 0) {
                grant(at, region);
            }
            long first = answers.get(at + ADDRESS) + sent;
            long source = isCopied ? target.copy(region, first, bytes) : region.address() + first;
            if (source == 0) {
                return refuseRead(at, FabricErrno.EFAULT);
            }
            isCopying = true;
            boolean accepted = reply(answers.get(at + OPERATION), 0, sent, source, bytes);
            isCopying = false;
            if (!accepted || answers.count() == 0) {
                return false;
            }
            answers.set(at + SENT, sent + bytes);
            if (isLast) {
                target.endRead(this, region, length);
                return true;
            }
        }
        return false;
    }

    private boolean refuseRead(int at, int errno) {
        answers.set(at + LENGTH, ~(long) errno);
        return reply(answers.get(at + OPERATION), errno, 0, 0, 0);
    }

    private boolean reply(long operation, int errno, long offset, long address, long length) {
        RemoteChannel channel = peer.remoteMemory();
        left--;
        if (channel.reply(
            operation, errno, target.reportsAll(), offset, address, length, sends.grant()) < 0) {
            sends.grantNotSent();
            return false;
        }
        return true;
    }

    /** The peer asks again if the channel does not accept the grant now. */
    private void grant(int at, RegisteredRegion region) {
        answers.set(at + GRANT, 0);
        if (target.mayGrant(region)
            && peer.remoteMemory().grantRead(answers.get(at + KEY), region, sends.grant()) < 0) {
            sends.grantNotSent();
        }
    }

    private void add(long operation, long key, long address, long length, long sent) {
        add(operation, key, address, length, sent, 0);
    }

    private void add(long operation, long key, long address, long length, long sent, long asksForGrant) {
        if (sent != PLACED) {
            // answers keep the order of the requests
            settle();
        }
        if (!peer.isUp()) {
            return;
        }
        if (answers.count() == LIMIT) {
            peer.violation("does not take the answers to its remote accesses");
            return;
        }
        int at = answers.add();
        answers.set(at + OPERATION, operation);
        answers.set(at + KEY, key);
        answers.set(at + ADDRESS, address);
        answers.set(at + LENGTH, length);
        answers.set(at + SENT, sent);
        answers.set(at + GRANT, asksForGrant);
        // queued first: if an access to shared memory fails now, the recovery flushes all peers and sends it
        if (answers.count() > 1 || !flush()) {
            peer.schedule();
        }
    }
}
