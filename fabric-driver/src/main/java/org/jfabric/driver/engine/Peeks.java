package org.jfabric.driver.engine;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.layout.Words;

/**
 * Looks at messages that came before a receive for them: peek, claim and discard (fi_tagged(3), Flags).
 *
 * <pre>
 *   waiting ---- PEEK -------------------> entry, still waiting
 *      |-------- PEEK | DISCARD ---------> entry, gone
 *      '-------- PEEK | CLAIM -----------> entry, claimed under the context
 *   claimed ---- CLAIM ------------------> an ordinary receive of this message
 *      '-------- CLAIM | DISCARD --------> entry, gone
 * </pre>
 *
 * <p>Such a receive is never posted: it ends in this call, but for what its sender has yet to be told. A claimed
 * message stays where it is, in the store or at its sender, and keeps its credit; no receive and no peek finds it. It
 * is known by the operation context of the peek, a value that stands for one claim at a time.
 *
 * <p>Owner: progress agent.
 */
final class Peeks {
    private static final int EXPECTED_CLAIMS = 16;

    private final Receiver receiver;
    private final RegionTable regions;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final UnexpectedStore store;
    private final Pulls pulls;
    private final ReachedLevels levels;
    private final Sources sources;
    /** By context; grows to the greatest number ever claimed, which the limit bounds; else it allocates nothing. */
    private final Long2ObjectHashMap<StoredMessage> claims =
        new Long2ObjectHashMap<>(EXPECTED_CLAIMS, 0.65f, false);
    /** A client that claims and never fetches must not make the driver's memory grow. */
    private final int limit;

    Peeks(
        Receiver receiver, RegionTable regions, ReceivePool pool, ReceiveEntries entries, UnexpectedStore store,
        Pulls pulls, ReachedLevels levels, Sources sources, int limit) {
        this.receiver = receiver;
        this.regions = regions;
        this.pool = pool;
        this.entries = entries;
        this.store = store;
        this.pulls = pulls;
        this.levels = levels;
        this.sources = sources;
        this.limit = limit;
    }

    /** Does what a receive with one of {@link PeekFlags#ANY} asks for; its record ends here. */
    void execute(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        // one message at most is received here, whatever else a broken client asks for
        long flags = operation.flags & ~Flags.MULTI_RECV;
        operation.flags = flags;
        int refusal = PeekFlags.check(flags, operation.context);
        if (refusal != 0) {
            receiver.fail(operation, 0, -refusal);
        } else if ((flags & Flags.DISCARD) == 0 && operation.pieces == null && !operation.attach(regions)) {
            // before anything else, so that a claim survives and can be fetched into other memory
            receiver.fail(operation, 0, FabricErrno.EFAULT);
        } else if ((flags & Flags.PEEK) != 0) {
            peek(operation, srcAddr, tag, ignore);
        } else {
            fetch(operation);
        }
    }

    private void peek(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        boolean claim = (operation.flags & Flags.CLAIM) != 0;
        if (claim && claims.containsKey(operation.context)) {
            receiver.fail(operation, 0, FabricErrno.EBUSY);
            return;
        }
        int source = sources.find(srcAddr);
        if (source == TagMatcher.UNKNOWN_SOURCE) {
            receiver.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        boolean isTagged = (operation.flags & Flags.TAGGED) != 0;
        TagMatcher matcher = receiver.matcher(operation.flags);
        StoredMessage message = (StoredMessage) matcher.peek(isTagged ? tag : 0, isTagged ? ignore : 0, source);
        if (message == null) {
            receiver.fail(operation, 0, FabricErrno.ENOMSG);
        } else if ((operation.flags & Flags.DISCARD) != 0) {
            matcher.removeUnexpected(message);
            discard(operation, message);
        } else if (claim && claims.size() == limit) {
            receiver.fail(operation, 0, FabricErrno.ENOSPC);
        } else {
            describe(operation, message);
            if (claim) {
                matcher.claim(message);
                claims.put(operation.context, message);
                operation.state = ReceiveOperation.CLAIMED;
            }
            pool.ending(operation);
            entries.found(operation, copy(message, operation));
            receiver.release(operation);
        }
    }

    /** Copies what is here of a message into a buffer of one piece; the buffer, or 0 if nothing was copied. */
    private static long copy(StoredMessage message, ReceiveOperation operation) {
        if (operation.length == 0 || operation.pieces != null || message.state != StoredMessage.STORED) {
            return 0;
        }
        Words.copy(message.block, operation.address, operation.placedBytes());
        return operation.buf;
    }

    private void fetch(ReceiveOperation operation) {
        StoredMessage message = claims.get(operation.context);
        // a message is claimed and fetched by calls of the same family
        if (message == null || ((message.flags ^ operation.flags) & Flags.TAGGED) != 0) {
            receiver.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        claims.remove(operation.context);
        fetch(operation, message);
    }

    /** Fetches or discards a claimed message. */
    void fetch(ReceiveOperation operation, StoredMessage message) {
        receiver.matcher(message.flags).removeUnexpected(message);
        if ((operation.flags & Flags.DISCARD) != 0) {
            discard(operation, message);
        } else if (message.state == StoredMessage.LOST) {
            describe(operation, message);
            int errno = message.errno;
            store.giveMessage(message);
            receiver.fail(operation, 0, errno);
        } else {
            receiver.deliver(operation, message);
        }
    }

    /** The application has consumed the message by giving it up: so its sender and our credit are told. */
    private void discard(ReceiveOperation operation, StoredMessage message) {
        describe(operation, message);
        switch (message.state) {
            case StoredMessage.STORED -> drop(operation, message);
            case StoredMessage.FILLING -> {
                // the link still writes into the block: operation and message go when it has ended
                operation.state = ReceiveOperation.FILLING;
                operation.filling = message;
                message.receive = operation;
                message.peer.addPull(operation);
                receiver.complete(operation);
            }
            case StoredMessage.ANNOUNCED -> {
                Peer peer = message.peer;
                message.peer = null;
                peer.held().announcementLeft();
                pulls.decline(operation, message.payload);
                store.giveMessage(message);
            }
            default -> {
                store.giveMessage(message);
                receiver.end(operation);
            }
        }
    }

    /** Gives up a message whose payload is in the store. */
    void drop(ReceiveOperation operation, StoredMessage message) {
        boolean awaited = message.awaited != 0;
        if (awaited) {
            levels.taking(message);
        }
        Peer peer = message.peer;
        message.peer = null;
        peer.left(message.length, message.epoch);
        store.giveMessage(message);
        if (operation.reported) {
            receiver.release(operation);
        } else {
            receiver.end(operation);
        }
        if (awaited) {
            levels.taken(0);
        }
    }

    /** An access to shared memory failed after the claim: it holds, so it must be told, if without data. */
    void recover(ReceiveOperation operation) {
        pool.ending(operation);
        entries.found(operation, 0);
        receiver.release(operation);
    }

    private static void describe(ReceiveOperation operation, StoredMessage message) {
        operation.message(message.peer, message.flags, message.tag(), message.data, message.length);
    }
}
