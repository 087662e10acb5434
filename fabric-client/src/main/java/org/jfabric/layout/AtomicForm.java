package org.jfabric.layout;

import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;

/**
 * The three forms of atomic operations, as numbers in records and frames, and what all parts agree on. Source:
 * fi_atomic(3).
 */
public final class AtomicForm {
    /** The target is changed; nothing comes back. */
    public static final int BASE = 0;
    /** The target's old value comes back. */
    public static final int FETCH = 1;
    /** The target is changed depending on a compare value; its old value comes back. */
    public static final int COMPARE = 2;

    /** Greatest length of the operands, of the results, and of the compare values of one operation, each in bytes. */
    public static final int MAX_BYTES = 1024;
    /** Most operations whose old values a peer has yet to send. */
    public static final int MAX_FETCHES = 64;

    private AtomicForm() {
    }

    /**
     * Whether a card executes an operation: addition and compare-and-swap of 64 bits, one element for each operation.
     *
     * @param form      one of the three forms; any other has none.
     * @return true if it does.
     */
    public static boolean existsOnCard(int form, int datatype, int operation) {
        boolean isWord = datatype == AtomicDatatype.INT64.code() || datatype == AtomicDatatype.UINT64.code();
        return isWord && (form == COMPARE ? operation == AtomicOperation.CSWAP.code()
            : (form == BASE || form == FETCH) && operation == AtomicOperation.SUM.code());
    }

    /**
     * Whether there is an operation for a datatype in a form: all that Java can compute exactly, with integers of 8 to
     * 64 bits, float and double.
     *
     * @param form      one of the three forms; any other has none.
     * @return true if there is.
     */
    public static boolean exists(int form, AtomicDatatype datatype, AtomicOperation operation) {
        if (datatype.code() > AtomicDatatype.DOUBLE.code() || form < BASE || form > COMPARE) {
            return false;
        }
        boolean isInteger = datatype.code() < AtomicDatatype.FLOAT.code();
        return switch (operation) {
            case MIN, MAX, SUM, PROD, LOR, LAND, LXOR, ATOMIC_WRITE -> form != COMPARE;
            case BOR, BAND, BXOR -> form != COMPARE && isInteger;
            case ATOMIC_READ -> form == FETCH;
            case MSWAP -> form == COMPARE && isInteger;
            default -> form == COMPARE;
        };
    }
}
