package org.jfabric.driver.link.rxm;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.info.FabricErrno;

/**
 * The credit of a connection if both sides have flow control on: each packet uses one of the receives that the other
 * side keeps posted, and no packet is sent without credit. Reads of remote memory need none.
 *
 * <pre>
 *   credit    1, plus the peer's grants, less packets sent; the last one is reserved for a grant
 *   to grant  receives posted when the connection was made, less the one that the peer has initially,
 *             plus those posted again, less earlier grants; due when it is half of all
 * </pre>
 *
 * <p>While both sides process their packets, they cannot both run out of credit: a side without credit has sent so many
 * packets that a grant of the peer is due, and the peer has a reserved credit for it. If messages in more than half of
 * the receives wait for room, no grant is due, and a peer without credit could not send us a grant either. Therefore we
 * grant the remaining receives, however few, when only our reserved credit is left. If the peer has nothing else to
 * grant, the two sides exchange their last credit from time to time. Owner: progress agent.
 */
final class RxmCredits {
    /** Limit of unused credits; a higher number cannot be a count of receives. */
    private static final long MOST = Integer.MAX_VALUE;
    /** Credits that only a grant may use. */
    private static final long RESERVED = 1;
    /** Time between two early grants, which are sent before half of the receives are free. */
    private static final long PAUSE_NS = 1_000_000L;

    private final MessageChannel below;
    private final int threshold;
    private long credits = RESERVED;
    private int toGrant;
    private boolean hasPause;
    private long pauseEndNs;

    /** Starts with one credit on both sides. */
    RxmCredits(MessageChannel below, int receives) {
        this.below = below;
        this.threshold = Math.max(1, receives / 2);
        this.toGrant = receives - 1;
    }

    // ---- receives of the peer ----

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

    /** Sends a write with data, whose report takes a receive. */
    int write(RemoteChannel accesses, TransmitOperation operation, long length) {
        if (credits <= RESERVED) {
            return -FabricErrno.EAGAIN;
        }
        int result = accesses.write(operation, length, 0);
        if (result >= 0) {
            credits--;
        }
        return result;
    }

    /** The peer has posted receives; returns false if the number is impossible. */
    boolean add(long granted) {
        if (granted <= 0 || granted > MOST - credits) {
            return false;
        }
        credits += granted;
        // a full grant: the peer has free receives again, so the pause ends
        hasPause &= granted < threshold;
        return true;
    }

    // ---- receives of this side ----

    /** Whether the next grant waits for the end of a pause. */
    boolean hasPause() {
        return hasPause && toGrant > 0;
    }

    void reposted(int count) {
        toGrant += count;
    }

    /**
     * The size of the next grant. Returns the number of receives; 0 if no grant is due, or there is no credit for its
     * packet.
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

    /** Sends a grant of the size that {@link #due} has returned. */
    int sendGrant(TransmitOperation packet) {
        int result = below.send(packet, 0);
        if (result >= 0) {
            credits--;
            toGrant = 0;
        }
        return result;
    }
}
