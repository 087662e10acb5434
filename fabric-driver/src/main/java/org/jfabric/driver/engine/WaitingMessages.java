package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The messages of one endpoint that no receive has taken yet, with the matchers in which they wait or are claimed. Each
 * message ends in one of three ways: a receive takes it, it is discarded, or its payload is lost with its sender.
 *
 * <p>Unfinished messages of unknown peers hold at most half of the receives. A further one is <em>held back</em>: no
 * receive takes it before it is complete, or others have ended.
 *
 * <p>Owner: progress agent.
 */
final class WaitingMessages {
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final UnexpectedStore store;
    private final ReceivePool pool;
    private final EndedReceives ends;
    private final Pulls pulls;
    private final ReachedLevels levels;

    WaitingMessages(
        TagMatcher tagged, TagMatcher untagged, UnexpectedStore store, ReceivePool pool, EndedReceives ends,
        Pulls pulls, ReachedLevels levels) {
        this.tagged = tagged;
        this.untagged = untagged;
        this.store = store;
        this.pool = pool;
        this.ends = ends;
        this.pulls = pulls;
        this.levels = levels;
    }

    /** Returns whether a length is invalid for a message, because no region is so long. */
    static boolean isImpossible(long length) {
        return length < 0 || length > MemoryRegionDescriptor.MAX_LENGTH;
    }

    TagMatcher tagged() {
        return tagged;
    }

    TagMatcher untagged() {
        return untagged;
    }

    /** Fetches the payloads of announced messages. */
    Pulls pulls() {
        return pulls;
    }

    TagMatcher matcher(long flags) {
        return (flags & Flags.TAGGED) != 0 ? tagged : untagged;
    }

    /** The number of messages in both matchers, claimed ones not included. */
    int count() {
        return tagged.unexpectedCount() + untagged.unexpectedCount();
    }

    /** The number of posted receives in both matchers. */
    int posted() {
        return tagged.postedCount() + untagged.postedCount();
    }

    /** Whether untagged messages of a peer wait: their entries come in the order of sending. */
    boolean hasUntagged(PeerReceives from) {
        UnexpectedMessage message = from.held().count() == 0 ? null : untagged.firstUnexpected();
        while (message != null && ((StoredMessage) message).from != from) {
            message = untagged.nextUnexpected(message);
        }
        return message != null;
    }

    /** Takes a record and a block for a message; returns null if its peer exceeds its granted credit. */
    StoredMessage store(PeerReceives from, long flags, long tag, long data, long length) {
        if (!from.held().store(length)) {
            from.peer().violation("sent more unexpected bytes than it was granted");
            return null;
        }
        StoredMessage message = store.takeMessage();
        if (length != 0) {
            message.block = store.takeBlock(length);
        }
        fill(message, from, flags, tag, data, length);
        matcher(flags).addUnexpected(message);
        return message;
    }

    /** Adds a message of a peer without credit whose payload is not read yet. */
    StoredMessage pause(PeerReceives from, long flags, long tag, long data, long length) {
        StoredMessage message = store.takeMessage();
        from.held().storeAnyway(length);
        fill(message, from, flags, tag, data, length);
        message.state = StoredMessage.FILLING;
        message.paused = true;
        matcher(flags).addUnexpected(message);
        return message;
    }

    /** Adds a message whose payload waits at its sender. */
    void announce(PeerReceives from, long flags, long tag, long data, RemotePayload payload) {
        if (!from.held().announced()) {
            from.peer().violation("announced more messages than any peer may");
            return;
        }
        StoredMessage message = store.takeMessage();
        message.payload.set(payload);
        fill(message, from, flags, tag, data, payload.lengthBytes());
        message.state = StoredMessage.ANNOUNCED;
        message.isLent = (flags & Flags.LENT) != 0;
        matcher(flags).addUnexpected(message);
    }

    /** Frees the record of an announced message that stays at its sender and counts as announced. */
    void passOn(StoredMessage message) {
        matcher(message.flags).removeUnexpected(message);
        message.from = null;
        store.giveMessage(message);
    }

    private static void fill(StoredMessage message, PeerReceives from, long flags, long tag, long data, long length) {
        from.peer().traffic().unexpected();
        message.from = from;
        message.epoch = from.epoch();
        message.flags = flags & ReceiveOperation.MESSAGE_BITS;
        message.data = data;
        message.length = length;
        if ((flags & ReceiveOperation.OF_FEW) != 0) {
            message.position = from.position();
            message.timeNs = from.timeNs();
        }
        message.arrived((flags & Flags.TAGGED) != 0 ? tag : 0, from.peer().source());
    }

    // ---- messages that are held back ----

    /** Whether an unfinished message of a peer may not hold a receive now. */
    boolean isOverShare(PeerReceives from) {
        return from.held().isOfUnknownPeer() && store.budget().unknownReceives() >= pool.unknownLimit();
    }

    /**
     * Holds a message back that a receive would have to wait for, if unknown peers hold too many receives. Only if no
     * later message of its peer can come before its end, because that one would overtake it.
     *
     * @param message in its matcher, or just taken from it.
     * @return false if the receive takes it.
     */
    boolean holdBack(StoredMessage message) {
        if (message.state != StoredMessage.FILLING || !isOverShare(message.from)
            || !message.from.peer().isInSequence()) {
            return false;
        }
        TagMatcher matcher = matcher(message.flags);
        if (!message.isWaiting()) {
            matcher.addUnexpected(message);
        }
        matcher.claim(message);
        message.isHeldBack = true;
        return true;
    }

    /** Treats a message that was held back as one that arrives now. */
    void release(StoredMessage message, ReceiveMode mode) {
        TagMatcher matcher = matcher(message.flags);
        message.isHeldBack = false;
        matcher.removeUnexpected(message);
        ReceiveOperation receive = mode.arrive(message.from, message.flags, message.tag(), message.length);
        if (receive == null) {
            matcher.addUnexpected(message);
        } else {
            deliver(receive, message);
        }
    }

    /** Delivers a message that was removed from its matcher to a receive. */
    void deliver(ReceiveOperation operation, StoredMessage message) {
        if (operation.reported) {
            // it was discarded while its payload was arriving
            drop(operation, message);
            return;
        }
        describe(operation, message);
        switch (message.state) {
            case StoredMessage.STORED -> {
                boolean awaited = message.awaited != 0;
                if (awaited) {
                    levels.taking(message);
                }
                if (!message.inPlace) {
                    operation.place(0, message.block, operation.placedBytes());
                }
                PeerReceives from = message.from;
                message.from = null;
                from.left(message.length, message.epoch);
                store.giveMessage(message);
                ends.end(operation);
                if (awaited) {
                    levels.taken(0);
                }
            }
            case StoredMessage.FILLING -> {
                awaitRest(operation, message);
                ends.begin(operation);
                // the message is in no matcher any more: failPeer() must find it in this list
                message.from.addPull(operation);
            }
            default -> {
                PeerReceives from = message.from;
                message.from = null;
                from.held().announcementLeft();
                pulls.start(operation, message.payload);
                store.giveMessage(message);
            }
        }
    }

    /** Copies the prefix of a claimed message into the buffer of a receive; the message itself stays. */
    void deliverBegin(ReceiveOperation operation, StoredMessage message) {
        describe(operation, message);
        if (message.state == StoredMessage.STORED) {
            operation.place(0, message.block, operation.placedBytes());
            ends.end(operation);
        } else {
            pulls.start(operation, message.payload);
        }
    }

    /** Fetches or discards a claimed message. */
    void fetch(ReceiveOperation operation, StoredMessage message) {
        matcher(message.flags).removeUnexpected(message);
        if ((operation.flags & Flags.DISCARD) != 0) {
            discard(operation, message);
        } else if (message.state == StoredMessage.LOST) {
            describe(operation, message);
            int errno = message.errno;
            store.giveMessage(message);
            ends.fail(operation, 0, errno);
        } else {
            deliver(operation, message);
        }
    }

    /** Consumes a message without delivering it: its sender is notified and its credit is returned. */
    void discard(ReceiveOperation operation, StoredMessage message) {
        describe(operation, message);
        switch (message.state) {
            case StoredMessage.STORED -> drop(operation, message);
            case StoredMessage.FILLING -> {
                // the link still writes into the block: operation and message are released at the end of the stream
                awaitRest(operation, message);
                message.from.addPull(operation);
                ends.complete(operation);
            }
            case StoredMessage.ANNOUNCED -> {
                PeerReceives from = message.from;
                message.from = null;
                from.held().announcementLeft();
                pulls.decline(operation, message.payload);
                store.giveMessage(message);
            }
            default -> {
                store.giveMessage(message);
                ends.end(operation);
            }
        }
    }

    /** Drops a message whose payload is in the store. */
    private void drop(ReceiveOperation operation, StoredMessage message) {
        boolean awaited = message.awaited != 0;
        if (awaited) {
            levels.taking(message);
        }
        PeerReceives from = message.from;
        message.from = null;
        from.left(message.length, message.epoch);
        store.giveMessage(message);
        if (operation.reported) {
            ends.release(operation);
        } else {
            ends.end(operation);
        }
        if (awaited) {
            levels.taken(0);
        }
    }

    /** Drops a claimed message whose prefix could not be delivered, because no client can claim the rest. */
    void giveUp(StoredMessage message) {
        matcher(message.flags).removeUnexpected(message);
        if (message.state == StoredMessage.ANNOUNCED) {
            message.from.held().announcementLeft();
        } else if (message.state == StoredMessage.STORED) {
            message.from.left(message.length, message.epoch);
        }
        store.giveMessage(message);
    }

    /** The rest of a payload that streams into the store will not arrive. */
    void abort(StoredMessage message, int errno) {
        if (message.isClaimed() && !message.isHeldBack) {
            lost(message, errno);
            return;
        }
        ReceiveOperation receive = message.receive;
        if (receive == null) {
            matcher(message.flags).removeUnexpected(message);
        }
        message.from.left(message.length, message.epoch);
        store.giveMessage(message);
        if (receive != null && receive.reported) {
            ends.release(receive);
        } else if (receive != null) {
            ends.fail(receive, 0, errno);
        }
    }

    /**
     * A peer is down: its incomplete messages are dropped if they wait; claimed ones stay as lost until the claim is
     * completed. Every message is tested.
     */
    void failPeer(PeerReceives from, int errno) {
        failPeer(tagged, from, errno);
        failPeer(untagged, from, errno);
    }

    private void failPeer(TagMatcher matcher, PeerReceives from, int errno) {
        UnexpectedMessage message = matcher.firstUnexpected();
        while (message != null) {
            UnexpectedMessage next = matcher.nextUnexpected(message);
            StoredMessage waiting = (StoredMessage) message;
            if (isUnfinished(waiting, from)) {
                matcher.removeUnexpected(waiting);
                giveBack(waiting);
                store.giveMessage(waiting);
            }
            message = next;
        }
        message = matcher.firstClaimed();
        while (message != null) {
            UnexpectedMessage next = matcher.nextUnexpected(message);
            StoredMessage claimed = (StoredMessage) message;
            if (isUnfinished(claimed, from) && claimed.isHeldBack) {
                abort(claimed, errno);
            } else if (isUnfinished(claimed, from)) {
                lost(claimed, errno);
            }
            message = next;
        }
    }

    /**
     * An endpoint of a shared receive context is closed and its peers are down: its messages, all of them stored, are
     * dropped. Claimed ones stay as lost until the claim is completed.
     */
    void drop(SharedReceives.Bound bound) {
        drop(tagged, bound);
        drop(untagged, bound);
    }

    private void drop(TagMatcher matcher, SharedReceives.Bound bound) {
        UnexpectedMessage message = matcher.firstUnexpected();
        while (message != null) {
            UnexpectedMessage next = matcher.nextUnexpected(message);
            StoredMessage stored = (StoredMessage) message;
            if (stored.from.bound() == bound) {
                matcher.removeUnexpected(stored);
                stored.from.left(stored.length, stored.epoch);
                store.giveMessage(stored);
            }
            message = next;
        }
        for (message = matcher.firstClaimed(); message != null; message = matcher.nextUnexpected(message)) {
            StoredMessage claimed = (StoredMessage) message;
            if (claimed.state == StoredMessage.STORED && claimed.from.bound() == bound) {
                claimed.from.left(claimed.length, claimed.epoch);
                lose(claimed, FabricErrno.ECONNRESET);
            }
        }
    }

    /** After an access to shared memory failed, frees messages that are in no list and that no receive refers to. */
    void recover() {
        for (int i = 0, count = store.messageCount(); i < count; i++) {
            StoredMessage message = store.message(i);
            if (message.state == StoredMessage.FILLING && message.resident) {
                // the fault interrupted its copy, which no other code resumes
                if (message.receive != null) {
                    message.from.removePull(message.receive);
                }
                abort(message, FabricErrno.EIO);
                continue;
            }
            boolean held = message.isWaiting() || message.isClaimed() || message.receive != null;
            if (message.state != StoredMessage.FREE && !held) {
                if (message.from != null && message.state == StoredMessage.STORED) {
                    message.from.left(message.length, message.epoch);
                }
                store.giveMessage(message);
            }
        }
    }

    /** A claimed message will never be complete: its record stays until the claim is fetched or discarded. */
    private void lost(StoredMessage message, int errno) {
        giveBack(message);
        lose(message, errno);
    }

    private void lose(StoredMessage message, int errno) {
        store.giveBlock(message);
        message.state = StoredMessage.LOST;
        message.errno = errno;
    }

    private static void awaitRest(ReceiveOperation operation, StoredMessage message) {
        operation.state = ReceiveState.FILLING;
        operation.late.filling = message;
        message.receive = operation;
    }

    private static boolean isUnfinished(StoredMessage message, PeerReceives from) {
        return message.from == from
            && (message.state == StoredMessage.FILLING || message.state == StoredMessage.ANNOUNCED);
    }

    private static void giveBack(StoredMessage message) {
        if (message.state == StoredMessage.FILLING) {
            message.from.left(message.length, message.epoch);
        } else {
            message.from.held().announcementLeft();
        }
    }

    /** Copies the header fields of a message to the receive that takes it. */
    static void describe(ReceiveOperation operation, StoredMessage message) {
        operation.message(message.from, message.flags, message.tag(), message.data, message.length);
        if ((message.flags & ReceiveOperation.OF_FEW) != 0) {
            operation.messagePosition = message.position;
            operation.messageTimeNs = message.timeNs;
        }
    }
}
