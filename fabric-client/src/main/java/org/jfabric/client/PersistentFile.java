package org.jfabric.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The file of a persistent region, open: it has its length, and name and length are on stable storage.
 *
 * <p>Owner: control calls, under the fabric's lock.
 */
public final class PersistentFile implements AutoCloseable {
    private static final int OWNER_ONLY = 0600;

    private final Path path;
    private final long lengthBytes;
    private final int fd;

    private PersistentFile(Path path, long lengthBytes, int fd) {
        this.path = path;
        this.lengthBytes = lengthBytes;
        this.fd = fd;
    }

    /**
     * Opens the file, or makes it with permissions 0600. A file that is shorter is extended by zeros; all its blocks
     * are reserved.
     *
     * @throws FabricException {@link FabricErrno#EOPNOTSUPP} on a file system that keeps files in memory only, {@link
     *     FabricErrno#EINVAL} if something else than a regular file is there or the file is longer, {@link
     *     FabricErrno#ENOSPC}, or what else the system answers.
     */
    public static PersistentFile open(Path path, long lengthBytes) {
        Path absolute = path.toAbsolutePath();
        if (absolute.getFileName() == null) {
            throw new FabricException(FabricErrno.EINVAL, path + " is no file", "Name a file in a directory.");
        }
        int directory = opened("directory " + absolute.getParent(), Libc.openat(Libc.AT_FDCWD,
            absolute.getParent().toString(), Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_CLOEXEC, 0));
        int fd = -1;
        boolean made = false;
        try {
            // before a file is made there
            requireStable(absolute, directory);
            // non-blocking, or a pipe in place of the file would block the call
            fd = opened(absolute.toString(), Libc.openat(directory, absolute.getFileName().toString(),
                Libc.O_RDWR | Libc.O_CREAT | Libc.O_NOFOLLOW | Libc.O_NONBLOCK | Libc.O_CLOEXEC, OWNER_ONLY));
            requireStable(absolute, fd);
            requireLength(absolute, FileStatus.of(fd), lengthBytes);
            check("fallocate", absolute, lengthBytes, Libc.reserve(fd, 0, lengthBytes));
            check("fsync", absolute, lengthBytes, Libc.fsync(fd));
            check("fsync", absolute.getParent(), lengthBytes, Libc.fsync(directory));
            made = true;
            return new PersistentFile(absolute, lengthBytes, fd);
        } catch (NativeCallException failed) {
            throw new FabricException(failed.errno(), "a persistent region in " + absolute + ": "
                + failed.getMessage());
        } finally {
            Libc.close(directory);
            if (!made && fd >= 0) {
                Libc.close(fd);
            }
        }
    }

    /** Its descriptor, open until {@link #close()}. */
    public int fd() {
        return fd;
    }

    /**
     * Maps the file. Returns the bytes of the region; they stay mapped as long as anything refers to them, also after
     * {@link #close()}.
     */
    public MemorySegment map() {
        try {
            return MappedFile.ofDescriptor(fd, path.toString(), lengthBytes).segment(Arena.ofAuto());
        } catch (NativeCallException failed) {
            throw new FabricException(failed.errno(), "cannot map a persistent region: " + failed.getMessage());
        }
    }

    @Override
    public void close() {
        Libc.close(fd);
    }

    private static int opened(String what, int result) {
        if (result < 0) {
            throw new FabricException(-result, "a persistent region: " + what + " cannot be opened");
        }
        return result;
    }

    private static void requireStable(Path path, int fd) {
        String unstable = Libc.volatileFileSystem(fd);
        if (unstable != null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, path + " is in a " + unstable
                + ", which keeps files in memory only: its contents would not survive", "Use a file on a disk.");
        }
    }

    private static void requireLength(Path path, FileStatus status, long lengthBytes) {
        if (!status.isRegular()) {
            throw new FabricException(FabricErrno.EINVAL, path + " is not a regular file", "Name another one.");
        }
        if (status.sizeBytes() > lengthBytes) {
            throw new FabricException(FabricErrno.EINVAL, path + " has " + status.sizeBytes()
                + " bytes, more than the region of " + lengthBytes, "Ask for the whole file, or name another one.");
        }
    }

    private static void check(String call, Path path, long lengthBytes, int result) {
        if (result < 0) {
            throw new FabricException(-result, call + " of " + path + " failed, wanted are " + lengthBytes + " bytes",
                "Make room on its file system, or check it.");
        }
    }
}
