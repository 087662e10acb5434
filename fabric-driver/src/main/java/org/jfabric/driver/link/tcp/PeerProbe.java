package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.ffi.TcpSocket;

/**
 * Finds out from the peer's kernel whether the peer of a connection still has its end of it: keepalive probes are sent
 * after one second of silence and one second later. A process that is stopped, or does not read, still counts as alive,
 * because its kernel answers.
 *
 * <pre>
 *   the other side has closed its end, or the connection is over      OVER
 *   a segment has arrived since the probe began                       LIVES
 *   time is up, and two probes or retransmissions were not answered   OVER
 *   time is up otherwise: no probe was sent, or the state is unknown  LIVES, as there is no sign of an end
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class PeerProbe {
    static final int INTERVAL_SECONDS = 1;
    static final int PROBES = 2;
    /** The system needs three seconds to end a connection whose probes have no answer. */
    static final long LIMIT_NS = 4_000_000_000L;

    private static final long ASK_NS = 10_000_000L;
    private static final long NS_PER_MS = 1_000_000L;
    /**
     * A segment that arrives this shortly after the begin may have arrived before it, because the system's clock is
     * coarse.
     */
    private static final long MARGIN_MS = 20;

    private final TcpPort port;
    private final long startNs;
    private long askNs;

    /**
     * Begins the probe.
     *
     * @param nowNs time of {@link System#nanoTime()}.
     */
    PeerProbe(TcpPort port, long nowNs) {
        this.port = port;
        this.startNs = nowNs;
        this.askNs = nowNs;
        port.keepAlive(INTERVAL_SECONDS, INTERVAL_SECONDS, PROBES);
    }

    boolean isLate(long nowNs) {
        return nowNs - startNs > LIMIT_NS;
    }

    /** The result so far, as of {@link MessageChannel#probe()}. */
    int verdict(long nowNs) {
        if (nowNs - askNs < 0) {
            return MessageChannel.ASKING;
        }
        askNs = nowNs + ASK_NS;
        TcpSocket.Health health = port.health();
        if (health == null) {
            return isLate(nowNs) ? MessageChannel.LIVES : MessageChannel.ASKING;
        }
        if (!health.isEstablished()) {
            return MessageChannel.OVER;
        }
        if (health.silentMs() + MARGIN_MS < (nowNs - startNs) / NS_PER_MS) {
            return MessageChannel.LIVES;
        }
        if (!isLate(nowNs)) {
            return MessageChannel.ASKING;
        }
        return health.unanswered() >= PROBES ? MessageChannel.OVER : MessageChannel.LIVES;
    }
}
