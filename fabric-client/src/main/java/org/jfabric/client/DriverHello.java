package org.jfabric.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ClientHelloEncoder;
import org.jfabric.codec.control.ClientWelcomeDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.LinuxErrno;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * The first messages of a client over the driver's socket, with a refusal in words for each way in which they can fail.
 */
record DriverHello(Attachment attachment, Doorbell doorbell) {
    private static final int MAX_MESSAGE_LENGTH = 8192;
    /** Bytes of a welcome up to its version, which are the same in all versions. */
    private static final int VERSION_END = ClientWelcomeDecoder.versionEncodingOffset() + Integer.BYTES;
    private static final int EPIPE = 32;
    private static final String DESCRIPTORS =
        "Raise this process's limit of open files (ulimit -n), or close some.";
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** A driver that starts makes directory and socket for its own user, and then gives them to the group. */
    private static final long GROUP_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Connects and exchanges the messages, or throws before anything is left open. */
    static DriverHello exchange(
        Path directory, DriverUser user, long deadlineNs, String clientName, ClientThreads threads) {
        int fd = connect(directory, user, deadlineNs, threads);
        boolean done = false;
        try {
            try (Arena arena = Arena.ofConfined(); Epoll epoll = epoll()) {
                MemorySegment memory = arena.allocate(Integer.BYTES + MAX_MESSAGE_LENGTH, Long.BYTES);
                UnsafeBuffer buffer = new UnsafeBuffer(memory.address(), (int) memory.byteSize());
                epoll.add(fd, Epoll.EPOLLIN, 0);
                int length = encode(buffer, clientName);
                sendAll(directory, fd, memory.address(), length);
                receive(directory, epoll, fd, memory.address(), Integer.BYTES, deadlineNs, threads);
                int answered = buffer.getInt(0, ByteOrder.LITTLE_ENDIAN);
                if (answered < MessageHeaderDecoder.ENCODED_LENGTH || answered > MAX_MESSAGE_LENGTH) {
                    throw notAnswering(directory, "a message of " + answered + " bytes");
                }
                receive(directory, epoll, fd, memory.address(), answered, deadlineNs, threads);
                Attachment attachment = decode(directory, buffer, answered);
                done = true;
                return new DriverHello(attachment, new Doorbell(fd));
            }
        } finally {
            if (!done) {
                Libc.close(fd);
            }
        }
    }

    /** Waits for the driver's answers. */
    static Epoll epoll() {
        try {
            return new Epoll(1);
        } catch (NativeCallException none) {
            throw new FabricException(
                none.errno(), "the driver's answer cannot be waited for: " + none.getMessage(), DESCRIPTORS, none);
        }
    }

    /** The remedy for an error: of this process's limit of descriptors that one, of all others the given one. */
    static String remedy(int errno, String otherwise) {
        return errno == FabricErrno.EMFILE ? DESCRIPTORS : otherwise;
    }

    /** Connects to a driver that may be starting. Returns a non-blocking socket of the user's driver. */
    static int connect(Path directory, DriverUser user, long deadlineNs, ClientThreads threads) {
        int fd = connectToAny(directory, user, deadlineNs, threads);
        boolean done = false;
        try {
            user.require(directory, fd);
            done = true;
            return fd;
        } finally {
            if (!done) {
                Libc.close(fd);
            }
        }
    }

    private static int connectToAny(Path directory, DriverUser user, long deadlineNs, ClientThreads threads) {
        Path socket = directory.resolve(DefaultDirectory.SOCKET_NAME);
        long groupDeadlineNs = user.isOwn() ? 0 : Math.min(deadlineNs - threads.nanoTime(), GROUP_NS);
        long beginNs = threads.nanoTime();
        for (;;) {
            int fd;
            try {
                fd = UnixSocket.connect(socket, UnixSocket.SOCK_NONBLOCK);
            } catch (NativeCallException tooLong) {
                throw new FabricException(tooLong.errno(), tooLong.getMessage(),
                    remedy(tooLong.errno(), "Use a shorter directory."), tooLong);
            }
            if (fd >= 0) {
                return fd;
            }
            boolean mayCome = fd == -FabricErrno.ENOENT || fd == -FabricErrno.ECONNREFUSED || fd == -FabricErrno.EAGAIN;
            if (fd == -FabricErrno.EACCES) {
                if (threads.nanoTime() - beginNs >= groupDeadlineNs) {
                    throw refused(directory, user, socket);
                }
            } else if (!mayCome) {
                throw new FabricException(-fd, "cannot connect to " + socket,
                    LinuxErrno.describe(-fd) + ". " + remedy(-fd, "Name the directory of a running driver with "
                        + DefaultDirectory.BASE_PROPERTY + " and " + DefaultDirectory.NAME_PROPERTY + "."));
            } else if (threads.nanoTime() - deadlineNs >= 0) {
                throw new FabricException(FabricErrno.ENODEV, fd == -FabricErrno.ENOENT
                    ? "no driver runs in " + directory + ", nothing is at " + socket
                    : "the driver in " + directory + " does not answer (" + FabricErrno.name(fd) + " at " + socket
                        + ")",
                    (DefaultDirectory.mayHoldDriver(directory)
                        ? "Start a driver there (./fabric driver --dir " + directory
                            + "), or name the directory of a running one with "
                        : "It is no driver's directory: name that of a running one with ")
                        + DefaultDirectory.BASE_PROPERTY + " and " + DefaultDirectory.NAME_PROPERTY + ".");
            }
            threads.pause(RETRY_NS);
        }
    }

    private static FabricException refused(Path directory, DriverUser user, Path socket) {
        return new FabricException(FabricErrno.EACCES, "cannot connect to " + socket + ": "
            + DriverUser.describeRefusal(directory), user.isOwn()
            ? "Its directory is another user's; run as that user, or start a driver of your own."
            : "The driver of user " + user.uid() + " serves the group that its option jfabric.dir.group names: run this"
                + " process in that group (setpriv --groups, SupplementaryGroups= of a systemd unit), or start a driver"
                + " of your own.");
    }

    private static int encode(UnsafeBuffer buffer, String clientName) {
        OwnerId owner = OwnerId.random();
        ClientHelloEncoder hello = new ClientHelloEncoder();
        hello.wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC)
            .version(FileHeaderDescriptor.VERSION)
            .reserved(0)
            .ownerIdHigh(owner.high())
            .ownerIdLow(owner.low())
            .name(clientName);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length, ByteOrder.LITTLE_ENDIAN);
        return Integer.BYTES + length;
    }

    private static Attachment decode(Path directory, UnsafeBuffer buffer, int length) {
        MessageHeaderDecoder header = new MessageHeaderDecoder().wrap(buffer, 0);
        int block = MessageHeaderDecoder.ENCODED_LENGTH;
        if (header.schemaId() != ClientWelcomeDecoder.SCHEMA_ID
            || header.templateId() != ClientWelcomeDecoder.TEMPLATE_ID
            || length - block < VERSION_END) {
            throw notAnswering(directory, "schema " + header.schemaId() + ", template " + header.templateId() + ", "
                + length + " bytes");
        }
        ClientWelcomeDecoder welcome = new ClientWelcomeDecoder()
            .wrap(buffer, block, ClientWelcomeDecoder.BLOCK_LENGTH, ClientWelcomeDecoder.SCHEMA_VERSION);
        if (welcome.magic() != FileHeaderDescriptor.MAGIC) {
            throw notAnswering(directory, "magic 0x" + Long.toHexString(welcome.magic()));
        }
        // before anything that another version may have elsewhere
        if (welcome.version() != FileHeaderDescriptor.VERSION) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the driver in " + directory + " speaks version "
                + welcome.version() + ", this client version " + FileHeaderDescriptor.VERSION,
                FileHeaderDescriptor.REMEDY);
        }
        if (header.blockLength() != ClientWelcomeDecoder.BLOCK_LENGTH
            || header.blockLength() > length - block) {
            throw notAnswering(directory, "a welcome of " + header.blockLength() + " bytes in " + length);
        }
        FieldReader texts = new FieldReader(buffer, block + header.blockLength(), length);
        String driverName = texts.ascii();
        String reason = texts.utf8();
        if (welcome.errno() != 0) {
            throw new FabricException(
                welcome.errno(), "the driver in " + directory + " refuses this client: " + reason);
        }
        return new Attachment(
            directory,
            driverName,
            new OwnerId(welcome.ownerIdHigh(), welcome.ownerIdLow()),
            welcome.clientId(),
            welcome.controlFile(),
            welcome.commandRingLength(),
            welcome.eventRingLength(),
            welcome.bufferedLimit(),
            welcome.maxBufferedLimit(),
            welcome.cmDataSize());
    }

    static void sendAll(Path directory, int fd, long address, int length) {
        // a fresh socket has room for far more than this
        int sent = UnixSocket.send(fd, address, length, 0);
        if (sent == -EPIPE || sent == -FabricErrno.ECONNRESET) {
            // a driver that refuses this user has sent the reason and closed, which shows when it is read
            return;
        }
        if (sent != length) {
            throw new FabricException(sent < 0 ? -sent : FabricErrno.EIO,
                "the driver in " + directory + " took " + sent + " of " + length + " bytes of the hello");
        }
    }

    static void receive(
        Path directory, Epoll epoll, int fd, long address, int length, long deadlineNs, ClientThreads threads) {
        for (int received = 0; received < length;) {
            int result = UnixSocket.recv(fd, address + received, length - received, UnixSocket.MSG_DONTWAIT);
            if (result > 0) {
                received += result;
            } else if (result == -FabricErrno.EAGAIN || result == -FabricErrno.EINTR) {
                long leftNs = deadlineNs - threads.nanoTime();
                if (leftNs <= 0) {
                    throw new FabricException(FabricErrno.ETIMEDOUT, "the driver in " + directory
                        + " took the connection but did not answer in time",
                        "Check whether it is stopped or overloaded, or allow more time by connectTimeoutNs.");
                }
                if (threads.hasThreads()) {
                    epoll.poll((int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(leftNs) + 1));
                } else {
                    threads.pause(RETRY_NS);
                }
            } else {
                throw new FabricException(result == 0 ? FabricErrno.ECONNRESET : -result,
                    "the driver in " + directory + " closed the connection during the hello",
                    "Read its error log, or start it again.");
            }
        }
    }

    static FabricException notAnswering(Path directory, String seen) {
        return new FabricException(FabricErrno.EIO, "what listens in " + directory + " is no driver that this client "
            + "understands: it answered " + seen, "Use the same version of JFabric on both sides.");
    }
}
