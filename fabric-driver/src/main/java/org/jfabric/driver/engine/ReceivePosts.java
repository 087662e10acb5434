package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.client.PeekFlags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.resource.RegionTable;

/**
 * Takes the receives of one endpoint: looks at what they name and matches them with what is there already.
 *
 * <p>Owner: progress agent.
 */
final class ReceivePosts {
    private final Receiver receiver;
    private final RegionTable regions;
    private final ReceivePool pool;
    private final Sources sources;
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final MultiReceives multi;
    private final Peeks peeks;
    private final BufferedReceives buffered;

    ReceivePosts(
        Receiver receiver, RegionTable regions, ReceivePool pool, Sources sources, TagMatcher tagged,
        TagMatcher untagged, MultiReceives multi, Peeks peeks, BufferedReceives buffered) {
        this.receiver = receiver;
        this.regions = regions;
        this.pool = pool;
        this.sources = sources;
        this.tagged = tagged;
        this.untagged = untagged;
        this.multi = multi;
        this.peeks = peeks;
        this.buffered = buffered;
    }

    /** As {@link Receiver#receive}. */
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, buf, len, context);
        if (buffered != null) {
            postBuffered(operation, srcAddr, tag, ignore);
        } else if ((flags & PeekFlags.ANY) != 0) {
            peeks.execute(operation, srcAddr, tag, ignore);
        } else if (operation.attach(regions)) {
            post(operation, srcAddr, tag, ignore);
        } else {
            receiver.fail(operation, 0, FabricErrno.EFAULT);
        }
        return 0;
    }

    /** As {@link Receiver#receiveVector}. */
    int receiveVector(
        long flags, long[] pieces, int count, long srcAddr, long tag, long ignore, long context) {
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, 0, 0, context);
        boolean isThere = operation.scatterOver(regions, pieces, count);
        if (buffered != null) {
            // only a claim looks at it
            operation.endErrno = isThere ? 0 : FabricErrno.EFAULT;
            postBuffered(operation, srcAddr, tag, ignore);
        } else if (!isThere) {
            receiver.fail(operation, 0, FabricErrno.EFAULT);
        } else if ((flags & PeekFlags.ANY) != 0) {
            peeks.execute(operation, srcAddr, tag, ignore);
        } else {
            post(operation, srcAddr, tag, ignore);
        }
        return 0;
    }

    /** Of a receive that claims nothing only the tag counts, so an untagged one has no use. */
    private void postBuffered(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        if ((operation.flags & PeekFlags.ANY) != 0) {
            buffered.claim(operation, tag);
            return;
        }
        int source = sources.find(srcAddr);
        operation.flags &= ~Flags.MULTI_RECV;
        if ((operation.flags & Flags.TAGGED) == 0) {
            receiver.fail(operation, 0, FabricErrno.EOPNOTSUPP);
        } else if (source == TagMatcher.UNKNOWN_SOURCE) {
            receiver.fail(operation, 0, FabricErrno.EINVAL);
        } else {
            operation.accept(tag, ignore, source);
            buffered.post(operation);
        }
    }

    private void post(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        int source = sources.find(srcAddr);
        if (source == TagMatcher.UNKNOWN_SOURCE) {
            receiver.fail(operation, 0, FabricErrno.EINVAL);
            return;
        }
        boolean isTagged = (operation.flags & Flags.TAGGED) != 0;
        operation.accept(isTagged ? tag : 0, isTagged ? ignore : 0, source);
        if ((!isTagged || operation.isBuffer()) && multi.post(operation, ignore)) {
            return;
        }
        UnexpectedMessage message = (isTagged ? tagged : untagged).postReceive(operation);
        if (message != null) {
            receiver.deliver(operation, (StoredMessage) message);
        }
    }
}
