package org.jfabric.info;

/**
 * How an address vector numbers its addresses.
 *
 * <p>Use: {@code new AddressVectorAttr().type(AddressVectorType.TABLE)}.
 *
 * <p>Source: fi_av(3), section fi_av_open; codes of libfabric 1.18.
 */
public enum AddressVectorType implements Coded {
    /** The provider chooses. */
    UNSPEC(0),

    /** Handles chosen by the provider. */
    MAP(1),

    /** Consecutive indices from 0 in the order of insertion. */
    TABLE(2);

    private static final AddressVectorType[] VALUES = values();

    private final int code;

    AddressVectorType(int code) {
        this.code = code;
    }

    /**
     * The number of libfabric for this constant.
     *
     * @return the code, as stored in queues and messages.
     */
    @Override
    public int code() {
        return code;
    }

    /**
     * The constant of a code.
     *
     * @param code as returned by {@link #code()}.
     * @return the constant, never null.
     * @throws FabricException with {@link FabricErrno#EINVAL} if no constant has this code.
     */
    public static AddressVectorType of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("AddressVectorType", code, VALUES);
        }
        return VALUES[code];
    }
}
