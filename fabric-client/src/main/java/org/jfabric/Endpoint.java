package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.DriverEvent;
import org.jfabric.client.DriverState;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.ReceiveQueue;
import org.jfabric.client.TransmitQueue;

/**
 * An addressable end of communication: sends and receives are posted here and reported in the completion queues that
 * are bound for their direction.
 *
 * <p>Use: open by {@link Domain#openEndpoint(Info)}, {@link #bind(CompletionQueue, long)} queues and
 * {@link #bind(AddressVector)} the vector, {@link #enable()}, transfer, {@link #close()}.
 *
 * <p>Data-path calls (send, recv, inject, their tagged forms and {@link #cancel(long)}) never throw, block or allocate.
 * They return 0, or a negative fabric errno and then nothing was posted:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: the completion queue has no slot left, as many operations as
 *     {@link #txSizeLeft()} or {@link #rxSizeLeft()} allow are outstanding, or the submission queue is full: read the
 *     completion queue and post again;</li>
 * <li>{@code -FI_EINVAL}: the message is longer than {@link #maxMsgSize()}, an inject longer than {@link #injectSize()}
 *     (TAG-028, AMB-42), a range outside of its buffer, or no destination (AMB-29);</li>
 * <li>{@code -FI_EOPBADSTATE}: not enabled, or closed (EP-060);</li>
 * <li>{@code -FI_EOPNOTSUPP}: the endpoint was opened without that direction;</li>
 * <li>{@code -FI_ENODEV}: the driver is gone.</li>
 * </ul>
 *
 * <p>What was posted and turns out to be impossible (memory that is not registered, an address that was removed, a peer
 * that died) ends with an error entry. Addresses of memory are those of {@link MemoryRegion#address(long)}.
 *
 * <p>In a domain that keeps threads apart ({@link Threading#SAFE} and others, see {@link Domain}) any thread posts; it
 * may wait for another one that is posting. Owner otherwise: one thread at a time posts; it is the same for all
 * endpoints that report to one completion queue. Opening, binding, enabling and closing are control calls. Source:
 * sections 3 to 5 of the requirements.
 */
public final class Endpoint implements AutoCloseable {
    static final int OPEN = 0;
    static final int ENABLED = 1;
    static final int CLOSED = 2;

    private final Domain domain;
    private final Info info;
    private final long context;
    private final DriverState driver;
    private final EndpointBindings bindings = new EndpointBindings(this);

    private int state;
    private TransmitSide transmit;
    private ReceiveSide receive;
    private long maxMsgSize;
    private int injectSize;
    private long sendFlags;
    private long recvFlags;
    private long id;
    private String name;

    Endpoint(Domain domain, Info info, long context, DriverState driver) {
        this.domain = domain;
        this.info = info;
        this.context = context;
        this.driver = driver;
    }

    /**
     * Binds a completion queue for a direction, before the endpoint is enabled (EP-036 to EP-046).
     *
     * @param queue of the same domain.
     * @param flags {@link Flags#TRANSMIT} and/or {@link Flags#RECV}; with {@link Flags#SELECTIVE_COMPLETION} successes
     *              of these directions write an entry only if the operation asks for it by {@link Flags#COMPLETION}.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other bits, {@link FabricErrno#EINVAL} without a
     *     direction (AMB-62) or if the direction has a queue (EP-056), {@link FabricErrno#EOPBADSTATE} once enabled
     *     (AMB-59) or if one of both is closed, {@link FabricErrno#EDOMAIN} for another domain's (AMB-61).
     */
    public void bind(CompletionQueue queue, long flags) {
        Codes.required(queue, "queue");
        synchronized (domain.lock()) {
            bindings.bind(queue, flags);
        }
    }

    /**
     * Binds the address vector, before the endpoint is enabled (EP-034).
     *
     * @param vector of the same domain.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is one already, {@link FabricErrno#EOPBADSTATE} once
     *     enabled (AMB-59) or if one of both is closed, {@link FabricErrno#EDOMAIN} for another domain's (AMB-61).
     */
    public void bind(AddressVector vector) {
        Codes.required(vector, "vector");
        synchronized (domain.lock()) {
            bindings.bind(vector);
        }
    }

    /**
     * Makes the endpoint ready to transfer: the driver reserves its queues and gives it its address. Enabling an
     * enabled endpoint does nothing (EP-060, EP-063).
     *
     * @throws FabricException {@link FabricErrno#ENOCQ} without a completion queue for a direction that the endpoint
     *     has (EP-037, EP-038), {@link FabricErrno#ENOAV} without an address vector, {@link FabricErrno#EADDRINUSE} if
     *     the name asked for is taken, {@link FabricErrno#EOPBADSTATE} if closed, or what the driver answers.
     */
    public void enable() {
        synchronized (domain.lock()) {
            if (state == ENABLED) {
                return;
            }
            if (state == CLOSED) {
                throw closed();
            }
            bindings.requireComplete(transmits(), receives());
            domain.enable(this);
        }
    }

    /**
     * Posts an untagged send.
     *
     * @param buf      address in registered memory; the bytes belong to the driver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int send(long buf, long len, long destAddr, long opContext) {
        return post(sendFlags | Flags.MSG, buf, len, destAddr, 0, 0, opContext);
    }

    /**
     * Posts an untagged send with data for the peer's entry.
     *
     * @param buf      as for {@link #send}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int senddata(long buf, long len, long data, long destAddr, long opContext) {
        return post(sendFlags | Flags.MSG | Flags.REMOTE_CQ_DATA, buf, len, destAddr, 0, data, opContext);
    }

    /**
     * Posts a tagged send (TAG-019 and following).
     *
     * @param buf      address in registered memory; the bytes belong to the driver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsend(long buf, long len, long destAddr, long tag, long opContext) {
        return post(sendFlags | Flags.TAGGED, buf, len, destAddr, tag, 0, opContext);
    }

    /**
     * Posts a tagged send with data for the peer's entry.
     *
     * @param buf      as for {@link #tsend}.
     * @param len      bytes.
     * @param data     shown in the peer's entry, with {@link Flags#REMOTE_CQ_DATA}.
     * @param destAddr destination.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsenddata(long buf, long len, long data, long destAddr, long tag, long opContext) {
        return post(sendFlags | Flags.TAGGED | Flags.REMOTE_CQ_DATA, buf, len, destAddr, tag, data, opContext);
    }

    /**
     * Posts an untagged send whose payload may be reused at once; there is no entry unless it fails (AMB-33).
     *
     * @param source   any buffer.
     * @param offset   of the payload in it.
     * @param len      bytes, at most {@link #injectSize()}.
     * @param destAddr destination, from the address vector.
     * @return 0 or a negative errno of this class.
     */
    public int inject(DirectBuffer source, int offset, int len, long destAddr) {
        return postInject(Flags.MSG | Flags.INJECT, source, offset, len, destAddr, 0);
    }

    /**
     * Posts a tagged send whose payload may be reused at once; there is no entry unless it fails (TAG-027, TAG-028).
     *
     * @param source   any buffer.
     * @param offset   of the payload in it.
     * @param len      bytes, at most {@link #injectSize()}.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @return 0 or a negative errno of this class.
     */
    public int tinject(DirectBuffer source, int offset, int len, long destAddr, long tag) {
        return postInject(Flags.TAGGED | Flags.INJECT, source, offset, len, destAddr, tag);
    }

    /**
     * Posts a receive of an untagged message.
     *
     * @param buf     address in registered memory; it belongs to the driver until the entry is read.
     * @param len     bytes.
     * @param srcAddr only messages of this source, with {@link Flags#DIRECTED_RECV}; or
     *                {@link FabricAddress#ADDR_UNSPEC}.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int recv(long buf, long len, long srcAddr, long opContext) {
        return postRecv(recvFlags | Flags.MSG, buf, len, srcAddr, 0, 0, opContext);
    }

    /**
     * Posts a receive of a tagged message (TAG-007 to TAG-018).
     *
     * @param buf     address in registered memory; it belongs to the driver until the entry is read.
     * @param len     bytes.
     * @param srcAddr as for {@link #recv}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int trecv(long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        return postRecv(recvFlags | Flags.TAGGED, buf, len, srcAddr, tag, ignore, opContext);
    }

    /**
     * Asks to cancel one operation; if it has not begun, it ends with {@link FabricErrno#ECANCELED} (EP-064 to EP-071).
     * Sends and receives posted before by this thread are looked at; if several have the context one of them is
     * cancelled. It counts as posting a send, or as posting a receive on an endpoint that only receives.
     *
     * @param opContext as posted; 0 cancels nothing (AMB-67), nor does one that matches no operation (AMB-66).
     * @return 0 if the request was submitted, else a negative errno of this class.
     */
    public int cancel(long opContext) {
        if (state != ENABLED || driver.isGone()) {
            return refused();
        }
        if (opContext == 0) {
            return 0;
        }
        return transmit != null
            ? transmit.cancel(opContext, receive == null ? 0 : receive.position()) : receive.cancel(opContext);
    }

    /**
     * The endpoint's own address, for others to insert (fi_getname).
     *
     * @return for example {@code jfabric://default/ep-1}.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if not enabled, or closed.
     */
    public String name() {
        String address = name;
        if (state != ENABLED || address == null) {
            throw state == CLOSED ? closed() : new FabricException(FabricErrno.EOPBADSTATE,
                "the endpoint has no address yet", "Enable it first.");
        }
        return address;
    }

    /**
     * Publishes a further name, under which peers insert this endpoint by
     * {@link AddressVector#insertService(String, String)}.
     *
     * @param service name within the driver; ASCII without a slash.
     * @throws FabricException {@link FabricErrno#EADDRINUSE} if the name is taken, {@link FabricErrno#EOPBADSTATE} if
     *     not enabled, or what the driver answers.
     */
    public void publish(String service) {
        Codes.required(service, "service");
        name();
        domain.publish(this, service);
    }

    /**
     * Sends that may be posted now (fi_tx_size_left); others may be refused all the same.
     *
     * @return a count, or a negative errno of this class.
     */
    public long txSizeLeft() {
        if (state != ENABLED) {
            return -FabricErrno.EOPBADSTATE;
        }
        return transmit == null ? -FabricErrno.EOPNOTSUPP : transmit.sizeLeft();
    }

    /**
     * Receives that may be posted now (fi_rx_size_left); others may be refused all the same.
     *
     * @return a count, or a negative errno of this class.
     */
    public long rxSizeLeft() {
        if (state != ENABLED) {
            return -FabricErrno.EOPBADSTATE;
        }
        return receive == null ? -FabricErrno.EOPNOTSUPP : receive.sizeLeft();
    }

    /**
     * Longest message (EP-132).
     *
     * @return bytes; 0 before the endpoint is enabled.
     */
    public long maxMsgSize() {
        return maxMsgSize;
    }

    /**
     * Longest payload of an inject.
     *
     * @return bytes; 0 before the endpoint is enabled.
     */
    public int injectSize() {
        return injectSize;
    }

    /**
     * Context given at open (EP-026); error entries of injects carry it (AMB-11).
     *
     * @return the value.
     */
    public long context() {
        return context;
    }

    /**
     * What the endpoint was opened with.
     *
     * @return a copy.
     */
    public Info info() {
        return info.copy();
    }

    /**
     * Whether {@link #close()} was not called yet.
     *
     * @return false once it is closed.
     */
    public boolean isOpen() {
        return state != CLOSED;
    }

    /**
     * Closes the endpoint; operations that have not ended are dropped without an entry. Again does nothing.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "Endpoint{" + (name == null ? "not enabled" : name) + (state == CLOSED ? ", closed" : "") + '}';
    }

    private int post(long flags, long buf, long len, long destAddr, long tag, long data, long opContext) {
        if (state != ENABLED || driver.isGone() || transmit == null) {
            return refused();
        }
        return transmit.post(flags, buf, len, destAddr, tag, data, opContext);
    }

    private int postInject(long flags, DirectBuffer source, int offset, int len, long destAddr, long tag) {
        if (state != ENABLED || driver.isGone() || transmit == null) {
            return refused();
        }
        return transmit.postInject(flags, source, offset, len, destAddr, tag, context);
    }

    private int postRecv(long flags, long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        if (state != ENABLED || driver.isGone() || receive == null) {
            return refused();
        }
        return receive.post(flags, buf, len, srcAddr, tag, ignore, opContext);
    }

    private int refused() {
        if (state != ENABLED) {
            return -FabricErrno.EOPBADSTATE;
        }
        return driver.isGone() ? -FabricErrno.ENODEV : -FabricErrno.EOPNOTSUPP;
    }

    private static FabricException closed() {
        return new FabricException(FabricErrno.EOPBADSTATE, "the endpoint is closed", "Open another one.");
    }

    /** Without direction bits both directions are meant. */
    private boolean transmits() {
        long directions = info.caps() & (Flags.SEND | Flags.RECV);
        return directions == 0 || (directions & Flags.SEND) != 0;
    }

    private boolean receives() {
        long directions = info.caps() & (Flags.SEND | Flags.RECV);
        return directions == 0 || (directions & Flags.RECV) != 0;
    }

    /** Takes the driver's answer; the last step of enabling, under the fabric's lock. */
    void onEnabled(
        DriverEvent.EndpointReady ready, EndpointPort enginePort, TransmitQueue transmitQueue,
        ReceiveQueue receiveQueue) {
        id = ready.endpointId();
        name = ready.address();
        maxMsgSize = ready.maxMsgSize();
        injectSize = ready.injectSize();
        sendFlags = completionFlag(bindings.txSelective(), info.txAttr().opFlags());
        recvFlags = completionFlag(bindings.rxSelective(), info.rxAttr().opFlags());
        transmit = transmits() ? new TransmitSide(
            enginePort, transmitQueue, bindings.txCq().credits(), maxMsgSize, injectSize, ready.txSize()) : null;
        receive = receives() ? new ReceiveSide(
            enginePort, receiveQueue, bindings.rxCq().credits(), ready.rxSize()) : null;
        // the queues were made above: a thread that sees the state must see them
        UnsafeApi.storeFence();
        state = ENABLED;
        bindings.onEnabled();
    }

    private static long completionFlag(boolean selective, long opFlags) {
        return selective ? opFlags & Flags.COMPLETION : Flags.COMPLETION;
    }

    /** Forgets what it was bound to; under the fabric's lock. */
    void markClosed() {
        state = CLOSED;
        if (transmit != null) {
            transmit.close();
        }
        if (receive != null) {
            receive.close();
        }
        bindings.unbind();
    }

    /** The driver has closed it: what it did not take out of the queues gives its completion credit back. */
    void onClosedInDriver() {
        if (transmit != null) {
            transmit.onClosedInDriver();
        }
        if (receive != null) {
            receive.onClosedInDriver();
        }
    }

    /** Sends that have not reached their level. */
    long outstandingSends() {
        return state != ENABLED || transmit == null ? 0 : transmit.outstanding();
    }

    int state() {
        return state;
    }

    long id() {
        return id;
    }

    Info requested() {
        return info;
    }

    Domain domain() {
        return domain;
    }

    EndpointBindings bindings() {
        return bindings;
    }
}
