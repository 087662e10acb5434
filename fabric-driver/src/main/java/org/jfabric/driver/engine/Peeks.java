package org.jfabric.driver.engine;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/**
 * Peek, claim and discard of unexpected messages (fi_tagged(3), Flags).
 *
 * <pre>
 *   waiting ---- PEEK -------------------> entry, still waiting
 *      |-------- PEEK | DISCARD ---------> entry, dropped
 *      '-------- PEEK | CLAIM -----------> entry, claimed under the context
 *   claimed ---- CLAIM ------------------> an ordinary receive of this message
 *      '-------- CLAIM | DISCARD --------> entry, dropped
 * </pre>
 *
 * <p>Such a receive is never posted: it ends in this call, except for the notification of the message's sender. A
 * claimed message stays where it is, in the store or at its sender, and keeps its credit; no receive and no peek finds
 * it. The operation context of the peek identifies it; a context identifies one claim at a time.
 *
 * <p>Owner: progress agent.
 */
final class Peeks {
    private static final int EXPECTED_CLAIMS = 16;

    private final RegionTable regions;
    private final ReceivePool pool;
    private final EndedReceives ends;
    private final WaitingMessages waiting;
    private final Sources sources;
    /** By context. It grows to the greatest number ever claimed, up to the limit, and allocates nothing else. */
    private final Long2ObjectHashMap<StoredMessage> claims =
        new Long2ObjectHashMap<>(EXPECTED_CLAIMS, 0.65f, false);
    /** A client that claims and never fetches must not make the driver's memory grow. */
    private final int limit;

    Peeks(
        RegionTable regions, ReceivePool pool, EndedReceives ends, WaitingMessages waiting, Sources sources,
        int limit) {
        this.regions = regions;
        this.pool = pool;
        this.ends = ends;
        this.waiting = waiting;
        this.sources = sources;
        this.limit = limit;
    }

    /** Does what a receive with one of {@link PeekFlags#ANY} asks for; its record ends here. */
    void execute(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        // at most one message is received here, whatever other flags a faulty client sets
        long flags = operation.flags & ~Flags.MULTI_RECV;
        operation.flags = flags;
        int refusal = PeekFlags.check(flags, operation.context);
        if (refusal != 0) {
            ends.fail(operation, 0, -refusal);
        } else if ((flags & Flags.DISCARD) == 0 && operation.pieces == null && !operation.attach(regions)) {
            // checked first, so that the claim stays valid and the message can be fetched into other memory
            ends.fail(operation, 0, FabricErrno.EFAULT);
        } else if ((flags & Flags.PEEK) != 0) {
            peek(operation, srcAddr, tag, ignore);
        } else {
            fetch(operation);
        }
    }

    /** The message that {@link #execute} would find, or null. */
    StoredMessage target(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        if ((operation.flags & Flags.PEEK) == 0) {
            return claims.get(operation.context);
        }
        int source = sources.find(srcAddr);
        boolean isTagged = (operation.flags & Flags.TAGGED) != 0;
        return source == TagMatcher.UNKNOWN_SOURCE ? null : (StoredMessage) waiting.matcher(operation.flags)
            .peek(isTagged ? tag : 0, isTagged ? ignore : 0, source);
    }

    private void peek(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        boolean claim = (operation.flags & Flags.CLAIM) != 0;
        if (claim && claims.containsKey(operation.context)) {
            ends.fail(operation, 0, FabricErrno.EBUSY);
            return;
        }
        int source = sources.find(srcAddr);
        if (source == TagMatcher.UNKNOWN_SOURCE) {
            ends.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        boolean isTagged = (operation.flags & Flags.TAGGED) != 0;
        TagMatcher matcher = waiting.matcher(operation.flags);
        StoredMessage message = (StoredMessage) matcher.peek(isTagged ? tag : 0, isTagged ? ignore : 0, source);
        if (message == null) {
            ends.fail(operation, 0, FabricErrno.ENOMSG);
        } else if ((operation.flags & Flags.DISCARD) != 0) {
            matcher.removeUnexpected(message);
            waiting.discard(operation, message);
        } else if (claim && claims.size() == limit) {
            ends.fail(operation, 0, FabricErrno.ENOSPC);
        } else {
            WaitingMessages.describe(operation, message);
            if (claim) {
                matcher.claim(message);
                claims.put(operation.context, message);
                operation.state = ReceiveState.CLAIMED;
            }
            pool.ending(operation);
            operation.mode.found(operation, copy(message, operation));
            ends.release(operation);
        }
    }

    /** Copies a stored message into a buffer of one piece. Returns the buffer, or 0 if nothing was copied. */
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
            ends.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        claims.remove(operation.context);
        waiting.fetch(operation, message);
    }

    /** An access to shared memory failed after the claim. The claim is valid, so its entry is written, without data. */
    void recover(ReceiveOperation operation) {
        pool.ending(operation);
        operation.mode.found(operation, 0);
        ends.release(operation);
    }
}
