package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.KeyTable;
import org.jfabric.driver.resource.RegionBinding;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.Words;

/**
 * The memory of one endpoint's domain as its peers see it: checks each access, places what is written, and reports the
 * accesses that are reported.
 *
 * <p>An access is reported if it brings remote CQ data, or if the endpoint has {@code FI_RMA_EVENT}. Its entry takes a
 * slot of the queue's {@link DriverQuota}, because no receive has reserved one. Without a free slot nothing is placed:
 * the peer keeps the bytes and sends them again when it is asked to ({@link PeerRemote}). On a wire that is not read
 * meanwhile, answers to our own requests may come behind the write, and the slots be those of messages that need them.
 * Then the write is placed, and its report follows when there is a slot.
 *
 * <p>Owner: progress agent.
 */
final class RemoteTarget implements QuotaMember {
    /** Longest piece of a read of memory of a client's process. */
    static final int COPY_BYTES = 64 * 1024;

    /** Most reports that follow later: those of more writes than the socket buffers of both ends hold. */
    private static final int MAX_LATE = 1 << 17;
    private static final int SOURCE = 0;
    private static final int FLAGS = 1;
    private static final int LENGTH = 2;
    private static final int DATA = 3;
    private static final int LATE_WORDS = 4;

    private static final int IDLE = -1;

    private final KeyTable keys;
    private final long endpointId;
    private final CompletionWriter completions;
    private final int completionIndex;
    private final CounterWriter reads;
    private final CounterWriter writes;
    private final boolean reportsAll;
    private final boolean reportsSource;
    /** What the endpoint's capabilities allow peers to do. */
    private final long rights;
    private final long atomicRights;
    /** Old values of the atomic operation that is executed; null if there are no atomic operations. */
    private UnsafeBuffer oldValues;
    /** The piece of a client's memory that is being sent; null before the first one. */
    private UnsafeBuffer copy;
    /** Native addresses of the ranges of the atomic operation that is executed. */
    private final long[] targets = new long[RemoteRanges.MAX_RANGES];
    /** Regions of the ranges of the access in hand; null for one that was closed. */
    private final RegisteredRegion[] regions = new RegisteredRegion[RemoteRanges.MAX_RANGES];
    /** Null if no slot is ever taken. */
    private final DriverQuota quota;
    private final List<PeerRemote> waiting = new ArrayList<>();
    /** Reports of writes that were placed without a slot, the oldest first; null before the first one. */
    private GrowingQueue late;
    private Commit freeCommits;
    /** Slots of the quota for reports of commits that wait. */
    private int slotsTaken;
    private boolean isClosed;
    /** The write that is being placed, or {@link #IDLE} in {@link #inHandErrno}. */
    private PeerRemote inHand;
    private long inHandOperation;
    private int inHandErrno = IDLE;

    RemoteTarget(
        EndpointSettings settings, KeyTable keys, CompletionWriter completions, int completionIndex,
        EndpointCounters counters) {
        this.keys = keys;
        this.endpointId = settings.id();
        this.completions = completions;
        this.completionIndex = completionIndex;
        this.reads = counters.remoteReads();
        this.writes = counters.remoteWrites();
        this.reportsAll = settings.reportsRemoteAccess();
        this.reportsSource = settings.reportsSource();
        this.rights = settings.remoteRights(Flags.RMA);
        this.atomicRights = settings.remoteRights(Flags.ATOMIC);
        this.oldValues = atomicRights == 0 ? null
            : new UnsafeBuffer(BufferUtil.allocateDirectAligned(AtomicForm.MAX_BYTES, Long.BYTES));
        this.quota = (rights | atomicRights) == 0 || settings.mayOverrun() ? null : completions.driverQuota();
        if (quota != null) {
            quota.open(this);
        }
    }

    /** Whether every access is reported, so that any may have to wait for a slot. */
    boolean reportsAll() {
        return reportsAll;
    }

    /** Places a piece of a peer's write and answers the last one. The piece is inside the range. */
    void write(PeerRemote peer, RemoteAccess access, long offset, long source, long length) {
        long range = access.lengthBytes();
        RegisteredRegion region = find(access.key(), Flags.REMOTE_WRITE, access.address(), range);
        if (region == null) {
            writeCopied(peer, access, offset, source, length);
            return;
        }
        int refusal = access.commits() ? commitRefusal(region) : 0;
        if (refusal != 0) {
            peer.answer(access.operation(), refusal);
            return;
        }
        boolean isLast = offset + length == range;
        boolean isReported = isLast && (reportsAll || access.hasData());
        if (isReported && !hasSlot()) {
            peer.keepWaiting(access.operation());
            return;
        }
        // another one, if a fault in this cycle has interrupted it
        recover();
        inHand = peer;
        inHandOperation = access.operation();
        inHandErrno = FabricErrno.EIO;
        // an application that polls its memory sees the bytes of earlier writes first
        UnsafeApi.storeFence();
        Words.copy(source, region.address() + access.address() + offset, length);
        // a fault of the copy must not come after the report
        FaultPoint.pass();
        if (isLast && access.commits()) {
            inHandErrno = IDLE;
            regions[0] = region;
            commit(peer, access.ranges(), access.operation(), access.hasData(), access.data(), false, isReported);
            return;
        }
        if (isLast) {
            endWrite(peer, access, region, isReported);
        }
        inHandErrno = IDLE;
    }

    /** As {@link #write}, into memory of the client's process; also answers a write that has no region. */
    private void writeCopied(PeerRemote peer, RemoteAccess access, long offset, long source, long length) {
        RegisteredRegion region = findCopied(
            access.key(), Flags.REMOTE_WRITE, access.address(), access.lengthBytes());
        if (region == null || access.commits()) {
            peer.answer(access.operation(),
                region == null ? refusal(access.key(), Flags.REMOTE_WRITE) : FabricErrno.EOPNOTSUPP);
            return;
        }
        boolean isLast = offset + length == access.lengthBytes();
        boolean isReported = isLast && (reportsAll || access.hasData());
        if (isReported && !hasSlot()) {
            peer.keepWaiting(access.operation());
            return;
        }
        // another one, if a fault in this cycle has interrupted it
        recover();
        if (!region.write(access.address() + offset, source, length)) {
            peer.answer(access.operation(), FabricErrno.EFAULT);
        } else if (isLast) {
            inHand = peer;
            inHandOperation = access.operation();
            endWrite(peer, access, region, isReported);
            inHandErrno = IDLE;
        }
    }

    /** Why a write to a region cannot end on stable storage, a positive fabric errno; 0 if it can. */
    private static int commitRefusal(RegisteredRegion region) {
        return region.sync() == null ? FabricErrno.EOPNOTSUPP : region.sync().hasFailed() ? FabricErrno.EIO : 0;
    }

    /** As {@link PeerRemote#commitRefusal}; {@link #regions} are those of the ranges, if they are not refused. */
    int commitRefusal(RemoteRanges ranges) {
        findRegions(ranges, Flags.REMOTE_WRITE);
        int refusal = 0;
        for (int i = 0; i < ranges.count() && refusal == 0; i++) {
            refusal = regions[i] == null ? refusal(ranges, i, Flags.REMOTE_WRITE) : commitRefusal(regions[i]);
        }
        return refusal;
    }

    /** As {@link PeerRemote#commit}. */
    void commit(PeerRemote peer, RemoteRanges ranges, boolean hasData, long data, long operation) {
        // again: another region may have come under a key since the first byte
        int refusal = commitRefusal(ranges);
        if (refusal != 0) {
            peer.answer(operation, refusal);
            return;
        }
        commit(peer, ranges, operation, hasData, data, true, false);
    }

    /**
     * Nothing is reported, counted or answered before {@link #regions} are on stable storage.
     *
     * @param isOfStream whether the link has moved the bytes, so that the peer's object has the slot for a report.
     * @param isReported whether it is reported in a slot of this object.
     */
    private void commit(PeerRemote peer, RemoteRanges ranges, long operation, boolean hasData, long data,
        boolean isOfStream, boolean isReported) {
        if (!peer.beginCommit()) {
            return;
        }
        if (isReported && quota != null && quota.take()) {
            slotsTaken++;
        }
        Commit commit = freeCommits;
        if (commit == null) {
            commit = new Commit(this);
        } else {
            freeCommits = commit.nextFree;
        }
        commit.hasData = hasData;
        commit.data = data;
        commit.isOfStream = isOfStream;
        commit.isReported = isReported;
        commit.begin(peer, ranges, regions, operation);
    }

    /**
     * The syncs of a write have ended.
     *
     * @param errno 0 or why one failed.
     * @param peer  null if the connection that the write came by is down.
     */
    void endCommit(Commit commit, int errno, PeerRemote peer) {
        if (commit.isReported && quota != null && !isClosed) {
            // the report takes it again
            slotsTaken--;
            quota.giveBack(1);
        }
        commit.takeRegions(regions);
        commit.nextFree = freeCommits;
        freeCommits = commit;
        if (peer == null || isClosed) {
            return;
        }
        try {
            if (errno == 0) {
                reportCommit(commit, peer);
            }
        } finally {
            // also if memory fails meanwhile: acknowledgements behind it may wait for this one
            peer.endCommit(commit.operation(), errno);
        }
    }

    private void reportCommit(Commit commit, PeerRemote peer) {
        RemoteRanges ranges = commit.ranges();
        if (commit.isOfStream) {
            peer.report(ranges, Flags.REMOTE_WRITE, commit.hasData, commit.data);
        } else if (commit.isReported) {
            reportWrite(peer, commit.hasData, ranges.totalBytes(), commit.data);
        }
        if (writes != null) {
            writes.success(ranges.totalBytes());
        }
        countBound(ranges, Flags.REMOTE_WRITE, 1);
    }

    private void reportWrite(PeerRemote peer, boolean hasData, long length, long data) {
        report(peer, Flags.RMA | Flags.REMOTE_WRITE | (hasData ? Flags.REMOTE_CQ_DATA : 0), length, data);
    }

    private void countWrite(RegisteredRegion region, long length) {
        if (writes != null) {
            writes.success(length);
        }
        if (region.binding() != null) {
            region.binding().onWrite(length);
        }
    }

    /** Copies the bytes of a peer's write from its regions and answers it. If these are not mapped, asks for them. */
    void pull(PeerRemote peer, RemoteAccess access, RemotePayload payload) {
        long range = access.lengthBytes();
        RegisteredRegion region = find(access.key(), Flags.REMOTE_WRITE, access.address(), range);
        if (region == null) {
            boolean isCopied = findCopied(access.key(), Flags.REMOTE_WRITE, access.address(), range) != null;
            peer.answer(access.operation(),
                isCopied ? FabricErrno.ENODATA : refusal(access.key(), Flags.REMOTE_WRITE));
            return;
        }
        boolean isReported = reportsAll || access.hasData();
        if (isReported && !hasSlot()) {
            peer.keepWaiting(access.operation());
            return;
        }
        // another one, if a fault in this cycle has interrupted it
        recover();
        inHand = peer;
        inHandOperation = access.operation();
        inHandErrno = FabricErrno.EIO;
        // an application that polls its memory sees the bytes of earlier writes first
        UnsafeApi.storeFence();
        boolean isPlaced = peer.pull(payload, region, region.address() + access.address(), range);
        // a fault of the copy must not come after the report
        FaultPoint.pass();
        if (isPlaced) {
            endWrite(peer, access, region, isReported);
        } else {
            // if a fault interrupts the answer it is given twice, which the peer ignores
            inHandErrno = FabricErrno.ENODATA;
            peer.answer(access.operation(), FabricErrno.ENODATA);
        }
        inHandErrno = IDLE;
    }

    /** All bytes of a write are placed. */
    private void endWrite(PeerRemote peer, RemoteAccess access, RegisteredRegion region, boolean isReported) {
        inHandErrno = 0;
        if (isReported) {
            reportWrite(peer, access.hasData(), access.lengthBytes(), access.data());
        }
        countWrite(region, access.lengthBytes());
        if (access.isCounted()) {
            peer.owePlaced();
        } else {
            peer.answer(access.operation(), 0);
        }
    }

    /** Whether a peer may read a region from a mapping of its own, unseen by this driver. */
    boolean mayGrant(RegisteredRegion region) {
        return !reportsAll && reads == null && region.binding() == null && !region.isCopied()
            && region.number() != RemotePayload.NO_REGION;
    }

    /**
     * Executes a peer's atomic operation and answers it. The operation exists; operands and compare values are whole.
     * Every range is checked before the first element is changed.
     */
    void execute(PeerRemote peer, RemoteAccess access, long length, long operands) {
        boolean isBase = access.form() == AtomicForm.BASE;
        int refusal = locate(access);
        if (refusal != 0) {
            peer.answer(access.operation(), refusal);
            return;
        }
        if (reportsAll && !hasSlot()) {
            peer.keepWaiting(access.operation());
            return;
        }
        // another one, if a fault in this cycle has interrupted it
        recover();
        inHand = peer;
        inHandOperation = access.operation();
        inHandErrno = FabricErrno.EIO;
        long results = isBase ? 0 : oldValues(length);
        apply(access, length, operands, results);
        FaultPoint.pass();
        inHandErrno = isBase ? 0 : FabricErrno.EIO;
        if (reportsAll) {
            report(peer, Flags.ATOMIC | (isBase ? Flags.REMOTE_WRITE : Flags.REMOTE_READ), length, 0);
        }
        CounterWriter counts = isBase ? writes : reads;
        if (counts != null) {
            counts.success(length);
        }
        countBound(access.ranges(), right(access),
            AtomicExecutor.sizeBytes(access.form(), access.datatype(), access.atomicOperation()));
        if (isBase) {
            peer.answer(access.operation(), 0);
        } else {
            peer.answerWithValues(access.operation(), results, length);
        }
        inHandErrno = IDLE;
    }

    /** Finds the first element of each range; returns 0 or why a range may not be used, a positive errno. */
    private int locate(RemoteAccess access) {
        int size = AtomicExecutor.sizeBytes(access.form(), access.datatype(), access.atomicOperation());
        long right = right(access);
        if ((atomicRights & right) != right) {
            return FabricErrno.EACCES;
        }
        RemoteRanges ranges = access.ranges();
        for (int i = 0; i < ranges.count(); i++) {
            long offset = keys.offset(ranges.key(i), ranges.address(i));
            RegisteredRegion region = keys.find(
                ranges.key(i), right, offset, ranges.lengthBytes(i) * size, endpointId);
            if (region == null) {
                return refusalInPlace(ranges.key(i), right, offset, ranges.lengthBytes(i) * size);
            }
            regions[i] = region;
            targets[i] = region.address() + offset;
            if ((targets[i] & (size - 1)) != 0) {
                return FabricErrno.EINVAL;
            }
        }
        return 0;
    }

    /** The right that an atomic operation needs of a region. */
    private static long right(RemoteAccess access) {
        return access.form() == AtomicForm.BASE ? Flags.REMOTE_WRITE
            : access.atomicOperation() == AtomicOperation.ATOMIC_READ.code() ? Flags.REMOTE_READ
            : Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    }

    private void apply(RemoteAccess access, long length, long operands, long results) {
        int size = AtomicExecutor.sizeBytes(access.form(), access.datatype(), access.atomicOperation());
        long done = 0;
        for (int i = 0; i < access.ranges().count(); i++) {
            long elements = access.ranges().lengthBytes(i);
            AtomicExecutor.execute(access.datatype(), access.atomicOperation(), elements, targets[i],
                operands + done, access.form() == AtomicForm.COMPARE ? operands + length + done : 0,
                results == 0 ? 0 : results + done);
            done += elements * size;
        }
    }

    /** Room for old values; grows with the longest operation of peers of libfabric, up to the link's limit. */
    private long oldValues(long length) {
        if (length > oldValues.capacity()) {
            int capacity = BitUtil.findNextPositivePowerOfTwo((int) length);
            oldValues = new UnsafeBuffer(BufferUtil.allocateDirectAligned(capacity, Long.BYTES));
        }
        return oldValues.addressOffset();
    }

    /** The region that an access may use. Returns null if {@link #refusal} has the reason why there is none. */
    RegisteredRegion find(long key, long right, long address, long length) {
        return (rights & right) == 0 ? null : keys.find(
            key, right, address, length, endpointId);
    }

    /** As {@link #find}, for memory of the client's process. */
    RegisteredRegion findCopied(long key, long right, long address, long length) {
        return (rights & right) == 0 ? null : keys.findCopied(key, right, address, length, endpointId);
    }

    /**
     * Copies a piece of memory of the client's process, at most {@link #COPY_BYTES}. Returns the native address, good
     * until the next call; 0 if that memory is not there any more.
     */
    long copy(RegisteredRegion region, long offset, long length) {
        if (copy == null) {
            copy = new UnsafeBuffer(BufferUtil.allocateDirectAligned(COPY_BYTES, Long.BYTES));
        }
        return region.read(offset, copy.addressOffset(), length) ? copy.addressOffset() : 0;
    }

    /** Why an access that needs the bytes in place may not use a range, a positive fabric errno. */
    private int refusalInPlace(long key, long right, long address, long length) {
        return keys.findCopied(key, right, address, length, endpointId) != null ? FabricErrno.EOPNOTSUPP
            : keys.refusal(key, right, endpointId);
    }

    /** Why {@link #find} found no region, a positive fabric errno. */
    int refusal(long key, long right) {
        return (rights & right) == 0 ? FabricErrno.EACCES : keys.refusal(key, right, endpointId);
    }

    /**
     * Finds the memory of all ranges of an access, for links that move the bytes themselves. Returns 0, or why a range
     * may not be used, a positive fabric errno.
     */
    int find(RemoteRanges ranges, long right, PieceList pieces) {
        pieces.forget();
        for (int i = 0; i < ranges.count(); i++) {
            long length = ranges.lengthBytes(i);
            RegisteredRegion region = find(ranges.key(i), right, ranges.address(i), length);
            if (region == null) {
                pieces.forget();
                return refusal(ranges, i, right);
            }
            pieces.add(region.address() + ranges.address(i), length);
        }
        return 0;
    }

    /** Why a range of an access whose bytes the link moves has no region, a positive fabric errno. */
    private int refusal(RemoteRanges ranges, int range, long right) {
        return (rights & right) == 0 ? FabricErrno.EACCES
            : refusalInPlace(ranges.key(range), right, ranges.address(range), ranges.lengthBytes(range));
    }

    /** Reserves a slot for the report of an access that moves its bytes step by step; false if there is none. */
    boolean reserve() {
        return quota == null || quota.take();
    }

    /** Gives reserved slots back. */
    void giveBack(int slots) {
        if (quota != null) {
            quota.giveBack(slots);
        }
    }

    /** Whether a write may be placed without a slot, to be reported when there is one. */
    boolean mayReportLate() {
        return late == null || late.count() < MAX_LATE;
    }

    /** Reports an access for which a slot was reserved. */
    void reportReserved(PeerRemote peer, long flags, long length, long data) {
        if (hasLate()) {
            // behind the earlier ones
            quota.giveBack(1);
            reportLate(peer, flags, length, data);
            return;
        }
        if (quota != null) {
            quota.use();
        }
        writeReport(source(peer), flags, length, data);
    }

    /** Reports an access for which no slot was reserved, as soon as there is one. */
    void reportLate(PeerRemote peer, long flags, long length, long data) {
        if (late == null) {
            late = new GrowingQueue(LATE_WORDS);
        }
        if (!isWaiting()) {
            quota.waits();
        }
        int report = late.add();
        late.set(report + SOURCE, source(peer));
        late.set(report + FLAGS, flags);
        late.set(report + LENGTH, length);
        late.set(report + DATA, data);
        writeLate();
    }

    private int writeLate() {
        int work = 0;
        while (hasLate() && quota.hasFree()) {
            int report = late.first();
            quota.takeAndUse();
            writeReport(late.get(report + SOURCE), late.get(report + FLAGS), late.get(report + LENGTH),
                late.get(report + DATA));
            late.removeFirst();
            endWait();
            work++;
        }
        return work;
    }

    private boolean hasLate() {
        return late != null && late.count() != 0;
    }

    private boolean isWaiting() {
        return !waiting.isEmpty() || hasLate();
    }

    /** One that waited for a slot does not wait any more. */
    private void endWait() {
        if (!isWaiting()) {
            quota.waitsNoMore();
        }
    }

    /**
     * Counts an access that has succeeded, at the endpoint and once at each region. Regions that were closed meanwhile
     * have no counters any more.
     */
    void count(RemoteRanges ranges, long right) {
        CounterWriter counts = right == Flags.REMOTE_READ ? reads : writes;
        if (counts != null) {
            counts.success(ranges.totalBytes());
        }
        findRegions(ranges, right);
        countBound(ranges, right, 1);
    }

    private void findRegions(RemoteRanges ranges, long right) {
        for (int i = 0; i < ranges.count(); i++) {
            regions[i] = find(ranges.key(i), right, ranges.address(i), ranges.lengthBytes(i));
        }
    }

    /** Whether the last bytes of a read may be sent: its report, if there is one, finds a slot. */
    boolean mayEndRead() {
        return !reportsAll || hasSlot();
    }

    /** The last bytes of a read were sent. */
    void endRead(PeerRemote peer, RegisteredRegion region, long length) {
        if (reportsAll) {
            report(peer, Flags.RMA | Flags.REMOTE_READ, length, 0);
        }
        if (reads != null) {
            reads.success(length);
        }
        if (region.binding() != null) {
            region.binding().onRead(length);
        }
    }

    /** A peer's access found no slot: {@link PeerRemote#retry()} follows when there may be one. */
    void waitForSlot(PeerRemote peer) {
        if (!isWaiting()) {
            quota.waits();
        }
        waiting.add(peer);
    }

    void forget(PeerRemote peer) {
        if (waiting.remove(peer)) {
            endWait();
        }
    }

    @Override
    public int retry() {
        int work = writeLate();
        // those that find none again are added behind the end
        for (int left = waiting.size(); left > 0 && !waiting.isEmpty() && hasSlot(); left--) {
            PeerRemote peer = waiting.remove(0);
            endWait();
            peer.retry();
            work++;
        }
        return work;
    }

    /** An access to shared memory failed: the write that was being placed is answered. */
    void recover() {
        if (inHandErrno != IDLE) {
            int errno = inHandErrno;
            inHandErrno = IDLE;
            inHand.answer(inHandOperation, errno);
        }
    }

    void close() {
        isClosed = true;
        if (quota != null) {
            // the peers have given back what they had reserved
            quota.close(this, slotsTaken, isWaiting());
            waiting.clear();
            late = null;
        }
    }

    private void report(PeerRemote peer, long flags, long length, long data) {
        if (quota != null) {
            quota.takeAndUse();
        }
        writeReport(source(peer), flags, length, data);
    }

    private long source(PeerRemote peer) {
        return reportsSource ? peer.source() : -1L;
    }

    private void writeReport(long source, long flags, long length, long data) {
        completions.success(
            completionIndex, quota == null ? 0 : CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 0, flags, length,
            0, data, 0, source);
    }

    /** Counts an access once for each region of its ranges. One that changes memory and brings old values is both. */
    private void countBound(RemoteRanges ranges, long right, int elementBytes) {
        for (int i = 0; i < ranges.count(); i++) {
            RegionBinding binding = regions[i] == null ? null : regions[i].binding();
            if (binding == null || ranges.isNamedBefore(i)) {
                continue;
            }
            long length = elementBytes * ranges.lengthInRegion(i);
            if ((right & Flags.REMOTE_READ) != 0) {
                binding.onRead(length);
            }
            if ((right & Flags.REMOTE_WRITE) != 0) {
                binding.onWrite(length);
            }
        }
    }

    private boolean hasSlot() {
        return quota == null || quota.hasFree();
    }
}
