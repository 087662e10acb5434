package org.jfabric.driver;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorLogReader;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The driver's directory: private to one user, locked by one driver, and free of what a dead one left.
 *
 * <p>Owner: the thread that launches and closes the driver.
 */
public final class DriverDirectory implements AutoCloseable {
    /** Name of the file that is locked while a driver runs. */
    public static final String LOCK_NAME = "driver.lock";
    /** Name of the socket. */
    public static final String SOCKET_NAME = "driver.sock";

    private static final int OWNER_ONLY_DIRECTORY = 0700;
    private static final int OWNER_ONLY_FILE = 0600;
    private static final int OTHERS = 0077;
    private static final int EEXIST = 17;
    private static final int KEPT_ERROR_LOGS = 8;
    private static final String ERRORS_PREFIX = "errors-";
    private static final String ERRORS_SUFFIX = ".log";
    private static final DateTimeFormatter ERRORS_TIME =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS").withZone(ZoneOffset.UTC);

    private final Path path;
    private final int fd;
    private final int lockFd;
    private boolean closed;

    private DriverDirectory(Path path, int fd, int lockFd) {
        this.path = path;
        this.fd = fd;
        this.lockFd = lockFd;
    }

    /**
     * Makes or takes over the directory, locks it and removes what a dead driver left; its error log is kept as a text
     * file.
     *
     * @param config where it is, and how much room the driver needs.
     * @return the directory, ready for a driver.
     * @throws FabricException {@code FI_EBUSY} if a driver runs there; {@code FI_EACCES} if the directory or the one
     *     above is not private to this user; {@code FI_ENOSPC} if there is too little room.
     */
    public static DriverDirectory open(DriverConfig config) {
        Path path = config.directory().path();
        int fd = -1;
        int lockFd = -1;
        boolean done = false;
        try {
            // checked without following links, and opened relative to the directory above that was checked
            int baseFd = openPrivate(Libc.AT_FDCWD, config.directory().base(), config.directory().base().toString());
            try {
                fd = openPrivate(baseFd, path, path.getFileName().toString());
            } finally {
                Libc.close(baseFd);
            }
            lockFd = lock(fd, path);
            DriverDirectory directory = new DriverDirectory(path, fd, lockFd);
            directory.keepErrorLog();
            directory.removeLeftovers();
            directory.requireRoom(config);
            done = true;
            return directory;
        } catch (NativeCallException ex) {
            throw new FabricException(
                ex.errno(), ex.getMessage(), "Choose another directory with jfabric.dir.base.", ex);
        } finally {
            if (!done) {
                closeAll(fd, lockFd);
            }
        }
    }

    /**
     * Where it is.
     *
     * @return absolute path; its last part is the driver's name.
     */
    public Path path() {
        return path;
    }

    /**
     * Its descriptor.
     *
     * @return open until {@link #close()}.
     */
    public int fd() {
        return fd;
    }

    /** Removes the driver's files, unlocks and removes the directory if nothing is left in it. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        removeLeftovers();
        // the name goes while the lock is held, so that the next driver never locks a file without a name
        Libc.unlinkat(fd, LOCK_NAME);
        closeAll(-1, lockFd);
        Libc.close(fd);
        try {
            // only an empty one: error logs that were kept stay
            Files.deleteIfExists(path);
        } catch (IOException ex) {
            // it is not empty, which is no harm
            return;
        }
    }

    private static int openPrivate(int parentFd, Path path, String name) {
        if (parentFd == Libc.AT_FDCWD) {
            try {
                Files.createDirectories(path.getParent());
            } catch (IOException ex) {
                throw new FabricException(FabricErrno.EACCES, path.getParent() + " cannot be made: " + ex.getMessage(),
                    "Choose another place with jfabric.dir.base.", ex);
            }
        }
        int made = Libc.mkdirat(parentFd, name, OWNER_ONLY_DIRECTORY);
        if (made < 0 && made != -EEXIST) {
            throw new NativeCallException("mkdirat", -made, path.toString());
        }
        int fd = Libc.openat(
            parentFd, name, Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            FileStatus link = FileStatus.of(parentFd, name);
            boolean isLink = link != null && link.isSymbolicLink();
            throw new FabricException(isLink ? FabricErrno.EACCES : -fd,
                path + (isLink ? " is a symbolic link" : " cannot be opened as a directory")
                    + ", needed is a directory of this user",
                "Remove it, or choose another place with jfabric.dir.base.");
        }
        try {
            requirePrivate(path, FileStatus.of(fd));
        } catch (FabricException ex) {
            Libc.close(fd);
            throw ex;
        }
        return fd;
    }

    private static void requirePrivate(Path path, FileStatus status) {
        long uid = Libc.geteuid();
        if (status.uid() != uid) {
            throw new FabricException(FabricErrno.EACCES,
                path + " belongs to user " + status.uid() + ", this driver runs as user " + uid,
                "Run the driver as that user, or choose another place with jfabric.dir.base.");
        }
        if ((status.permissions() & OTHERS) != 0) {
            throw new FabricException(FabricErrno.EACCES,
                path + " has mode 0" + Integer.toOctalString(status.permissions()) + ", needed is 0700: "
                    + "others could read or replace the shared files",
                "Run chmod 700 " + path + " after making sure that nothing in it is another's.");
        }
    }

    private static int lock(int directoryFd, Path path) {
        for (;;) {
            int fd = Libc.openat(
                directoryFd,
                LOCK_NAME,
                Libc.O_RDWR | Libc.O_CREAT | Libc.O_NOFOLLOW | Libc.O_CLOEXEC,
                OWNER_ONLY_FILE);
            if (fd < 0) {
                throw new NativeCallException("openat", -fd, path.resolve(LOCK_NAME).toString());
            }
            int locked = Libc.lockExclusive(fd);
            if (locked < 0) {
                Libc.close(fd);
                throw busy(directoryFd, path);
            }
            FileStatus named = FileStatus.of(directoryFd, LOCK_NAME);
            if (named != null && named.isSameFile(FileStatus.of(fd))) {
                return fd;
            }
            // the driver before us closed between our open and our lock
            Libc.close(fd);
        }
    }

    private static FabricException busy(int directoryFd, Path path) {
        String pid = "";
        try (MappedFile cnc = MappedFile.open(
            directoryFd, CncDescriptor.FILE_NAME, true, CncDescriptor.METADATA_OFFSET)) {
            pid = ", process " + cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET).getLong(
                CncDescriptor.PID_OFFSET, LITTLE_ENDIAN);
        } catch (NativeCallException ex) {
            // it is only starting: its number does not matter
            pid = "";
        }
        return new FabricException(FabricErrno.EBUSY,
            "a driver runs in " + path + " already" + pid,
            "Connect to it, stop it, or give this one another name with jfabric.dir.name.");
    }

    private void requireRoom(DriverConfig config) {
        long free = Libc.freeBytes(fd);
        String shortage = free < 0 ? null : Sizing.shortage(config, free);
        if (shortage != null) {
            throw new FabricException(FabricErrno.ENOSPC, shortage, "Then start the driver again.");
        }
    }

    /** The next driver makes a new log; what is in the old one is often why the last driver is dead. */
    private void keepErrorLog() {
        List<String> records = new ArrayList<>();
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, true, CncDescriptor.METADATA_OFFSET)) {
            if (FileHeaderDescriptor.verify(cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET), FileType.CNC) == null) {
                readErrors(cnc, records);
            }
        } catch (NativeCallException | InternalError ex) {
            // nothing there, or nothing that can be read
            return;
        }
        if (records.isEmpty()) {
            return;
        }
        String name = ERRORS_PREFIX + ERRORS_TIME.format(Instant.now()) + ERRORS_SUFFIX;
        try {
            Files.write(path.resolve(name), records);
            List<Path> logs = errorLogs();
            for (int i = 0; i < logs.size() - KEPT_ERROR_LOGS; i++) {
                Files.deleteIfExists(logs.get(i));
            }
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.ENOSPC,
                "the error log of the last driver could not be kept in " + path.resolve(name) + ": " + ex.getMessage(),
                "Make room, or delete " + path + '.', ex);
        }
    }

    private static void readErrors(MappedFile cnc, List<String> records) {
        DirectBuffer header = cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET);
        long offset = CncDescriptor.METADATA_OFFSET
            + (long) header.getInt(CncDescriptor.METADATA_LENGTH_OFFSET, LITTLE_ENDIAN)
            + header.getInt(CncDescriptor.VALUES_LENGTH_OFFSET, LITTLE_ENDIAN);
        int length = header.getInt(CncDescriptor.ERROR_LOG_LENGTH_OFFSET, LITTLE_ENDIAN);
        if (offset < CncDescriptor.METADATA_OFFSET || length <= 0 || offset > cnc.lengthBytes() - length) {
            return;
        }
        // Agrona's reader asks for a buffer that could be written, and only reads: it goes no further than this call
        ErrorLogReader.read(
            new UnsafeBuffer(cnc.directBuffer(offset, length)),
            (count, first, last, text) -> records.add(
                count + " times, first " + Instant.ofEpochMilli(first) + ", last " + Instant.ofEpochMilli(last)
                    + System.lineSeparator() + text));
    }

    private List<Path> errorLogs() throws IOException {
        List<Path> logs = new ArrayList<>();
        try (DirectoryStream<Path> entries =
            Files.newDirectoryStream(path, ERRORS_PREFIX + '*' + ERRORS_SUFFIX)) {
            entries.forEach(logs::add);
        }
        // the names sort by time
        logs.sort(null);
        return logs;
    }

    /** Deletes whatever is not the lock and not a kept error log; nobody else writes here. */
    private void removeLeftovers() {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                boolean kept = name.equals(LOCK_NAME) || name.startsWith(ERRORS_PREFIX) && name.endsWith(ERRORS_SUFFIX);
                if (!kept) {
                    int result = Libc.unlinkat(fd, name);
                    if (result < 0 && result != -FabricErrno.ENOENT) {
                        throw new NativeCallException("unlinkat", -result, entry + ", left by an earlier driver");
                    }
                }
            }
        } catch (IOException ex) {
            throw new FabricException(FabricErrno.EIO, path + " cannot be listed: " + ex.getMessage(), null, ex);
        }
    }

    private static void closeAll(int fd, int lockFd) {
        if (lockFd >= 0) {
            Libc.unlock(lockFd);
            Libc.close(lockFd);
        }
        if (fd >= 0) {
            Libc.close(fd);
        }
    }
}
