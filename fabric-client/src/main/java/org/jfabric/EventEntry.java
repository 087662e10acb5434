package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;

/**
 * Holder for one event of an event queue: fi_eq_entry or fi_eq_cm_entry, and the bytes behind it where the event has
 * some.
 *
 * <pre>{@code
 * if (events.read(entry, 0) == 1) {
 *     System.out.println(entry.event() + " of " + entry.fid());
 * }
 * }</pre>
 *
 * <p>Make one, pass it to each {@code read}, read the members. Reading into it allocates nothing. Bytes are copied,
 * either into memory of the caller given by {@link #dataBuffer(MutableDirectBuffer, int, int)} or into memory of this
 * object, so they stay valid until the next read with this object. Source: fi_eq(3), section fi_eq_read. Owner: the
 * thread that reads with it.
 */
public final class EventEntry {
    /** Most bytes that an event carries behind its members. */
    public static final int MAX_DATA_LENGTH = 256;

    private final CopiedData bytes = new CopiedData(MAX_DATA_LENGTH);
    private int event;
    private Object fid;
    private Info info;
    private long context;
    private long data;

    /** An empty holder that keeps bytes in its own memory. */
    public EventEntry() {
    }

    /**
     * The event: {@link EventType#code()}, or the number that the application gave to
     * {@link EventQueue#write(int, Object, long, long, long)}.
     *
     * @return a number.
     */
    public int event() {
        return event;
    }

    /**
     * The event as a constant.
     *
     * @return the constant, or null if {@link #event()} is a number of the application.
     */
    public EventType type() {
        return EventType.ofOrNull(event);
    }

    /**
     * The object that the event is about, for example the {@link AddressVector} of an {@link EventType#AV_COMPLETE}.
     *
     * @return the object, or null if the event has none.
     */
    public Object fid() {
        return fid;
    }

    /**
     * The info of an {@link EventType#CONNREQ} with which to open the endpoint that accepts; its {@link Info#handle()}
     * is the {@link ConnectionRequest}.
     *
     * @return the info; null for every other event.
     */
    public Info info() {
        return info;
    }

    /**
     * Context of the completed operation, or the value that the application wrote.
     *
     * @return the value.
     */
    public long context() {
        return context;
    }

    /**
     * A number that belongs to the event, for example how many addresses were inserted.
     *
     * @return the value, 0 if the event has none.
     */
    public long data() {
        return data;
    }

    /**
     * View of the bytes behind the members; index 0 is the first one and its capacity is their number. With
     * {@link EventType#CONNREQ} and {@link EventType#CONNECTED} they are the peer's private data.
     *
     * @return the same view object each time; it moves with the next read.
     */
    public DirectBuffer bytes() {
        return bytes.view();
    }

    /**
     * Gives memory for the bytes of events; it stays in use until replaced. No buffer or a capacity of 0 means this
     * object's own memory, into which every event fits.
     *
     * @param buffer         that receives bytes, or null.
     * @param offset         in the buffer, in bytes, where they start.
     * @param capacityLength most bytes to store; an event with more is refused with {@code -FI_ETOOSMALL} and stays in
     *                       the queue.
     * @return this object.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the range is not within the buffer.
     */
    public EventEntry dataBuffer(MutableDirectBuffer buffer, int offset, int capacityLength) {
        bytes.useMemory("event data", buffer, offset, capacityLength);
        return this;
    }

    @Override
    public String toString() {
        EventType type = type();
        return "EventEntry{event=" + (type == null ? Integer.toUnsignedString(event) : type) + ", fid=" + fid
            + ", context=" + context + ", data=" + data + ", bytes=" + bytes.view().capacity() + '}';
    }

    /** Whether the bytes of an event fit into the memory in use. */
    boolean hasRoomFor(QueuedEvents.Slot slot) {
        return slot.length <= bytes.capacity();
    }

    void set(QueuedEvents.Slot slot) {
        event = slot.event;
        fid = slot.fid;
        info = slot.info;
        context = slot.context;
        data = slot.data;
        bytes.copy(slot.bytes, 0, slot.length);
    }
}
