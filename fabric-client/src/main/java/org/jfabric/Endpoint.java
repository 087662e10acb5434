package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.BufferedMode;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverState;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.GroupPort;
import org.jfabric.client.PrefixMode;
import org.jfabric.codec.control.EndpointReady;
import org.jfabric.info.Codes;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.HmemPeerToPeer;
import org.jfabric.info.Info;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.Mode;
import org.jfabric.info.PeerPath;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.SocketName;
import org.jfabric.info.Threading;

/**
 * An addressable end of communication: sends and receives are posted here and reported in the completion queues that
 * are bound for their direction.
 *
 * <pre>{@code
 * // from any source, tag 7 without a bit to ignore, context 1
 * endpoint.trecv(memory.address(0), 64, FabricAddress.ADDR_UNSPEC, 7, 0, 1);
 * // tag 7, context 2
 * endpoint.tsend(memory.address(64), 64, peer, 7, 2);
 * }</pre>
 *
 * <p>Use: open by {@link Domain#openEndpoint(Info)}, {@link #bind(Fid, long)} queues and
 * {@link #bind(AddressVector)} the vector, {@link #enable()}, transfer, {@link #close()}.
 *
 * <p>One of type {@link EndpointType#MSG} has no address vector and one peer: bind an event queue instead, then
 * {@link #connect(String)}, or {@link #accept()} a request (see {@code docs/connections.md}).
 *
 * <p>Data-path calls (send, recv, inject, their tagged and {@link #messages() further forms} and
 * {@link #cancel(long)}) never throw, block or allocate. They return 0, or a negative fabric errno and then nothing was
 * posted:
 *
 * <ul>
 * <li>{@code -FI_EAGAIN}: the completion queue has no slot left (not checked in a domain with
 *     {@link ResourceManagement#DISABLED}), as many operations as {@link #txSizeLeft()} or {@link #rxSizeLeft()} allow
 *     are outstanding, or the submission queue is full: read the completion queue and post again. An operation whose
 *     entry was read is no longer outstanding, except that receives of long messages may remain so until their senders
 *     read the acknowledgements;</li>
 * <li>{@code -FI_EINVAL}: the message is longer than {@link #maxMsgSize()}, an inject, also by {@link Flags#INJECT},
 *     longer than {@link #injectSize()}, a range outside of its buffer, no destination, no {@link IoVec}, one with more
 *     pieces than {@code iov_limit} of the attributes, or with a piece without address;</li>
 * <li>{@code -FI_EFAULT}: memory that is to be copied before the return ({@link Flags#INJECT}) is not registered;</li>
 * <li>{@code -FI_EBUSY}: a {@link SendClaim} of this endpoint is open;</li>
 * <li>{@code -FI_EBADFLAGS}: a flag that the call does not offer;</li>
 * <li>{@code -FI_EOPBADSTATE}: not enabled, closed, or disabled because the driver is gone; then the event queue has
 *     an error entry that names the endpoint, and completion queues return {@code -FI_ENODEV};</li>
 * <li>{@code -FI_ENOTCONN}: a send on a connection-oriented endpoint that is not connected;</li>
 * <li>{@code -FI_EOPNOTSUPP}: the endpoint was opened without that direction.</li>
 * </ul>
 *
 * <p><b>Order of arguments.</b> All calls have one, which is that of libfabric: the memory (address or buffer, offset,
 * length), the data, the destination or source, the tag, the bits of it to ignore, the context, and the flags last. A
 * call without one of them leaves it out. {@link SendRequest} and {@link ReceiveRequest} set them by name instead.
 *
 * <p>With {@link Mode#BUFFERED_RECV} messages are received into the driver's memory ({@link RecvContext},
 * {@code docs/zero-copy-receive.md}): untagged receives are refused with {@code -FI_EOPNOTSUPP}, tagged ones give a tag
 * and their buffers are ignored.
 *
 * <p>With {@link Mode#MSG_PREFIX} the buffers of all sends, injects and receives begin with {@link #msgPrefixSize()}
 * bytes that are not transferred; with {@link Mode#CONTEXT} contexts are places in registered memory
 * ({@link OperationContext}). What has no prefix, or another context, is refused with {@code -FI_EINVAL}
 * ({@code docs/modes.md}).
 *
 * <p><b>Connections.</b> {@link #connect(String)} and {@link #accept()} return before the connection is made; the event
 * queue of the endpoint reports the result: {@link EventType#CONNECTED} with the private data of the answer, or an
 * error entry with that of the refusal; later {@link EventType#SHUTDOWN} when the peer has ended the connection,
 * closed its endpoint, or is lost ({@link EventEntry#data()} is 0, or the errno of the loss). Sends are taken from
 * CONNECTED to the end, receives always once the endpoint is enabled; those without a message end with
 * {@link FabricErrno#ECANCELED} when the connection ends. Messages that arrived before the end can still be
 * received. After a refusal an endpoint may connect again; after a connection it is used up.
 *
 * <p>A posted operation that cannot be done (its memory is not registered, its address was removed, its peer has died)
 * completes with an error entry. Addresses of memory are those of {@link MemoryRegion#address(long)}.
 *
 * <p>In a domain that keeps threads apart ({@link Threading#SAFE} and others, see {@link Domain}) any thread posts; it
 * may wait for another one that is posting. Owner otherwise: one thread at a time posts; it is the same for all
 * endpoints that report to one completion queue. Opening, binding, enabling, connecting, joining and closing are
 * control calls. Source: fi_endpoint(3), fi_msg(3), fi_tagged(3), fi_cm(3).
 */
public final class Endpoint implements Fid {
    static final int OPEN = 0;
    static final int ENABLED = 1;
    static final int CLOSED = 2;

    private static final UnsafeBuffer NO_DATA = new UnsafeBuffer(0, 0);

    private final Domain domain;
    private final Info info;
    private final long context;
    private final DriverState driver;
    private final EndpointBindings bindings;
    /** Of an alias the endpoint that it is one of, else this one. */
    private final Endpoint base;
    /** Those of {@link #base}. */
    private final EndpointAliases aliases;
    private final OperationFlags opFlags;
    private final EndpointOptions options;
    private final EndpointConnection connection;
    private final EndpointActivation activation;
    private final Messages messages;
    private final RemoteMemory remoteMemory;
    private final Atomics atomics;
    /** Null without the capability TRIGGER. */
    private final EndpointTriggers triggers;
    /** Of a context of a scalable endpoint, else null. */
    private final ScalableContext role;
    /** Of a shared receive context; null of every other endpoint. */
    private final ReceiveSharing sharedReceives;

    private int state;
    /** Nothing is posted any more, and the driver has not answered yet. */
    private volatile boolean isClosing;
    /**
     * The queue of sends; null while none is accepted, so that sends need no tests of their own: {@link #refused()}.
     * Each call reads it once, because the end of a connection sets it to null, on the client's thread.
     */
    private Submission transmit;
    /** The same for accesses to remote memory. */
    private Submission accesses;
    /** Where receives go; null if the endpoint does not receive. */
    private Submission receive;
    /** The same where messages have tags, else null. */
    private Submission taggedReceive;
    /** Of the enabled endpoint. */
    private Submission submission;
    /** A {@link SendClaim} is open, and nothing else keeps its sends apart from others. */
    private boolean isClaimed;
    /** Sends need a connection, and there is none. */
    private boolean isUnconnected;
    /** Carried by sends without flags of their own. */
    private long sendFlags;
    /** Carried by receives without flags of their own. */
    private long recvFlags;
    /** Carried by untagged receives without flags of their own, besides. */
    private long untaggedRecvFlags;
    /** Least free room of multi-receive buffers that are posted from now on. */
    private long minMultiRecvBytes = EndpointOptions.DEFAULT_MIN_MULTI_RECV;
    /** Where messages are received with {@link Mode#BUFFERED_RECV}, or null. */
    private ReceiveSlab slab;

    private long maxMsgSize;
    private int injectSize;
    private long id;
    private String name;

    Endpoint(
        Domain domain, Info info, long context, DriverState driver, ReceiveSharing sharedReceives,
        ScalableContext role) {
        this.role = role;
        this.domain = domain;
        this.sharedReceives = sharedReceives;
        this.info = info;
        this.context = context;
        this.driver = driver;
        this.base = this;
        this.aliases = new EndpointAliases(this);
        this.bindings = new EndpointBindings(this);
        this.opFlags = new OperationFlags(info);
        this.options = new EndpointOptions(info, domain.connection().attachment());
        this.connection = new EndpointConnection(this, domain, info);
        this.activation = new EndpointActivation(this, domain);
        this.messages = new Messages(this, info);
        this.remoteMemory = new RemoteMemory(this, info.caps(), info.txAttr().rmaIovLimit());
        this.atomics = new Atomics(this, info);
        this.triggers = (info.caps() & Flags.TRIGGER) == 0 ? null : new EndpointTriggers(this);
    }

    /** An alias: it shares what concerns the endpoint itself, and has what depends on default flags of its own. */
    private Endpoint(Endpoint base, OperationFlags opFlags) {
        this.role = base.role;
        this.domain = base.domain;
        this.sharedReceives = base.sharedReceives;
        this.info = base.info;
        this.context = base.context;
        this.driver = base.driver;
        this.base = base;
        this.aliases = base.aliases;
        this.bindings = base.bindings;
        this.opFlags = opFlags;
        this.options = base.options;
        this.connection = base.connection;
        this.activation = base.activation;
        this.messages = new Messages(this, info);
        this.remoteMemory = new RemoteMemory(this, info.caps(), info.txAttr().rmaIovLimit());
        this.atomics = new Atomics(this, info);
        this.triggers = base.triggers == null ? null : new EndpointTriggers(this);
    }

    /**
     * Opens an alias (fi_ep_alias): another object for this endpoint, with the same address, queues and connection, and
     * with default operation flags of its own. Both can be used at the same time, by the rules for one endpoint. The
     * endpoint cannot be closed before its aliases; an alias of an alias is one of the endpoint. Events and error
     * entries of event queues name the endpoint. A control call. Source: fi_endpoint(3), section fi_ep_alias.
     *
     * @param flags {@link Flags#TRANSMIT} or {@link Flags#RECV} and the default flags of that direction, as for
     *              {@link #setOpFlags}; those of the other direction are the ones that this object has now.
     * @return the alias. Its {@link #setOpFlags} changes nothing here, nor the other way round.
     * @throws FabricException {@link FabricErrno#EINVAL} for both directions or none, {@link FabricErrno#EBADFLAGS} for
     *     flags that are not offered as default, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public Endpoint alias(long flags) {
        synchronized (domain.lock()) {
            requireOpen();
            OperationFlags own = new OperationFlags(opFlags);
            own.set(flags);
            Endpoint alias = new Endpoint(base, own);
            aliases.add(alias);
            return alias;
        }
    }

    /**
     * Binds an object, before the endpoint is enabled. It is of the same domain, an event queue of the same fabric.
     *
     * <ul>
     * <li>A {@link CompletionQueue} for a direction: the flags are {@link Flags#TRANSMIT} and/or {@link Flags#RECV};
     *     with {@link Flags#SELECTIVE_COMPLETION} successes of these directions write an entry only if the operation
     *     asks for it by {@link Flags#COMPLETION}.</li>
     * <li>A {@link Counter} for kinds of operations; it may serve several endpoints. It counts besides the completion
     *     queue, which each direction needs nevertheless, for its errors. The flags are {@link Flags#SEND} for sends
     *     and/or {@link Flags#RECV} for receives, tagged and untagged; {@link Flags#READ} and {@link Flags#WRITE} for
     *     accesses to remote memory, {@link Flags#REMOTE_READ} and {@link Flags#REMOTE_WRITE} for those of peers to the
     *     domain's memory.</li>
     * <li>An {@link EventQueue}, with flags 0. It gets an error entry that names this endpoint for each peer that is
     *     lost, and one that names a completion queue of it when that overruns.</li>
     * <li>The {@link AddressVector}, with flags 0.</li>
     * <li>A shared context, with flags 0; a region, as {@link MemoryRegion#bind(Endpoint, long)} does.</li>
     * </ul>
     *
     * @param object {@inheritDoc}
     * @param flags  as the object needs them.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other bits, {@link FabricErrno#EINVAL} without a
     *     direction or kind, if there is such an object already, for an address vector of a connection-oriented
     *     endpoint, another fabric's event queue, an object of another class, and a shared context that lacks something
     *     that the endpoint asks for; {@link FabricErrno#EOPNOTSUPP} for a counter of accesses without the capability
     *     {@link Flags#RMA} and of those of peers without {@link Flags#RMA_EVENT}, {@link FabricErrno#EOPBADSTATE} once
     *     enabled or if either is closed, {@link FabricErrno#EDOMAIN} for another domain's.
     */
    @Override
    public void bind(Fid object, long flags) {
        Codes.required(object, "object");
        synchronized (domain.lock()) {
            requireOpenAlias();
            bindings.bind(object, flags);
        }
    }

    /**
     * Binds the address vector, before the endpoint is enabled.
     *
     * @param vector of the same domain.
     * @throws FabricException as {@link #bind(Fid, long)}.
     */
    public void bind(AddressVector vector) {
        bind(vector, 0);
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
    public void enable() {
        synchronized (domain.lock()) {
            if (state == ENABLED) {
                driver.requireAlive();
                return;
            }
            if (state == CLOSED) {
                throw closed();
            }
            if (sharedReceives == null) {
                bindings.requireComplete(info);
            }
            if (BufferedMode.isAskedFor(info)) {
                bindings.rxCq().slabs().enable(base);
            } else {
                activation.enable();
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
            base.minMultiRecvBytes = options.minMultiRecvBytes();
            aliases.update();
        }
    }

    /** Posts an untagged send: as {@link #tsend(long, long, long, long, long)}, without a tag. */
    public int send(long buf, long len, long destAddr, long opContext) {
        Submission sends = transmit;
        return sends != null && isUsable() ? sends.send(sendFlags | Flags.MSG, buf, len, destAddr, 0, 0, opContext)
            : refused();
    }

    /** Posts an untagged send of a part of a region: as {@link #tsend(MemorySlice, Destination, long, long)}. */
    public int send(MemorySlice message, Destination to, long opContext) {
        return message == null || to == null ? -FabricErrno.EINVAL
            : send(message.address(), message.lengthBytes(), to.number(), opContext);
    }

    /** Posts an untagged send whose payload may be reused at once: as {@link #tinject}, without a tag. */
    public int inject(DirectBuffer source, int offset, int len, long destAddr) {
        return inject(Flags.MSG | Flags.INJECT, source, offset, len, destAddr, 0, 0);
    }

    /**
     * Posts a receive of an untagged message: as {@link #trecv(long, long, long, long, long, long)}, without a tag; or
     * of many with {@link Flags#MULTI_RECV} among the default flags.
     */
    public int recv(long buf, long len, long srcAddr, long opContext) {
        Submission receives = receive;
        if (receives == null || !isUsable()) {
            return refused();
        }
        // with driver-owned buffers a receive gives only a tag, so an untagged one has no use
        return slab != null ? -FabricErrno.EOPNOTSUPP : receives.receive(
            recvFlags | untaggedRecvFlags | Flags.MSG, buf, len, srcAddr, 0, minMultiRecvBytes, opContext);
    }

    /** Posts a receive of an untagged message of any peer: as {@link #trecv(MemorySlice, long, long, long)}. */
    public int recv(MemorySlice message, long opContext) {
        return message == null ? -FabricErrno.EINVAL
            : recv(message.address(), message.lengthBytes(), FabricAddress.ADDR_UNSPEC, opContext);
    }

    /**
     * Posts a tagged send.
     *
     * @param buf      address in registered memory; the bytes belong to the driver until the entry is read.
     * @param len      bytes.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int tsend(long buf, long len, long destAddr, long tag, long opContext) {
        Submission sends = transmit;
        return sends != null && isUsable()
            ? sends.send(sendFlags | Flags.TAGGED, buf, len, destAddr, tag, 0, opContext) : refused();
    }

    /**
     * Posts a tagged send of a part of a region.
     *
     * @param message   as {@code buf} and {@code len} of {@link #tsend(long, long, long, long, long)}.
     * @param to        the peer.
     * @param tag       the message's tag.
     * @param opContext returned in the entry.
     * @return as that call; {@code -FI_EINVAL} for null.
     */
    public int tsend(MemorySlice message, Destination to, long tag, long opContext) {
        return message == null || to == null ? -FabricErrno.EINVAL
            : tsend(message.address(), message.lengthBytes(), to.number(), tag, opContext);
    }

    /**
     * Posts a tagged send whose payload may be reused at once; there is no entry unless it fails.
     *
     * @param source   any buffer.
     * @param offset   of the payload in it.
     * @param len      bytes, at most {@link #injectSize()}.
     * @param destAddr destination, from the address vector.
     * @param tag      the message's tag.
     * @return 0 or a negative errno of this class.
     */
    public int tinject(DirectBuffer source, int offset, int len, long destAddr, long tag) {
        return inject(Flags.TAGGED | Flags.INJECT, source, offset, len, destAddr, tag, 0);
    }

    /**
     * Claims room for a tagged message that is to be encoded in place, and posted by {@link SendClaim#commit}. Until
     * then nothing else can be sent from this endpoint.
     *
     * @param lengthBytes bytes of the longest message that may be committed, 0 to {@link #injectSize()}: that
     *                    much the driver can keep of each message that it cannot pass on at once.
     * @param claim       not open; opened if the call is accepted.
     * @return 0 or a negative errno of this class; {@code -FI_EBUSY} while this endpoint has an open claim, or if the
     *     object is open already.
     */
    public int tryClaim(int lengthBytes, SendClaim claim) {
        Submission sends = transmit;
        if (sends == null || !isUsable()) {
            return refused();
        }
        return claim == null ? -FabricErrno.EINVAL : claim.open(this, sends, lengthBytes);
    }

    /**
     * Sends and receives with flags of their own, with remote data, of several pieces, and lent.
     *
     * @return the same object always.
     */
    public Messages messages() {
        return messages;
    }

    /**
     * Reads and writes of peers' registered memory.
     *
     * @return the same object always; without {@link Flags#RMA} its calls answer {@code -FI_EOPNOTSUPP}.
     */
    public RemoteMemory remoteMemory() {
        return remoteMemory;
    }

    /**
     * Atomic operations on peers' registered memory.
     *
     * @return the same object always; without {@link Flags#ATOMIC} its calls answer {@code -FI_EOPNOTSUPP}.
     */
    public Atomics atomics() {
        return atomics;
    }

    /**
     * Posts a receive of a tagged message. A message matches if the bits of its tag that {@code ignore} leaves are
     * those of {@code tag}; of several receives that match, the one posted first takes it.
     *
     * @param buf     address in registered memory; it belongs to the driver until the entry is read.
     * @param len     bytes.
     * @param srcAddr only messages of this source, with {@link Flags#DIRECTED_RECV}; or
     *                {@link FabricAddress#ADDR_UNSPEC}.
     * @param tag     tag of the messages wanted.
     * @param ignore  bits of the tag that do not count.
     * @param opContext returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int trecv(long buf, long len, long srcAddr, long tag, long ignore, long opContext) {
        Submission receives = taggedReceive;
        if (receives == null || !isUsable()) {
            return refused();
        }
        boolean takesBuffer = slab == null;
        return receives.receive(recvFlags | Flags.TAGGED, takesBuffer ? buf : 0, takesBuffer ? len : 0, srcAddr, tag,
            ignore, opContext);
    }

    /**
     * Posts a receive of a tagged message of any peer into a part of a region.
     *
     * @param message   as {@code buf} and {@code len} of {@link #trecv(long, long, long, long, long, long)}.
     * @param tag       the tag to match.
     * @param ignore    bits of the tag that may differ.
     * @param opContext returned in the entry.
     * @return as that call; {@code -FI_EINVAL} for null.
     */
    public int trecv(MemorySlice message, long tag, long ignore, long opContext) {
        return message == null ? -FabricErrno.EINVAL : trecv(
            message.address(), message.lengthBytes(), FabricAddress.ADDR_UNSPEC, tag, ignore, opContext);
    }

    /**
     * Asks to cancel one operation; if it has not begun, it ends with {@link FabricErrno#ECANCELED}. Sends and receives
     * that this thread posted before are searched; if several have the context one of them is cancelled. The call
     * counts as posting a send, or as posting a receive on an endpoint that only receives. A receive whose message was
     * matched and a send whose message was announced are not cancelled: they continue and end in one entry.
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
        return isClaimed ? -FabricErrno.EBUSY : submission.cancel(opContext);
    }

    /**
     * The endpoint's own address, for others to insert (fi_getname).
     *
     * @return for example {@code jfabric://default/ep-3f2a9c01d4e5b677-1}.
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
     * Connects without private data.
     *
     * @param address as for {@link #connect(String, DirectBuffer, int, int)}.
     * @throws FabricException as that.
     */
    public void connect(String address) {
        connect(address, NO_DATA, 0, 0);
    }

    /**
     * Asks a passive endpoint for a connection (fi_connect); enables the endpoint if it is not.
     *
     * @param address where it listens.
     * @param param   private data for the listener; what exceeds {@link EndpointOption#CM_DATA_SIZE} is cut off.
     * @param offset  of the data.
     * @param length  of the data in bytes.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EOPBADSTATE}
     *     if it is closed, connecting, connected, or was, or was opened to accept a request, {@link FabricErrno#EINVAL}
     *     for a malformed address, or for a range outside of the buffer, {@link FabricErrno#EHOSTUNREACH} if no link of
     *     the endpoint reaches the address; and as {@link #enable()}.
     */
    public void connect(String address, DirectBuffer param, int offset, int length) {
        management().connect(address, param, offset, length);
    }

    /**
     * Accepts without private data.
     *
     * @throws FabricException as {@link #accept(DirectBuffer, int, int)}.
     */
    public void accept() {
        accept(NO_DATA, 0, 0);
    }

    /**
     * Accepts the request that the endpoint was opened for (fi_accept); enables it if it is not. If the peer has given
     * up meanwhile there is an error entry with {@link FabricErrno#ECONNABORTED}.
     *
     * @param param  private data for the peer; what exceeds {@link EndpointOption#CM_DATA_SIZE} is cut off.
     * @param offset of the data.
     * @param length of the data in bytes.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EOPBADSTATE}
     *     if it was not opened with the info of a request, if that has an answer already or its passive endpoint is
     *     closed, or if the endpoint is closed, {@link FabricErrno#EINVAL} for a range outside of the buffer; and as
     *     {@link #enable()}.
     */
    public void accept(DirectBuffer param, int offset, int length) {
        management().accept(param, offset, length);
    }

    /**
     * Ends the connection (fi_shutdown): nothing is sent or received any more, operations that are outstanding end with
     * {@link FabricErrno#ECANCELED}, and the event queues of both sides get SHUTDOWN. Has no effect once the connection
     * has ended.
     *
     * @param flags 0; no bits are defined.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#EBADFLAGS}
     *     for flags, {@link FabricErrno#ENOTCONN} before it is connected, {@link FabricErrno#EOPBADSTATE} if closed.
     */
    public void shutdown(long flags) {
        management().shutdown(flags);
    }

    /**
     * Joins a multicast group (fi_join). When the call returns the endpoint is a member, and its event queue, if one is
     * bound, has a {@link EventType#JOIN_COMPLETE} with the group and the context. Closing the group leaves it.
     *
     * <p>Over link shm a group has one writer, which joins with {@link Flags#SEND}, and readers in any driver of this
     * user, which join with {@link Flags#RECV} and get all messages from then on, in order. The slowest reader holds
     * the writer back, unless the writer's address ends with {@code ?lossy}.
     *
     * @param address of datagrams a multicast address as a {@link SocketName}; with port 0 messages are received at the
     *                endpoint's own port, so that all members have to have the same. Over link shm
     *                {@code jfabric://<driver>/<group>}, with the driver of the writer; behind that of a writer
     *                {@code ?net=host:port} has other hosts read it, too, as {@code stream://host:port/group}.
     * @param opContext of the group, and of the event.
     * @param flags   {@link Flags#SEND} to send only, {@link Flags#RECV}, or 0 for both.
     * @return the group, whose {@link MulticastGroup#fiAddr()} is the destination of sends.
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} without {@link Flags#MULTICAST} among the endpoint's
     *     capabilities, {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} for what is no group,
     *     {@link FabricErrno#EOPBADSTATE} if not enabled or closed, or why the system does not let it join. Over link
     *     shm also {@link FabricErrno#EBUSY} for a second writer, {@link FabricErrno#ECONNREFUSED} for a reader of a
     *     group without a writer, {@link FabricErrno#EALREADY} for a member, {@link FabricErrno#EADDRINUSE} if an
     *     endpoint has the group's address, {@link FabricErrno#EKEYREJECTED} if the writer's authorization key differs,
     *     {@link FabricErrno#EHOSTUNREACH} or {@link FabricErrno#ETIMEDOUT} if its driver does not answer.
     */
    public MulticastGroup join(String address, long opContext, long flags) {
        return join(address, opContext, flags, new JoinAttr());
    }

    /**
     * Joins a multicast group as {@link #join(String, long, long)}, with further attributes: a reader of a group over
     * link shm may begin at the position of a message that the group's ring still has.
     *
     * @param address   as above.
     * @param opContext as above.
     * @param flags     as above.
     * @param attr      not kept.
     * @return the group, as above; {@link MulticastGroup#start()} is where it begins.
     * @throws FabricException as above; {@link FabricErrno#EINVAL} for a position of another log or term than the
     *     group's, with both in the message, or for a writer or a datagram group with a position;
     *     {@link FabricErrno#ENODATA} for one that the ring does not have, with the oldest and the next one.
     */
    public MulticastGroup join(String address, long opContext, long flags, JoinAttr attr) {
        return management().join(address, opContext, flags, attr);
    }

    /**
     * Joins a group over link shm to read it in place: its messages come by the reader, and need neither receives nor
     * entries. The endpoint's queue for receives serves one such reader at a time, and has its waits.
     *
     * @param address   as {@link #join(String, long, long)} with {@link Flags#RECV}.
     * @param opContext of the group, and of the event.
     * @param attr      not kept.
     * @return the reader; {@link MulticastReader#group()} is the membership.
     * @throws FabricException as {@link #join(String, long, long, JoinAttr)}; {@link FabricErrno#EBUSY} if another
     *     reader has the queue, {@link FabricErrno#EINVAL} without a queue for receives,
     *     {@link FabricErrno#EOPNOTSUPP} for a group of datagrams, in a fabric that outlives its driver, or if the
     *     files of the writer's driver are on another file system than this one's.
     */
    public MulticastReader openReader(String address, long opContext, JoinAttr attr) {
        return management().openReader(address, opContext, attr);
    }

    /**
     * Begins to join a group to read it in place: {@link #openReader} for a thread that must not wait, for example for
     * a writer on another host that is not there yet.
     *
     * @param address   as above.
     * @param opContext as above.
     * @param attr      as above.
     * @return answers when the driver has; one that is dropped leaves the group when the endpoint is closed.
     * @throws FabricException as above, for what is known at once.
     */
    public PendingReader beginReader(String address, long opContext, JoinAttr attr) {
        return management().beginReader(address, opContext, attr);
    }

    /**
     * Address of the peer of a connected endpoint (fi_getpeer).
     *
     * @return the address; of one that was connected still the same.
     * @throws FabricException {@link FabricErrno#ENOSYS} of a connectionless endpoint, {@link FabricErrno#ENOTCONN} if
     *     it was never connected.
     */
    public String peer() {
        return connection.peer();
    }

    /**
     * Asks for another address, before the endpoint is enabled (fi_setname). {@link #enable()} fails if it is taken.
     *
     * @param address for example {@code jfabric://default/quotes}, of this driver, or that of a socket over links with
     *     such addresses.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} once enabled, if closed, or if it was opened for a
     *     connection request or has the address of a passive endpoint, {@link FabricErrno#EADDRNOTAVAIL} for an address
     *     of another driver, {@link FabricErrno#EINVAL} for a malformed address.
     */
    public void setname(String address) {
        management().setname(address);
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
        activation.publish(service);
    }

    /**
     * Sends that may be posted now (fi_tx_size_left); a post may be refused nevertheless. A completed one makes room
     * a moment before its entry can be read.
     *
     * @return a count that holds for each destination, 0 while a slow one has its share of the sends and more can be
     *     posted to others; or a negative errno of this class.
     */
    public long txSizeLeft() {
        if (!isUsable()) {
            return refused();
        }
        return info.transmits() ? submission.sendsLeft() : -FabricErrno.EOPNOTSUPP;
    }

    /**
     * Receives that may be posted now (fi_rx_size_left); a post may be refused nevertheless. A completed one makes room
     * a moment before its entry can be read.
     *
     * @return a count, or a negative errno of this class.
     */
    public long rxSizeLeft() {
        if (!isUsable()) {
            return refused();
        }
        return receive == null ? refused() : submission.receivesLeft();
    }

    /**
     * Length of the prefix of each message buffer ({@link Mode#MSG_PREFIX}).
     *
     * @return bytes; 0 without the mode.
     */
    public long msgPrefixSize() {
        return PrefixMode.bytes(info);
    }

    /**
     * Longest message, without its prefix if buffers have one.
     *
     * @return bytes; 0 before the endpoint is enabled.
     */
    public long maxMsgSize() {
        return maxMsgSize;
    }

    /**
     * Longest payload of an inject, without a prefix.
     *
     * @return bytes; 0 before the endpoint is enabled.
     */
    public int injectSize() {
        return injectSize;
    }

    /**
     * How a peer is reached, and why that way; begins nothing. A control call.
     *
     * @param fiAddr of the peer, from the address vector; ignored if the endpoint is connection-oriented.
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
            return domain.commands().path(id, name, fiAddr);
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
     * Returns the info that the endpoint was opened with.
     *
     * @return a copy.
     */
    public Info info() {
        return info.copy();
    }

    @Override
    public FidClass fidClass() {
        return role != null ? role.fidClass() : sharedReceives == null ? FidClass.EP : FidClass.SRX_CTX;
    }

    @Override
    public boolean isOpen() {
        return state != CLOSED || isClosing;
    }

    /**
     * Closes the endpoint; outstanding operations are dropped without an entry. Has no effect if it is already closed.
     * Closing an {@link #alias} ends only that one: operations that were posted through it go on. An interrupt does not
     * end the call. After the return the driver accesses no memory for operations of this endpoint, and their slots of
     * completion queues are free.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} if aliases are open, or endpoints that use this shared receive
     *     context. {@link FabricErrno#ETIMEDOUT} if the driver does not answer: nothing can be posted any more, but the
     *     endpoint stays open until the driver does, and the memory of its operations must not be freed or used for
     *     something else before. A repeated call awaits the same answer.
     */
    @Override
    public void close() {
        synchronized (domain.lock()) {
            if (base == this) {
                aliases.requireNone();
                domain.close(this);
            } else {
                state = CLOSED;
                aliases.remove(this);
            }
        }
    }

    @Override
    public String toString() {
        return "Endpoint{" + (name == null ? "not enabled" : name) + (state == CLOSED ? ", closed" : "") + '}';
    }

    private EndpointConnection management() {
        requireOpenAlias();
        return connection;
    }

    /** The objects that an alias shares check the state of the endpoint, and not that of the alias. */
    private void requireOpenAlias() {
        if (base != this) {
            requireOpen();
        }
    }

    private void requireOpen() {
        if (state == CLOSED) {
            throw closed();
        }
    }

    private static FabricException closed() {
        return new FabricException(FabricErrno.EOPBADSTATE, "the endpoint is closed", "Open another one.");
    }

    /** The short way into a group that it writes; null unless an embedded driver is invoked by this client. */
    GroupPort groupPort(long fiAddr) {
        return submission.groupPort(fiAddr);
    }

    /** Takes the driver's answer; the last step of enabling, under the fabric's lock. */
    void onEnabled(EndpointReady ready, EndpointPort port, LocalMemory memory) {
        id = ready.endpointId();
        name = ready.address();
        maxMsgSize = ready.maxMsgSize();
        injectSize = ready.injectSize();
        options.onEnabled(ready.txSize(), ready.rxSize());
        applyOpFlags();
        isClaimed = false;
        Submission opened = Submission.open(info, port, bindings, memory, maxMsgSize, injectSize, context);
        // other threads take it from a plain field: they find what is in it
        UnsafeApi.storeFence();
        submission = opened;
        onConnection(!info.connects());
        receive = (Info.directions(info.caps()) & Flags.RECV) != 0 && bindings.receiveContext() == null
            ? submission : null;
        taggedReceive = info.hasTags() ? receive : null;
        if (slab != null) {
            slab.submission(submission);
        }
        // the submission was made above: a thread that sees the state must see it
        UnsafeApi.storeFence();
        state = ENABLED;
        bindings.onEnabled();
        aliases.update();
    }

    /** Takes over what has changed at the endpoint that this is an alias of; not the flags, which are this one's. */
    void follow(Endpoint endpoint) {
        id = endpoint.id;
        name = endpoint.name;
        maxMsgSize = endpoint.maxMsgSize;
        injectSize = endpoint.injectSize;
        minMultiRecvBytes = endpoint.minMultiRecvBytes;
        submission = endpoint.submission;
        receive = endpoint.receive;
        taggedReceive = endpoint.taggedReceive;
        slab = endpoint.slab;
        if (endpoint.transmit == null) {
            // in this order: another thread that finds nowhere to send to finds out why
            isUnconnected = endpoint.isUnconnected;
            isClaimed = endpoint.isClaimed;
            UnsafeApi.storeStoreFence();
        }
        transmit = endpoint.transmit;
        accesses = endpoint.accesses;
        UnsafeApi.storeStoreFence();
        isUnconnected = endpoint.isUnconnected;
        isClaimed = endpoint.isClaimed;
        if (state == OPEN && endpoint.state == ENABLED) {
            applyOpFlags();
            // as in onEnabled
            UnsafeApi.storeFence();
            state = ENABLED;
        }
    }

    private void applyOpFlags() {
        sendFlags = opFlags.sendDefault(bindings.txSelective());
        recvFlags = opFlags.recvDefault(bindings.rxSelective());
        untaggedRecvFlags = opFlags.untaggedRecvDefault();
        messages.onFlags(opFlags, bindings);
    }

    int inject(
        long flags, DirectBuffer source, int offset, int len, long destAddr, long tag, long data) {
        Submission sends = transmit;
        return sends != null && isUsable() ? sends.inject(flags, source, offset, len, destAddr, tag, data, context)
            : refused();
    }

    private Submission receives(long kind) {
        return (kind & Flags.TAGGED) != 0 ? taggedReceive : receive;
    }

    /** Enabled, and not put back to disabled by the one critical error there is: the end of the driver. */
    boolean isUsable() {
        return state == ENABLED && !driver.isGone();
    }

    /** Where accesses to remote memory go; null while none is taken, {@link #refused()}. */
    Submission accesses() {
        return isUsable() ? accesses : null;
    }

    /** Why an operation is not taken, a negative errno. */
    int refused() {
        // the caller has found nowhere to post to; why was stored before
        UnsafeApi.loadFence();
        if (!isUsable()) {
            return state == ENABLED && !driver.isLost() ? -FabricErrno.EAGAIN : -FabricErrno.EOPBADSTATE;
        }
        if (isUnconnected) {
            return -FabricErrno.ENOTCONN;
        }
        return isClaimed ? -FabricErrno.EBUSY
            : bindings.receiveContext() != null ? -FabricErrno.ENOSYS : -FabricErrno.EOPNOTSUPP;
    }

    /** A claim is open: where one thread posts nothing else gets through; several are kept apart under their lock. */
    void onClaimed() {
        if (!submission.isShared()) {
            base.isClaimed = true;
            base.transmitTo(null);
            base.updateAliases();
        }
    }

    void onClaimEnded() {
        if (base.isClaimed) {
            base.isClaimed = false;
            base.transmitTo(isUnconnected ? null : submission);
            base.updateAliases();
        }
    }

    /** Sends are taken from now on, or refused with {@code -FI_ENOTCONN}; receives are taken all the same. */
    void onConnection(boolean isConnected) {
        if (!info.transmits()) {
            return;
        }
        // in this order: another thread that finds nowhere to send to finds out why
        if (isConnected) {
            transmitTo(submission);
            UnsafeApi.storeStoreFence();
            isUnconnected = false;
        } else {
            isUnconnected = true;
            UnsafeApi.storeStoreFence();
            transmitTo(null);
        }
        aliases.update();
    }

    private void transmitTo(Submission target) {
        transmit = (Info.directions(info.caps()) & Flags.SEND) != 0 ? target : null;
        accesses = target;
    }

    /** For calls of the data path, which take no lock where there are none. */
    private void updateAliases() {
        if (!aliases.isEmpty()) {
            aliases.update();
        }
    }

    /** Carried by sends without flags of their own. */
    long sendFlags() {
        return sendFlags;
    }

    /** Carried by receives without flags of their own. */
    long recvFlags() {
        return recvFlags;
    }

    /** Carried by untagged receives without flags of their own, besides. */
    long untaggedRecvFlags() {
        return untaggedRecvFlags;
    }

    long minMultiRecvBytes() {
        return minMultiRecvBytes;
    }

    /** Posts what counters start; null without the capability TRIGGER. */
    EndpointTriggers triggers() {
        return triggers;
    }

    /** The queue of sends; null while none is accepted, {@link #refused()}. */
    Submission sends() {
        return isUsable() ? transmit : null;
    }

    /** Where receives of a kind go; null while none is taken, {@link #refused()}. */
    Submission usableReceives(long kind) {
        return isUsable() ? receives(kind) : null;
    }

    /** The driver is gone: nothing more is posted to it; under the fabric's lock. */
    void suspend() {
        if (submission != null) {
            submission.suspend();
        }
    }

    /** Ends all posting, before the driver closes it; under the fabric's lock. */
    void beginClose() {
        if (state == ENABLED) {
            isClosing = true;
            state = CLOSED;
            submission.close();
        }
    }

    /** The driver's number of it when it closes, 0 if the driver does not know it. */
    long closingId() {
        return isClosing ? id : 0;
    }

    /** Forgets what it was bound to; under the fabric's lock. */
    void markClosed() {
        state = CLOSED;
        isClosing = false;
        if (base != this) {
            return;
        }
        aliases.markClosed();
        if (role != null) {
            role.parent().onClosed(role);
        }
        if (submission != null) {
            submission.close();
        }
        if (slab != null) {
            bindings.rxCq().slabs().remove(slab);
            slab.close();
        }
        connection.closeGroups();
        bindings.unbind();
    }

    /** It is closed: what the driver did not take out of the queues gives its completion credit back. */
    void giveBackCredits() {
        if (submission != null) {
            submission.onClosedInDriver();
        }
    }

    /** Sends that have not reached their level. */
    long outstandingSends() {
        return state != ENABLED ? 0 : submission.outstandingSends();
    }

    int state() {
        return state;
    }

    long id() {
        return id;
    }

    /** A link has completed its address. */
    void rename(String address) {
        name = address;
        aliases.update();
    }

    BufferedOptions bufferedLimits() {
        return options.buffered();
    }

    /** Maps what its messages are received into with {@link Mode#BUFFERED_RECV}; the driver has enabled it. */
    void openSlab(DriverConnection driverConnection, EndpointReady ready) {
        if (BufferedMode.isAskedFor(info)) {
            bindings.rxCq().slabs().requireFree(ready.rxCqIndex());
            slab = ReceiveSlab.open(driverConnection, this, ready, options.buffered().min(), !domain.locks());
        }
    }

    /** With an embedded driver: threads that use its domain are kept apart from now on. */
    void startLocking() {
        if (sharedReceives != null) {
            sharedReceives.startLocking(domain.invoker());
        }
        if (submission != null) {
            submission.startLocking();
        }
        if (slab != null) {
            slab.stopLending();
        }
    }

    /** Null without one. */
    ReceiveSlab slab() {
        return slab;
    }

    /** Null if it is an endpoint and not a shared receive context. */
    ReceiveSharing sharedReceives() {
        return sharedReceives;
    }

    Info requested() {
        return info;
    }

    /** Of a context of a scalable endpoint, else null. */
    ScalableContext role() {
        return role;
    }

    Domain domain() {
        return domain;
    }

    EndpointBindings bindings() {
        return bindings;
    }

    EndpointConnection connection() {
        return connection;
    }

    EndpointActivation activation() {
        return activation;
    }
}
