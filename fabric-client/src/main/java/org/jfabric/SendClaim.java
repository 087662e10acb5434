package org.jfabric;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;

/**
 * Room for the payload of one tagged message where the driver takes it from, so that a message is encoded in place and
 * not copied into a buffer first. Made once and used again and again; {@link Endpoint#tryClaim} opens it,
 * {@link #commit} or {@link #abort} ends it.
 *
 * <pre>{@code
 * if (endpoint.tryClaim(8, claim) == 0) {
 *     claim.buffer().putLong(0, 42);
 *     claim.commit(8, peer, 7, 1);
 * }
 * }</pre>
 *
 * <p>The room is the driver's memory, so the payload has no prefix, also with {@link Mode#MSG_PREFIX}.
 *
 * <p>While a claim is open nothing else can be posted to the endpoint's transmit side, from whichever thread: these
 * calls, {@link Endpoint#cancel} and a further claim answer {@code -FI_EBUSY}. Receives and other endpoints continue.
 * The slot in the completion queue is taken by the claim, so a commit is never refused for want of one; an abort gives
 * it back. A claim that is neither committed nor aborted holds up only its endpoint, and ends with it: then
 * {@link #commit} answers {@code -FI_EOPBADSTATE}, as it does once the driver is gone.
 *
 * <p>Nothing here throws or allocates, except that the buffer checks its bounds. Owner: the thread that claimed, from
 * the claim to its end. Source: design of the data path, claim and encode in place.
 */
public final class SendClaim {
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    /** Whose claim it is; null while there is none. It also keeps the memory mapped that the buffer shows. */
    private Endpoint endpoint;
    private Submission submission;

    /** A claim that is not open. */
    public SendClaim() {
    }

    /**
     * The buffer into which the payload is encoded, from index 0. Its initial content is undefined.
     *
     * @return the same buffer each time; its capacity is the length that was claimed, and 0 while no claim is open.
     */
    public MutableDirectBuffer buffer() {
        return buffer;
    }

    /**
     * Whether the claim waits for its commit or abort.
     *
     * @return true from a claim that was accepted to the end of it.
     */
    public boolean isOpen() {
        return endpoint != null;
    }

    /**
     * Posts what was encoded as {@link Endpoint#tsend} would: the endpoint's default flags say whether there is an
     * entry, and when.
     *
     * @param lengthBytes bytes of the message, from the start of the buffer, at most those that were claimed.
     * @param destAddr    destination, from the address vector.
     * @param tag         the message's tag.
     * @param opContext   returned in the entry.
     * @return 0 and the claim has ended, or a negative errno: {@code -FI_EINVAL} for a length that was not claimed, no
     *     destination, or no open claim, which changes nothing; {@code -FI_EOPBADSTATE}, after which the claim has
     *     ended too.
     */
    public int commit(int lengthBytes, long destAddr, long tag, long opContext) {
        Endpoint owner = endpoint;
        return owner == null ? -FabricErrno.EINVAL
            : commit(owner, owner.sendFlags(), lengthBytes, destAddr, tag, 0, opContext);
    }

    /**
     * Posts what was encoded as {@link Messages#tsendmsg} would, with flags of its own: without
     * {@link Flags#COMPLETION} a queue with {@link Flags#SELECTIVE_COMPLETION} gets no entry, as from an inject.
     *
     * @param lengthBytes as above.
     * @param data        shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA} only.
     * @param destAddr    as above.
     * @param tag         as above.
     * @param opContext   as above.
     * @param flags       as for {@link Messages#tsendmsg}; with {@link Flags#MSG} the message is untagged.
     * @return as above; {@code -FI_EBADFLAGS} for flags that are not offered, which changes nothing.
     */
    public int commit(int lengthBytes, long data, long destAddr, long tag, long opContext, long flags) {
        Endpoint owner = endpoint;
        if (owner == null) {
            return -FabricErrno.EINVAL;
        }
        long offered = owner.messages().sendCall() | Flags.MSG;
        return (flags & ~offered) != 0 ? -FabricErrno.EBADFLAGS
            : commit(owner, flags | owner.messages().alwaysForSends(), lengthBytes, destAddr, tag, data, opContext);
    }

    /** Gives the room back; nothing is sent. Does nothing if no claim is open. */
    public void abort() {
        if (endpoint != null) {
            submission.abortClaim();
            end();
        }
    }

    @Override
    public String toString() {
        return "SendClaim{" + (endpoint == null ? "not open" : buffer.capacity() + " bytes") + '}';
    }

    private int commit(
        Endpoint owner, long flags, int lengthBytes, long destAddr, long tag, long data, long opContext) {
        if (!owner.isUsable()) {
            int why = owner.refused();
            abort();
            return why;
        }
        if (lengthBytes < 0 || lengthBytes > buffer.capacity()
            || destAddr == FabricAddress.ADDR_UNSPEC && submission.needsDest()) {
            return -FabricErrno.EINVAL;
        }
        int result = submission.commitClaim(
            flags | Flags.INJECT | ((flags & Flags.MSG) == 0 ? Flags.TAGGED : 0), lengthBytes, destAddr, tag, data,
            opContext);
        end();
        return result;
    }

    /** Claims for an endpoint; 0 or a negative errno. */
    int open(Endpoint owner, Submission sends, int lengthBytes) {
        if (endpoint != null) {
            return -FabricErrno.EBUSY;
        }
        int result = sends.claim(lengthBytes, buffer);
        if (result == 0) {
            endpoint = owner;
            submission = sends;
            owner.onClaimed();
        }
        return result;
    }

    private void end() {
        buffer.wrap(0, 0);
        endpoint.onClaimEnded();
        endpoint = null;
        submission = null;
    }
}
