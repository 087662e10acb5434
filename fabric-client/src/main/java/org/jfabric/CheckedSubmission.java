package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.EndpointAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TagFormat;

/**
 * The submission of an endpoint that was opened with restrictions of API version 2.0 or later: every receive names its
 * source (FI_EXACT_DIRECTED_RECV), or tags are of the format FI_TAG_MPI. A call that does not keep to them is refused
 * with {@code FI_EINVAL}. Such an endpoint may have the modes of {@link ModeSubmission} too.
 *
 * <p>Owner: as {@link Submission}.
 */
final class CheckedSubmission extends ModeSubmission {
    private final boolean needsSource;
    private final boolean needsMpiTags;

    CheckedSubmission(
        Info info, EndpointPort port, EndpointBindings bindings, LocalMemory memory, long maxMsgSize, int injectSize,
        long endpointContext) {
        super(info, port, bindings, memory, maxMsgSize, injectSize, endpointContext);
        needsSource = needsSource(info);
        needsMpiTags = needsMpiTags(info);
    }

    /** Whether an endpoint needs these checks. */
    static boolean isNeeded(Info info) {
        return needsSource(info) || needsMpiTags(info);
    }

    private static boolean needsSource(Info info) {
        return info.fabricAttr().isVersion2() && (info.caps() & Flags.EXACT_DIRECTED_RECV) != 0;
    }

    private static boolean needsMpiTags(Info info) {
        EndpointAttr attr = info.epAttr();
        return info.fabricAttr().isVersion2() && attr.memTagFormat() == TagFormat.MPI;
    }

    @Override
    int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        return isTagRefused(flags, tag) ? -FabricErrno.EINVAL
            : super.send(flags, buf, len, destAddr, tag, data, context);
    }

    @Override
    int inject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        return isTagRefused(flags, tag) ? -FabricErrno.EINVAL
            : super.inject(flags, source, offset, len, destAddr, tag, data, context);
    }

    @Override
    int commitClaim(long flags, int length, long destAddr, long tag, long data, long context) {
        if (isTagRefused(flags, tag)) {
            abortClaim();
            return -FabricErrno.EINVAL;
        }
        return super.commitClaim(flags, length, destAddr, tag, data, context);
    }

    @Override
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        return isReceiveRefused(flags, srcAddr, tag, ignore) ? -FabricErrno.EINVAL
            : super.receive(flags, buf, len, srcAddr, tag, ignore, context);
    }

    @Override
    int post(WorkRequest work) {
        boolean isRefused = switch (work.kind) {
            case WorkRequest.RECEIVE -> isReceiveRefused(work.flags, work.address, work.tag, work.ignore);
            case WorkRequest.SEND -> isTagRefused(work.flags, work.tag);
            default -> false;
        };
        return isRefused ? -FabricErrno.EINVAL : super.post(work);
    }

    private boolean isTagRefused(long flags, long tag) {
        return needsMpiTags && (flags & Flags.TAGGED) != 0 && !TagFormat.isMpiTag(tag);
    }

    /** Untagged multi-receive buffers have another number in the place of the mask. */
    private boolean isReceiveRefused(long flags, long srcAddr, long tag, long ignore) {
        return needsSource && srcAddr == FabricAddress.ADDR_UNSPEC
            || isTagRefused(flags, tag)
            || needsMpiTags && (flags & Flags.TAGGED) != 0 && !TagFormat.isMpiMask(ignore);
    }
}
