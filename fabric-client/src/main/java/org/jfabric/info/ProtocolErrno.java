package org.jfabric.info;

/**
 * Values of {@code provErrno} of an error entry for a peer that speaks another protocol than the link of the endpoint.
 * Such a peer is recognised by the connect data with which it begins, or with which it answers.
 *
 * <p>Use: {@code queue.strerror(error.provErrno())}.
 *
 * <p>Every code has bit 29 set and bit 30 not; all others are a {@link FabricErrno} or a {@link VerbsErrno}. The
 * {@code err} of such an entry is {@link FabricErrno#EIO}. Constants and pure functions; any thread.
 */
public final class ProtocolErrno {
    private static final int MARK = 1 << 29;

    /** Connect data of no protocol that is known here. */
    public static final int UNKNOWN = MARK;
    /** Reliable datagrams of libfabric's {@code tcp} provider (1.18 and later; {@code net} in 1.17). */
    public static final int TCP = MARK + 1;
    /** Reliable datagrams of {@code ofi_rxm} over tcp ({@code tcp;ofi_rxm}; {@code tcp} in 1.17). */
    public static final int RXM = MARK + 2;
    /** A connection of two endpoints of type {@link EndpointType#MSG}. */
    public static final int MSG = MARK + 3;

    private ProtocolErrno() {
    }

    /**
     * Whether a code is one of these.
     *
     * @param provErrno of an error entry, of either sign.
     * @return false for those that are a {@link FabricErrno} or a {@link VerbsErrno}.
     */
    public static boolean isProtocol(int provErrno) {
        return Math.abs(provErrno) >> 29 == 1;
    }

    /**
     * One sentence that names the peer's protocol and the options that make both sides fit.
     *
     * @param provErrno of an error entry, of either sign, for which {@link #isProtocol} is true.
     * @return the sentence, never empty.
     */
    public static String describe(int provErrno) {
        return "The peer speaks another protocol: " + switch (Math.abs(provErrno)) {
            case TCP -> "that of libfabric's tcp provider since 1.18 (called net in 1.17); use link tcp here"
                + " (fi-pingpong -p tcp -e rdm), or give the peer the provider 'tcp;ofi_rxm' (tcp in 1.17).";
            case RXM -> "that of libfabric's 'tcp;ofi_rxm' (called tcp in 1.17); use link rxm here, which"
                + " jfabric.link.enabled must name (fi-pingpong -p 'tcp;ofi_rxm' -e rdm), or give the peer the provider"
                + " tcp of 1.18 and later (net in 1.17).";
            case MSG -> "it asks for a connection between two endpoints; give both sides the same endpoint type"
                + " (FI_EP_MSG or FI_EP_RDM; fi-pingpong -e).";
            default -> "its connect data is of none that this link knows; give both sides the same provider and"
                + " endpoint type.";
        };
    }
}
