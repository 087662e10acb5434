package org.jfabric.client;

import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/**
 * Which endpoints have buffered receives (FI_BUFFERED_RECV): asked in the same way by client and driver.
 *
 * <p>Stateless; any thread.
 */
public final class BufferedMode {
    /** Capabilities that make no sense with driver-owned buffers, or whose error entries would lose the message. */
    public static final long EXCLUDED_CAPS = Flags.MULTI_RECV | Flags.SOURCE_ERR;

    private BufferedMode() {
    }

    /**
     * Whether messages are received into the driver's memory.
     *
     * @param info hints, an offer, or what an endpoint is opened with; a mode of 0 for the receiving side takes over
     *             that of the whole.
     * @return true if it receives and the mode of the receiving side has {@link Mode#BUFFERED_RECV}.
     */
    public static boolean isAskedFor(Info info) {
        if (info.fabricAttr().isVersion2()) {
            // the mode was removed: the bit says nothing, and is cleared in matches
            return false;
        }
        long receive = info.rxAttr().mode();
        if ((info.caps() & (Flags.SEND | Flags.RECV)) == Flags.SEND) {
            return false;
        }
        return ((receive == 0 ? info.mode() : receive & info.mode()) & Mode.BUFFERED_RECV) != 0;
    }
}
