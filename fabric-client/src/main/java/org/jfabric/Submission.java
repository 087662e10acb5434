package org.jfabric;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.GroupPort;
import org.jfabric.client.UseLock;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.Words;

/**
 * Submits the operations of an enabled endpoint: checks their arguments, takes completion credit and posts them into
 * the endpoint's port.
 *
 * <p>Owner: for each direction the one submitting thread of its completion queue; with a lock any thread.
 */
class Submission {
    /** Of the domain. */
    protected final LocalMemory memory;
    private final EndpointPort port;
    /** Null if the endpoint does not send. */
    private final CompletionCredits sends;
    /** Null if the endpoint does not receive. */
    private final CompletionCredits receives;
    private UseLock sendLock;
    /** What the endpoint has of a shared transmit context; null without one. */
    private final SharedTransmitContext.Share share;
    /** There is a lock or a shared context, so that a send takes the longer way. */
    private boolean isSendGuarded;
    private UseLock receiveLock;
    private final long maxMsgSize;
    private final int injectSize;
    /** Whether sends name their destination; a connected endpoint ignores it. */
    private final boolean needsDest;
    /** Bytes copied here are taken before the call returns. */
    private final MemorySegment scratch;
    private final long scratchAddress;
    private final long[] oneCell = new long[1];
    /** The records of operations that are no calls of the port, one for each direction. */
    private final WorkRequest transmitWork = new WorkRequest();
    private final WorkRequest receiveWork = new WorkRequest();
    /** Why no send is posted now, a positive errno: closed, or a claim is open; 0 otherwise. */
    private int sendRefusal;
    /** Why no receive is posted now, a positive errno: closed; 0 otherwise. */
    private int receiveRefusal;
    /** Where the payload of the open claim is. */
    private long claimedAddress;

    Submission(
        Info info, EndpointPort port, EndpointBindings bindings, LocalMemory memory, long maxMsgSize, int injectSize) {
        this.port = port;
        this.sends = info.transmits() ? bindings.txCq().credits() : null;
        this.receives = bindings.receiveCredits();
        this.share = bindings.transmitContext() == null ? null : bindings.transmitContext().open(port);
        startLocking();
        this.memory = memory;
        this.maxMsgSize = maxMsgSize;
        this.injectSize = injectSize;
        this.needsDest = !info.connects();
        this.scratch = Arena.ofAuto().allocate(sends == null ? 1 : Math.max(1, injectSize), Long.BYTES);
        this.scratchAddress = scratch.address();
    }

    /** Takes the locks of its queues, if they have any; no thread submits during this call. */
    final void startLocking() {
        sendLock = sends == null ? null : sends.lock();
        receiveLock = receives == null ? null : receives.lock();
        isSendGuarded = sendLock != null || share != null;
    }

    /** The submission of an endpoint that was enabled. */
    static Submission open(
        Info info, EndpointPort port, EndpointBindings bindings, LocalMemory memory, long maxMsgSize, int injectSize,
        long context) {
        if (CheckedSubmission.isNeeded(info)) {
            return new CheckedSubmission(info, port, bindings, memory, maxMsgSize, injectSize, context);
        }
        return ModeSubmission.isNeeded(info)
            ? new ModeSubmission(info, port, bindings, memory, maxMsgSize, injectSize, context)
            : new Submission(info, port, bindings, memory, maxMsgSize, injectSize);
    }

    int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if ((flags & Flags.INJECT) != 0) {
            return sendCopied(flags, buf, len, destAddr, tag, data, context);
        }
        if (len < 0 || len > maxMsgSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest) {
            return -FabricErrno.EINVAL;
        }
        if (isSendGuarded) {
            return sendGuarded(flags, buf, len, destAddr, tag, data, context);
        }
        assert sends.guard().enter();
        int result = sends.availableUnsampled() ? port.send(flags, buf, len, destAddr, tag, data, context)
            : sendSampled(flags, buf, len, destAddr, tag, data, context);
        if (result == 0) {
            sends.take();
        }
        assert sends.guard().exit();
        return result;
    }

    /** A send that is a sample, or that finds no slot. */
    private int sendSampled(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        if (!sends.available()) {
            return -FabricErrno.EAGAIN;
        }
        sends.takeSample();
        port.beginSample(System.nanoTime());
        int result = port.send(flags, buf, len, destAddr, tag, data, context);
        port.endSample(result == 0);
        return result;
    }

    private int sendGuarded(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        sends.enter();
        try {
            int refusal = refusedSend();
            return refusal != 0 ? refusal : sent(port.send(flags, buf, len, destAddr, tag, data, context));
        } finally {
            sends.exit();
        }
    }

    int send(long flags, IoVec iov, long destAddr, long tag, long data, long context) {
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        if (iov.count() <= 1) {
            return send(flags, iov.firstAddress(), iov.lengthBytes(), destAddr, tag, data, context);
        }
        sends.enter();
        try {
            WorkRequest work = transmit(WorkRequest.SEND);
            work.count = iov.copyTo(work.pieces);
            work.data = data;
            return post(work, flags, destAddr, tag, 0, context);
        } finally {
            sends.exit();
        }
    }

    /** Posts a send of one piece of registered memory whose bytes are taken before the return. */
    private int sendCopied(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        sends.enter();
        try {
            WorkRequest work = transmit(WorkRequest.SEND);
            work.piece(buf, len);
            work.data = data;
            fill(work, flags, destAddr, tag, 0, context);
            return postTransfer(work);
        } finally {
            sends.exit();
        }
    }

    /** The record of an operation of the transmit side, to be filled and posted after {@link #enter()}. */
    WorkRequest transmit(int kind) {
        return transmitWork.begin(kind);
    }

    /** The record of a receive, to be filled and posted after {@link #enterReceives()}. */
    WorkRequest receive() {
        return receiveWork.begin(WorkRequest.RECEIVE);
    }

    private int post(WorkRequest work, long flags, long address, long tag, long ignore, long context) {
        fill(work, flags, address, tag, ignore, context);
        return post(work);
    }

    private static void fill(WorkRequest work, long flags, long address, long tag, long ignore, long context) {
        work.flags = flags;
        work.address = address;
        work.tag = tag;
        work.ignore = ignore;
        work.context = context;
    }

    /**
     * Posts the operation of a record, after {@link #enter()} or {@link #enterReceives()}. One that a counter starts
     * takes its slot of the completion queue now.
     */
    int post(WorkRequest work) {
        if (work.kind != WorkRequest.RECEIVE) {
            return postTransfer(work);
        }
        int refusal = refusal(receives, receiveRefusal);
        return refusal != 0 ? refusal : taken(receives, port.post(work));
    }

    private int postTransfer(WorkRequest work) {
        long length = work.lengthBytes();
        boolean isInjected = work.isInjected();
        if (length < 0 || length > (isInjected ? injectSize : maxMsgSize)
            || work.address == FabricAddress.ADDR_UNSPEC && needsDest) {
            return -FabricErrno.EINVAL;
        }
        if (isInjected) {
            if (sendRefusal != 0) {
                // the bytes of an open claim may be where these would be copied to
                return -sendRefusal;
            }
            if (!memory.gather(work.pieces, work.count, scratchAddress)) {
                return -FabricErrno.EFAULT;
            }
            work.inject(scratchAddress, (int) length);
        }
        return submit(work);
    }

    /** Posts a transfer whose bytes lie in a buffer of the application, after {@link #enter()}. */
    int inject(WorkRequest work, DirectBuffer source, int offset, int len) {
        if (len < 0 || len > injectSize || work.address == FabricAddress.ADDR_UNSPEC && needsDest || source == null
            || offset < 0 || offset > source.capacity() - len) {
            return -FabricErrno.EINVAL;
        }
        if (sendRefusal != 0) {
            return -sendRefusal;
        }
        Words.copy(source.byteArray(), source.addressOffset() + offset, scratchAddress, len);
        // only the address was in use: memory whose last user was this call must not go before
        Reference.reachabilityFence(source);
        work.inject(scratchAddress, len);
        return submit(work);
    }

    private int submit(WorkRequest work) {
        int refusal = refusedSend();
        if (refusal != 0) {
            return refusal;
        }
        boolean isInject = work.kind == WorkRequest.SEND && work.isInjected() && !work.isTriggered;
        return sent(isInject ? port.inject(
            work.flags, work.injected, work.injectedLength, work.address, work.tag, work.data, work.context)
            : port.post(work));
    }

    /** Begins the posting of transfers whose arguments are gathered outside of here. */
    void enter() {
        sends.enter();
    }

    /** Ends what {@link #enter()} began. */
    void exit() {
        sends.exit();
    }

    /** Begins the posting of a receive whose arguments are gathered outside of here. */
    void enterReceives() {
        receives.enter();
    }

    /** Ends what {@link #enterReceives()} began. */
    void exitReceives() {
        receives.exit();
    }

    GroupPort groupPort(long destAddr) {
        return port.groupPort(destAddr);
    }

    int inject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        if (len < 0 || len > injectSize || destAddr == FabricAddress.ADDR_UNSPEC && needsDest || source == null
            || offset < 0 || offset > source.capacity() - len) {
            return -FabricErrno.EINVAL;
        }
        sends.enter();
        try {
            int refusal = refusedSend();
            if (refusal != 0) {
                return refusal;
            }
            int result = source.byteArray() != null
                ? injectArray(flags, source, offset, len, destAddr, tag, data, context)
                : port.inject(flags, source.addressOffset() + offset, len, destAddr, tag, data, context);
            return sent(result);
        } finally {
            // only the address was in use: memory whose last user was this call must not go before
            Reference.reachabilityFence(source);
            sends.exit();
        }
    }

    /** Ports take native addresses, so what lies in an array is copied to where the port takes the payload from. */
    private int injectArray(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data, long context) {
        long payload = port.claimInject(len, scratchAddress);
        if (payload < 0) {
            return (int) payload;
        }
        Words.copy(source.byteArray(), source.addressOffset() + offset, payload, len);
        return port.commitInject(flags, payload, len, destAddr, tag, data, context);
    }

    /** Claims room for a payload and shows it; the slot for its entry is taken already here. */
    int claim(int length, UnsafeBuffer buffer) {
        if (length < 0 || length > injectSize) {
            return -FabricErrno.EINVAL;
        }
        sends.enter();
        try {
            int refusal = refusedSend();
            if (refusal != 0) {
                return refusal;
            }
            long payload = port.claimInject(length, scratchAddress);
            if (payload < 0) {
                return sent((int) payload);
            }
            sent(0);
            sendRefusal = FabricErrno.EBUSY;
            claimedAddress = payload;
            buffer.wrap(payload, length);
            return 0;
        } finally {
            sends.exit();
        }
    }

    /** Posts what was claimed, with a length that is not greater; the claim ends whatever the answer is. */
    int commitClaim(long flags, int length, long destAddr, long tag, long data, long context) {
        sends.enter();
        try {
            if (sendRefusal != FabricErrno.EBUSY) {
                return -sendRefusal;
            }
            int result = port.commitInject(flags, claimedAddress, length, destAddr, tag, data, context);
            sendRefusal = 0;
            if (result != 0) {
                unsent();
            }
            return result;
        } finally {
            sends.exit();
        }
    }

    /** Ends the claim without a message, if it is still open. */
    void abortClaim() {
        lock(sendLock);
        if (sendRefusal == FabricErrno.EBUSY) {
            sendRefusal = 0;
            unsent();
        }
        unlock(sendLock);
    }

    /** Whether a send without destination is refused. */
    boolean needsDest() {
        return needsDest;
    }

    /** Whether several threads may send, one after the other under the lock. */
    boolean isShared() {
        return sendLock != null;
    }

    int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        if (len < 0) {
            return -FabricErrno.EINVAL;
        }
        if (receiveLock != null) {
            return receiveLocked(flags, buf, len, srcAddr, tag, ignore, context);
        }
        assert receives.guard().enter();
        int result = receives.available() ? port.receive(flags, buf, len, srcAddr, tag, ignore, context)
            : -FabricErrno.EAGAIN;
        if (result == 0) {
            receives.take();
        }
        assert receives.guard().exit();
        return result;
    }

    private int receiveLocked(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        receiveLock.enter();
        try {
            int refusal = refusal(receives, receiveRefusal);
            return refusal != 0 ? refusal
                : taken(receives, port.receive(flags, buf, len, srcAddr, tag, ignore, context));
        } finally {
            receiveLock.exit();
        }
    }

    int receive(long flags, IoVec iov, long srcAddr, long tag, long ignore, long context) {
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        if (iov.count() <= 1) {
            return receive(flags, iov.firstAddress(), iov.lengthBytes(), srcAddr, tag, ignore, context);
        }
        receives.enter();
        try {
            WorkRequest work = receive();
            work.count = iov.copyTo(work.pieces);
            return post(work, flags, srcAddr, tag, ignore, context);
        } finally {
            receives.exit();
        }
    }

    /** Posts a multi-receive buffer for tagged messages, which has both a mask and a minimum of free space. */
    int receiveTaggedBuffer(
        long flags, long buf, long len, long minFree, long srcAddr, long tag, long ignore, long context) {
        if (len < 0) {
            return -FabricErrno.EINVAL;
        }
        receives.enter();
        try {
            WorkRequest work = receive();
            work.piece(buf, len);
            work.data = minFree;
            return post(work, flags, srcAddr, tag, ignore, context);
        } finally {
            receives.exit();
        }
    }

    /** Gives cells of the receive slab back; 0, or {@code -FI_EAGAIN} if there is no room in the queue. */
    int giveBack(long[] contexts, int count) {
        receives.enter();
        try {
            return receiveRefusal != 0 ? -receiveRefusal : port.giveBack(contexts, count);
        } finally {
            receives.exit();
        }
    }

    /** Gives one cell of the receive slab back. */
    int giveBack(long context) {
        receives.enter();
        try {
            oneCell[0] = context;
            return receiveRefusal != 0 ? -receiveRefusal : port.giveBack(oneCell, 1);
        } finally {
            receives.exit();
        }
    }

    /** Asks to cancel an operation. It takes no credit, because it makes no entry of its own. */
    int cancel(long context) {
        CompletionCredits credits = sends != null ? sends : receives;
        credits.enter();
        try {
            int refusal = sends != null ? sendRefusal : receiveRefusal;
            return refusal != 0 ? -refusal : port.cancel(context);
        } finally {
            credits.exit();
        }
    }

    /** Sends that may be posted now. */
    long sendsLeft() {
        lock(sendLock);
        try {
            long left = Math.min(port.sendsLeft(), sends.left());
            return share == null ? left : Math.min(left, share.left());
        } finally {
            unlock(sendLock);
        }
    }

    /** Receives that may be posted now. */
    long receivesLeft() {
        lock(receiveLock);
        try {
            return Math.min(port.receivesLeft(), receives.left());
        } finally {
            unlock(receiveLock);
        }
    }

    /** Sends that have not reached their level; 0 if the endpoint does not send. */
    long outstandingSends() {
        if (sends == null) {
            return 0;
        }
        lock(sendLock);
        try {
            return port.outstandingSends();
        } finally {
            unlock(sendLock);
        }
    }

    /** Takes nothing any more: a thread that is on its way here comes before, or is refused. */
    void close() {
        if (sends != null) {
            lock(sendLock);
            if (sendRefusal == FabricErrno.EBUSY) {
                // the slot that the open claim has taken
                unsent();
            }
            sendRefusal = FabricErrno.EOPBADSTATE;
            if (share != null) {
                share.close();
            }
            unlock(sendLock);
        }
        if (receives != null) {
            lock(receiveLock);
            receiveRefusal = FabricErrno.EOPBADSTATE;
            unlock(receiveLock);
        }
    }

    /** The driver is gone: nothing more is posted to it, not by threads that are on their way here either. */
    void suspend() {
        if (sends != null) {
            lock(sendLock);
            if (sendRefusal == FabricErrno.EBUSY) {
                // the slot that the open claim has taken
                unsent();
            }
            sendRefusal = FabricErrno.EAGAIN;
            unlock(sendLock);
        }
        if (receives != null) {
            lock(receiveLock);
            receiveRefusal = FabricErrno.EAGAIN;
            unlock(receiveLock);
        }
    }

    /** The driver has closed the endpoint: what it did not take out of the queues gives its completion credit back. */
    void onClosedInDriver() {
        if (sends != null) {
            sends.giveBack(port.untakenSends());
        }
        if (receives != null) {
            receives.giveBack(port.untakenReceives());
        }
    }

    /** Why no send can be posted, a negative errno; 0 if one can, whose place in a shared context is taken then. */
    private int refusedSend() {
        int refusal = refusal(sends, sendRefusal);
        return refusal != 0 || share == null || share.take() ? refusal : -FabricErrno.EAGAIN;
    }

    /** Takes the slot of a send that was posted, after {@link #refusedSend()} has let it pass. */
    private int sent(int result) {
        if (result == 0) {
            sends.take();
        } else if (share != null) {
            share.giveBack();
        }
        return result;
    }

    /** Gives back what a claim has taken, which ends without a message. */
    private void unsent() {
        sends.giveBack(1);
        if (share != null) {
            share.giveBack();
        }
    }

    /** Why an operation cannot be posted, a negative errno; 0 if it can. */
    private static int refusal(CompletionCredits credits, int refusal) {
        return refusal != 0 ? -refusal : credits.available() ? 0 : -FabricErrno.EAGAIN;
    }

    /** Takes the slot of an operation that was posted. */
    private static int taken(CompletionCredits credits, int result) {
        if (result == 0) {
            credits.take();
        }
        return result;
    }

    private static void lock(UseLock lock) {
        if (lock != null) {
            lock.enter();
        }
    }

    private static void unlock(UseLock lock) {
        if (lock != null) {
            lock.exit();
        }
    }
}
