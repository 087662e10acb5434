package org.jfabric.driver;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Pattern;
import org.agrona.DirectBuffer;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.config.DirectoryConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

/**
 * The driver's directory: one user's, which a group may be let into, locked by one driver, and without files of a dead
 * one.
 *
 * <p>A directory is a driver's if it carries the marker, which is made with it, or a {@code cnc} with JFabric's magic
 * number. An empty one becomes a driver's. Any other is refused and left as it is. In a driver's directory only names
 * that a driver makes are deleted; subdirectories and other files stay.
 *
 * <p>Owner: the thread that launches and closes the driver.
 */
public final class DriverDirectory implements AutoCloseable {
    /** Name of the file that is locked while a driver runs. */
    public static final String LOCK_NAME = "driver.lock";
    /** Name of the socket. */
    public static final String SOCKET_NAME = "driver.sock";
    /** Name of the file that marks the directory as a driver's; it stays as long as anything is left there. */
    public static final String MARKER_NAME = DefaultDirectory.MARKER_NAME;

    private static final int OWNER_ONLY_DIRECTORY = 0700;
    private static final int OWNER_ONLY_FILE = 0600;
    private static final int EEXIST = 17;
    private static final int EISDIR = 21;
    private static final int NAMES_SHOWN = 5;
    private static final String MARKER_TEXT = "JFabric: a driver deletes its own files in this directory.\n";
    private static final int KEPT_ERROR_LOGS = 8;
    private static final String ERRORS_PREFIX = "errors-";
    private static final String ERRORS_SUFFIX = ".log";
    private static final Pattern ERRORS_NAME = Pattern.compile(
        Pattern.quote(ERRORS_PREFIX) + "\\d{8}-\\d{6}-\\d{3}" + Pattern.quote(ERRORS_SUFFIX));
    private static final DateTimeFormatter ERRORS_TIME =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS").withZone(ZoneOffset.UTC);

    private final Path path;
    private final int fd;
    private final int lockFd;
    private final DirectoryAccess access;
    /** Reason why the last driver's error log could not be kept completely, or null. */
    private String warning;
    private boolean closed;

    private DriverDirectory(Path path, int fd, int lockFd, DirectoryAccess access) {
        this.path = path;
        this.fd = fd;
        this.lockFd = lockFd;
        this.access = access;
    }

    /**
     * Makes or takes over the directory, locks it and removes the files of a dead driver; its error log is kept as a
     * text file if there is room for it, and its record under another name.
     *
     * @param config path of the directory, and sizes of the driver's files.
     * @return the directory, ready for a driver.
     * @throws FabricException {@code FI_EBUSY} if a driver runs there; {@code FI_EACCES} if the directory or the one
     *     above is not private to this user, or to the configured group, or if this user is not in that group;
     *     {@code FI_EINVAL} if the directory has files and is no driver's, or there is no such group;
     *     {@code FI_ENOSPC} if there is too little room.
     */
    public static DriverDirectory open(DriverConfig config) {
        Path path = config.directory();
        DirectoryAccess access = DirectoryAccess.of(config);
        int fd = -1;
        int lockFd = -1;
        boolean done = false;
        try {
            // checked without following links, and opened relative to the directory above that was checked
            Path base = config.get(DirectoryConfig.BASE);
            int baseFd = openDirectory(Libc.AT_FDCWD, base, base.toString(), access);
            try {
                requireOwner(base, FileStatus.of(baseFd));
                access.requireBase(base, FileStatus.of(baseFd));
                fd = openDirectory(baseFd, path, path.getFileName().toString(), access);
            } finally {
                Libc.close(baseFd);
            }
            // before anything is written there
            requireOwner(path, FileStatus.of(fd));
            requireOurs(fd, path);
            access.requireDirectory(path, FileStatus.of(fd));
            // before the lock: a driver that is killed in between, or one that starts meanwhile, finds a driver's
            // directory
            mark(fd, path);
            lockFd = lock(fd, path);
            // behind the lock: it may be that of a private driver
            access.share(path, fd);
            DriverDirectory directory = new DriverDirectory(path, fd, lockFd, access);
            directory.takeOver(true);
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

    /** Result of {@link #clean(Path)}. */
    public enum Cleaned {
        /** A dead driver's files are gone, and the directory with them. */
        REMOVED,
        /** A dead driver's files and records are gone; error logs, or what is not a driver's, stay. */
        EMPTIED,
        /** A driver runs there; nothing was changed. */
        RUNNING,
        /** It is no driver's directory of this user; nothing was changed. */
        NOT_OURS
    }

    /**
     * Removes the files of a dead driver, as the next driver in that directory would; its error log is kept as text.
     *
     * @param path of a directory.
     * @return the result.
     * @throws FabricException if the directory does not exist, or something in it cannot be removed.
     */
    public static Cleaned clean(Path path) {
        return inspect(path, fd -> {
            int lockFd;
            try {
                lockFd = lock(fd, path);
            } catch (FabricException | NativeCallException ex) {
                Libc.close(fd);
                if (ex instanceof FabricException busy && busy.errno() == FabricErrno.EBUSY) {
                    return Cleaned.RUNNING;
                }
                throw ex;
            }
            try (DriverDirectory directory = new DriverDirectory(path, fd, lockFd, DirectoryAccess.OWNER)) {
                directory.takeOver(false);
                Libc.unlinkat(fd, EventRecordDescriptor.PREVIOUS_FILE_NAME);
            }
            return Files.exists(path) ? Cleaned.EMPTIED : Cleaned.REMOVED;
        });
    }

    /**
     * What {@link #clean(Path)} would do now; changes nothing, and takes no lock that a starting driver could meet.
     *
     * @param path of a directory.
     * @return the result that it would have.
     * @throws FabricException if the directory does not exist or cannot be read.
     */
    public static Cleaned wouldClean(Path path) {
        return inspect(path, fd -> {
            try {
                if (isLocked(fd)) {
                    return Cleaned.RUNNING;
                }
                List<String> others = list(fd, path).stream().filter(name -> !isDriversName(name)
                    && !Set.of(LOCK_NAME, MARKER_NAME, EventRecordDescriptor.PREVIOUS_FILE_NAME).contains(name))
                    .toList();
                return others.isEmpty() && readErrorLog(fd).isEmpty() ? Cleaned.REMOVED : Cleaned.EMPTIED;
            } finally {
                Libc.close(fd);
            }
        });
    }

    /**
     * Opens a directory and checks that it is a driver's of this user.
     *
     * @param task for such a directory; it closes the descriptor, also if it throws.
     */
    private static Cleaned inspect(Path path, IntFunction<Cleaned> task) {
        int fd = -1;
        boolean handedOver = false;
        try {
            fd = Libc.openat(Libc.AT_FDCWD, path.toString(),
                Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
            if (fd < 0) {
                if (fd == -FabricErrno.ENOENT) {
                    throw new FabricException(FabricErrno.ENOENT, "there is no directory " + path,
                        "Name one with --dir.");
                }
                return Cleaned.NOT_OURS;
            }
            FileStatus status = FileStatus.of(fd);
            if (status.uid() != Libc.geteuid() || !DirectoryAccess.fitsDriver(status)
                || !hasMarker(fd, path) && !hasCnc(fd)) {
                return Cleaned.NOT_OURS;
            }
            handedOver = true;
            return task.apply(fd);
        } catch (NativeCallException ex) {
            throw new FabricException(ex.errno(), ex.getMessage(), "Correct the rights there, then try again.", ex);
        } finally {
            if (!handedOver) {
                closeAll(fd, -1);
            }
        }
    }

    private static boolean isLocked(int directoryFd) {
        int fd = Libc.openat(directoryFd, LOCK_NAME, Libc.O_RDONLY | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            return false;
        }
        try {
            return Libc.isLockedElsewhere(fd) > 0;
        } finally {
            Libc.close(fd);
        }
    }

    /**
     * Path of the directory.
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

    /**
     * The group whose users can reach the socket.
     *
     * @return group id, -1 for none.
     */
    long gid() {
        return access.gid();
    }

    /**
     * Describes an error that did not keep the driver from starting.
     *
     * @return a sentence with path and reason, or null.
     */
    public String warning() {
        return warning;
    }

    /**
     * Checks that the directory is still the one under its path.
     *
     * @return false after the directory was deleted or replaced, so that no client can find the driver any more.
     */
    public boolean isInPlace() {
        try {
            FileStatus named = FileStatus.of(Libc.AT_FDCWD, path.toString());
            return named != null && named.isSameFile(FileStatus.of(fd));
        } catch (NativeCallException ex) {
            return false;
        }
    }

    /**
     * Removes the driver's files, unlocks and removes the directory if nothing is left in it. Error logs, and the
     * record of a driver that was killed here before, stay.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        removeLeftovers();
        // the name is deleted while the lock is owned, so that the next driver never locks a file without a name
        Libc.unlinkat(fd, LOCK_NAME);
        boolean goes = list(fd, path).equals(List.of(MARKER_NAME)) && isInPlace();
        if (goes) {
            Libc.unlinkat(fd, MARKER_NAME);
        }
        closeAll(-1, lockFd);
        Libc.close(fd);
        if (goes) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException ex) {
                // the next driver has begun there: its marker makes it its own
                return;
            }
        }
    }

    /** Unlocks the directory and leaves everything in it, as the end of a killed process does. */
    void abandon() {
        closed = true;
        closeAll(fd, lockFd);
    }

    /**
     * Removes the files of the driver before, except for its error log.
     *
     * @param keepsRecord whether its last events stay too.
     */
    private void takeOver(boolean keepsRecord) {
        // that driver may have removed the marker as it closed
        mark(fd, path);
        List<String> errors = readErrorLog(fd);
        if (keepsRecord) {
            keepRecord();
        }
        // first: the files that are left may be those that fill the file system
        removeLeftovers();
        mark(fd, path);
        keepErrorLog(errors);
    }

    /** Refuses a directory with files that is no driver's; changes nothing. */
    private static void requireOurs(int fd, Path path) {
        List<String> names = list(fd, path);
        if (names.isEmpty() || hasMarker(fd, path) || hasCnc(fd)) {
            return;
        }
        int shown = Math.min(NAMES_SHOWN, names.size());
        throw new FabricException(FabricErrno.EINVAL,
            path + " is no driver's directory: it has " + names.size() + " files and folders ("
                + String.join(", ", names.subList(0, shown)) + (names.size() > shown ? ", …" : "") + "), and neither "
                + MARKER_NAME + " nor the " + CncDescriptor.FILE_NAME + " of a driver is among them",
            "Nothing was changed there. Name an empty directory, or one that does not exist yet, with --dir or with"
                + " jfabric.dir.base and jfabric.dir.name.");
    }

    private static boolean hasMarker(int fd, Path path) {
        FileStatus status = FileStatus.of(fd, MARKER_NAME);
        if (status != null && status.isRegular() && status.uid() == Libc.geteuid() && status.sizeBytes() == 0) {
            // made, and not written yet: a driver has no other file there at that time
            return Set.of(MARKER_NAME, LOCK_NAME).containsAll(list(fd, path));
        }
        try (MappedFile marker = MappedFile.open(fd, MARKER_NAME, true, MARKER_TEXT.length())) {
            return marker.directBuffer(0, MARKER_TEXT.length())
                .getStringWithoutLengthAscii(0, MARKER_TEXT.length()).equals(MARKER_TEXT);
        } catch (NativeCallException | InternalError ex) {
            return false;
        }
    }

    /** Whatever else of it is damaged: no other program writes that number. */
    private static boolean hasCnc(int fd) {
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, true, Long.BYTES)) {
            return cnc.directBuffer(0, Long.BYTES).getLong(FileHeaderDescriptor.MAGIC_OFFSET, LITTLE_ENDIAN)
                == FileHeaderDescriptor.MAGIC;
        } catch (NativeCallException | InternalError ex) {
            return false;
        }
    }

    private static void mark(int fd, Path path) {
        if (hasMarker(fd, path)) {
            return;
        }
        Path marker = path.resolve(MARKER_NAME);
        try {
            Files.writeString(marker, MARKER_TEXT, StandardOpenOption.CREATE_NEW);
            Files.setPosixFilePermissions(marker, PosixFilePermissions.fromString("rw-------"));
        } catch (FileAlreadyExistsException ex) {
            // damaged, or another file of that name: the cnc file shows that the directory is a driver's
            return;
        } catch (IOException ex) {
            if (!hasMarker(fd, path) && !hasCnc(fd)) {
                throw new FabricException(FabricErrno.ENOSPC,
                    marker + " cannot be written: " + ex.getMessage(), "Make room there.", ex);
            }
            // a killed driver's, on a full file system: the room comes back when its files go
        }
    }

    private static List<String> list(int fd, Path path) {
        List<String> names = new ArrayList<>();
        // by descriptor, so that it is the directory that was checked
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of("/proc/self/fd/" + fd))) {
            entries.forEach(entry -> names.add(entry.getFileName().toString()));
        } catch (IOException | DirectoryIteratorException ex) {
            throw new FabricException(FabricErrno.EIO, path + " cannot be listed: " + ex.getMessage(), null, ex);
        }
        names.sort(null);
        return names;
    }

    private static int openDirectory(int parentFd, Path path, String name, DirectoryAccess access) {
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
                "Choose another place with jfabric.dir.base and jfabric.dir.name.");
        }
        if (made == 0) {
            boolean shared = false;
            try {
                access.share(path, fd);
                shared = true;
            } finally {
                if (!shared) {
                    Libc.close(fd);
                    Libc.rmdirat(parentFd, name);
                }
            }
        }
        return fd;
    }

    private static void requireOwner(Path path, FileStatus status) {
        long uid = Libc.geteuid();
        if (status.uid() != uid) {
            throw new FabricException(FabricErrno.EACCES,
                path + " belongs to user " + status.uid() + ", this driver runs as user " + uid,
                "Run the driver as that user, or choose another place with jfabric.dir.base, for the clients too. If"
                    + " that user was to keep you from it: docs/operations.md has a folder for systemd-tmpfiles that"
                    + " no other user can take.");
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
            // it is still starting: the number is not essential
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

    /**
     * Reads the old error log, before the next driver makes a new one: it often has the reason of the last driver's
     * death.
     */
    private static List<String> readErrorLog(int fd) {
        List<String> records = new ArrayList<>();
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, true, CncDescriptor.METADATA_OFFSET)) {
            if (FileHeaderDescriptor.verify(cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET), FileType.CNC) == null) {
                readErrors(cnc, records);
            }
        } catch (NativeCallException | InternalError ex) {
            // nothing there, or nothing more that can be read
            return records;
        }
        return records;
    }

    /** A driver that closes removes its record: one that is there belongs to a driver that was killed. */
    private void keepRecord() {
        FileStatus status = FileStatus.of(fd, EventRecordDescriptor.FILE_NAME);
        if (status == null || !status.isRegular()) {
            return;
        }
        try {
            Files.move(path.resolve(EventRecordDescriptor.FILE_NAME),
                path.resolve(EventRecordDescriptor.PREVIOUS_FILE_NAME), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException ex) {
            // a folder of that name is not the driver's
            warning = "the record of the last driver could not be kept in "
                + path.resolve(EventRecordDescriptor.PREVIOUS_FILE_NAME) + ": " + ex.getMessage();
        }
    }

    private void keepErrorLog(List<String> records) {
        if (records.isEmpty()) {
            return;
        }
        String name = ERRORS_PREFIX + ERRORS_TIME.format(Instant.now()) + ERRORS_SUFFIX;
        try {
            Path log = path.resolve(name);
            Files.createFile(log, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.write(log, records);
            // the names sort by time; a folder of such a name is not the driver's
            List<String> logs = list(fd, path).stream().filter(each -> ERRORS_NAME.matcher(each).matches()).toList();
            for (int i = 0; i < logs.size() - KEPT_ERROR_LOGS; i++) {
                Libc.unlinkat(fd, logs.get(i));
            }
        } catch (IOException ex) {
            // an incomplete log is not kept: its name would promise all records
            Libc.unlinkat(fd, name);
            warning = "the error log of the last driver, " + records.size() + " records, could not be kept in "
                + path.resolve(name) + ": " + ex.getMessage();
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
        ErrorRecords.read(
            cnc.directBuffer(offset, length),
            (count, first, last, text) -> records.add(
                count + " times, first " + Instant.ofEpochMilli(first) + ", last " + Instant.ofEpochMilli(last)
                    + System.lineSeparator() + text));
    }

    private static boolean isDriversName(String name) {
        return name.equals(SOCKET_NAME) || FileType.isFileName(name) || ServiceNames.isFileName(name);
    }

    /** Deletes the files of a driver by their names; a folder under such a name is not the driver's. */
    private void removeLeftovers() {
        for (String name : list(fd, path)) {
            if (isDriversName(name)) {
                int result = Libc.unlinkat(fd, name);
                if (result < 0 && result != -FabricErrno.ENOENT && result != -EISDIR) {
                    throw new NativeCallException(
                        "unlinkat", -result, path.resolve(name) + ", left by an earlier driver");
                }
            }
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
