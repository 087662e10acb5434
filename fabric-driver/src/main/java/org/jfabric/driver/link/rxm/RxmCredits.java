package org.jfabric.driver.link.rxm;

import org.jfabric.FabricErrno;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;

/**
 * The credit of a connection where both sides have flow control on: each packet takes one of the receives that the
 * other side keeps posted, and none is sent without. Reads of remote memory take none.
 *
 * <pre>
 *   credit    1, plus what the peer grants, less packets sent; the last one is kept for a grant
 *   to grant  receives posted when the connection was made, less the one that the peer has by itself,
 *             plus those posted again, less what was granted; due when it is half of all
 * </pre>
 *
 * <p>While both sides take what comes they cannot run dry together: who is out of credit has sent so many packets that
 * the peer owes a grant, and for that the peer keeps one credit. Where messages of more than half of the receives wait
 * for room, no grant is due, and a peer without credit could not grant us anything either: then it gets what is left,
 * little as it is, when we are down to our last one. If it has nothing to grant, both hand the last one to and fro,
 * once in a while. Owner: progress agent.
 */
final class RxmCredits {
    /** What a peer may grant in all before it is used; more is no count of receives. */
    private static final long MOST = Integer.MAX_VALUE;
    /** A grant may take the last one, and nothing else. */
    private static final long RESERVED = 1;
    /** Between two grants that are not due but for the peer's need. */
    private static final long PAUSE_NS = 1_000_000L;

    private final MessageChannel below;
    private final int threshold;
    private long credits = RESERVED;
    private int toGrant;
    private boolean hasPause;
    private long pauseEndNs;

    /**
     * One credit on both sides.
     *
     * @param below    connected.
     * @param receives posted for the peer's packets.
     */
    RxmCredits(MessageChannel below, int receives) {
        this.below = below;
        this.threshold = Math.max(1, receives / 2);
        this.toGrant = receives - 1;
    }

    // ---- what the peer has posted ----

    /** Sends a packet of the engine's. */
    int send(TransmitOperation packet) {
        if (credits <= RESERVED) {
            return -FabricErrno.EAGAIN;
        }
        int result = below.send(packet, 0);
        if (result >= 0) {
            credits--;
        }
        return result;
    }

    /** The peer has posted receives; false if that many cannot be. */
    boolean add(long granted) {
        if (granted <= 0 || granted > MOST - credits) {
            return false;
        }
        credits += granted;
        // it could grant something, and can so again
        hasPause &= granted < threshold;
        return true;
    }

    // ---- what this side has posted ----

    void reposted(int count) {
        toGrant += count;
    }

    /**
     * What the next grant is.
     *
     * @param services for the time.
     * @return receives; 0 if no grant is due, or there is no credit for its packet.
     */
    int due(LinkServices services) {
        if (toGrant >= threshold && credits > 0) {
            return toGrant;
        }
        boolean isStuck = toGrant > 0 && credits == RESERVED && below.postedReceives() <= toGrant;
        if (!isStuck || hasPause && services.nowNs() - pauseEndNs < 0) {
            return 0;
        }
        hasPause = true;
        pauseEndNs = services.nowNs() + PAUSE_NS;
        return toGrant;
    }

    /** Sends a grant of what {@link #due} has answered. */
    int sendGrant(TransmitOperation packet) {
        int result = below.send(packet, 0);
        if (result >= 0) {
            credits--;
            toGrant = 0;
        }
        return result;
    }
}
