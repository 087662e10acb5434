package org.jfabric.client;

import org.jfabric.info.FabricAddress;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/**
 * Which endpoints take buffers with a prefix (FI_MSG_PREFIX), and how long it is: asked in the same way by client and
 * driver.
 *
 * <p>Stateless; any thread.
 */
public final class PrefixMode {
    public static final int MAX_BYTES = 4096;
    /** The length of a prefix is a multiple of this. */
    public static final int ALIGNMENT_BYTES = 8;

    private PrefixMode() {
    }

    /**
     * Whether buffers may have a prefix. Buffered receives exclude it, because their memory is the driver's, and so do
     * shared receive contexts, whose buffers are not those of one endpoint.
     *
     * @param info hints, an offer, or what an endpoint is opened with; a mode of 0 of one direction takes over that of
     *             the whole.
     * @return true if the modes of both directions have {@link Mode#MSG_PREFIX}.
     */
    public static boolean isAllowed(Info info) {
        long transmit = info.txAttr().mode();
        long receive = info.rxAttr().mode();
        long both = info.mode() & (transmit == 0 ? -1L : transmit) & (receive == 0 ? -1L : receive);
        return (both & Mode.MSG_PREFIX) != 0 && !BufferedMode.isAskedFor(info)
            && info.epAttr().rxCtxCnt() != FabricAddress.SHARED_CONTEXT;
    }

    /**
     * The length of the prefix of each message buffer. Returns {@code msg_prefix_size} where the mode allows it, else
     * 0.
     */
    public static long bytes(Info info) {
        return isAllowed(info) ? info.epAttr().msgPrefixSize() : 0;
    }

    /** Whether a prefix can have that length. */
    public static boolean isPossible(long bytes) {
        return bytes >= 0 && bytes <= MAX_BYTES && bytes % ALIGNMENT_BYTES == 0;
    }
}
