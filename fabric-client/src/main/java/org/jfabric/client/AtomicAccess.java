package org.jfabric.client;

import org.jfabric.layout.VectorRequestDescriptor;

/**
 * The arguments of one atomic operation on their way from the caller to the engine: too many for a call. Each thread
 * that posts has one and fills it anew for each operation.
 *
 * <p>Fields are public on purpose: it is filled and read field by field. Owner: the posting thread.
 */
public final class AtomicAccess {
    /** Longs of a list of pieces: address and length of each. */
    public static final int PIECE_WORDS = 2 * VectorRequestDescriptor.MAX_PIECES;

    /** {@code Flags.ATOMIC} with {@code Flags.READ} or {@code Flags.WRITE}, and operation flags. */
    public long flags;
    /** One of {@link org.jfabric.layout.AtomicForm}. */
    public int form;
    public int datatype;
    public int operation;
    public long count;
    public long destAddr;
    /** Offset in its region. */
    public long remoteAddr;
    public long key;
    /** Returned in the entry. */
    public long context;
    /** Native address of the operands, with {@code Flags.INJECT}; their length is that of all elements. */
    public long injected;
    /** Pieces of the operands, without {@code Flags.INJECT}. */
    public final long[] operands = new long[PIECE_WORDS];
    /** Number of {@link #operands}. */
    public int operandPieces;
    /** Pieces of the memory for the old values. */
    public final long[] results = new long[PIECE_WORDS];
    /** Number of {@link #results}. */
    public int resultPieces;
    /** Pieces of the compare values. */
    public final long[] compares = new long[PIECE_WORDS];
    /** Number of {@link #compares}. */
    public int comparePieces;

    /** Empty arguments. */
    public AtomicAccess() {
    }

    /** Takes all arguments of another operation. Injected operands are not copied. */
    public void set(AtomicAccess other) {
        flags = other.flags;
        form = other.form;
        datatype = other.datatype;
        operation = other.operation;
        count = other.count;
        destAddr = other.destAddr;
        remoteAddr = other.remoteAddr;
        key = other.key;
        context = other.context;
        injected = other.injected;
        operandPieces = other.operandPieces;
        resultPieces = other.resultPieces;
        comparePieces = other.comparePieces;
        System.arraycopy(other.operands, 0, operands, 0, 2 * operandPieces);
        System.arraycopy(other.results, 0, results, 0, 2 * resultPieces);
        System.arraycopy(other.compares, 0, compares, 0, 2 * comparePieces);
    }
}
