package org.jfabric.driver.link.support;

import org.jfabric.info.ProtocolErrno;

/**
 * Recognises the protocol of a peer by the connect data of its request or answer. Lengths and fixed bytes are those of
 * libfabric. Pure functions; any thread.
 */
public final class PeerProtocol {
    private static final int TCP_LENGTH = 8;
    private static final int RXM_REQUEST_LENGTH = 24;
    private static final int RXM_ACCEPTANCE_LENGTH = 16;
    private static final int RXM_REFUSAL_LENGTH = 2;
    private static final byte RXM_VERSION = 1;

    private PeerProtocol() {
    }

    /**
     * Determines the protocol.
     *
     * @param connectData connect data of a request, an acceptance or a refusal.
     * @return a code of {@link ProtocolErrno}.
     */
    public static int of(byte[] connectData) {
        return switch (connectData.length) {
            case 0 -> ProtocolErrno.MSG;
            case TCP_LENGTH -> ProtocolErrno.TCP;
            case RXM_ACCEPTANCE_LENGTH -> ProtocolErrno.RXM;
            case RXM_REQUEST_LENGTH, RXM_REFUSAL_LENGTH ->
                connectData[0] == RXM_VERSION ? ProtocolErrno.RXM : ProtocolErrno.UNKNOWN;
            default -> ProtocolErrno.UNKNOWN;
        };
    }
}
