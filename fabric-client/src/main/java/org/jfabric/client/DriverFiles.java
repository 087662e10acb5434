package org.jfabric.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.FileHelloEncoder;
import org.jfabric.codec.control.FileWelcomeDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

/**
 * How a client gets the files of its driver: by their names, which only processes of the driver's own user can open, or
 * as descriptors over the driver's socket. Control path; any thread.
 */
public final class DriverFiles implements AutoCloseable {
    private static final int MAX_MESSAGE_LENGTH = 2048;
    private static final int NO_DIRECTORY = -1;

    private final Path directory;
    private final int dirFd;
    private final DriverUser user;
    private final long clientId;
    private final long timeoutNs;

    private DriverFiles(Path directory, int dirFd, DriverUser user, long clientId, long timeoutNs) {
        this.directory = directory;
        this.dirFd = dirFd;
        this.user = user;
        this.clientId = clientId;
        this.timeoutNs = timeoutNs;
    }

    static DriverFiles named(Path directory) {
        int fd = Libc.openDirectory(directory);
        if (fd < 0) {
            throw new FabricException(-fd, "cannot open the driver's directory " + directory);
        }
        return new DriverFiles(directory, fd, DriverUser.own(), 0, 0);
    }

    static DriverFiles passed(Path directory, DriverUser user, long clientId, long timeoutNs) {
        return new DriverFiles(directory, NO_DIRECTORY, user, clientId, timeoutNs);
    }

    /**
     * Maps a file of a running driver of another user, for a tool that is no client.
     *
     * @param type {@link FileType#CNC} or {@link FileType#RECORD}.
     * @return the mapping, read-only.
     * @throws FabricException {@link FabricErrno#EACCES} if the driver is not that user's, or does not serve the user
     *     of this process; {@link FabricErrno#ENOENT} if it has no such file; {@link FabricErrno#ENODEV},
     *     {@link FabricErrno#ETIMEDOUT}.
     */
    public static MappedFile mapDriversOwn(
        FileType type, Path directory, DriverUser user, long minLengthBytes, long timeoutNs) {
        return passed(directory, user, 0, timeoutNs).map(type, 0, true, minLengthBytes);
    }

    /**
     * Maps a file.
     *
     * @throws NativeCallException if it cannot be opened or is not what was expected.
     * @throws FabricException     if the driver does not pass it.
     */
    MappedFile map(FileType type, long number, boolean readOnly, long minLengthBytes) {
        String name = type.fileName(number);
        if (dirFd != NO_DIRECTORY) {
            return MappedFile.open(dirFd, name, readOnly, minLengthBytes);
        }
        int fd = receive(type, number, System.nanoTime() + timeoutNs);
        try {
            return MappedFile.ofWhole(fd, directory.resolve(name).toString(), readOnly, minLengthBytes, user.uid());
        } finally {
            Libc.close(fd);
        }
    }

    @Override
    public void close() {
        if (dirFd != NO_DIRECTORY) {
            Libc.close(dirFd);
        }
    }

    /** Gets a descriptor over a connection of its own. */
    private int receive(FileType type, long number, long deadlineNs) {
        int socket = DriverHello.connect(directory, user, deadlineNs, ClientThreads.SYSTEM);
        try (Arena arena = Arena.ofConfined(); Epoll epoll = DriverHello.epoll()) {
            MemorySegment memory = arena.allocate(Integer.BYTES + MAX_MESSAGE_LENGTH, Long.BYTES);
            UnsafeBuffer buffer = new UnsafeBuffer(memory.address(), (int) memory.byteSize());
            epoll.add(socket, Epoll.EPOLLIN, 0);
            DriverHello.sendAll(directory, socket, memory.address(), encode(buffer, type, number));
            DriverHello.receive(
                directory, epoll, socket, memory.address(), Integer.BYTES, deadlineNs, ClientThreads.SYSTEM);
            int length = buffer.getInt(0, ByteOrder.LITTLE_ENDIAN);
            if (length < MessageHeaderDecoder.ENCODED_LENGTH || length > MAX_MESSAGE_LENGTH) {
                throw DriverHello.notAnswering(directory, "a message of " + length + " bytes");
            }
            // not a byte more than the message: the descriptor comes with the next one
            DriverHello.receive(
                directory, epoll, socket, memory.address(), length, deadlineNs, ClientThreads.SYSTEM);
            check(buffer, length);
            return receiveDescriptor(epoll, socket, deadlineNs);
        } finally {
            Libc.close(socket);
        }
    }

    private int encode(UnsafeBuffer buffer, FileType type, long number) {
        FileHelloEncoder hello = new FileHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
            .fileType(type.code()).clientId(clientId).fileNumber(number);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length, ByteOrder.LITTLE_ENDIAN);
        return Integer.BYTES + length;
    }

    private void check(UnsafeBuffer buffer, int length) {
        MessageHeaderDecoder header = new MessageHeaderDecoder().wrap(buffer, 0);
        int block = MessageHeaderDecoder.ENCODED_LENGTH;
        if (header.schemaId() != FileWelcomeDecoder.SCHEMA_ID
            || header.templateId() != FileWelcomeDecoder.TEMPLATE_ID
            || header.blockLength() != FileWelcomeDecoder.BLOCK_LENGTH
            || header.blockLength() > length - block) {
            throw DriverHello.notAnswering(directory, "schema " + header.schemaId() + ", template "
                + header.templateId() + ", " + length + " bytes");
        }
        FileWelcomeDecoder welcome = new FileWelcomeDecoder()
            .wrap(buffer, block, FileWelcomeDecoder.BLOCK_LENGTH, FileWelcomeDecoder.SCHEMA_VERSION);
        if (welcome.magic() != FileHeaderDescriptor.MAGIC) {
            throw DriverHello.notAnswering(directory, "magic 0x" + Long.toHexString(welcome.magic()));
        }
        if (welcome.errno() != 0) {
            throw new FabricException(welcome.errno(), "the driver in " + directory + " refuses a file: "
                + new FieldReader(buffer, block + header.blockLength(), length).utf8());
        }
    }

    private int receiveDescriptor(Epoll epoll, int socket, long deadlineNs) {
        for (;;) {
            int fd = UnixSocket.receiveDescriptor(socket);
            if (fd >= 0) {
                return fd;
            }
            if (fd != -FabricErrno.EAGAIN) {
                throw new FabricException(-fd, "the driver in " + directory + " passed no descriptor of a file",
                    fd == -FabricErrno.EMFILE ? "Raise the limit of open files (ulimit -n)." : "Connect again.");
            }
            long leftNs = deadlineNs - System.nanoTime();
            if (leftNs <= 0) {
                throw new FabricException(FabricErrno.ETIMEDOUT, "the driver in " + directory
                    + " did not pass a descriptor in time", "Check whether it is stopped or overloaded.");
            }
            epoll.poll((int) Math.min(Integer.MAX_VALUE, TimeUnit.NANOSECONDS.toMillis(leftNs) + 1));
        }
    }
}
