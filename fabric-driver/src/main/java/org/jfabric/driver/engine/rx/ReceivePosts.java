package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.match.UnexpectedMessage;
import org.jfabric.driver.engine.peer.PeerTable;
import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Takes the receives of one endpoint: looks at what they name and matches them with what is there already.
 *
 * <p>Owner: progress agent.
 */
final class ReceivePosts {
    private final Receiver receiver;
    private final RegionTable regions;
    private final PeerTable peers;
    private final ReceivePool pool;
    private final boolean directed;
    private final TagMatcher tagged;
    private final TagMatcher untagged;
    private final MultiReceives multi;

    ReceivePosts(
        Receiver receiver, RegionTable regions, PeerTable peers, ReceivePool pool, boolean directed, TagMatcher tagged,
        TagMatcher untagged, MultiReceives multi) {
        this.receiver = receiver;
        this.regions = regions;
        this.peers = peers;
        this.pool = pool;
        this.directed = directed;
        this.tagged = tagged;
        this.untagged = untagged;
        this.multi = multi;
    }

    /** As {@link Receiver#receive}. */
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        ReceiveOperation operation = pool.take();
        if (operation == null) {
            return -FabricErrno.EAGAIN;
        }
        operation.posted(flags, buf, len, context);
        if (len != 0) {
            RegisteredRegion region = regions.find(buf, len);
            if (region == null) {
                receiver.fail(operation, 0, FabricErrno.EFAULT);
                return 0;
            }
            region.retain();
            operation.region = region;
            operation.address = region.address() + MemoryRegionDescriptor.offset(buf);
        }
        post(operation, srcAddr, tag, ignore);
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
        if (!operation.scatterOver(regions, pieces, count)) {
            receiver.fail(operation, 0, FabricErrno.EFAULT);
            return 0;
        }
        post(operation, srcAddr, tag, ignore);
        return 0;
    }

    private void post(ReceiveOperation operation, long srcAddr, long tag, long ignore) {
        int source = TagMatcher.ANY_SOURCE;
        if (directed && srcAddr != -1L) {
            if (!peers.isValid(srcAddr)) {
                receiver.fail(operation, 0, FabricErrno.EINVAL);
                return;
            }
            source = (int) srcAddr;
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
