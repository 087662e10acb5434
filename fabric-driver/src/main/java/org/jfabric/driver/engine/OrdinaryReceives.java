package org.jfabric.driver.engine;

import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Receives of one message each, into a buffer of their own.
 *
 * <p>Owner: progress agent.
 */
final class OrdinaryReceives extends ReceiveMode {
    private final RegionTable regions;
    private final ReceivePool pool;
    private final ReceiveEntries entries;
    private final WaitingMessages waiting;
    private final Sources sources;
    private final Peeks peeks;
    private final TagMatcher tagged;
    private final TagMatcher untagged;

    OrdinaryReceives(
        RegionTable regions, ReceivePool pool, ReceiveEntries entries, EndedReceives ends, WaitingMessages waiting,
        Sources sources, Peeks peeks) {
        super(ends);
        this.regions = regions;
        this.pool = pool;
        this.entries = entries;
        this.waiting = waiting;
        this.sources = sources;
        this.peeks = peeks;
        this.tagged = waiting.tagged();
        this.untagged = waiting.untagged();
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if (!accept(receive, srcAddr, tag, ignore)) {
            return;
        }
        if (receive.isBuffer()) {
            // the endpoint does not have FI_MULTI_RECV
            ends.fail(receive, 0, FabricErrno.EBADFLAGS);
        } else {
            match(receive);
        }
    }

    /** Attaches the memory of a receive and sets its matching criteria; returns false if it has ended with an error. */
    boolean accept(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        if (receive.pieces == null && !receive.attach(regions)) {
            ends.fail(receive, 0, FabricErrno.EFAULT);
            return false;
        }
        int source = sources.find(srcAddr);
        if (source == TagMatcher.UNKNOWN_SOURCE) {
            ends.fail(receive, 0, FabricErrno.EINVAL);
            return false;
        }
        boolean isTagged = (receive.flags & Flags.TAGGED) != 0;
        receive.accept(isTagged ? tag : 0, isTagged ? ignore : 0, source);
        return true;
    }

    /** Gives an accepted receive the oldest message that it accepts, or posts it. */
    void match(ReceiveOperation receive) {
        boolean isTagged = (receive.flags & Flags.TAGGED) != 0;
        TagMatcher matcher = isTagged ? tagged : untagged;
        StoredMessage message = (StoredMessage) matcher.postReceive(receive);
        while (message != null && waiting.holdBack(message)) {
            message = (StoredMessage) matcher.postReceive(receive);
        }
        if (message != null) {
            waiting.deliver(receive, message);
        }
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        peeks.execute(receive, srcAddr, tag, ignore);
    }

    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        return (ReceiveOperation) ((flags & Flags.TAGGED) != 0
            ? tagged.arrive(tag, from.peer().source()) : untagged.arrive(0, from.peer().source()));
    }

    @Override
    void complete(ReceiveOperation receive) {
        entries.complete(receive);
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        entries.found(peek, buf);
    }

    @Override
    void fail(ReceiveOperation receive, long placed, int errno) {
        entries.error(receive, placed, errno);
    }

    @Override
    void release(ReceiveOperation receive) {
        receive.releaseMemory();
        pool.give(receive);
    }
}
