package org.jfabric.client;

import org.jfabric.layout.VectorRequestDescriptor;

/**
 * The arguments of one operation that starts when a counter has reached a threshold, on their way from the caller to
 * the engine: too many for a call. The caller fills it anew for each operation; the engine keeps a copy while it waits.
 *
 * <p>Fields are public on purpose: it is filled and read field by field. Owner: the posting thread.
 */
public final class WorkRequest {
    /** Kind: a message is sent. */
    public static final int SEND = 1;
    /** Kind: a receive is posted. */
    public static final int RECEIVE = 2;
    /** Kind: a read or a write of remote memory. */
    public static final int ACCESS = 3;
    /** Kind: an atomic operation on remote memory. */
    public static final int ATOMIC = 4;

    /** Number of the triggering counter. */
    public long counterId;
    /** Value that the counter has to reach, 0 or more. */
    public long threshold;
    /** Names deferred work; 0 for an operation with {@code Flags.TRIGGER}. */
    public long workId;
    /** Number of the counter that counts the end of deferred work; 0 for none. */
    public long completionId;
    public int kind;
    /** Kind bits and operation flags, without {@code Flags.TRIGGER}; unused for atomic operations. */
    public long flags;
    /** Address and length of each piece of the message or of local memory, without {@code Flags.INJECT}. */
    public final long[] pieces = new long[2 * VectorRequestDescriptor.MAX_PIECES];
    /** Number of {@link #pieces}. */
    public int count;
    /** Native address of the bytes, with {@code Flags.INJECT}. */
    public long injected;
    /** Number of the bytes, with {@code Flags.INJECT}. */
    public int injectedLength;
    /** The peer of a transfer, the source of a receive. */
    public long address;
    public long tag;
    /** Bits of the tag that a receive ignores; for a multi-receive buffer its minimum free space in bytes. */
    public long ignore;
    /** Remote CQ data. */
    public long data;
    /** Offset in the peer's region. */
    public long remoteAddr;
    /** Key of the peer's region. */
    public long key;
    /** Returned in the entry; unused for atomic operations. */
    public long context;
    /** All other arguments of an atomic operation. */
    public final AtomicAccess atomic = new AtomicAccess();

    /** Empty arguments. */
    public WorkRequest() {
    }

    /** Whether it is deferred work: it counts in its own completion counter only. */
    public boolean isDeferred() {
        return workId != 0;
    }

    public long opContext() {
        return kind == ATOMIC ? atomic.context : context;
    }

    public long opFlags() {
        return kind == ATOMIC ? atomic.flags : flags;
    }

    /** Takes all arguments of another request. Injected bytes are not copied. */
    public void set(WorkRequest other) {
        counterId = other.counterId;
        threshold = other.threshold;
        workId = other.workId;
        completionId = other.completionId;
        kind = other.kind;
        if (kind == ATOMIC) {
            atomic.set(other.atomic);
            return;
        }
        flags = other.flags;
        count = other.count;
        System.arraycopy(other.pieces, 0, pieces, 0, 2 * count);
        injected = other.injected;
        injectedLength = other.injectedLength;
        address = other.address;
        tag = other.tag;
        ignore = other.ignore;
        data = other.data;
        remoteAddr = other.remoteAddr;
        key = other.key;
        context = other.context;
    }
}
