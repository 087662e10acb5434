package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.DriverConnection;
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
 * <p>One of type {@link EndpointType#MSG} has no address vector and one peer: bind an event queue instead, then
 * {@link #connect(String)}, or {@link #accept()} a request (see {@code docs/connections.md}).
 *
 * <p>Data-path calls (send, recv, inject, their tagged and vector forms and {@link #cancel(long)}) never throw, block
 * or allocate. They return 0, or a negative fabric errno and then nothing was posted:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: the completion queue has no slot left (not asked in a domain with
 *     {@link ResourceManagement#DISABLED}), as many operations as {@link #txSizeLeft()} or {@link #rxSizeLeft()} allow
 *     are outstanding, or the submission queue is full: read the completion queue and post again. Who has read an
 *     operation's entry has its room among the outstanding ones; only while senders do not read what they are told,
 *     receives of long messages may keep theirs;</li>
 * <li>{@code -FI_EINVAL}: the message is longer than {@link #maxMsgSize()}, an inject, also by {@link Flags#INJECT},
 *     longer than {@link #injectSize()}, a range outside of its buffer, no destination, no {@link IoVec}, one with more
 *     pieces than {@code iov_limit} of the attributes, or with a piece without address;</li>
 * <li>{@code -FI_EFAULT}: memory that is to be copied before the return ({@link Flags#INJECT}) is not registered;</li>
 * <li>{@code -FI_EBUSY}: a {@link SendClaim} of this endpoint is open;</li>
 * <li>{@code -FI_EBADFLAGS}: a flag that the call does not offer;</li>
 * <li>{@code -FI_EOPBADSTATE}: not enabled, closed, or disabled because the driver is gone, which the event queue tells
 *     by an error that names the endpoint, and the completion queues by {@code -FI_ENODEV};</li>
 * <li>{@code -FI_ENOTCONN}: a send on a connection-oriented endpoint that is not connected;</li>
 * <li>{@code -FI_EOPNOTSUPP}: the endpoint was opened without that direction.</li>
 * </ul>
 *
 * <p><b>Flags.</b> {@link #sendmsg}, {@link #tsendmsg}, {@link #recvmsg} and {@link #trecvmsg} take flags that replace
 * the endpoint's defaults as a whole, except that a queue without {@link Flags#SELECTIVE_COMPLETION} still gets every
 * entry. All other calls follow the defaults: {@code op_flags} of the attributes, later {@link #setOpFlags}; injects
 * have no level. Of several levels the strongest counts. What each level promises is in
 * {@code docs/completion-levels.md}.
 *
 * <p>With {@link Mode#BUFFERED_RECV} messages are received into the driver's memory ({@link RecvContext},
 * {@code docs/zero-copy.md}): untagged receives are refused with {@code -FI_EOPNOTSUPP}, tagged ones give a tag and
 * their buffers are not looked at, and {@link #recvmsg} and {@link #trecvmsg} with {@link Flags#CLAIM} or
 * {@link Flags#DISCARD} and the {@code opContext} of an entry claim or discard its message, {@code -FI_EINVAL} if that
 * is not open.
 *
 * <p>What was posted and turns out to be impossible (memory that is not registered, an address that was removed, a peer
 * that died) ends with an error entry. Addresses of memory are those of {@link MemoryRegion#address(long)}.
 *
 * <p>In a domain that keeps threads apart ({@link Threading#SAFE} and others, see {@link Domain}) any thread posts; it
 * may wait for another one that is posting. Owner otherwise: one thread at a time posts; it is the same for all
 * endpoints that report to one completion queue. Opening, binding, enabling and closing are control calls. Source:
 * fi_endpoint(3), fi_msg(3), fi_tagged(3); levels and fence: fi_cq(3), section Completion Event Semantics.
 */
public final class Endpoint extends ConnectionCalls implements Fid {
    private final Domain domain;
    private final Info info;
    private final EndpointBindings bindings = new EndpointBindings(this);
    private final OperationFlags opFlags;
    private final EndpointOptions options;

    private long maxMsgSize;
    private int injectSize;
    private long id;
    private String name;

    Endpoint(Domain domain, Info info, long context, DriverState driver) {
        super(domain, info, context, driver);
        this.domain = domain;
        this.info = info;
        this.opFlags = new OperationFlags(info);
        this.options = new EndpointOptions(info, domain.connection().attachment());
    }

    /**
     * Binds a completion queue for a direction, before the endpoint is enabled.
     *
     * @param queue of the same domain.
     * @param flags {@link Flags#TRANSMIT} and/or {@link Flags#RECV}; with {@link Flags#SELECTIVE_COMPLETION} successes
     *              of these directions write an entry only if the operation asks for it by {@link Flags#COMPLETION}.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other bits, {@link FabricErrno#EINVAL} without a
     *     direction or if the direction has a queue, {@link FabricErrno#EOPBADSTATE} once enabled or if one of both is
     *     closed, {@link FabricErrno#EDOMAIN} for another domain's.
     */
    public void bind(CompletionQueue queue, long flags) {
        bind((Fid) queue, flags);
    }

    /**
     * Binds a counter for kinds of operations, before the endpoint is enabled. It counts besides the completion queue,
     * which each direction needs all the same, for its errors.
     *
     * @param counter of the same domain; it may serve several endpoints.
     * @param flags   {@link Flags#SEND} for sends and/or {@link Flags#RECV} for receives, tagged and untagged.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other bits, {@link FabricErrno#EOPNOTSUPP} for
     *     {@link Flags#READ}, {@link Flags#WRITE}, {@link Flags#REMOTE_READ} and {@link Flags#REMOTE_WRITE}, because
     *     remote memory access is not offered yet, {@link FabricErrno#EINVAL} without a flag or if there is a counter
     *     for the kind, {@link FabricErrno#EOPBADSTATE} once enabled or if one of both is closed,
     *     {@link FabricErrno#EDOMAIN} for another domain's.
     */
    public void bind(Counter counter, long flags) {
        bind((Fid) counter, flags);
    }

    /**
     * Binds the address vector, before the endpoint is enabled.
     *
     * @param vector of the same domain.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is one already or for a connection-oriented endpoint,
     *     {@link FabricErrno#EOPBADSTATE} once enabled or if one of both is closed, {@link FabricErrno#EDOMAIN} for
     *     another domain's.
     */
    public void bind(AddressVector vector) {
        bind(vector, 0);
    }

    @Override
    public void bind(Fid object, long flags) {
        Codes.required(object, "object");
        synchronized (domain.lock()) {
            bindings.bind(object, flags);
        }
    }

    /**
     * Binds an event queue, before the endpoint is enabled. It gets an error entry that names this endpoint for each
     * peer that is lost, and one that names a completion queue of it when that overruns.
     *
     * @param queue of the same fabric.
     * @param flags 0; no bits are defined.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} if there is one
     *     already or for another fabric's, {@link FabricErrno#EOPBADSTATE} once enabled or if one of both is closed.
     */
    public void bind(EventQueue queue, long flags) {
        bind((Fid) queue, flags);
    }

    /**
     * Makes the endpoint ready to transfer: the driver reserves its queues and gives it its address. Enabling an
     * enabled endpoint does nothing. One that the end of the driver disabled stays so.
     *
     * @throws FabricException {@link FabricErrno#ENOCQ} without a completion queue for a direction that the endpoint
     *     has, {@link FabricErrno#ENOAV} without an address vector, of a connection-oriented endpoint
     *     {@link FabricErrno#ENOEQ} without an event queue, {@link FabricErrno#EADDRINUSE} if the name asked for is
     *     taken, {@link FabricErrno#EOPBADSTATE} if closed, {@link FabricErrno#ENODEV} or {@link FabricErrno#ESHUTDOWN}
     *     if the driver is gone, or what the driver answers.
     */
    @Override
    public void enable() {
        synchronized (domain.lock()) {
            if (state == ENABLED) {
                driver.requireAlive();
                return;
            }
            if (state == CLOSED) {
                throw closed();
            }
            bindings.requireComplete(info);
            if (BufferedMode.isAskedFor(info)) {
                bindings.rxCq().slabs().enable(this);
            } else {
                domain.enable(this);
            }
        }
    }

    /**
     * The default operation flags of one direction (FI_GETOPSFLAG).
     *
     * @param direction {@link Flags#TRANSMIT} or {@link Flags#RECV}.
     * @return flags without the direction's bit.
     * @throws FabricException {@link FabricErrno#EINVAL} for both or none.
     */
    public long getOpFlags(long direction) {
        synchronized (domain.lock()) {
            return opFlags.get(direction);
        }
    }

    /**
     * Replaces the default operation flags of one direction (FI_SETOPSFLAG); for calls that the calling thread makes
     * from now on.
     *
     * @param flags {@link Flags#TRANSMIT} with {@link Flags#COMPLETION}, {@link Flags#INJECT} and levels, or
     *              {@link Flags#RECV} with {@link Flags#COMPLETION} and, with that capability,
     *              {@link Flags#MULTI_RECV}; the direction's bit alone clears them.
     * @throws FabricException {@link FabricErrno#EINVAL} for both directions or none, {@link FabricErrno#EBADFLAGS} for
     *     flags that are not offered as default, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public void setOpFlags(long flags) {
        synchronized (domain.lock()) {
            requireOpen();
            opFlags.set(flags);
            applyOpFlags();
        }
    }

    /**
     * The value of an option (fi_getopt).
     *
     * @param option to be read.
     * @return its value; counts and sizes as they are, {@link EndpointOption#FI_HMEM_P2P} as a code of
     *     {@link HmemPeerToPeer}.
     * @throws FabricException {@link FabricErrno#ENOPROTOOPT} for an option that this endpoint does not have or that
     *     can only be set, {@link FabricErrno#EOPNOTSUPP} for {@link EndpointOption#XPU_TRIGGER}, whatever the device,
     *     {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public long getopt(EndpointOption option) {
        Codes.required(option, "option");
        synchronized (domain.lock()) {
            requireOpen();
            return options.get(option);
        }
    }

    /**
     * Sets an option (fi_setopt). {@link EndpointOption#MIN_MULTI_RECV} holds for receives that the calling thread
     * posts from now on.
     *
     * @param option to be set.
     * @param value  as {@link #getopt(EndpointOption)} returns it.
     * @throws FabricException {@link FabricErrno#ENOPROTOOPT} for an option that this endpoint does not have or that
     *     can only be read, {@link FabricErrno#EINVAL} for a value out of its range, {@link FabricErrno#EOPNOTSUPP} for
     *     {@link HmemPeerToPeer#REQUIRED}, {@link FabricErrno#EOPBADSTATE} if closed, or enabled where the option says
     *     so.
     */
    public void setopt(EndpointOption option, long value) {
        Codes.required(option, "option");
        synchronized (domain.lock()) {
            requireOpen();
            options.set(option, value, state == ENABLED);
            minMultiRecvBytes = options.minMultiRecvBytes();
        }
    }

    /**
     * As {@link #getopt(EndpointOption)}, with numbers and bytes as libfabric has them.
     *
     * @param level  {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name   a code of {@link EndpointOption}.
     * @param value  receives the value in the byte order of this machine.
     * @param offset of the value.
     * @param length room in bytes.
     * @return bytes stored.
     * @throws FabricException as {@link #getopt(EndpointOption)}; {@link FabricErrno#ENOPROTOOPT} also for an unknown
     *     level or name, {@link FabricErrno#ETOOSMALL} if the room is less than {@link EndpointOption#lengthBytes()},
     *     {@link FabricErrno#EINVAL} if it is outside of the buffer.
     */
    public int getopt(int level, int name, MutableDirectBuffer value, int offset, int length) {
        EndpointOption option = EndpointOptions.option(level, name);
        long content = getopt(option);
        EndpointOptions.requireRoom(option, value, offset, length);
        return EndpointOptions.store(option, content, value, offset);
    }

    /**
     * As {@link #setopt(EndpointOption, long)}, with numbers and bytes as libfabric has them.
     *
     * @param level  {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name   a code of {@link EndpointOption}.
     * @param value  holds the value in the byte order of this machine.
     * @param offset of the value.
     * @param length bytes of the value.
     * @throws FabricException as {@link #setopt(EndpointOption, long)}; {@link FabricErrno#ENOPROTOOPT} also for an
     *     unknown level or name, {@link FabricErrno#EINVAL} if the length is not {@link EndpointOption#lengthBytes()}
     *     or the value is outside of the buffer.
     */
    public void setopt(int level, int name, DirectBuffer value, int offset, int length) {
        EndpointOption option = EndpointOptions.option(level, name);
        setopt(option, EndpointOptions.load(option, value, offset, length));
    }

    /**
     * Asks to cancel one operation; if it has not begun, it ends with {@link FabricErrno#ECANCELED}. Sends and receives
     * posted before by this thread are looked at; if several have the context one of them is cancelled. It counts as
     * posting a send, or as posting a receive on an endpoint that only receives. A receive whose message was matched
     * and a send whose message was announced go on and end in one entry, as if not asked.
     *
     * @param opContext as posted; 0 cancels nothing, nor does one that matches no operation.
     * @return 0 if the request was submitted, else a negative errno of this class.
     */
    public int cancel(long opContext) {
        if (!isUsable()) {
            return refused();
        }
        if (opContext == 0) {
            return 0;
        }
        if (hasOpenClaim()) {
            return -FabricErrno.EBUSY;
        }
        TransmitSide side = transmitSide();
        return side != null
            ? side.cancel(opContext, receive == null ? 0 : receive.position()) : receive.cancel(opContext);
    }

    /**
     * The endpoint's own address, for others to insert (fi_getname).
     *
     * @return for example {@code jfabric://default/ep-3f2a9c01d4e5b677-1}.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if not enabled, or closed.
     */
    @Override
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
     * Sends that may be posted now (fi_tx_size_left); others may be refused all the same. One that ends makes room a
     * moment before its entry can be read.
     *
     * @return a count, or a negative errno of this class.
     */
    public long txSizeLeft() {
        if (!isUsable()) {
            return -FabricErrno.EOPBADSTATE;
        }
        TransmitSide side = transmitSide();
        return side == null ? -FabricErrno.EOPNOTSUPP : side.sizeLeft();
    }

    /**
     * Receives that may be posted now (fi_rx_size_left); others may be refused all the same. One that ends makes room a
     * moment before its entry can be read.
     *
     * @return a count, or a negative errno of this class.
     */
    public long rxSizeLeft() {
        if (!isUsable()) {
            return -FabricErrno.EOPBADSTATE;
        }
        return receive == null ? -FabricErrno.EOPNOTSUPP : receive.sizeLeft();
    }

    /**
     * Longest message.
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
     * How a peer is reached, and why that way; begins nothing. A control call.
     *
     * @param fiAddr of the peer, from the address vector; not looked at if the endpoint is connection-oriented.
     * @return link, addresses, state and a verdict on each link.
     * @throws FabricException {@link FabricErrno#EINVAL} if the address vector does not hold it,
     *     {@link FabricErrno#ENOTCONN} of a connection-oriented endpoint that has no peer,
     *     {@link FabricErrno#EOPBADSTATE} if the endpoint is not enabled or closed.
     */
    public PeerPath path(long fiAddr) {
        synchronized (domain.lock()) {
            if (state != ENABLED) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "the endpoint is "
                    + (state == CLOSED ? "closed" : "not enabled"), "Ask while it is enabled.");
            }
            return domain.connections().path(id, name, fiAddr);
        }
    }

    /**
     * Context given at open; error entries of injects carry it.
     *
     * @return the value.
     */
    @Override
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

    @Override
    public FidClass fidClass() {
        return FidClass.EP;
    }

    @Override
    public int control(int command, WaitObjectHandle handle) {
        // passive endpoints have one
        return command == ControlCommand.BACKLOG.code() ? -FabricErrno.EINVAL : Fid.super.control(command, handle);
    }

    @Override
    public boolean isOpen() {
        return state != CLOSED;
    }

    /** Closes the endpoint; operations that have not ended are dropped without an entry. Again does nothing. */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "Endpoint{" + (name == null ? "not enabled" : name) + (state == CLOSED ? ", closed" : "") + '}';
    }

    private void requireOpen() {
        if (state == CLOSED) {
            throw closed();
        }
    }

    private static FabricException closed() {
        return new FabricException(FabricErrno.EOPBADSTATE, "the endpoint is closed", "Open another one.");
    }

    /** Takes the driver's answer; the last step of enabling, under the fabric's lock. */
    void onEnabled(
        DriverEvent.EndpointReady ready, EndpointPort enginePort, TransmitQueue transmitQueue,
        ReceiveQueue receiveQueue, LocalMemory memory) {
        id = ready.endpointId();
        name = ready.address();
        maxMsgSize = ready.maxMsgSize();
        injectSize = ready.injectSize();
        options.onEnabled(ready.txSize(), ready.rxSize());
        applyOpFlags();
        TransmitSide side = info.transmits() ? new TransmitSide(
            enginePort, transmitQueue, bindings.txCq().credits(), memory, maxMsgSize, injectSize,
            ready.txSize(), !info.connects()) : null;
        if (info.connects()) {
            disconnectTransmit(side);
        } else {
            transmit = side;
        }
        receive = info.receives() ? new ReceiveSide(
            enginePort, receiveQueue, bindings.rxCq().credits(), ready.rxSize()) : null;
        taggedReceive = info.hasTags() ? receive : null;
        if (slab != null) {
            slab.receive(receive);
        }
        peeksData = info.receives() && bindings.rxCq().format().compareTo(CompletionFormat.DATA) >= 0;
        // the queues were made above: a thread that sees the state must see them
        UnsafeApi.storeFence();
        state = ENABLED;
        bindings.onEnabled();
    }

    private void applyOpFlags() {
        alwaysForSends = OperationFlags.always(bindings.txSelective());
        alwaysForRecvs = OperationFlags.always(bindings.rxSelective());
        sendFlags = opFlags.sendDefault(bindings.txSelective());
        recvFlags = opFlags.recvDefault(bindings.rxSelective());
        untaggedRecvFlags = opFlags.untaggedRecvDefault();
        untaggedRecvCall = opFlags.untaggedRecvCall();
        sendCall = opFlags.sendCall();
        peekCall = opFlags.peekCall();
    }

    /** Forgets what it was bound to; under the fabric's lock. */
    void markClosed() {
        state = CLOSED;
        TransmitSide side = transmitSide();
        if (side != null) {
            side.close();
        }
        if (receive != null) {
            receive.close();
        }
        if (slab != null) {
            bindings.rxCq().slabs().remove(slab);
            slab.close();
        }
        closeGroups();
        bindings.unbind();
    }

    /** The driver has closed it: what it did not take out of the queues gives its completion credit back. */
    void onClosedInDriver() {
        TransmitSide side = transmitSide();
        if (side != null) {
            side.onClosedInDriver();
        }
        if (receive != null) {
            receive.onClosedInDriver();
        }
    }

    /** Sends that have not reached their level. */
    long outstandingSends() {
        TransmitSide side = transmitSide();
        return state != ENABLED || side == null ? 0 : side.outstanding();
    }

    int state() {
        return state;
    }

    @Override
    long id() {
        return id;
    }

    @Override
    void rename(String address) {
        name = address;
    }

    BufferedOptions bufferedLimits() {
        return options.buffered();
    }

    /** Maps what its messages are received into with {@link Mode#BUFFERED_RECV}; the driver has enabled it. */
    void openSlab(DriverConnection connection, DriverEvent.EndpointReady ready) {
        if (BufferedMode.isAskedFor(info)) {
            bindings.rxCq().slabs().requireFree(ready.rxCqIndex());
            slab = ReceiveSlab.open(connection, this, ready, options.buffered().min(), !domain.locks());
        }
    }

    /** Null without one. */
    ReceiveSlab slab() {
        return slab;
    }

    Info requested() {
        return info;
    }

    @Override
    Domain domain() {
        return domain;
    }

    EndpointBindings bindings() {
        return bindings;
    }
}
