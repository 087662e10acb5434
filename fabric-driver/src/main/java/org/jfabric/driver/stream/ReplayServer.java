package org.jfabric.driver.stream;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.codec.stream.ReplayDecoder;
import org.jfabric.codec.stream.ReplayRecordEncoder;
import org.jfabric.codec.stream.ReplayStartEncoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/**
 * Shows drivers of other hosts the logs of the groups that are sent from one socket, over TCP to the same port. It
 * reads disks, so each connection has a thread of its own; TCP's flow control holds that one back. Peers are not
 * trusted: they have a few bytes to say what they want, and whoever is silent then is closed.
 *
 * <p>Owner: progress agent, but for {@link #open}.
 */
final class ReplayServer {
    private static final int MOST_CONNECTIONS = 16;
    /** Those that are to be closed at once come here, too: where there is no room a peer would wait for a second. */
    private static final int BACKLOG = 256;
    private static final long SILENCE_NS = 5_000_000_000L;
    private static final long REQUEST_NS = 1_000_000_000L;
    /** Between two looks at a log that has nothing more: its writer, another process perhaps, wakes no reader. */
    private static final long FOLLOW_NS = 1_000_000;
    private static final long RELEASE_NS = 1_000_000_000L;
    private static final long NO_ROOM_NS = 100_000;
    private static final long FAILED_NS = 100_000_000;

    private final Map<String, Log> logs = new ConcurrentHashMap<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicReference<FabricException> notice = new AtomicReference<>();
    /** Null for plain connections. */
    private final ReplaySecurity security;
    private volatile ServerSocketChannel server;
    private volatile boolean isClosed;

    ReplayServer(ReplaySecurity security) {
        this.security = security;
    }

    /**
     * A log that can be read.
     *
     * @param now         log and term of its writer.
     * @param showsSynced whether readers see only what is on stable storage.
     */
    record Log(Path folder, LogPosition now, int ringBytes, boolean showsSynced) {
    }

    /**
     * Listens, unless it does. Resource thread.
     *
     * @throws FabricException {@code FI_EADDRINUSE} if the port is taken.
     */
    synchronized void open(SocketName local) {
        if (server != null) {
            return;
        }
        long beganNs = System.nanoTime();
        while (server == null) {
            try {
                server = listen(new InetSocketAddress(local.inetAddress(), local.port()));
            } catch (IOException e) {
                // one that was closed a moment ago has the port until its thread has left the system call
                if (System.nanoTime() - beganNs > RELEASE_NS) {
                    throw new FabricException(FabricErrno.EADDRINUSE, "the TCP port " + local
                        + ", by which other hosts read the log, cannot be bound: " + e.getMessage(),
                        "Name a port that is free for UDP and TCP.", e);
                }
                LockSupport.parkNanos(FOLLOW_NS);
            }
        }
        start(this::accept);
    }

    private static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
        ServerSocketChannel opened = ServerSocketChannel.open();
        boolean isGood = false;
        try {
            opened.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            opened.bind(address, BACKLOG);
            isGood = true;
            return opened;
        } finally {
            if (!isGood) {
                opened.close();
            }
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "jfabric-replay");
        thread.setDaemon(true);
        thread.start();
    }

    void add(String group, Log log) {
        logs.put(group, log);
    }

    /** The log is closed: who reads it gets the rest. */
    void remove(String group) {
        logs.remove(group);
    }

    /** Listens no more. */
    synchronized void close() {
        isClosed = true;
        if (server != null) {
            close(server);
        }
    }

    /** Why the last peer was not proved, or did not get the log; null if there is no reason, or it was taken before. */
    FabricException takeNotice() {
        return notice.getAndSet(null);
    }

    private static void close(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // what was to be sent was flushed before: nothing is lost
        }
    }

    private void accept() {
        while (!isClosed) {
            try {
                SocketChannel socket = server.accept();
                if (connections.get() >= MOST_CONNECTIONS) {
                    close(socket);
                } else {
                    connections.incrementAndGet();
                    start(new Connection(socket)::run);
                }
            } catch (IOException e) {
                // too many files are open perhaps
                LockSupport.parkNanos(FAILED_NS);
            }
        }
    }

    /** One peer, which has asked for a log or is about to. */
    private final class Connection implements StreamListener {
        private static final int HEADER = MessageHeaderDecoder.ENCODED_LENGTH;
        private static final int RECORD = HEADER + ReplayRecordEncoder.BLOCK_LENGTH;
        private static final int TEXT_LENGTH = 4;
        private static final int LONGEST_TEXT = 256;
        private static final int REQUEST_BYTES = 512;
        private static final int BATCH = 64;
        private static final int BUFFER_BYTES = 64 << 10;
        private static final long ANNOUNCE_NS = 20_000_000;

        private final SocketChannel socket;
        private final ByteBuffer signs = ByteBuffer.allocateDirect(Long.BYTES);
        private ByteChannel channel;
        private ByteBuffer bytes = ByteBuffer.allocateDirect(REQUEST_BYTES);
        private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        private final MessageHeaderEncoder header = new MessageHeaderEncoder();
        private final ReplayRecordEncoder message = new ReplayRecordEncoder();
        private int used;
        private boolean hasBegun;
        /** Says what is on stable storage; null if readers see more. */
        private LogReader stable;
        private long heardNs;

        Connection(SocketChannel socket) {
            this.socket = socket;
            this.channel = socket;
        }

        void run() {
            try {
                socket.configureBlocking(false);
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel = security == null ? socket : security.secure(socket, false);
                heardNs = System.nanoTime();
                serve();
            } catch (FabricException notProved) {
                notice.set(notProved);
            } catch (IOException e) {
                // the peer has gone, or was closed for what it has not said; it asks again where it was
            } finally {
                ReplayServer.close(channel);
                connections.decrementAndGet();
            }
        }

        private void serve() throws IOException {
            int fixed = HEADER + ReplayDecoder.BLOCK_LENGTH + TEXT_LENGTH;
            MessageHeaderDecoder start = new MessageHeaderDecoder();
            ReplayDecoder request = new ReplayDecoder();
            receive(fixed);
            start.wrap(buffer, 0);
            int textLength = buffer.getInt(fixed - TEXT_LENGTH);
            if (start.schemaId() != MessageHeaderDecoder.SCHEMA_ID || start.templateId() != ReplayDecoder.TEMPLATE_ID
                || start.version() != MessageHeaderDecoder.SCHEMA_VERSION
                || start.blockLength() != ReplayDecoder.BLOCK_LENGTH || textLength < 0 || textLength > LONGEST_TEXT) {
                return;
            }
            receive(fixed + textLength);
            request.wrap(buffer, HEADER, ReplayDecoder.BLOCK_LENGTH, ReplayDecoder.SCHEMA_VERSION);
            UUID logId = new UUID(request.logIdHigh(), request.logIdLow());
            int term = request.term();
            long position = request.position();
            String group = buffer.getStringWithoutLengthUtf8(fixed, textLength);
            bytes = ByteBuffer.allocateDirect(BUFFER_BYTES);
            buffer.wrap(bytes);
            serve(group, logId, term, position);
            flush();
            // a close now would take back what has not arrived: the peer closes
            while (true) {
                idle(FOLLOW_NS);
            }
        }

        /** Reads the request up to an offset. */
        private void receive(int until) throws IOException {
            bytes.limit(until);
            while (bytes.hasRemaining()) {
                int got = channel.read(bytes);
                if (got < 0) {
                    throw new EOFException("the peer has closed");
                } else if (got == 0) {
                    pause(REQUEST_NS, FOLLOW_NS);
                }
            }
        }

        private void pause(long silenceNs, long pauseNs) throws IOException {
            if (System.nanoTime() - heardNs > silenceNs) {
                throw new InterruptedIOException("the peer is silent");
            }
            LockSupport.parkNanos(pauseNs);
        }

        /** Lets time pass, and looks whether the peer is there. */
        private void idle(long pauseNs) throws IOException {
            int got = channel.read(signs.clear());
            if (got < 0) {
                throw new EOFException("the peer has closed");
            } else if (got > 0) {
                heardNs = System.nanoTime();
            }
            pause(SILENCE_NS, pauseNs);
        }

        private void serve(String group, UUID logId, int term, long position) throws IOException {
            Log log = logs.get(group);
            if (log == null) {
                refuse(FabricErrno.ECONNREFUSED, "no group of that name is recorded and sent from there");
                return;
            }
            boolean isByTime = logId.equals(LogPosition.OLDEST.logId());
            if (position < 0
                || !isByTime && (!logId.equals(log.now.logId()) || term < 1 || term > log.now.term())) {
                refuse(FabricErrno.EINVAL, "its writer has " + log.now);
                return;
            }
            try (LogReader reader = LogReader.open(log.folder)) {
                stable = log.showsSynced ? LogReader.open(log.folder) : null;
                if (!reader.logId().equals(log.now.logId())) {
                    refuse(FabricErrno.EIO, "its folder has another log");
                    return;
                }
                if (!isByTime) {
                    reader.from(term, position);
                } else if (position > 0) {
                    reader.fromTime(position);
                }
                begin(log, reader.position());
                send(group, log, reader);
            } catch (FabricException e) {
                if (!hasBegun) {
                    refuse(e.errno(), String.valueOf(e.getMessage()).replace(log.folder.toString(), group));
                } else {
                    notice.set(e);
                    mark(LogReplay.LAST, 0, e.errno());
                }
            } finally {
                if (stable != null) {
                    stable.close();
                }
            }
        }

        private void refuse(int errno, String reason) throws IOException {
            byte[] text = reason.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(text.length, LogReplay.LONGEST_REASON);
            start().position(0).term(1).ringLength(0).logIdHigh(0).logIdLow(0).errno(errno).reasonLength(length);
            buffer.putBytes(used, text, 0, length);
            used += length;
            flush();
        }

        private void begin(Log log, long position) {
            hasBegun = true;
            start().logIdHigh(log.now.logId().getMostSignificantBits())
                .logIdLow(log.now.logId().getLeastSignificantBits()).position(position).term(log.now.term())
                .ringLength(log.ringBytes).errno(0).reasonLength(0);
        }

        private ReplayStartEncoder start() {
            ReplayStartEncoder start = new ReplayStartEncoder().wrapAndApplyHeader(buffer, 0, header);
            used = HEADER + ReplayStartEncoder.BLOCK_LENGTH;
            return start;
        }

        private void send(String group, Log log, LogReader reader) throws IOException {
            long announcedNs = System.nanoTime() - ANNOUNCE_NS;
            long announced = -1;
            for (;;) {
                // before the log is read: what was written until then is there
                boolean isLast = logs.get(group) != log;
                try {
                    if (reader.poll(this, BATCH) > 0) {
                        continue;
                    }
                } catch (Failed e) {
                    throw e.cause;
                }
                if (isLast) {
                    mark(LogReplay.LAST, reader.position(), FabricErrno.ESHUTDOWN);
                    return;
                }
                if (announced != reader.position() || System.nanoTime() - announcedNs > ANNOUNCE_NS) {
                    announced = reader.position();
                    announcedNs = System.nanoTime();
                    mark(LogReplay.ALL_SENT, announced, 0);
                } else {
                    flush();
                }
                idle(FOLLOW_NS);
            }
        }

        @Override
        public void onMessage(DirectBuffer from, int offset, int length, StreamHeader of) {
            try {
                while (stable != null && stable.synced() <= of.position()) {
                    flush();
                    idle(FOLLOW_NS);
                }
                boolean hasData = (of.flags() & Flags.REMOTE_CQ_DATA) != 0;
                record(of.position(), ((of.flags() & Flags.TAGGED) != 0 ? GroupRingDescriptor.TAGGED : 0)
                    | (hasData ? GroupRingDescriptor.HAS_DATA : 0), length, of.tag(), of.data());
                int padded = LogReplay.padded(length);
                for (int sent = 0; sent < padded;) {
                    makeRoom(1);
                    int part = Math.min(padded - sent, BUFFER_BYTES - used);
                    int payload = Math.min(part, Math.max(0, length - sent));
                    buffer.putBytes(used, from, offset + sent, payload);
                    buffer.setMemory(used + payload, part - payload, (byte) 0);
                    used += part;
                    sent += part;
                }
            } catch (IOException e) {
                throw new Failed(e);
            }
        }

        @Override
        public void onGap(long first, long last) {
            try {
                record(first, LogReplay.GAP, 0, 0, last);
            } catch (IOException e) {
                throw new Failed(e);
            }
        }

        private void mark(int kind, long position, int errno) throws IOException {
            record(position, kind, 0, 0, errno);
            flush();
        }

        private void record(long position, int flags, int length, long tag, long data) throws IOException {
            makeRoom(RECORD);
            message.wrapAndApplyHeader(buffer, used, header).position(position).flags(flags).length(length).tag(tag)
                .data(data).reserved(0);
            used += RECORD;
        }

        private void makeRoom(int length) throws IOException {
            if (BUFFER_BYTES - used < length) {
                flush();
            }
        }

        private void flush() throws IOException {
            bytes.position(0).limit(used);
            while (bytes.hasRemaining()) {
                if (channel.write(bytes) == 0) {
                    idle(NO_ROOM_NS);
                }
            }
            used = 0;
        }
    }

    /** Passes a failure of the socket through the reader of the log. */
    private static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient IOException cause;

        Failed(IOException cause) {
            super(cause);
            this.cause = cause;
        }
    }
}
