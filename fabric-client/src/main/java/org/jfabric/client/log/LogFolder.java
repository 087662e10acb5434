package org.jfabric.client.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.LogHeaderDecoder;
import org.jfabric.codec.log.LogHeaderEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.layout.OwnerId;

/** The folder of a log, open for reading. One thread. */
public final class LogFolder implements AutoCloseable {
    private static final int GROUP_LIMIT = 1024;

    private final Path path;
    private int directory;
    private int fd;
    private final LogState state = new LogState();
    private OwnerId logId;
    private int segmentLength;
    private long createdNs;
    private String group;

    private LogFolder(Path path, int directory, int fd) {
        this.path = path;
        this.directory = directory;
        this.fd = fd;
    }

    /**
     * Opens it.
     *
     * @throws FabricException {@code FI_ENOENT} if no log is there, {@code FI_EIO} if the file {@code log} was changed,
     *     {@code FI_EINVAL} for another version.
     */
    public static LogFolder open(Path path) {
        int directory = Libc.openDirectory(path.toAbsolutePath());
        int fd = directory < 0 ? directory : Libc.openat(directory, LogDescriptor.FILE_NAME,
            Libc.O_RDONLY | Libc.O_NOFOLLOW | Libc.O_NONBLOCK | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            close(directory);
            throw new FabricException(-fd, path + " cannot be opened as a log", fd == -FabricErrno.ENOENT ?
                "A log is a folder with a file named log: name that folder." : null);
        }
        LogFolder folder = new LogFolder(path, directory, fd);
        boolean isGood = false;
        try {
            folder.readHeader();
            folder.reload();
            isGood = true;
            return folder;
        } finally {
            if (!isGood) {
                folder.close();
            }
        }
    }

    private void readHeader() {
        ByteBuffer bytes = ByteBuffer.allocateDirect(LogDescriptor.STATE_OFFSET);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        long count = Libc.readFully(fd, buffer.addressOffset(), buffer.capacity(), 0);
        LogHeaderDecoder header = new LogHeaderDecoder()
            .wrap(buffer, 0, LogHeaderDecoder.BLOCK_LENGTH, LogHeaderDecoder.SCHEMA_VERSION);
        if (count < buffer.capacity() || header.magic() != LogDescriptor.MAGIC) {
            throw damaged("is no log of JFabric, or was not completely made",
                "Name another folder, or delete this one if its writer was killed while it made it.");
        }
        if (header.version() != LogDescriptor.VERSION) {
            throw new FabricException(FabricErrno.EINVAL, file() + " has version " + header.version()
                + ", this program reads " + LogDescriptor.VERSION, "Use the version of JFabric that has written it.");
        }
        int sum = LogDescriptor.checksum(new CRC32C(), bytes, LogDescriptor.CHECKED, buffer.capacity());
        if ((int) header.checksum() != sum || !LogDescriptor.isSegmentLength(header.segmentLength())) {
            throw damaged("was changed: the checksum of its first " + buffer.capacity() + " bytes is another one",
                "Put back that file from a copy; it never changes in these bytes.");
        }
        logId = new OwnerId(header.logIdHigh(), header.logIdLow());
        segmentLength = (int) header.segmentLength();
        createdNs = header.createdNs();
        group = header.group();
    }

    /** The bytes of a new log's header, in a direct buffer of the length of the file. */
    public static UnsafeBuffer header(OwnerId logId, int segmentLength, String group, long createdNs) {
        if (group.getBytes(StandardCharsets.UTF_8).length > GROUP_LIMIT) {
            throw new FabricException(FabricErrno.EINVAL, "the name of the group has more than " + GROUP_LIMIT
                + " bytes: " + group, "Use a shorter one.");
        }
        ByteBuffer bytes = ByteBuffer.allocateDirect(LogDescriptor.FILE_LENGTH);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        LogHeaderEncoder header = new LogHeaderEncoder().wrap(buffer, 0).version(LogDescriptor.VERSION)
            .magic(LogDescriptor.MAGIC).logIdHigh(logId.high()).logIdLow(logId.low()).segmentLength(segmentLength)
            .createdNs(createdNs).group(group);
        header.checksum(Integer.toUnsignedLong(LogDescriptor.checksum(new CRC32C(), bytes, LogDescriptor.CHECKED,
            LogDescriptor.STATE_OFFSET)));
        return buffer;
    }

    /** Reads the state again. Returns it. */
    public LogState reload() {
        int result = state.read(fd);
        if (result < 0) {
            throw new FabricException(-result, file() + " cannot be read", "Check the disk.");
        }
        return state;
    }

    /** As it was read last. */
    public LogState state() {
        return state;
    }

    public Path path() {
        return path;
    }

    /** Path of the file {@code log}. */
    public Path file() {
        return path.resolve(LogDescriptor.FILE_NAME);
    }

    /** Descriptor of the folder. */
    public int directory() {
        return directory;
    }

    public OwnerId logId() {
        return logId;
    }

    public int segmentLength() {
        return segmentLength;
    }

    /** When it was made, nanoseconds since 1970. */
    public long createdNs() {
        return createdNs;
    }

    /** Name of the group. */
    public String group() {
        return group;
    }

    /** Whether a writer has the log open now. */
    public boolean hasWriter() {
        return Libc.isLockedElsewhere(fd) > 0;
    }

    /** First positions of the segments that are there, ascending. */
    public long[] segments() {
        long[] found = new long[16];
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                long first = LogDescriptor.firstPosition(logId, file.getFileName().toString());
                if (first >= 0) {
                    if (count == found.length) {
                        found = Arrays.copyOf(found, 2 * count);
                    }
                    found[count++] = first;
                }
            }
        } catch (IOException e) {
            throw new FabricException(FabricErrno.EIO, path + " cannot be listed: " + e, "Check the disk.", e);
        }
        long[] segments = Arrays.copyOf(found, count);
        Arrays.sort(segments);
        return segments;
    }

    /** Index of the last number that is not greater than a given one; -1 if all are greater. */
    public static int floor(long[] ascending, long value) {
        int index = Arrays.binarySearch(ascending, value);
        return index >= 0 ? index : -index - 2;
    }

    private FabricException damaged(String what, String remedy) {
        return new FabricException(FabricErrno.EIO, file() + " at offset 0 " + what, remedy);
    }

    @Override
    public void close() {
        close(fd);
        close(directory);
        // another file may have these numbers now
        fd = -1;
        directory = -1;
    }

    private static void close(int fd) {
        if (fd >= 0) {
            Libc.close(fd);
        }
    }
}
