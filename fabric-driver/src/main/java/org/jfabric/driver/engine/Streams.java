package org.jfabric.driver.engine;

import org.jfabric.driver.link.Placement;
import org.jfabric.info.Flags;

/**
 * Messages that arrive in pieces: the link requests a destination when a message begins, and reports when it is
 * complete or lost.
 *
 * <p>A peer on a link without credit may send any number of bytes. A message without a receive is stored while the
 * endpoint's budget lasts; then the connection is not read (<em>paused</em>). The header of a paused message has been
 * read: it can be matched and peeked at, and the rest is placed directly in the receive that takes it. If one of our
 * own operations can end only after more bytes of the peer, more is stored, so that the two drivers do not wait for
 * each other: of an unknown peer one window, of a known one what can be on its way. The mode of receiving may need a
 * message beyond the budget ({@link ReceiveMode#mustStore}).
 *
 * <p>The receiver may wait for a message behind the one that has no room, if it takes none and has posted receives that
 * do not accept that one. Then a known peer is read on, to the second bound of the budget; that bound is reported.
 *
 * <p>Owner: progress agent.
 */
final class Streams {
    /** Token of a message that is paused before it is matched. */
    private static final long UNMATCHED_TOKEN = -1;
    /** A placement token with this bit names a stored message, else a receive. */
    private static final long STORED_TOKEN = 1L << 31;
    /**
     * Bytes that a known peer may have on their way before an answer that a local operation awaits: what the socket
     * buffers of both ends hold. All of them were written before the peer has read the request. Fewer would not
     * suffice, because the receive that would make room can be one that the answer ends.
     */
    private static final long AWAITED_BYTES = 8L << 20;

    private final ReceiveMode mode;
    private final EndedReceives ends;
    private final WaitingMessages waiting;
    private final ReceivePool pool;
    private final UnexpectedStore store;

    Streams(
        ReceiveMode mode, EndedReceives ends, WaitingMessages waiting, ReceivePool pool, UnexpectedStore store) {
        this.mode = mode;
        this.ends = ends;
        this.waiting = waiting;
        this.pool = pool;
        this.store = store;
    }

    void place(PeerReceives from, long flags, long tag, long data, long length, Placement placement) {
        if (placement.action() == Placement.Action.PAUSE && placement.token() != UNMATCHED_TOKEN) {
            again(from, length, placement);
            return;
        }
        if (WaitingMessages.isImpossible(length)) {
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            from.peer().violation("began a message of " + length + " bytes");
            return;
        }
        if (mustWaitUnmatched(from, flags, tag)) {
            placement.set(Placement.Action.PAUSE, 0, 0, UNMATCHED_TOKEN);
            return;
        }
        ReceiveOperation operation = mode.arrive(from, flags, tag, length);
        if (operation != null) {
            operation.message(from, flags & ReceiveOperation.MESSAGE_BITS, tag, data, length);
            operation.state = ReceiveState.STREAMING;
            operation.late.received = 0;
            ends.begin(operation);
            from.addPull(operation);
            placement.set(
                Placement.Action.DIRECT, operation.address, operation.pieces, operation.placedBytes(), operation.id);
            return;
        }
        if (from.peer().frames() == null) {
            keep(from, flags, tag, data, length, placement);
            return;
        }
        StoredMessage message = waiting.store(from, flags, tag, data, length);
        if (message == null) {
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
        } else {
            message.state = StoredMessage.FILLING;
            placement.set(Placement.Action.STORE, message.block, length, message.index | STORED_TOKEN);
        }
    }

    /**
     * Whether a receive accepts the message and must not be held by it, because unknown peers hold too many. The peer
     * holds none itself and owes no answer, so that nothing behind this message is missed.
     */
    private boolean mustWaitUnmatched(PeerReceives from, long flags, long tag) {
        return waiting.isOverShare(from) && from.peer().frames() == null && from.firstPull() == null
            && !awaits(from) && waiting.matcher(flags).findPosted(
                (flags & Flags.TAGGED) != 0 ? tag : 0, from.peer().source()) != null;
    }

    /** Stores a message of a peer without credit, or pauses it. */
    private void keep(PeerReceives from, long flags, long tag, long data, long length, Placement placement) {
        StoredMessage message = waiting.pause(from, flags, tag, data, length);
        placement.set(Placement.Action.PAUSE, 0, 0, message.index | STORED_TOKEN);
        again(from, length, placement);
    }

    /** Sets the destination of a paused message, if it can resume now. */
    private void again(PeerReceives from, long length, Placement placement) {
        StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
        if (message == null || !message.paused || message.from != from) {
            // the engine has dropped the message, and will close the channel
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            return;
        }
        if (message.isHeldBack && !waiting.isOverShare(from)) {
            waiting.release(message, mode);
        }
        ReceiveOperation operation = message.receive;
        if (operation != null) {
            message.paused = false;
            message.inPlace = true;
            boolean isDropped = operation.reported;
            placement.set(
                Placement.Action.DIRECT, isDropped ? 0 : operation.address, isDropped ? null : operation.pieces,
                isDropped ? 0 : operation.placedBytes(), placement.token());
        } else if (hasRoom(from) || mode.mustStore(message) || mayHideAwaited(message)) {
            message.paused = false;
            message.block = length == 0 ? 0 : store.takeBlock(length);
            placement.set(Placement.Action.STORE, message.block, length, placement.token());
        }
    }

    private boolean hasRoom(PeerReceives from) {
        long missing = from.held().missingBytes();
        if (missing <= 0) {
            return true;
        }
        if (store.budget().take(missing, from.held().isOfUnknownPeer())) {
            from.held().extend(missing);
            return true;
        }
        long most = from.held().isOfUnknownPeer() ? store.budget().windowBytes() : AWAITED_BYTES;
        return missing <= most && awaits(from);
    }

    /** Whether a receive may wait for what is behind a message, and there is room for the message beyond the budget. */
    private boolean mayHideAwaited(StoredMessage message) {
        PeerReceives from = message.from;
        if (from.held().isOfUnknownPeer() || waiting.posted() == 0 || !store.isStuck()
            || waiting.matcher(message.flags).findPosted(message.tag(), message.source()) != null) {
            return false;
        }
        long missing = from.held().missingBytes();
        if (store.budget().takeBeyond(missing)) {
            from.held().extend(missing);
            from.peer().context().onReadBeyondBudget(from.peer(), missing);
            return true;
        }
        if (store.mustReport()) {
            from.peer().context().onBudgetUsedUp(from.peer());
        }
        return false;
    }

    /** Whether an operation of this side can end only after more bytes of the peer. */
    private static boolean awaits(PeerReceives from) {
        return from.peer().channel() != null && from.peer().channel().awaitsPeer();
    }

    void arrivedAt(PeerReceives from, Placement placement, long timeNs) {
        ReceiveOperation operation;
        if ((placement.token() & STORED_TOKEN) == 0) {
            operation = pool.find(placement.token());
        } else {
            StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
            if (message == null || message.from != from) {
                return;
            }
            message.timeNs = timeNs;
            operation = message.receive;
        }
        if (operation != null) {
            operation.messageTimeNs = timeNs;
        }
    }

    void onPlaced(PeerReceives from, Placement placement) {
        if ((placement.token() & STORED_TOKEN) == 0) {
            ReceiveOperation operation = pool.find(placement.token());
            if (operation != null && operation.state == ReceiveState.STREAMING) {
                from.removePull(operation);
                from.passed(operation.messageLength);
                ends.end(operation);
            }
            return;
        }
        StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
        if (message == null || message.state != StoredMessage.FILLING || message.from != from) {
            return;
        }
        message.state = StoredMessage.STORED;
        if (message.receive != null) {
            from.removePull(message.receive);
            waiting.deliver(message.receive, message);
        } else if (message.isHeldBack) {
            waiting.release(message, mode);
        }
    }

    void onAborted(PeerReceives from, Placement placement, int errno) {
        if ((placement.token() & STORED_TOKEN) == 0) {
            ReceiveOperation operation = pool.find(placement.token());
            if (operation != null && operation.state == ReceiveState.STREAMING) {
                from.removePull(operation);
                from.passed(operation.messageLength);
                ends.fail(operation, 0, errno);
            }
            return;
        }
        StoredMessage message = store.message(placement.token() & ~STORED_TOKEN);
        if (message != null && message.state == StoredMessage.FILLING && message.from == from) {
            if (message.receive != null) {
                from.removePull(message.receive);
            }
            waiting.abort(message, errno);
        }
    }
}
