package org.jfabric.client;

/**
 * An endpoint's operations as the driver's engine takes them. An embedding client in INVOKER mode calls it directly,
 * the driver's queue poller calls it for everybody else.
 *
 * <p>What is posted here was well-formed; what it names may be invalid, and then it ends with an error entry. Owner:
 * the thread that runs the duty cycle.
 */
public abstract class EndpointPort {
    /** For the one subclass, in the driver. */
    protected EndpointPort() {
    }

    /**
     * Posts a send.
     *
     * @param flags    operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}; {@code Flags.COMPLETION} asks for
     *                 an entry.
     * @param buf      address in registered memory.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      the tag, 0 for untagged.
     * @param data     remote CQ data.
     * @param context  returned in the entry.
     * @return 0, or {@code -FI_EAGAIN} if as many sends as the endpoint can hold are outstanding.
     */
    public abstract int send(long flags, long buf, long len, long destAddr, long tag, long data, long context);

    /**
     * Posts a send that is gathered from several pieces.
     *
     * @param flags    as for {@link #send}.
     * @param pieces   address and length of each, one after the other; copied.
     * @param count    of pieces, at most {@link org.jfabric.layout.VectorRequestDescriptor#MAX_PIECES}.
     * @param destAddr as for {@link #send}.
     * @param tag      as for {@link #send}.
     * @param data     as for {@link #send}.
     * @param context  as for {@link #send}.
     * @return as for {@link #send}.
     */
    public abstract int sendVector(
        long flags, long[] pieces, int count, long destAddr, long tag, long data, long context);

    /**
     * Posts a send whose payload is taken before the call returns.
     *
     * @param flags         as for {@link #send}.
     * @param nativeAddress where the payload is in this process.
     * @param len           bytes, at most the endpoint's inject size.
     * @param destAddr      as for {@link #send}.
     * @param tag           as for {@link #send}.
     * @param data          as for {@link #send}.
     * @param context       as for {@link #send}.
     * @return as for {@link #send}.
     */
    public abstract int inject(
        long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context);

    /**
     * Posts a receive, or with one of {@link PeekFlags#ANY} looks at messages that came before one.
     *
     * @param flags   operation flags with {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param buf     address in registered memory.
     * @param len     bytes.
     * @param srcAddr only messages of this source, or -1 for any.
     * @param tag     the tag, 0 for untagged.
     * @param ignore  bits of the tag that do not count.
     * @param context returned in the entry.
     * @return 0, or {@code -FI_EAGAIN} if as many receives as the endpoint can hold are outstanding.
     */
    public abstract int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context);

    /**
     * Posts a receive that is scattered over several pieces.
     *
     * @param flags   as for {@link #receive}.
     * @param pieces  address and length of each, one after the other; copied.
     * @param count   of pieces, at most {@link org.jfabric.layout.VectorRequestDescriptor#MAX_PIECES}.
     * @param srcAddr as for {@link #receive}.
     * @param tag     as for {@link #receive}.
     * @param ignore  as for {@link #receive}.
     * @param context as for {@link #receive}.
     * @return as for {@link #receive}.
     */
    public abstract int receiveVector(
        long flags, long[] pieces, int count, long srcAddr, long tag, long ignore, long context);

    /**
     * Gives cells of the receive slab back; contexts that mean none are passed over.
     *
     * @param contexts of entries that handed cells out.
     * @param count    of them.
     */
    public abstract void giveBack(long[] contexts, int count);

    /**
     * Cancels one operation with that context, if it has not begun: it ends with {@code FI_ECANCELED}.
     *
     * @param context as posted.
     */
    public abstract void cancel(long context);

    /**
     * Sends that have not reached their level.
     *
     * @return how many.
     */
    public abstract int outstandingSends();

    /**
     * Receives that have not ended.
     *
     * @return how many.
     */
    public abstract int outstandingReceives();
}
