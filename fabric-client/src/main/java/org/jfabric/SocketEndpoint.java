package org.jfabric;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.SocketMessage;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.Codes;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EndpointSource;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * An endpoint that behaves like a non-blocking socket: a byte stream ({@link EndpointType#SOCK_STREAM}) or datagrams
 * ({@link EndpointType#SOCK_DGRAM}). Experimental: interface and semantics may change between versions.
 *
 * <pre>{@code
 * SocketEndpoint socket = domain.openSocketEndpoint(domain.info(), 0);
 * }</pre>
 *
 * <p>A transfer is over when its call returns, with the bytes transferred or a negative errno. It needs no registered
 * memory, no completion queue and no driver: this process owns the socket, and the peer may be any socket. Connection
 * events come into an event queue, destinations of datagrams from an address vector.
 *
 * <p>One thread at a time may send and one may receive. Other calls are control calls from any thread;
 * {@link #close()} while no transfer is in progress. Source: fi_endpoint(3), section Socket endpoints.
 */
public final class SocketEndpoint implements Fid {
    private static final int OPEN = 0;
    private static final int ENABLED = 1;
    private static final int CONNECTING = 2;
    private static final int CONNECTED = 3;
    private static final int LISTENING = 4;
    private static final int CLOSED = 5;
    /** Requests without an answer; more connections wait in the system. */
    private static final int MAX_REQUESTS = 128;
    private static final String ANY_IN = SocketName.IN_SCHEME + "0.0.0.0:0";
    private static final String ANY_IN6 = SocketName.IN6_SCHEME + "[::]:0";

    private final Domain domain;
    private final DomainSockets owner;
    private final long id;
    private final Info info;
    private final long context;
    private final boolean isPassive;
    private final boolean isStream;
    private final Request request;
    private final List<Request> requests = new ArrayList<>();
    private final SocketMessage tx = new SocketMessage(WorkRequestDescriptor.MAX_PIECES);
    private final SocketMessage rx = new SocketMessage(WorkRequestDescriptor.MAX_PIECES);
    private final Long2ObjectHashMap<Destination> destinations = new Long2ObjectHashMap<>();
    private Destination destination;
    private EventQueue eventQueue;
    private AddressVector addressVector;
    private volatile int state = OPEN;
    /** Of an active endpoint that is enabled, else negative. */
    private volatile int fd = -1;
    private int listenFd = -1;
    private int backlog = MAX_REQUESTS;
    /** CONNECTED was reported. */
    private boolean isAnnounced;
    private boolean isShutdown;

    /** The image of an address, as long as the vector has that text for the number. */
    private static final class Destination {
        final long number;
        final String text;
        /** Null if the text is no address of a socket. */
        final byte[] image;
        /** Of the vector, when it last had that text. */
        int version;

        Destination(long number, String text, int version) {
            this.number = number;
            this.text = text;
            this.version = version;
            image = imageOf(text);
        }

        private static byte[] imageOf(String text) {
            try {
                return SocketName.isName(text) ? SocketName.parse(text).toBytes() : null;
            } catch (FabricException refused) {
                return null;
            }
        }
    }

    /** A connection that waits for its answer. */
    static final class Request implements EndpointSource {
        private final SocketEndpoint passive;
        private final String peer;
        private int fd;

        private Request(SocketEndpoint passive, int fd, String peer) {
            this.passive = passive;
            this.fd = fd;
            this.peer = peer;
        }

        Domain domain() {
            return passive.domain;
        }

        /** Takes the descriptor; under the lock. */
        private int take() {
            if (fd < 0) {
                throw new FabricException(FabricErrno.EOPBADSTATE, this + " has an answer already",
                    "Answer each request once, while its passive endpoint is open.");
            }
            int taken = fd;
            fd = -1;
            passive.onAnswered(this);
            return taken;
        }

        @Override
        public String toString() {
            return "Request{peer=" + peer + (fd < 0 ? ", answered" : "") + '}';
        }
    }

    SocketEndpoint(Domain domain, DomainSockets owner, long id, Info info, long context, boolean isPassive,
        Request request) {
        this.domain = domain;
        this.owner = owner;
        this.id = id;
        this.info = info;
        this.context = context;
        this.isPassive = isPassive;
        this.request = request;
        isStream = info.epAttr().type() == EndpointType.SOCK_STREAM;
    }

    /**
     * Binds an event queue, which a stream needs, or an address vector, which datagrams need.
     *
     * @param object an event queue of the same fabric, or an address vector of the same domain.
     * @param flags  0; no bits are defined.
     * @throws FabricException {@link FabricErrno#EINVAL} for completion queues, counters and other objects, for a
     *     second one and one of another fabric or domain; {@link FabricErrno#EBADFLAGS} for flags;
     *     {@link FabricErrno#EOPBADSTATE} once it is enabled, listens or is closed.
     */
    @Override
    public void bind(Fid object, long flags) {
        Codes.required(object, "object");
        synchronized (domain.lock()) {
            require(OPEN, "is enabled already");
            if (flags != 0) {
                throw new FabricException(FabricErrno.EBADFLAGS, "bind flags are " + Codes.hex(flags), "Use 0.");
            }
            if (object instanceof EventQueue queue && queue.fabric() == domain.fabric() && queue.isOpen()
                && eventQueue == null) {
                eventQueue = queue;
                queue.users().add(this);
            } else if (object instanceof AddressVector vector && vector.domain() == domain && vector.isOpen()
                && addressVector == null && !isStream) {
                addressVector = vector;
            } else {
                throw new FabricException(FabricErrno.EINVAL, object + " cannot be bound to " + this,
                    "Bind one open event queue of the fabric, and to datagrams one address vector of the domain:"
                    + " transfers end with their calls, so there is nothing to complete or count.");
            }
        }
    }

    /**
     * Makes the socket of an active endpoint.
     *
     * @throws FabricException {@link FabricErrno#ENOEQ} for a stream without event queue, {@link FabricErrno#ENOAV} for
     *     datagrams without address vector, {@link FabricErrno#EINVAL} if passive, {@link FabricErrno#EOPBADSTATE} if
     *     it is enabled or closed, or what the system answers for the address.
     */
    public void enable() {
        synchronized (domain.lock()) {
            requireActive("enabled");
            require(OPEN, "is enabled already");
            if (isStream) {
                requireEventQueue();
            } else if (addressVector == null) {
                throw new FabricException(FabricErrno.ENOAV, "no address vector is bound", "Bind one first.");
            }
            if (request != null) {
                fd = request.take();
            } else if (isStream) {
                fd = openStream();
            } else {
                fd = local(UdpSocket.open(localImage(), false), "open " + info.srcAddr());
            }
            state = ENABLED;
        }
    }

    /**
     * Connections that the system keeps until they are reported (FI_BACKLOG), before it listens.
     *
     * @param requests 0 or more.
     * @throws FabricException {@link FabricErrno#EINVAL} for less, or if active, {@link FabricErrno#EOPBADSTATE} if it
     *     listens or is closed.
     */
    public void setBacklog(int requests) {
        synchronized (domain.lock()) {
            if (!isPassive || requests < 0) {
                throw new FabricException(FabricErrno.EINVAL, "the backlog of "
                    + (isPassive ? "a passive" : "an active") + " endpoint is " + requests,
                    "Set 0 or more requests, of a passive one.");
            }
            require(OPEN, "listens already");
            backlog = requests;
        }
    }

    /**
     * Begins to listen for streams, if passive.
     *
     * @throws FabricException {@link FabricErrno#EINVAL} if active, {@link FabricErrno#ENOEQ} without event queue,
     *     {@link FabricErrno#EOPBADSTATE} if it listens or is closed, {@link FabricErrno#EADDRINUSE} and what else the
     *     system answers for the address.
     */
    public void listen() {
        synchronized (domain.lock()) {
            if (!isPassive) {
                throw new FabricException(FabricErrno.EINVAL, "an active endpoint cannot listen",
                    "Open it with openPassiveSocketEndpoint.");
            }
            require(OPEN, "listens already");
            requireEventQueue();
            int opened = local(TcpSocket.listen(localImage(), backlog), "listen at " + info.srcAddr());
            try {
                owner.watch(id, opened, Epoll.EPOLLIN);
            } catch (FabricException refused) {
                SocketLibrary.close(opened);
                throw refused;
            }
            listenFd = opened;
            state = LISTENING;
        }
    }

    /**
     * Begins to connect; the event queue gets {@link EventType#CONNECTED} or an error.
     *
     * @param address of the peer, {@code fi_sockaddr_in://host:port}.
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} for datagrams, {@link FabricErrno#EINVAL} if passive or
     *     for an address that is none, {@link FabricErrno#EOPBADSTATE} if it is not enabled, connects or is closed, or
     *     what the system answers at once.
     */
    public void connect(String address) {
        byte[] remote = SocketName.parse(Codes.required(address, "address")).toBytes();
        synchronized (domain.lock()) {
            requireIdleStream(false);
            checked(TcpSocket.connect(fd, remote), "connect to " + address, "Use an address that a peer listens at.");
            try {
                owner.watch(id, fd, Epoll.EPOLLOUT);
            } catch (FabricException refused) {
                TcpSocket.disconnect(fd);
                throw refused;
            }
            isShutdown = false;
            state = CONNECTING;
        }
    }

    /**
     * Accepts the request that it was opened for; the event queue gets {@link EventType#CONNECTED}.
     *
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} for datagrams, {@link FabricErrno#EINVAL} if passive,
     *     {@link FabricErrno#EOPBADSTATE} without a request, if it is not enabled, accepted already or is closed.
     */
    public void accept() {
        synchronized (domain.lock()) {
            requireIdleStream(true);
            // it is writable at once: one thread reports all events, so they are in order
            owner.watch(id, fd, Epoll.EPOLLOUT);
            state = CONNECTED;
        }
    }

    /**
     * Rejects a request: its connection is closed, which its peer sees as the end of the stream.
     *
     * @param source {@link Info#handle()} of a CONNREQ event of this passive endpoint.
     * @throws FabricException {@link FabricErrno#EINVAL} for another object, {@link FabricErrno#EOPBADSTATE} if it has
     *     an answer.
     */
    public void reject(EndpointSource source) {
        synchronized (domain.lock()) {
            if (!(source instanceof Request found) || found.passive != this) {
                throw new FabricException(FabricErrno.EINVAL, source + " is no request of this endpoint",
                    "Use Info.handle() of its CONNREQ event.");
            }
            SocketLibrary.close(found.take());
        }
    }

    /**
     * Ends both directions of a stream; the peer receives what was sent, then 0.
     *
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if it is not connected.
     */
    public void shutdown() {
        synchronized (domain.lock()) {
            require(CONNECTED, "is not connected");
            isShutdown = true;
            TcpSocket.shutdown(fd);
        }
    }

    /**
     * The descriptor of the socket (FI_GETWAIT), for poll and epoll: readable when a receive, writable when a send
     * would not answer {@code -FI_EAGAIN}. The endpoint closes it.
     *
     * @return 0 or more.
     * @throws FabricException {@link FabricErrno#ENODATA} for a passive endpoint, whose requests are events, or one
     *     that is not enabled or is closed.
     */
    public int waitDescriptor() {
        int descriptor = fd;
        if (descriptor < 0) {
            throw new FabricException(FabricErrno.ENODATA, this + " has no descriptor",
                "Ask an active endpoint that is enabled.");
        }
        return descriptor;
    }

    /**
     * Its own address.
     *
     * @return for example {@code fi_sockaddr_in://127.0.0.1:40001}.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} before it is enabled or listens, or if closed.
     */
    public String name() {
        synchronized (domain.lock()) {
            byte[] image = TcpSocket.localName(isPassive ? listenFd : fd);
            if (image == null) {
                throw new FabricException(FabricErrno.EOPBADSTATE, this + " has no address", "Enable it first.");
            }
            return SocketName.ofBytes(image).toString();
        }
    }

    /**
     * The address that the datagram of the last successful receive came from. Allocates. The thread that receives.
     *
     * @return an address to insert into the address vector, or null without one.
     */
    public String sourceName() {
        byte[] image = state == CLOSED || isStream ? null : rx.sourceName();
        return image == null ? null : SocketName.ofBytes(image).toString();
    }

    /**
     * Sends bytes. A stream may take fewer than offered.
     *
     * @param buf      native address of the bytes, free again at the return; not {@link MemoryRegion#address()}, which
     *                 names a region and gives {@code -FI_EFAULT}.
     * @param len      of them.
     * @param destAddr of the address vector; a stream ignores it.
     * @return bytes sent; or {@code -FI_EAGAIN} without room, {@code -FI_EMSGSIZE} for a datagram that is too long,
     *     {@code -FI_EINVAL} for a range or destination that is none, {@code -FI_EOPBADSTATE} if passive, not enabled
     *     or closed, {@code -FI_ENOTCONN}, {@code -EPIPE} and what else the system answers.
     */
    public long send(long buf, long len, long destAddr) {
        int descriptor = fd;
        if (descriptor < 0) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (len < 0 || buf == 0 && len != 0) {
            return -FabricErrno.EINVAL;
        }
        tx.piece(0, buf, len);
        return sendPieces(descriptor, 1, destAddr);
    }

    /**
     * Sends several pieces, as {@link #send}.
     *
     * @param iov      the pieces.
     * @param destAddr as there.
     * @return as there.
     */
    public long sendv(IoVec iov, long destAddr) {
        int descriptor = fd;
        if (descriptor < 0) {
            return -FabricErrno.EOPBADSTATE;
        }
        int count = fill(tx, iov);
        return count < 0 ? count : sendPieces(descriptor, count, destAddr);
    }

    /**
     * Sends several pieces with flags, as {@link #send}.
     *
     * @param iov      the pieces.
     * @param destAddr as there.
     * @param flags    0.
     * @return as there; {@code -FI_EBADFLAGS} for flags.
     */
    public long sendmsg(IoVec iov, long destAddr, long flags) {
        return flags == 0 ? sendv(iov, destAddr) : -FabricErrno.EBADFLAGS;
    }

    /**
     * Sends bytes, as {@link #send}: there the memory is free at the return too.
     *
     * @param buf      as there.
     * @param len      at most {@code inject_size} of the info.
     * @param destAddr as there.
     * @return as there; {@code -FI_EINVAL} for more bytes.
     */
    public long inject(long buf, long len, long destAddr) {
        return len > info.txAttr().injectSize() ? -FabricErrno.EINVAL : send(buf, len, destAddr);
    }

    /**
     * Receives bytes: what a stream has, or one datagram, of which what does not fit is lost.
     *
     * @param buf native address.
     * @param len bytes.
     * @return bytes received; 0 at the orderly end of a stream, or for an empty datagram; or {@code -FI_EAGAIN} if
     *     there is nothing, and else as {@link #send}.
     */
    public long recv(long buf, long len) {
        int descriptor = fd;
        if (descriptor < 0) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (len < 0 || buf == 0 && len != 0) {
            return -FabricErrno.EINVAL;
        }
        rx.piece(0, buf, len);
        return receivePieces(descriptor, 1);
    }

    /**
     * Receives into several pieces, as {@link #recv}.
     *
     * @param iov the pieces, filled in order.
     * @return as there.
     */
    public long recvv(IoVec iov) {
        int descriptor = fd;
        if (descriptor < 0) {
            return -FabricErrno.EOPBADSTATE;
        }
        int count = fill(rx, iov);
        return count < 0 ? count : receivePieces(descriptor, count);
    }

    /**
     * Receives into several pieces with flags, as {@link #recv}.
     *
     * @param iov   the pieces.
     * @param flags 0.
     * @return as there; {@code -FI_EBADFLAGS} for flags.
     */
    public long recvmsg(IoVec iov, long flags) {
        return flags == 0 ? recvv(iov) : -FabricErrno.EBADFLAGS;
    }

    /**
     * A socket has no tags.
     *
     * @param buf      any.
     * @param len      any.
     * @param destAddr any.
     * @param tag      any.
     * @return {@code -FI_ENOSYS}.
     */
    public long tsend(long buf, long len, long destAddr, long tag) {
        return -FabricErrno.ENOSYS;
    }

    /**
     * A socket has no remote memory.
     *
     * @param buf      any.
     * @param len      any.
     * @param destAddr any.
     * @param addr     any.
     * @param key      any.
     * @return {@code -FI_ENOSYS}.
     */
    public long write(long buf, long len, long destAddr, long addr, long key) {
        return -FabricErrno.ENOSYS;
    }

    /**
     * A socket has no atomic operations.
     *
     * @param buf      any.
     * @param count    any.
     * @param destAddr any.
     * @param addr     any.
     * @param key      any.
     * @return {@code -FI_ENOSYS}.
     */
    public long atomic(long buf, long count, long destAddr, long addr, long key) {
        return -FabricErrno.ENOSYS;
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
        return isPassive ? FidClass.PEP : FidClass.EP;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return state != CLOSED;
    }

    /** Closes the socket, and requests without an answer. Has no effect if it is already closed. */
    @Override
    public void close() {
        domain.close(this);
    }

    /** Under the fabric's lock. */
    void markClosed() {
        state = CLOSED;
        owner.remove(id);
        List.copyOf(requests).forEach(waiting -> SocketLibrary.close(waiting.take()));
        int descriptor = isPassive ? listenFd : fd;
        fd = -1;
        listenFd = -1;
        if (descriptor >= 0) {
            SocketLibrary.close(descriptor);
        }
        if (eventQueue != null) {
            eventQueue.users().remove(this);
        }
        tx.close();
        rx.close();
    }

    @Override
    public String toString() {
        return "SocketEndpoint{" + info.epAttr().type() + (isPassive ? ", passive" : "") + switch (state) {
            case OPEN -> "";
            case ENABLED -> ", enabled";
            case CONNECTING -> ", connecting";
            case CONNECTED -> ", connected";
            case LISTENING -> ", listening";
            default -> ", closed";
        } + '}';
    }

    boolean uses(AddressVector vector) {
        return addressVector == vector;
    }

    /** Describes the descriptor, as {@link PortedCalls#control}. */
    int control(int command, WaitObjectHandle handle) {
        if (command == ControlCommand.BACKLOG.code()) {
            return -FabricErrno.EINVAL;
        }
        boolean isObject = command == ControlCommand.GETWAIT.code();
        if (isPassive || !isObject && command != ControlCommand.GETWAITOBJ.code()) {
            return -FabricErrno.ENOSYS;
        }
        if (handle == null) {
            return -FabricErrno.EINVAL;
        }
        int descriptor = fd;
        if (isObject && descriptor < 0) {
            return -FabricErrno.ENODATA;
        }
        handle.waitObject(WaitObject.FD);
        if (isObject) {
            handle.descriptor(descriptor);
        }
        return 0;
    }

    /** The watched descriptor is ready; on the thread of the events, under the lock. */
    void onReady() {
        switch (state) {
            case LISTENING -> acceptAll();
            case CONNECTING -> {
                int error = TcpSocket.connectError(fd);
                if (error == 0) {
                    onConnected();
                } else {
                    TcpSocket.disconnect(fd);
                    state = ENABLED;
                    owner.reportError(eventQueue, this, error);
                }
            }
            case CONNECTED -> {
                if (!isAnnounced) {
                    onConnected();
                } else if (!isShutdown) {
                    isShutdown = true;
                    owner.report(eventQueue, EventType.SHUTDOWN, this, null);
                }
            }
            default -> {
            }
        }
    }

    /** {@link #onReady} threw; on the thread of the events, under the lock. */
    void onFailed(int error) {
        if (state == LISTENING) {
            owner.retryLater(this);
            return;
        }
        if (state == CONNECTING) {
            TcpSocket.disconnect(fd);
            state = ENABLED;
        }
        owner.reportError(eventQueue, this, error);
    }

    private void acceptAll() {
        while (requests.size() < MAX_REQUESTS) {
            int accepted = TcpSocket.accept(listenFd);
            if (accepted == -FabricErrno.EAGAIN) {
                owner.watch(id, listenFd, Epoll.EPOLLIN);
                return;
            }
            if (accepted < 0) {
                owner.retryLater(this);
                return;
            }
            byte[] peer = TcpSocket.peerName(accepted);
            byte[] local = TcpSocket.localName(accepted);
            if (peer == null || local == null) {
                SocketLibrary.close(accepted);
                continue;
            }
            String peerName = SocketName.ofBytes(peer).toString();
            Request waiting = new Request(this, accepted, peerName);
            requests.add(waiting);
            owner.report(eventQueue, EventType.CONNREQ, this, info.copy().handle(waiting)
                .srcAddr(SocketName.ofBytes(local).toString()).destAddr(peerName));
        }
    }

    private void onAnswered(Request answered) {
        boolean wasFull = requests.size() == MAX_REQUESTS;
        requests.remove(answered);
        if (wasFull && state == LISTENING) {
            owner.watch(id, listenFd, Epoll.EPOLLIN);
        }
    }

    private void onConnected() {
        owner.watch(id, fd, Epoll.EPOLLRDHUP);
        state = CONNECTED;
        isAnnounced = true;
        owner.report(eventQueue, EventType.CONNECTED, this, null);
    }

    private long sendPieces(int descriptor, int count, long destAddr) {
        if (!isStream && !address(destAddr)) {
            return -FabricErrno.EINVAL;
        }
        tx.pieceCount(count);
        return tx.send(descriptor);
    }

    private long receivePieces(int descriptor, int count) {
        if (!isStream) {
            rx.wantName();
        }
        rx.pieceCount(count);
        long received = rx.receive(descriptor);
        // a connection that failed looks like one that has ended, once the thread of the events has taken its error
        return received == 0 && isStream && state != CONNECTED ? -FabricErrno.ENOTCONN : received;
    }

    /** Writes the destination into the header, unless it is there; false if the vector has no such address. */
    private boolean address(long destAddr) {
        Destination last = destination;
        int version = addressVector.version();
        if (last != null && last.number == destAddr && last.version == version) {
            return true;
        }
        Destination found = destinations.get(destAddr);
        if (found == null || found.version != version) {
            String text = addressVector.addressOf(destAddr);
            if (text == null) {
                destinations.remove(destAddr);
                return false;
            }
            // a number that is inserted again has another text object
            if (found == null || found.text != text) {
                found = new Destination(destAddr, text, version);
                destinations.put(destAddr, found);
            }
            found.version = version;
        }
        if (found.image == null) {
            return false;
        }
        if (found != last) {
            destination = found;
            tx.name(found.image);
        }
        return true;
    }

    private static int fill(SocketMessage message, IoVec iov) {
        if (iov == null || !iov.isValid()) {
            return -FabricErrno.EINVAL;
        }
        long[] pieces = iov.pieces();
        for (int i = 0; i < iov.count(); i++) {
            message.piece(i, pieces[2 * i], pieces[2 * i + 1]);
        }
        return iov.count();
    }

    private int openStream() {
        byte[] local = localImage();
        int opened = local(TcpSocket.open(local.length == SocketName.IN6_LENGTH), "open a socket");
        if (info.srcAddr() != null) {
            int bound = TcpSocket.bind(opened, local);
            if (bound < 0) {
                SocketLibrary.close(opened);
                local(bound, "bind " + info.srcAddr());
            }
        }
        return opened;
    }

    private byte[] localImage() {
        String any = info.addrFormat() == AddressFormat.SOCKADDR_IN6 ? ANY_IN6 : ANY_IN;
        return SocketName.parse(info.srcAddr() == null ? any : info.srcAddr()).toBytes();
    }

    private void requireIdleStream(boolean isAccept) {
        requireActive("connected");
        if (!isStream) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "datagrams have no connection", "Send to addresses.");
        }
        require(ENABLED, "is not enabled, or connects already");
        if (isAccept != (request != null)) {
            throw new FabricException(FabricErrno.EOPBADSTATE, this + " was opened "
                + (isAccept ? "without a request" : "for a request"), "Call " + (isAccept ? "connect." : "accept."));
        }
    }

    private void requireActive(String what) {
        if (isPassive) {
            throw new FabricException(FabricErrno.EINVAL, "a passive endpoint cannot be " + what, "Call listen.");
        }
    }

    private void requireEventQueue() {
        if (eventQueue == null) {
            throw new FabricException(FabricErrno.ENOEQ, "no event queue is bound, which reports connections",
                "Bind one first.");
        }
    }

    private void require(int needed, String what) {
        if (state != needed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, this + " " + (state == CLOSED ? "is closed" : what),
                "Open another one.");
        }
    }

    private static int local(int result, String what) {
        return checked(result, what, "Use an address of this host that is free.");
    }

    private static int checked(int result, String what, String remedy) {
        if (result < 0) {
            throw new FabricException(-result, "cannot " + what, remedy);
        }
        return result;
    }
}
