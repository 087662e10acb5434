package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Sends that need more than the plain path: sends with a fence, sends whose completion level only the peer can confirm,
 * sends that lend their bytes, and sends that require a group as destination.
 *
 * <pre>
 *   fenced ------- earlier sends to the peer outstanding: waits at the head of the peer's queue
 *   short -------- send --> AWAITING --- onAcknowledged for each awaited level --> entry
 *   announced ---- announce --> ANNOUNCED --- finished: placed in a matched buffer, so no level is missing --> entry
 *                                    '------- but a fence with FI_MATCH_COMPLETE --> AWAITING
 * </pre>
 *
 * <p>The completion of a fenced send implies that all earlier messages have reached its completion level. Channels keep
 * the order, so the acknowledgement of delivery covers all earlier messages. Matching has no order: with {@code
 * FI_MATCH_COMPLETE} the peer sends one more acknowledgement when the messages before the fenced one are matched too.
 *
 * <p>Owner: progress agent.
 */
final class AcknowledgedSends {
    /** A send with none of these flags takes the plain path. */
    static final long NOT_PLAIN = Flags.FENCE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE | Flags.COMMIT_COMPLETE
        | Flags.RECORDED | Flags.MULTICAST | Flags.LENT;

    private final Sender sender;

    AcknowledgedSends(Sender sender) {
        this.sender = sender;
    }

    /** As {@link Sender#begin}, for a send that is not plain. */
    boolean begin(PeerSends to, TransmitOperation operation) {
        if (to.outbox().isFenced(operation)) {
            return false;
        }
        if ((operation.flags & Flags.MULTICAST) != 0 && to.frames() != null) {
            // no group has a wire of frames
            sender.fail(operation, FabricErrno.EINVAL);
            return true;
        }
        long level = strongest(operation.flags);
        if (level != 0 && (to.channel().limits().levels() & level) == 0) {
            sender.fail(operation, FabricErrno.EBADFLAGS);
            return true;
        }
        long fence = asked(operation.flags) & Flags.FENCE;
        if (isLent(to, operation)) {
            operation.awaited = fence;
            return to.outbox().canAnnounce() && sender.announce(to, operation);
        }
        // its frame must not say that it may be read here
        operation.flags &= ~Flags.LENT;
        if (level == 0) {
            return sender.beginPlain(to, operation);
        }
        if (to.canSendEager(operation.length)) {
            operation.awaited = TransmitOperation.LINK | level | fence;
            int result = send(to, operation);
            if (result >= 0) {
                return true;
            }
            operation.awaited = 0;
            return sender.failedToBegin(to, operation, result);
        }
        if (!to.outbox().mayAnnounce(to, operation.length)) {
            return false;
        }
        operation.awaited = fence;
        return sender.announce(to, operation);
    }

    /**
     * Whether the receiver can be shown the bytes where they are: one piece of a region in a file that only its client
     * writes. Other messages are sent like those that are not lent, with one copy.
     */
    static boolean isLent(PeerSends to, TransmitOperation operation) {
        if ((operation.flags & Flags.LENT) == 0) {
            return false;
        }
        RegisteredRegion region = operation.region;
        return to.frames() != null && operation.pieces == null && region != null && region.number() != 0
            && !region.isCopied();
    }

    /** Processes a peer's acknowledgement. Returns false if no operation to that peer awaits it. */
    boolean onAcknowledged(PeerSends to, TransmitOperation operation, long levels, int errno) {
        if (operation == null || operation.peer != to || levels == 0 || operation.awaited == 0
            || (levels & ~asked(operation.flags)) != 0) {
            return false;
        }
        if (errno != 0) {
            operation.failure = errno;
        }
        reached(to, operation, levels);
        return true;
    }

    /** The link reports the end of a pending send. */
    void onSent(PeerSends to, TransmitOperation operation, int errno) {
        if (errno != 0) {
            to.outbox().disown(operation);
            sender.end(operation, errno);
        } else {
            reached(to, operation, TransmitOperation.LINK);
        }
    }

    private static long strongest(long flags) {
        if ((flags & Flags.COMMIT_COMPLETE) != 0) {
            return Flags.COMMIT_COMPLETE;
        }
        if ((flags & Flags.RECORDED) != 0) {
            return Flags.RECORDED;
        }
        return (flags & Flags.MATCH_COMPLETE) != 0 ? Flags.MATCH_COMPLETE : flags & Flags.DELIVERY_COMPLETE;
    }

    /**
     * The levels that the peer may acknowledge. It may acknowledge a level twice if an access to shared memory failed
     * there.
     */
    private static long asked(long flags) {
        long level = strongest(flags);
        return level == Flags.MATCH_COMPLETE ? level | flags & Flags.FENCE : level;
    }

    private int send(PeerSends to, TransmitOperation operation) {
        Sender.hold(operation);
        // the loopback link acknowledges inside the call; the awaited LINK bit keeps the operation from ending there
        operation.state = TransmitOperation.AWAITING;
        int result = to.channel().send(operation, to.grant());
        if (result == Channel.PENDING && to.channel() != null) {
            // the link reads the payload until it reports the end: a fault must not end the operation before that
            to.spend(operation.length);
            to.outbox().own(operation, TransmitOperation.AWAITING);
            FaultPoint.pass();
            return result;
        }
        // a fault after the next lines would leave the operation with the link, which never reports a completed send
        FaultPoint.pass();
        if (result < 0) {
            operation.state = TransmitOperation.QUEUED;
            return result;
        }
        if (to.channel() == null) {
            sender.fail(operation, FabricErrno.ECONNRESET);
            return result;
        }
        to.spend(operation.length);
        to.outbox().own(operation, TransmitOperation.AWAITING);
        reached(to, operation, TransmitOperation.LINK);
        return result;
    }

    private void reached(PeerSends to, TransmitOperation operation, long levels) {
        operation.awaited &= ~levels;
        if (operation.awaited == 0 && operation.state == TransmitOperation.AWAITING) {
            to.outbox().disown(operation);
            sender.end(operation, operation.failure);
        }
    }
}
