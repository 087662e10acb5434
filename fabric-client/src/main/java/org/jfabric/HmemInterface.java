package org.jfabric;

/**
 * Kinds of memory that a region may be in.
 *
 * <p>Source: fi_mr(3), section fi_mr_regattr; codes of libfabric 1.18.
 */
public enum HmemInterface {
    /** Host memory. */
    SYSTEM(0),

    /** NVIDIA devices. */
    CUDA(1),

    /** AMD devices. */
    ROCR(2),

    /** Intel Level Zero devices. */
    ZE(3),

    /** AWS Neuron devices. */
    NEURON(4),

    /** Habana devices. */
    SYNAPSEAI(5);

    private static final HmemInterface[] VALUES = values();

    private final int code;

    HmemInterface(int code) {
        this.code = code;
    }

    /**
     * The number of libfabric for this constant.
     *
     * @return the code, as stored in queues and messages.
     */
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
    public static HmemInterface of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("HmemInterface", code, VALUES);
        }
        return VALUES[code];
    }
}
