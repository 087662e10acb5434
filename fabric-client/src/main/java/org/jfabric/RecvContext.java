package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.LentRegions;
import org.jfabric.client.MessageLender;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.info.Threading;
import org.jfabric.layout.LentPlaceDescriptor;

/**
 * A message that was received into the driver's memory, on an endpoint with {@link Mode#BUFFERED_RECV}
 * (fi_recv_context): where it is, which endpoint it came to, and the context for the entry of a receive that claims it.
 *
 * <pre>{@code
 * RecvContext message = queue.recvContext(entry);
 * long first = message.buffer().getLong(0);
 * }</pre>
 *
 * <p>The completion entry names it by its {@code opContext}; {@link CompletionQueue#recvContext(Completion)} finds it.
 * It is open, and its bytes may be read, until one of these:
 *
 * <ul>
 * <li>the next reading call of the completion queue, or {@link CompletionBatch#release()}, if the message is here as a
 *     whole and {@link #retain()} was not called. In a domain that several threads may use at a time
 *     ({@link Threading#SAFE} and others) no reading call gives a message back: another thread may still use it;</li>
 * <li>the return of the {@link MessageHandler} that {@link CompletionQueue#pollMessages} shows a whole message to, if
 *     {@link #retain()} was not called; the buffer may lie in a ring of the sender's driver until then;</li>
 * <li>{@link #release()}, for whole messages;</li>
 * <li>an accepted {@link Messages#recvmsg} or {@link Messages#trecvmsg} with {@link Flags#CLAIM}, which receives the
 *     message into a buffer, or with {@link Flags#DISCARD}, which drops it. A message that is longer than
 *     {@link EndpointOption#BUFFERED_LIMIT}, known by {@link Flags#MORE} in its entry, is closed in no other way but
 *     with its endpoint. The claim closes the message even if it fails, because the buffer is not registered or the
 *     sender has died. The entry is an error then;</li>
 * <li>the close of the endpoint.</li>
 * </ul>
 *
 * <p>Afterwards {@link #buffer()} has no bytes, and the driver uses the memory again. The object itself is used again
 * for a later message: keep no reference to it.
 *
 * <p>Owner: the thread that reads the completion queue, which is also the one that posts to the queue's endpoints. In a
 * domain that several threads may use, any thread, but one at a time.
 */
public final class RecvContext {
    private final ReceiveSlab slab;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    /** Index in the slab's list of messages that the next reading call gives back, or -1. */
    int lentIndex = -1;
    private long id;
    private long context;
    /** Offset of the bytes in the slab; if {@link #inRing}, their native address. */
    private long place;
    private long messageLength;
    /** Bytes that are here. */
    private int shownLength;
    /** As in the entry, as are the next three. */
    private long flags;
    private long data;
    private long tag;
    private long source;
    /** In the log of its group, or -1. */
    private long position;
    /** Of its arrival, if the flags say so. */
    private long timeNs;
    /** Whether the message lies in its sender's ring, at {@link #place}, and not in a cell of the slab. */
    private boolean inRing;
    /** The sender's region in which the message lies, or null. */
    private LentRegions.Region region;
    /** Of the last message that lay in a ring: copies it into a cell when it is retained. */
    private MessageLender lender;

    RecvContext(ReceiveSlab slab) {
        this.slab = slab;
        slab.view().hide(buffer);
    }

    /**
     * The endpoint that received the message.
     *
     * @return the endpoint.
     */
    public Endpoint endpoint() {
        return slab.endpoint();
    }

    /**
     * The {@code opContext} of the entry. A receive that claims or discards the message takes it as its context.
     *
     * @return the number, or 0 if this is not open.
     */
    public long id() {
        return id;
    }

    /**
     * The {@code opContext} that the entry of a claiming receive will carry.
     *
     * @return the value, 0 unless it was set.
     */
    public long context() {
        return context;
    }

    /**
     * Sets what the entry of a claiming receive will carry.
     *
     * @param newContext any value.
     * @return this.
     */
    public RecvContext context(long newContext) {
        context = newContext;
        return this;
    }

    /**
     * The message, or its first bytes, where the driver put it. It must not be written to: the memory is read-only.
     *
     * @return the same object each time, with the bytes that are here: all of them, or of a message with
     *     {@link Flags#MORE} the first {@link EndpointOption#BUFFERED_MIN}; none if this is not open.
     */
    public DirectBuffer buffer() {
        return buffer;
    }

    /**
     * Length of the whole message.
     *
     * @return bytes, 0 if this is not open.
     */
    public long messageLength() {
        return id == 0 ? 0 : messageLength;
    }

    /**
     * Whether the message is here as a whole.
     *
     * @return false for the first bytes of a longer one, which has to be claimed or discarded, and if this is not open.
     */
    public boolean isWhole() {
        return id != 0 && (flags & Flags.MORE) == 0;
    }

    /**
     * Whether the message is read in its sender's memory ({@link Flags#LENT}). The sender can change these bytes until
     * the message is given back, against the rules: read a value once before deciding by it. If the sender truncates
     * the file, reading throws {@link InternalError}.
     *
     * @return false if it was copied, and if this is not open.
     */
    public boolean isLent() {
        return id != 0 && region != null;
    }

    /**
     * Whether the message may be read.
     *
     * @return false once it was given back, claimed or discarded.
     */
    public boolean isOpen() {
        return id != 0;
    }

    /**
     * The flags of the message, as in its entry.
     *
     * @return {@link Flags#RECV} with {@link Flags#MSG} or {@link Flags#TAGGED}, and perhaps {@link Flags#MORE} and
     *     {@link Flags#REMOTE_CQ_DATA}; valid while this is open.
     */
    public long flags() {
        return flags;
    }

    /**
     * Remote CQ data that came with the message, if {@link #flags()} has {@link Flags#REMOTE_CQ_DATA}.
     *
     * @return the data, else 0; valid while this is open.
     */
    public long data() {
        return data;
    }

    /**
     * Tag of a tagged message.
     *
     * @return the tag, 0 of an untagged message; valid while this is open.
     */
    public long tag() {
        return tag;
    }

    /**
     * Who has sent the message, on an endpoint with {@link Flags#SOURCE}.
     *
     * @return {@code fi_addr}, or {@link FabricAddress#ADDR_NOTAVAIL}; valid while this is open.
     */
    public long source() {
        return source;
    }

    /**
     * Position of a message of a group over link shm, as {@link Completion#position()}.
     *
     * @return the number from 0, or -1; valid while this is open.
     */
    public long position() {
        return position;
    }

    /**
     * When the message arrived, as {@link Completion#timeNs()}.
     *
     * @return nanoseconds, or 0; valid while this is open.
     */
    public long timeNs() {
        return (flags & Flags.TIMESTAMP) == 0 ? 0 : timeNs;
    }

    /**
     * Keeps the message open beyond the next reading calls, until {@link #release()}, a claim or a discard. A message
     * that {@link CompletionQueue#pollMessages} shows where it arrived is copied for that, and has another
     * {@link #id()} afterwards.
     *
     * @return 0, or then nothing has changed: {@code -FI_EAGAIN} if a message is to be copied and the slab has no room,
     *     {@code -FI_EINVAL} if this is not open, {@code -FI_EOPBADSTATE} if a message is to be copied and the endpoint
     *     is closed or the driver gone.
     */
    public int retain() {
        return slab.retain(this);
    }

    /**
     * Gives a whole message back, immediately and without an entry. For the rules of threading and of a full queue this
     * is a posted receive.
     *
     * @return 0, or then nothing has changed: {@code -FI_EAGAIN} if the receive queue is full, {@code -FI_EINVAL} if
     *     this is not open or the message is longer than what is here, {@code -FI_EOPBADSTATE} if the endpoint is
     *     closed or the driver is gone.
     */
    public int release() {
        return slab.release(this);
    }

    @Override
    public String toString() {
        return id == 0 ? "RecvContext{not open}" : "RecvContext{id=" + Codes.hex(id) + ", messageLength="
            + messageLength + ", here=" + shownLength + ", context=" + Codes.hex(context) + '}';
    }

    /** Whether a tagged message is here: a claim has to be of the same kind. */
    boolean isTagged() {
        return (flags & Flags.TAGGED) != 0;
    }

    /** Opens this for the message of an entry. */
    void open(
        long newId, long newFlags, long newPlace, long newMessageLength, int newShownLength, long newData, long newTag,
        long newSource) {
        context = 0;
        flags = newFlags;
        data = newData;
        tag = newTag;
        source = newSource;
        place = newPlace;
        messageLength = newMessageLength;
        shownLength = newShownLength;
        reopen(newId);
    }

    /** The message that this is opened for next lies in this region of its sender, or in the cell if it is null. */
    void liesIn(LentRegions.Region newRegion) {
        region = newRegion;
    }

    /** Opens this for a message that lies in its sender's ring, until the handler that it is shown to returns. */
    void lend(long newId, MessageLender newLender, long address, int length, long newSource) {
        context = 0;
        flags = Flags.RECV | Flags.MSG;
        data = 0;
        tag = 0;
        source = newSource;
        place = address;
        messageLength = length;
        shownLength = length;
        region = null;
        position = -1;
        if (lender != newLender) {
            // a store of a reference costs the collector's barrier
            lender = newLender;
        }
        inRing = true;
        id = newId;
        buffer.wrap(address, length);
    }

    void position(long newPosition) {
        position = newPosition;
    }

    void timeNs(long newTimeNs) {
        timeNs = newTimeNs;
    }

    boolean isInRing() {
        return inRing;
    }

    /** Has the message copied from the ring into a cell of the slab; returns its new id, or 0 if there is no room. */
    long moveToCell() {
        return lender.keep(place, shownLength);
    }

    /** The message was copied into a cell. */
    void moved(long newId, long newPlace) {
        inRing = false;
        place = newPlace;
        reopen(newId);
    }

    /** Opens this for a message, or again if giving the message back was refused. */
    void reopen(long newId) {
        id = newId;
        if (region == null) {
            slab.view().show(buffer, place, shownLength);
        } else if (!region.show(
            buffer, slab.view().whole().getLong((int) place + LentPlaceDescriptor.OFFSET_OFFSET), messageLength)) {
            // it cannot be read there: a claim brings it
            region = null;
            shownLength = 0;
            flags |= Flags.MORE;
            slab.view().hide(buffer);
        }
    }

    /** The sender's region in which the message lies; null if it does not, or is not open. */
    LentRegions.Region region() {
        return id == 0 ? null : region;
    }

    /** The message is not the application's any more. */
    void close() {
        id = 0;
        inRing = false;
        slab.view().hide(buffer);
    }
}
