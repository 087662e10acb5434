package org.jfabric;

import org.jfabric.client.PeekFlags;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Posts the operations of an endpoint that a counter starts: triggered ones, whose call has a {@link TriggeredContext},
 * and deferred work.
 *
 * <p>Owner: as {@link Submission}; a request is filled between its {@code enter} and {@code exit}.
 */
final class EndpointTriggers {
    private final Endpoint endpoint;

    EndpointTriggers(Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Posts a send; work is null for a triggered one. */
    int send(SendRequest request, long kind, TriggeredContext trigger, DeferredWork work) {
        long flags = flags(request.flags(), work);
        if ((flags & ~endpoint.messages().sendCall()) != 0) {
            return endpoint.messages().badFlags();
        }
        Submission sends = endpoint.sends();
        if (sends == null) {
            return endpoint.refused();
        }
        sends.enter();
        try {
            WorkRequest posted = sends.transmit(WorkRequest.SEND);
            if (!fill(posted, trigger, work) || !request.fill(posted)) {
                return -FabricErrno.EINVAL;
            }
            posted.flags = flags | kind | (work == null ? endpoint.messages().alwaysForSends() : 0);
            posted.tag = kind == Flags.TAGGED ? posted.tag : 0;
            return sends.post(posted);
        } finally {
            sends.exit();
        }
    }

    /** Posts a receive; work is null for a triggered one. */
    int receive(ReceiveRequest request, long kind, TriggeredContext trigger, DeferredWork work) {
        boolean isTagged = kind == Flags.TAGGED;
        long flags = flags(request.flags(), work);
        boolean isMulti = (flags & Flags.MULTI_RECV) != 0;
        long callFlags = isTagged || !request.isOnePiece() ? OperationFlags.RECV_CALL
            : endpoint.messages().untaggedRecvCall();
        if ((flags & PeekFlags.ANY) != 0 || (flags & ~callFlags) != 0) {
            return endpoint.messages().badFlags();
        }
        Submission receives = endpoint.usableReceives(kind);
        if (receives == null) {
            return endpoint.refused();
        }
        boolean isBuffered = endpoint.slab() != null;
        if (isBuffered && !isTagged) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (work != null && (isBuffered || isMulti)) {
            // their messages are counted by the endpoint's counter, one by one
            return -FabricErrno.ENOSYS;
        }
        receives.enterReceives();
        try {
            WorkRequest posted = receives.receive();
            if (!fill(posted, trigger, work) || !request.fill(posted)) {
                return -FabricErrno.EINVAL;
            }
            posted.flags = flags | kind | (work == null ? endpoint.messages().alwaysForRecvs() : 0);
            if (isBuffered) {
                posted.count = 0;
            }
            if (!isTagged) {
                posted.tag = 0;
                posted.ignore = isMulti ? endpoint.minMultiRecvBytes() : 0;
            }
            return receives.post(posted);
        } finally {
            receives.exitReceives();
        }
    }

    /** Flags of the operation: those of the call without the one that says that it is triggered. */
    static long flags(long requested, DeferredWork work) {
        return work == null ? requested & ~Flags.TRIGGER : requested;
    }

    /** Sets when an operation starts; false if that is not valid. */
    boolean fill(WorkRequest posted, TriggeredContext trigger, DeferredWork work) {
        if (trigger == null || !trigger.isValid(endpoint.domain())) {
            return false;
        }
        posted.isTriggered = true;
        posted.counterId = trigger.counter().id();
        posted.threshold = trigger.threshold();
        posted.workId = work == null ? 0 : work.id();
        Counter completion = work == null ? null : work.completionCounter();
        posted.completionId = completion == null ? 0 : completion.id();
        return true;
    }
}
