package org.jfabric.driver.conductor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ClientHelloDecoder;
import org.jfabric.codec.control.ClientWelcomeEncoder;
import org.jfabric.codec.control.FileHelloDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.WaitChannelHelloDecoder;
import org.jfabric.codec.wire.HelloDecoder;
import org.jfabric.driver.config.LivenessConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.progress.ProgressCommand;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * The driver's socket and its connections: clients of this user and of the configured group, and other drivers of this
 * user, whose connections are passed to the link that connects drivers.
 *
 * <p>A connection of any other user, with another first message than a hello or with another version is refused,
 * without an effect on others. Connections without a hello are bounded by number: beyond the limit the oldest one is
 * closed, so that a client is accepted however many processes only connect. Without a free descriptor the listening
 * socket is not watched until one was closed or some time has passed. Owner: conductor.
 */
final class ClientSockets {
    private static final int ACCEPT_BATCH = 64;
    private static final long ACCEPT_RETRY_NS = 100_000_000L;
    private static final int WELCOME_CAPACITY = 12 * 1024;
    private static final int MAX_REASON = 1024;

    private final ConductorContext context;
    private final DriverConductor conductor;
    private final DescriptorWatcher watcher;
    private final int listenFd;
    private final List<List<PeerAcceptor>> acceptors;
    private final NanoClock clock;
    private final WaitChannels waitChannels;
    private final FileRequests fileRequests;
    private final SocketAccess access;
    private final Int2ObjectHashMap<ClientSocket> sockets = new Int2ObjectHashMap<>();
    /** Connections without a complete first message, in the order of their arrival and so of their deadlines. */
    private final LinkedHashSet<ClientSocket> silent = new LinkedHashSet<>();
    private final IntUnaryOperator accept;
    private final long helloTimeoutNs;
    private final int silentLimit;
    /** Connections of clients that are being ended. */
    private final Set<ClientSocket> leaving = new HashSet<>();
    /** One for all connections: a message is handled before the next one is read. */
    private final UnsafeBuffer message = new UnsafeBuffer(
        ByteBuffer.allocateDirect(BitUtil.align(Integer.BYTES + ClientSocket.MAX_MESSAGE, Long.BYTES)));
    private final UnsafeBuffer welcome = new UnsafeBuffer(ByteBuffer.allocateDirect(WELCOME_CAPACITY));
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private boolean acceptPaused;
    private long acceptAtNs;
    private boolean acceptFailed;

    /**
     * Begins to watch the listening socket.
     *
     * @param acceptors for drivers, of each progress thread, in the same order for all.
     * @param clock     read for each connection: the time of the cycle may be that before a long sleep.
     * @param accept    takes the next connection of the listening socket: non-blocking, or a negative errno.
     */
    ClientSockets(
        ConductorContext context,
        DriverConductor conductor,
        DescriptorWatcher watcher,
        int listenFd,
        List<List<PeerAcceptor>> acceptors,
        NanoClock clock,
        IntUnaryOperator accept) {
        this.context = context;
        this.conductor = conductor;
        this.watcher = watcher;
        this.listenFd = listenFd;
        this.acceptors = acceptors;
        this.clock = clock;
        this.accept = accept;
        this.silentLimit = context.config().get(LivenessConfig.SILENT_LIMIT);
        this.helloTimeoutNs = context.config().get(LivenessConfig.HELLO_TIMEOUT_NS);
        this.waitChannels = new WaitChannels(context, conductor, this);
        this.fileRequests = new FileRequests(context, conductor, this);
        this.access = SocketAccess.of(context.gid());
    }

    /** The connections that are wait channels of clients' objects. */
    WaitChannels waitChannels() {
        return waitChannels;
    }

    /** Begins to accept. */
    void open() {
        watcher.watch(listenFd, this::onAcceptable, context.inbox());
    }

    /**
     * Closes connections whose hello did not arrive in time. After the hello there is no deadline: a silent client is
     * alive until its socket ends.
     */
    int closeSilent(long nowNs) {
        int closed = 0;
        while (!silent.isEmpty() && silent.getFirst().isLate(nowNs)) {
            refused(new FabricException(FabricErrno.ETIMEDOUT, "a connection sent no hello within "
                + TimeUnit.NANOSECONDS.toMillis(helloTimeoutNs) + " ms", "Connect with a client of JFabric, or "
                + "raise jfabric.liveness.helloTimeoutNs where processes are stopped while they connect."));
            close(silent.getFirst());
            closed++;
        }
        return closed;
    }

    /**
     * Resumes accepting some time after it failed. Returns 1 if the listening socket is watched from now on, 0 if
     * nothing changed.
     */
    int retryAccept(long nowNs) {
        if (!acceptPaused || nowNs - acceptAtNs < 0) {
            return 0;
        }
        resumeAccept();
        return 1;
    }

    /** Whether connections have not sent their first message, or wait to be accepted. */
    boolean hasTimers() {
        return acceptPaused || !silent.isEmpty();
    }

    /** The number of connections without a complete first message. */
    int silentCount() {
        return silent.size();
    }

    /** The number of received bytes of incomplete first messages of all connections. */
    long silentBytes() {
        return silent.stream().mapToLong(ClientSocket::partialBytes).sum();
    }

    /**
     * Reads a client's connection no more. It stays open until the driver has ended all that it does for the client:
     * its end says so to a client that waits for it before it frees memory.
     */
    Runnable leave(ClientSession session) {
        ClientSocket socket = sockets.get(session.fd());
        if (socket == null || socket.session() != session) {
            return () -> {
            };
        }
        forget(socket);
        leaving.add(socket);
        return () -> {
            leaving.remove(socket);
            end(socket);
        };
    }

    /** Ends the connections of clients that are still being ended: nothing is done for them any more. */
    void closeLeaving() {
        leaving.forEach(ClientSocket::close);
        leaving.clear();
    }

    /** Ends all connections and stops listening; a wait channel is closed with its object. */
    void closeAll() {
        for (ClientSocket socket : sockets.values().toArray(new ClientSocket[0])) {
            if (socket.waitResource() == null) {
                close(socket);
            }
        }
        acceptPaused = false;
        watcher.unwatch(listenFd);
        Libc.close(listenFd);
    }

    private void onAcceptable(int fd) {
        for (int i = 0; i < ACCEPT_BATCH; i++) {
            int accepted = accept.applyAsInt(fd);
            if (accepted == -FabricErrno.EAGAIN) {
                break;
            }
            if (accepted >= 0) {
                acceptFailed = false;
                onAccepted(accepted);
            } else if (!silent.isEmpty() && (accepted == -FabricErrno.EMFILE || accepted == -TcpSocket.ENFILE)) {
                dropOldestSilent();
            } else if (accepted != -FabricErrno.ECONNABORTED) {
                pauseAccept(-accepted);
                return;
            }
        }
        watcher.rearm(fd);
    }

    /** Stops watching: the waiting connection stays in the socket's queue and would be reported again and again. */
    private void pauseAccept(int errno) {
        acceptPaused = true;
        acceptAtNs = clock.nanoTime() + ACCEPT_RETRY_NS;
        if (!acceptFailed) {
            acceptFailed = true;
            context.log().onError(new FabricException(errno,
                "a connection to the driver could not be accepted; it waits until a descriptor is free", "Raise the "
                    + "limit of open files (ulimit -n) if it is reached."));
        }
    }

    private void resumeAccept() {
        acceptPaused = false;
        watcher.rearm(listenFd);
    }

    /** Closes the connection that has waited longest for its hello; its socket may have an unread hello. */
    private void dropOldestSilent() {
        ClientSocket oldest = silent.getFirst();
        onReadable(oldest.fd());
        if (oldest.isAwaited()) {
            refused(new FabricException(FabricErrno.EMFILE, "a connection without a hello was closed for a newer one: "
                + "there are " + silentLimit + " of them, or no descriptor is free", "End the processes that connect "
                + "to the driver's socket and send nothing, or raise " + LivenessConfig.SILENT_LIMIT.name() + " and "
                + "the limit of open files (ulimit -n)."));
            close(oldest);
        }
    }

    private void onAccepted(int fd) {
        ClientSocket socket = new ClientSocket(fd, clock.nanoTime() + helloTimeoutNs);
        FabricException refusal = access.refusal(socket);
        if (refusal != null) {
            refused(refusal);
            sendWelcome(socket, 0, null, refusal.errno(), refusal.getMessage());
            socket.close();
            return;
        }
        if (silent.size() >= silentLimit) {
            dropOldestSilent();
        }
        sockets.put(fd, socket);
        silent.add(socket);
        try {
            watcher.watch(fd, this::onReadable, context.inbox());
        } catch (NativeCallException ex) {
            refused(new FabricException(ex.errno(), "a connection could not be watched: " + ex.getMessage(),
                "Raise fs.epoll.max_user_watches or free memory."));
            close(socket);
            return;
        }
        // it is there already if no cycle was run for a while, and the next one may be as far away
        onReadable(fd);
    }

    private void onReadable(int fd) {
        ClientSocket socket = sockets.get(fd);
        if (socket == null) {
            return;
        }
        if (socket.waitResource() != null) {
            if (socket.isAnswered()) {
                waitChannels.onReadable(socket);
            }
            // else its hello was taken outside of this event: the connection is rearmed with the welcome
            return;
        }
        if (socket.isAnswered()) {
            onDoorbell(socket);
            return;
        }
        if (!socket.isAwaited()) {
            // its message was taken before this event was handled; the connection is rearmed with the answer
            return;
        }
        switch (socket.readMessage(message)) {
            case COMPLETE -> onMessage(socket);
            case PARTIAL -> watcher.rearm(fd);
            case END -> close(socket);
            default -> {
                refused(new FabricException(FabricErrno.EINVAL,
                    "a connection began with a message of " + messageLength() + " bytes, allowed are 8 to "
                        + ClientSocket.MAX_MESSAGE, "Connect with a client of JFabric."));
                close(socket);
            }
        }
    }

    private void onDoorbell(ClientSocket socket) {
        if (socket.drain()) {
            conductor.onDoorbell(socket.session());
            watcher.rearm(socket.fd());
        } else {
            onEnd(socket);
        }
    }

    private void onEnd(ClientSocket socket) {
        if (socket.session() == null) {
            close(socket);
        } else {
            conductor.onClientGone(socket.session());
        }
    }

    private void onMessage(ClientSocket socket) {
        socket.onSpoken();
        silent.remove(socket);
        UnsafeBuffer buffer = message;
        int length = messageLength();
        header.wrap(buffer, Integer.BYTES);
        int schema = header.schemaId();
        int template = header.templateId();
        if (schema == ClientHelloDecoder.SCHEMA_ID && template == ClientHelloDecoder.TEMPLATE_ID) {
            onHello(socket, buffer, length);
        } else if (schema == WaitChannelHelloDecoder.SCHEMA_ID && template == WaitChannelHelloDecoder.TEMPLATE_ID) {
            waitChannels.onHello(socket, buffer, length);
        } else if (schema == FileHelloDecoder.SCHEMA_ID && template == FileHelloDecoder.TEMPLATE_ID) {
            fileRequests.onHello(socket, buffer, length);
        } else if (schema == HelloDecoder.SCHEMA_ID && !acceptors.getFirst().isEmpty()) {
            onPeer(socket, buffer, length);
        } else {
            refused(new FabricException(FabricErrno.EINVAL,
                "a connection began with template " + template + " of schema " + schema,
                "Connect with a client or driver of JFabric."));
            close(socket);
        }
    }

    private int messageLength() {
        return message.getInt(0, ByteOrder.LITTLE_ENDIAN);
    }

    private void onPeer(ClientSocket socket, DirectBuffer buffer, int length) {
        if (!access.isOwn(socket)) {
            refused(access.peerRefusal(socket));
            close(socket);
            return;
        }
        forget(socket);
        int fd = socket.handOver();
        byte[] bytes = new byte[length];
        buffer.getBytes(Integer.BYTES, bytes);
        UnsafeBuffer hello = new UnsafeBuffer(bytes);
        // the first one refuses what is for none
        int chosen = 0;
        int thread = 0;
        List<PeerAcceptor> all = acceptors.getFirst();
        for (int i = 0; i < all.size(); i++) {
            int wanted = all.get(i).thread(hello, length);
            if (wanted >= 0 && wanted < acceptors.size()) {
                chosen = i;
                thread = wanted;
            }
        }
        PeerAcceptor acceptor = acceptors.get(thread).get(chosen);
        context.threads().get(thread).proxy().execute(new ProgressCommand() {
            @Override
            protected void onProgress() {
                acceptor.onPeer(fd, hello, length);
            }

            @Override
            protected void onDone() {
                // the descriptor is the acceptor's
            }

            @Override
            protected void onFailed(Throwable cause) {
                context.log().onError(cause);
            }
        });
    }

    private void onHello(ClientSocket socket, DirectBuffer buffer, int length) {
        int bodyOffset = Integer.BYTES + MessageHeaderDecoder.ENCODED_LENGTH;
        int body = length - MessageHeaderDecoder.ENCODED_LENGTH;
        int textOffset = ClientHelloDecoder.BLOCK_LENGTH;
        String wrong = wrong("the client", buffer, bodyOffset, body);
        if (wrong != null) {
            refused(new FabricException(FabricErrno.EINVAL, wrong, FileHeaderDescriptor.REMEDY));
            sendWelcome(socket, 0, null, FabricErrno.EINVAL, wrong);
            close(socket);
            return;
        }
        int text = body < textOffset + Integer.BYTES ? -1 : buffer.getInt(bodyOffset + textOffset);
        if (text < 0 || text > body - textOffset - Integer.BYTES) {
            refused(new FabricException(FabricErrno.EINVAL,
                "a client's hello of " + length + " bytes is cut", "Connect with a client of JFabric."));
            close(socket);
            return;
        }
        ClientHelloDecoder hello = new ClientHelloDecoder().wrap(
            buffer, bodyOffset, ClientHelloDecoder.BLOCK_LENGTH, ClientHelloDecoder.SCHEMA_VERSION);
        conductor.onHello(hello.name(), socket.fd(), socket::ring, new Opened(socket));
    }

    /**
     * Checks magic and version, which lie at the same place in the first messages of all kinds and versions.
     *
     * @param offset of the message behind its header.
     * @param length bytes from there on; of a shorter message nothing is checked.
     * @return null, or what is wrong.
     */
    static String wrong(String whose, DirectBuffer buffer, int offset, int length) {
        if (length < ClientHelloDecoder.versionEncodingOffset() + Integer.BYTES) {
            return null;
        }
        ClientHelloDecoder hello = new ClientHelloDecoder().wrap(
            buffer, offset, ClientHelloDecoder.BLOCK_LENGTH, ClientHelloDecoder.SCHEMA_VERSION);
        if (hello.magic() != FileHeaderDescriptor.MAGIC) {
            return whose + "'s magic is 0x" + Long.toHexString(hello.magic()) + ", needed is 0x"
                + Long.toHexString(FileHeaderDescriptor.MAGIC);
        }
        return hello.version() == FileHeaderDescriptor.VERSION ? null
            : whose + "'s version is " + hello.version() + ", this driver's is " + FileHeaderDescriptor.VERSION;
    }

    private boolean sendWelcome(ClientSocket socket, long clientId, ClientSession session, int errno, String reason) {
        OwnerId owner = context.files().owner();
        int ringLength = context.config().get(QueueConfig.CTL_RING_BYTES);
        ClientWelcomeEncoder encoder = new ClientWelcomeEncoder()
            .wrapAndApplyHeader(welcome, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION).errno(errno)
            .ownerIdHigh(owner.high()).ownerIdLow(owner.low()).clientId(clientId)
            .controlFile(session == null ? 0 : session.controlFile().number())
            .commandRingLength(ringLength).eventRingLength(ringLength)
            .bufferedLimit(context.config().get(QueueConfig.BUFFERED_LIMIT_BYTES))
            .maxBufferedLimit(Sizing.maxBufferedLimitBytes(context.config()))
            .cmDataSize(context.cmDataBytes())
            .driverName(context.driverName())
            .reason(reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + encoder.encodedLength();
        welcome.putInt(0, length);
        int total = Integer.BYTES + length;
        // the socket is new and empty: the kernel refuses the message only if it is out of memory
        return socket.send(welcome.addressOffset(), total);
    }

    private void refused(FabricException reason) {
        context.counters().add(SystemCounter.CONNECTIONS_REFUSED, 1);
        context.log().onError(reason);
    }

    /** Watches for the connection's next bytes. */
    void rearm(ClientSocket socket) {
        watcher.rearm(socket.fd());
    }

    /** Does not watch a connection any more; its descriptor stays open. */
    void forget(ClientSocket socket) {
        socket.onSpoken();
        silent.remove(socket);
        sockets.remove(socket.fd());
        watcher.unwatch(socket.fd());
    }

    /** Ends a connection; ignored if it is closed already. */
    void close(ClientSocket socket) {
        forget(socket);
        end(socket);
    }

    private void end(ClientSocket socket) {
        socket.close();
        if (acceptPaused) {
            resumeAccept();
        }
    }

    /** Answers the hello when the client's control file is created. */
    private final class Opened implements OpenedClient {
        private final ClientSocket socket;

        Opened(ClientSocket socket) {
            this.socket = socket;
        }

        @Override
        public void onOpened(ClientSession session) {
            socket.session(session);
            socket.onAnswered();
            if (!sendWelcome(socket, session.id(), session, 0, "")) {
                onEnd(socket);
                return;
            }
            watcher.rearm(socket.fd());
        }

        @Override
        public void onRefused(int errno, String reason) {
            refused(new FabricException(errno, "a client could not be attached: " + reason));
            sendWelcome(socket, 0, null, errno, reason);
            close(socket);
        }
    }
}
