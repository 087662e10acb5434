package org.jfabric.client;

import org.jfabric.info.Flags;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * The arguments of one operation on their way from the caller to the engine: too many for a call. Every operation has
 * this one record, but for sends, injects and receives of one piece that start at once, which are calls. The caller
 * fills it anew for each operation; the engine keeps a copy while an operation waits for a counter.
 *
 * <p>Fields are public on purpose: it is filled and read field by field. Those that an operation's kind does not have
 * hold anything. Owner: the posting thread.
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

    public int kind;
    /** Whether it starts when a counter has reached a threshold; else at once, without the next four fields. */
    public boolean isTriggered;
    /** Number of the triggering counter. */
    public long counterId;
    /** Value that the counter has to reach, 0 or more. */
    public long threshold;
    /** Names deferred work; 0 for an operation with {@code Flags.TRIGGER}. */
    public long workId;
    /** Number of the counter that counts the end of deferred work; 0 for none. */
    public long completionId;
    /** Kind bits and operation flags, without {@code Flags.TRIGGER}. */
    public long flags;
    /** Returned in the entry. */
    public long context;
    /** The peer of a transfer, the source of a receive. */
    public long address;
    public long tag;
    /** Bits of the tag that a receive ignores; for an untagged multi-receive buffer its minimum free space in bytes. */
    public long ignore;
    /** Remote CQ data; for a tagged multi-receive buffer its minimum free space in bytes. */
    public long data;
    /** Offset in the peer's region, unless there are {@link #ranges}. */
    public long remoteAddr;
    /** Key of the peer's region, unless there are {@link #ranges}. */
    public long key;
    /** Offset, length and key of each range of the peer's memory, of an access to several. */
    public final long[] ranges = new long[WorkRequestDescriptor.RANGE_WORDS * WorkRequestDescriptor.MAX_PIECES];
    /** Number of {@link #ranges}; 0 for an access to one range, which is as long as the local memory. */
    public int rangeCount;
    /**
     * Address and length of each piece of the message, of local memory, or of the operands of an atomic operation;
     * without {@code Flags.INJECT}.
     */
    public final long[] pieces = new long[2 * WorkRequestDescriptor.MAX_PIECES];
    /** Number of {@link #pieces}. */
    public int count;
    /** Native address of the bytes or operands, with {@code Flags.INJECT}. */
    public long injected;
    /** Number of the bytes, with {@code Flags.INJECT}. */
    public int injectedLength;
    /** One of {@link org.jfabric.layout.AtomicForm}; this and the next fields are of atomic operations. */
    public int form;
    public int datatype;
    public int operation;
    /** Number of elements. */
    public long elements;
    /** Pieces of the memory for the old values. */
    public final long[] results = new long[2 * WorkRequestDescriptor.MAX_PIECES];
    /** Number of {@link #results}. */
    public int resultPieces;
    /** Pieces of the compare values. */
    public final long[] compares = new long[2 * WorkRequestDescriptor.MAX_PIECES];
    /** Number of {@link #compares}. */
    public int comparePieces;

    /** Empty arguments. */
    public WorkRequest() {
    }

    /** Begins to fill it for an operation of a kind that starts at once. Returns this. */
    public WorkRequest begin(int newKind) {
        kind = newKind;
        isTriggered = false;
        return this;
    }

    /** Sets one piece of memory. */
    public void piece(long address, long length) {
        pieces[0] = address;
        pieces[1] = length;
        count = 1;
    }

    /** Sets the bytes of an operation with {@code Flags.INJECT}. */
    public void inject(long nativeAddress, int length) {
        injected = nativeAddress;
        injectedLength = length;
        count = 0;
    }

    /** Whether its bytes are taken before the call that posts it returns. */
    public boolean isInjected() {
        return (flags & Flags.INJECT) != 0;
    }

    /** Whether it is deferred work: it counts in its own completion counter only. */
    public boolean isDeferred() {
        return isTriggered && workId != 0;
    }

    /** Bytes of all {@link #pieces}. */
    public long lengthBytes() {
        if (count == 1) {
            return pieces[1];
        }
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += pieces[2 * i + 1];
        }
        return sum;
    }

    /** Takes all arguments of another request. Injected bytes are not copied. */
    public void set(WorkRequest other) {
        kind = other.kind;
        isTriggered = other.isTriggered;
        counterId = other.counterId;
        threshold = other.threshold;
        workId = other.workId;
        completionId = other.completionId;
        flags = other.flags;
        context = other.context;
        address = other.address;
        tag = other.tag;
        ignore = other.ignore;
        data = other.data;
        remoteAddr = other.remoteAddr;
        key = other.key;
        count = other.count;
        System.arraycopy(other.pieces, 0, pieces, 0, 2 * count);
        injected = other.injected;
        injectedLength = other.injectedLength;
        if (kind == ACCESS) {
            rangeCount = other.rangeCount;
            System.arraycopy(other.ranges, 0, ranges, 0, WorkRequestDescriptor.RANGE_WORDS * rangeCount);
        } else if (kind == ATOMIC) {
            form = other.form;
            datatype = other.datatype;
            operation = other.operation;
            elements = other.elements;
            resultPieces = other.resultPieces;
            System.arraycopy(other.results, 0, results, 0, 2 * resultPieces);
            comparePieces = other.comparePieces;
            System.arraycopy(other.compares, 0, compares, 0, 2 * comparePieces);
        }
    }
}
