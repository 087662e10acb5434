package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.PeekFlags;
import org.jfabric.client.PrefixMode;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;

/**
 * Submits the operations of an endpoint with a mode that changes what the application gives: buffers of messages begin
 * with a prefix ({@link Mode#MSG_PREFIX}), contexts are memory ({@link Mode#CONTEXT}, {@link Mode#CONTEXT2}). It checks
 * both, and posts the buffers without their prefix.
 *
 * <p>A class of its own, so that all other endpoints have neither a test nor a field for it. Owner: as
 * {@link Submission}.
 */
class ModeSubmission extends Submission {
    private static final long CONTEXTS = Mode.CONTEXT | Mode.CONTEXT2;

    private final long prefixBytes;
    /** Bytes of memory that the context of a send names; 0 if any value will do. */
    private final int sendContextBytes;
    private final int receiveContextBytes;
    /** Whether a claim names its message by number, and not by the context of a peek. */
    private final boolean claimsByNumber;
    /** The context of the endpoint. */
    private final long endpointContext;

    ModeSubmission(
        Info info, EndpointPort port, EndpointBindings bindings, LocalMemory memory, long maxMsgSize, int injectSize,
        long endpointContext) {
        super(info, port, bindings, memory, maxMsgSize, injectSize);
        this.prefixBytes = PrefixMode.bytes(info);
        this.sendContextBytes = contextBytes(info.mode(), info.txAttr().mode());
        this.receiveContextBytes = contextBytes(info.mode(), info.rxAttr().mode());
        this.claimsByNumber = BufferedMode.isAskedFor(info);
        this.endpointContext = endpointContext;
    }

    /** Whether an endpoint has one of the modes. */
    static boolean isNeeded(Info info) {
        return (info.mode() & CONTEXTS) != 0 || PrefixMode.bytes(info) != 0;
    }

    private static int contextBytes(long mode, long ofDirection) {
        long modes = ofDirection == 0 ? mode : mode & ofDirection;
        return (modes & Mode.CONTEXT2) != 0 ? OperationContext.LENGTH_2
            : (modes & Mode.CONTEXT) != 0 ? OperationContext.LENGTH : 0;
    }

    @Override
    int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        return len < prefixBytes || !isValid(sendContextBytes, flags, context) ? -FabricErrno.EINVAL
            : super.send(flags, buf + prefixBytes, len - prefixBytes, destAddr, tag, data,
                carried(sendContextBytes, flags, context));
    }

    @Override
    int inject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        int prefix = (int) prefixBytes;
        return len < prefix || offset < 0 || offset > Integer.MAX_VALUE - prefix ? -FabricErrno.EINVAL
            : super.inject(flags, source, offset + prefix, len - prefix, destAddr, tag, data, context);
    }

    /** What was claimed is memory of the driver, and has no prefix. */
    @Override
    int commitClaim(long flags, int length, long destAddr, long tag, long data, long context) {
        if (!isValid(sendContextBytes, flags, context)) {
            abortClaim();
            return -FabricErrno.EINVAL;
        }
        return super.commitClaim(
            flags, length, destAddr, tag, data, carried(sendContextBytes, flags, context));
    }

    @Override
    int post(WorkRequest work) {
        boolean isReceive = work.kind == WorkRequest.RECEIVE;
        int contextBytes = isReceive ? receiveContextBytes : sendContextBytes;
        if (isReceive && (work.flags & PeekFlags.ANY) != 0) {
            if (!isValidOfPeek(work.flags, work.context)) {
                return -FabricErrno.EINVAL;
            }
        } else if (isValid(contextBytes, work.flags, work.context)) {
            work.context = carried(contextBytes, work.flags, work.context);
        } else {
            return -FabricErrno.EINVAL;
        }
        if (prefixBytes != 0 && (isReceive || work.kind == WorkRequest.SEND)) {
            if (work.count == 0 || work.pieces[1] < prefixBytes) {
                return -FabricErrno.EINVAL;
            }
            if ((work.flags & Flags.MULTI_RECV) == 0) {
                work.pieces[0] += prefixBytes;
                work.pieces[1] -= prefixBytes;
            }
        }
        return super.post(work);
    }

    @Override
    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        boolean isPeek = (flags & PeekFlags.ANY) != 0;
        if (!(isPeek ? isValidOfPeek(flags, context) : isValid(receiveContextBytes, flags, context))) {
            return -FabricErrno.EINVAL;
        }
        if (isPeek && len == 0) {
            return super.receive(flags, buf, 0, srcAddr, tag, ignore, context);
        }
        if (len < prefixBytes) {
            return -FabricErrno.EINVAL;
        }
        if ((flags & Flags.MULTI_RECV) != 0) {
            // each message in the buffer has a prefix of its own, which the driver leaves free
            return super.receive(flags, buf, len, srcAddr, tag, ignore, context);
        }
        return super.receive(flags, buf + prefixBytes, len - prefixBytes, srcAddr, tag, ignore,
            isPeek ? context : carried(receiveContextBytes, flags, context));
    }

    /** Every peek has an entry, so its context matters; a claim of a buffered message brings a number instead. */
    private boolean isValidOfPeek(long flags, long context) {
        return claimsByNumber || isValid(receiveContextBytes, flags | Flags.COMPLETION, context);
    }

    /** Whether an operation may have that context: memory, unless no entry of a success will carry it. */
    private boolean isValid(int contextBytes, long flags, long context) {
        // the end of a multi-receive buffer always has an entry
        return contextBytes == 0 || (flags & (Flags.COMPLETION | Flags.MULTI_RECV)) == 0
            || isMemory(context, contextBytes);
    }

    private boolean isMemory(long context, int contextBytes) {
        return (context & (OperationContext.ALIGNMENT - 1)) == 0 && memory.holds(context, contextBytes);
    }

    /**
     * The context that entries of an operation carry: one that is not valid is ignored, and an error entry then has
     * that of the endpoint.
     */
    private long carried(int contextBytes, long flags, long context) {
        return contextBytes == 0 || (flags & (Flags.COMPLETION | Flags.MULTI_RECV)) != 0
            || isMemory(context, contextBytes) ? context : endpointContext;
    }
}
