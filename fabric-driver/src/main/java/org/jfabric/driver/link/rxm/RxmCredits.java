package org.jfabric.driver.link.rxm;

import org.jfabric.FabricErrno;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ForeignChannel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;

/**
 * The channel below, where both sides have flow control on: each packet takes one of the receives that the other side
 * keeps posted, and none is sent without. Reads of remote memory take none.
 *
 * <pre>
 *   credit    1, plus what the peer grants, less packets sent; the last one is kept for a grant
 *   to grant  receives posted when the connection was made, less the one that the peer has by itself,
 *             plus those posted again, less what was granted; due when it is half of all
 * </pre>
 *
 * <p>Both sides cannot run dry together: who is out of credit has sent so many packets that the peer owes a grant, and
 * for that the peer keeps one credit. Owner: progress agent.
 */
final class RxmCredits extends ForeignChannel {
    /** What a peer may grant in all before it is used; more is no count of receives. */
    private static final long MOST = Integer.MAX_VALUE;
    /** A grant may take the last one, and nothing else. */
    private static final long RESERVED = 1;

    private final Channel below;
    private final int threshold;
    private long credits = RESERVED;
    private int toGrant;

    /**
     * A channel with one credit on both sides.
     *
     * @param below    connected.
     * @param receives posted for the peer's packets.
     */
    RxmCredits(Channel below, int receives) {
        super(below.limits(), below.handler());
        this.below = below;
        this.threshold = Math.max(1, receives / 2);
        this.toGrant = receives - 1;
    }

    // ---- what the peer has posted ----

    @Override
    public int send(TransmitOperation operation, int grant) {
        if (credits <= RESERVED) {
            return -FabricErrno.EAGAIN;
        }
        int result = below.send(operation, grant);
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
        return true;
    }

    /** Packets that can be sent now, the last one being a grant. */
    long credits() {
        return credits;
    }

    // ---- what this side has posted ----

    void reposted(int count) {
        toGrant += count;
    }

    /** What the next grant is; 0 if none is due, or there is no credit for its packet. */
    int due() {
        return toGrant >= threshold && credits > 0 ? toGrant : 0;
    }

    /** Sends a grant of {@link #due()}. */
    int sendGrant(TransmitOperation packet) {
        int result = below.send(packet, 0);
        if (result >= 0) {
            credits--;
            toGrant = 0;
        }
        return result;
    }

    // ---- what takes no receive ----

    @Override
    public int pull(RemotePayload source, long destAddress, PieceList destPieces, long length) {
        return below.pull(source, destAddress, destPieces, length);
    }

    @Override
    public int expose(TransmitOperation operation, RemotePayload target) {
        return below.expose(operation, target);
    }

    @Override
    public void conceal(RemotePayload target) {
        below.conceal(target);
    }

    @Override
    public boolean awaitsPeer() {
        return below.awaitsPeer();
    }

    @Override
    public void close(int errno) {
        below.close(errno);
    }
}
