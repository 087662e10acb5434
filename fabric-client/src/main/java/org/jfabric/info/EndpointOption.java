package org.jfabric.info;

import org.jfabric.Endpoint;

/**
 * Options of an endpoint, read and set at {@link #LEVEL_ENDPOINT} by {@link Endpoint#getopt(EndpointOption)} and
 * {@link Endpoint#setopt(EndpointOption, long)}.
 *
 * <p>Use: {@code endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 256)}.
 *
 * <p>Source: fi_endpoint(3), section fi_getopt / fi_setopt; codes of libfabric 1.18. An option that is not supported,
 * or not in this direction, answers {@link FabricErrno#ENOPROTOOPT}.
 */
public enum EndpointOption {
    /** Free space in bytes below which a multi-receive buffer is released. */
    MIN_MULTI_RECV(0, Long.BYTES),

    /** Space in bytes for user data in connection messages; read only. */
    CM_DATA_SIZE(1, Long.BYTES),

    /** Bytes of a message that a buffered completion references at least. */
    BUFFERED_MIN(2, Long.BYTES),

    /**
     * Largest message in bytes that is buffered whole; {@link FabricAddress#BUFFERED_LIMIT_MAX} selects the maximum.
     */
    BUFFERED_LIMIT(3, Long.BYTES),

    /** Size in bytes of the send buffer of a socket endpoint. */
    SEND_BUF_SIZE(4, Long.BYTES),

    /** Size in bytes of the receive buffer of a socket endpoint. */
    RECV_BUF_SIZE(5, Long.BYTES),

    /** Operations that the transmit queue holds; set before the endpoint is enabled. */
    TX_SIZE(6, Long.BYTES),

    /** Operations that the receive queue holds; set before the endpoint is enabled. */
    RX_SIZE(7, Long.BYTES),

    /** Peer-to-peer policy for device memory, a {@link HmemPeerToPeer} code. */
    FI_HMEM_P2P(8, Integer.BYTES),

    /** Variables for operations triggered by an accelerator; read only. */
    XPU_TRIGGER(9, 24),

    /** Whether the endpoint may call the CUDA interface; set only. */
    CUDA_API_PERMITTED(10, 1);

    /** The defined option level. */
    public static final int LEVEL_ENDPOINT = 0;

    private static final EndpointOption[] VALUES = values();

    private final int code;
    private final int lengthBytes;

    EndpointOption(int code, int lengthBytes) {
        this.code = code;
        this.lengthBytes = lengthBytes;
    }

    /**
     * Length of the option's value where it is given as bytes: 8 for a {@code size_t}, 4 for an {@code int}, 1 for a
     * {@code bool}, 24 for a {@code struct fi_trigger_xpu}.
     *
     * @return bytes.
     */
    public int lengthBytes() {
        return lengthBytes;
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
    public static EndpointOption of(int code) {
        if (code < 0 || code >= VALUES.length) {
            throw Codes.unknown("EndpointOption", code, VALUES);
        }
        return VALUES[code];
    }
}
