package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.KeyTable;
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
 * the peer keeps the bytes and sends them again when it is asked to ({@link PeerRemote}).
 *
 * <p>Owner: progress agent.
 */
final class RemoteTarget implements QuotaMember {
    private static final int IDLE = -1;

    private final KeyTable keys;
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
    private final UnsafeBuffer oldValues;
    /** Null if no slot is ever taken. */
    private final DriverQuota quota;
    private final List<PeerRemote> waiting = new ArrayList<>();
    /** The write that is being placed, or {@link #IDLE} in {@link #inHandErrno}. */
    private PeerRemote inHand;
    private long inHandOperation;
    private int inHandErrno = IDLE;

    RemoteTarget(
        EndpointSettings settings, KeyTable keys, CompletionWriter completions, int completionIndex,
        EndpointCounters counters) {
        this.keys = keys;
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
            peer.answer(access.operation(), refusal(access.key(), Flags.REMOTE_WRITE));
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
        if (isLast) {
            endWrite(peer, access, isReported);
        }
        inHandErrno = IDLE;
    }

    /** Copies the bytes of a peer's write from its regions and answers it. If these are not mapped, asks for them. */
    void pull(PeerRemote peer, RemoteAccess access, RemotePayload payload) {
        long range = access.lengthBytes();
        RegisteredRegion region = find(access.key(), Flags.REMOTE_WRITE, access.address(), range);
        if (region == null) {
            peer.answer(access.operation(), refusal(access.key(), Flags.REMOTE_WRITE));
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
            endWrite(peer, access, isReported);
        } else {
            // if a fault interrupts the answer it is given twice, which the peer ignores
            inHandErrno = FabricErrno.EOPNOTSUPP;
            peer.answer(access.operation(), FabricErrno.EOPNOTSUPP);
        }
        inHandErrno = IDLE;
    }

    /** All bytes of a write are placed. */
    private void endWrite(PeerRemote peer, RemoteAccess access, boolean isReported) {
        inHandErrno = 0;
        if (isReported) {
            long data = access.hasData() ? Flags.REMOTE_CQ_DATA : 0;
            report(peer, Flags.RMA | Flags.REMOTE_WRITE | data, access.lengthBytes(), access.data());
        }
        if (writes != null) {
            writes.success();
        }
        if (access.isCounted()) {
            peer.owePlaced();
        } else {
            peer.answer(access.operation(), 0);
        }
    }

    /** Whether a peer may read a region from a mapping of its own, unseen by this driver. */
    boolean mayGrant(RegisteredRegion region) {
        return !reportsAll && reads == null && region.number() != RemotePayload.NO_REGION;
    }

    /**
     * Executes a peer's atomic operation and answers it. The operation exists; operands and compare values are whole.
     *
     * @param size bytes of an element.
     */
    void execute(PeerRemote peer, RemoteAccess access, int size, long operands) {
        long length = access.count() * size;
        boolean isBase = access.form() == AtomicForm.BASE;
        boolean isPlainRead = access.atomicOperation() == AtomicOperation.ATOMIC_READ.code();
        long right = isBase ? Flags.REMOTE_WRITE
            : isPlainRead ? Flags.REMOTE_READ : Flags.REMOTE_READ | Flags.REMOTE_WRITE;
        boolean allowed = (atomicRights & right) == right;
        RegisteredRegion region = allowed ? keys.find(access.key(), right, access.address(), length) : null;
        if (region == null) {
            peer.answer(access.operation(), allowed ? keys.refusal(access.key(), right) : FabricErrno.EACCES);
            return;
        }
        long target = region.address() + access.address();
        if ((target & (size - 1)) != 0) {
            peer.answer(access.operation(), FabricErrno.EINVAL);
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
        long results = isBase ? 0 : oldValues.addressOffset();
        AtomicExecutor.execute(access.datatype(), access.atomicOperation(), access.count(), target, operands,
            access.form() == AtomicForm.COMPARE ? operands + length : 0, results);
        FaultPoint.pass();
        inHandErrno = isBase ? 0 : FabricErrno.EIO;
        if (reportsAll) {
            report(peer, Flags.ATOMIC | (isBase ? Flags.REMOTE_WRITE : Flags.REMOTE_READ), length, 0);
        }
        CounterWriter counts = isBase ? writes : reads;
        if (counts != null) {
            counts.success();
        }
        if (isBase) {
            peer.answer(access.operation(), 0);
        } else {
            peer.answerWithValues(access.operation(), results, length);
        }
        inHandErrno = IDLE;
    }

    /**
     * The region that an access may use.
     *
     * @return null if {@link #refusal} has the reason why there is none.
     */
    RegisteredRegion find(long key, long right, long address, long length) {
        return (rights & right) == 0 ? null : keys.find(key, right, address, length);
    }

    /** Why {@link #find} found no region, a positive fabric errno. */
    int refusal(long key, long right) {
        return (rights & right) == 0 ? FabricErrno.EACCES : keys.refusal(key, right);
    }

    /** Whether the last bytes of a read may be sent: its report, if there is one, finds a slot. */
    boolean mayEndRead() {
        return !reportsAll || hasSlot();
    }

    /** The last bytes of a read were sent. */
    void endRead(PeerRemote peer, long length) {
        if (reportsAll) {
            report(peer, Flags.RMA | Flags.REMOTE_READ, length, 0);
        }
        if (reads != null) {
            reads.success();
        }
    }

    /** A peer's access found no slot: {@link PeerRemote#retry()} follows when there may be one. */
    void waitForSlot(PeerRemote peer) {
        if (waiting.isEmpty()) {
            quota.waits();
        }
        waiting.add(peer);
    }

    /** The peer is down. */
    void forget(PeerRemote peer) {
        if (waiting.remove(peer) && waiting.isEmpty()) {
            quota.waitsNoMore();
        }
    }

    @Override
    public int retry() {
        int work = 0;
        // those that find none again are added behind the end
        for (int left = waiting.size(); left > 0 && !waiting.isEmpty() && hasSlot(); left--) {
            PeerRemote peer = waiting.remove(0);
            if (waiting.isEmpty()) {
                quota.waitsNoMore();
            }
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
        if (quota != null) {
            quota.close(this, 0, !waiting.isEmpty());
            waiting.clear();
        }
    }

    private void report(PeerRemote peer, long flags, long length, long data) {
        if (quota != null) {
            quota.takeAndUse();
        }
        completions.success(
            completionIndex, quota == null ? 0 : CompletionQueueDescriptor.FLAG_DRIVER_SHARE, 0, flags, length,
            0, data, 0, reportsSource ? peer.source() : -1L);
    }

    private boolean hasSlot() {
        return quota == null || quota.hasFree();
    }
}
