package org.jfabric.tool;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.agrona.concurrent.AtomicBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorConsumer;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.FabricConfig;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.client.DriverFiles;
import org.jfabric.client.DriverUser;
import org.jfabric.driver.DriverDirectory;
import org.jfabric.driver.ErrorRecords;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;

/**
 * The {@code cnc} file of a driver, mapped read-only after its header was checked; the driver runs, or was killed and
 * left it. Reading does not disturb the driver: no connection is made and no lock is taken. Owner: one thread.
 */
public final class CncView implements AutoCloseable {
    private static final Path LOCKS = Path.of("/proc/locks");
    private static final int INODE_FIELD = 5;
    private static final int GROUP_SEARCH = 0010;
    private static final int GROUP_AND_OTHERS_SEARCH = 0011;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private final Path directory;
    private final MappedFile file;
    private final UnsafeBuffer header;
    private final CountersReader counters;
    private final AtomicBuffer errorLog;

    private CncView(Path directory, MappedFile file) {
        this.directory = directory;
        this.file = file;
        // Agrona's readers ask for buffers that could be written, and only read: these never leave this class
        header = readable(0, CncDescriptor.METADATA_OFFSET);
        int metadata = length("counters' metadata", CncDescriptor.METADATA_LENGTH_OFFSET);
        int values = length("counters' values", CncDescriptor.VALUES_LENGTH_OFFSET);
        int log = length("error log", CncDescriptor.ERROR_LOG_LENGTH_OFFSET);
        long needed = (long) CncDescriptor.METADATA_OFFSET + metadata + values + log;
        if (needed > file.lengthBytes()) {
            throw new ToolException(directory.resolve(CncDescriptor.FILE_NAME) + " has " + file.lengthBytes()
                + " bytes, its header says " + needed + ": it was cut; restart the driver.");
        }
        long valuesOffset = (long) CncDescriptor.METADATA_OFFSET + metadata;
        counters = new CountersReader(
            readable(CncDescriptor.METADATA_OFFSET, metadata), readable(valuesOffset, values));
        errorLog = readable(valuesOffset + values, log);
    }

    /**
     * Maps the file.
     *
     * @return the view; the caller closes it.
     * @throws ToolException   if there is none, or it is another user's or another version's.
     * @throws FabricException if the driver of another user, which was named, does not pass it.
     */
    public static CncView open(Path directory) {
        NativeAccess.check();
        requireDirectory(directory);
        MappedFile file = null;
        CncView view = null;
        try {
            file = isOwn(directory) ? openOwn(directory)
                : openPassed(FileType.CNC, directory, CncDescriptor.METADATA_OFFSET);
            String wrong = FileHeaderDescriptor.verify(
                file.directBuffer(0, CncDescriptor.METADATA_OFFSET), FileType.CNC);
            if (wrong != null) {
                throw new ToolException(directory.resolve(CncDescriptor.FILE_NAME) + " cannot be read: " + wrong + '.');
            }
            view = new CncView(directory, file);
            return view;
        } catch (NativeCallException ex) {
            if (ex.errno() == FabricErrno.ENOENT) {
                throw noDriver(directory, "there is no file " + CncDescriptor.FILE_NAME + " in it");
            }
            throw new ToolException(ex.getMessage() + '.', ex);
        } finally {
            if (view == null && file != null) {
                file.close();
            }
        }
    }

    private static MappedFile openOwn(Path directory) {
        int fd = openDirectory(directory);
        try {
            return MappedFile.open(fd, CncDescriptor.FILE_NAME, true, CncDescriptor.METADATA_OFFSET);
        } finally {
            Libc.close(fd);
        }
    }

    /** The files are the driver's user's alone, so only a driver that runs can pass one. */
    static MappedFile openPassed(FileType type, Path directory, long minLengthBytes) {
        if (!isRunning(directory)) {
            FileStatus left = FileStatus.of(Libc.AT_FDCWD, directory.toString());
            throw noDriver(directory, left == null ? "a driver that has ended meanwhile has removed it"
                : "no process owns its lock, and what is left belongs to user " + left.uid()
                    + ", this command runs as user " + Libc.geteuid());
        }
        return DriverFiles.mapDriversOwn(type, directory, DriverUser.configured(), minLengthBytes, TIMEOUT_NS);
    }

    /**
     * Whether a directory is one of this user.
     *
     * @param directory that {@link #requireDirectory} has accepted.
     */
    static boolean isOwn(Path directory) {
        FileStatus status = FileStatus.of(Libc.AT_FDCWD, directory.toString());
        return status != null && status.uid() == Libc.geteuid();
    }

    /** Checks whether a driver owns the directory's lock now. */
    static boolean isRunning(Path directory) {
        return isRunning(directory, LOCKS);
    }

    /**
     * The same.
     *
     * @param allLocks  those of the host, by inode and not by file system, for a lock that cannot be opened.
     */
    static boolean isRunning(Path directory, Path allLocks) {
        int fd = Libc.openat(Libc.AT_FDCWD, directory.resolve(DriverDirectory.LOCK_NAME).toString(),
            Libc.O_RDONLY | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
        if (fd >= 0) {
            try {
                return Libc.isLockedElsewhere(fd) > 0;
            } finally {
                Libc.close(fd);
            }
        }
        return fd == -FabricErrno.EACCES && isListed(directory, allLocks);
    }

    private static boolean isListed(Path directory, Path allLocks) {
        FileStatus lock;
        List<String> locks;
        try {
            lock = FileStatus.of(Libc.AT_FDCWD, directory.resolve(DriverDirectory.LOCK_NAME).toString());
            locks = Files.readAllLines(allLocks);
        } catch (NativeCallException | IOException ex) {
            return false;
        }
        if (lock == null) {
            return false;
        }
        String inode = ":" + lock.inode();
        for (String line : locks) {
            // 1: OFDLCK ADVISORY WRITE -1 00:1b:1234 0 EOF; waiting ones have an arrow before the kind
            String[] fields = line.split("\\s+");
            if (fields.length > INODE_FIELD && fields[INODE_FIELD].endsWith(inode)) {
                return true;
            }
        }
        return false;
    }

    /** The directory of the driver, as it was given to {@link #open}. */
    public Path directory() {
        return directory;
    }

    /**
     * Checks whether the driver that wrote this file runs: it owns the lock and the file is still the directory's.
     * Returns false also if another driver has taken over the directory.
     */
    public boolean isRunning() {
        try {
            FileStatus named = FileStatus.of(
                Libc.AT_FDCWD, directory.resolve(CncDescriptor.FILE_NAME).toString());
            return named != null && named.isSameFile(file.status()) && isRunning(directory);
        } catch (NativeCallException ex) {
            return false;
        }
    }

    /**
     * The counters of the driver. Returns a reader, valid until {@link #close()}; its methods throw {@link
     * InternalError} if the file is cut.
     */
    public CountersReader counters() {
        return counters;
    }

    int readErrors(ErrorConsumer consumer) {
        return ErrorRecords.read(errorLog, consumer);
    }

    /** When the driver started. Returns the milliseconds since 1970. */
    public long startTimeMs() {
        return header.getLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, LITTLE_ENDIAN);
    }

    /** The process of the driver. */
    public long pid() {
        return header.getLong(CncDescriptor.PID_OFFSET, LITTLE_ENDIAN);
    }

    /** Duty cycles so far, written rarely. */
    long cycles() {
        return header.getLongVolatile(CncDescriptor.CYCLES_OFFSET);
    }

    /** Checks whether the driver's thread sleeps. Returns true if it sleeps or is about to. */
    public boolean isParked() {
        return header.getIntVolatile(CncDescriptor.PARKED_OFFSET) != 0;
    }

    String layoutVersion() {
        return Integer.toUnsignedString(header.getInt(FileHeaderDescriptor.VERSION_OFFSET, LITTLE_ENDIAN));
    }

    /**
     * Creates the exception for a file that is cut while it is read, to be thrown instead of an {@link InternalError}.
     */
    public ToolException cut() {
        return new ToolException(directory.resolve(CncDescriptor.FILE_NAME)
            + " was cut while it was read; restart the driver.");
    }

    @Override
    public void close() {
        file.close();
    }

    private UnsafeBuffer readable(long offset, int length) {
        return new UnsafeBuffer(file.directBuffer(offset, length));
    }

    private int length(String part, int offset) {
        int length = header.getInt(offset, LITTLE_ENDIAN);
        if (length < 0 || (length & 7) != 0) {
            throw new ToolException(directory.resolve(CncDescriptor.FILE_NAME) + " cannot be read: the length of the "
                + part + " is " + length + ", needed is a multiple of 8 from 0; restart the driver.");
        }
        return length;
    }

    /**
     * Checks that a directory is one of this user, or of the user that was named for that.
     *
     * @throws ToolException if it does not exist or is another user's.
     */
    static void requireDirectory(Path directory) {
        NativeAccess.check();
        FileStatus status;
        try {
            status = FileStatus.of(Libc.AT_FDCWD, directory.toString());
        } catch (NativeCallException ex) {
            throw new ToolException(unreadable(directory, ex.errno(), ex.getMessage()), ex);
        }
        if (status == null) {
            throw noDriver(directory, "the directory does not exist");
        }
        if (!status.isDirectory()) {
            throw noDriver(directory, "it is not a directory");
        }
        long uid = Libc.geteuid();
        if (status.uid() != uid && status.uid() != DriverUser.configured().uid()) {
            throw new ToolException(directory + " belongs to user " + status.uid() + ", this command runs as user "
                + uid + "; run it as that user, or name that user with " + FabricConfig.DRIVER_USER_PROPERTY + " or "
                + DefaultDirectory.USER_VARIABLE + " if its driver serves a group of yours.");
        }
    }

    /**
     * Opens a directory of this user.
     *
     * @throws ToolException if it does not exist, or is another user's.
     */
    static int openDirectory(Path directory) {
        requireDirectory(directory);
        int fd = Libc.openDirectory(directory);
        if (fd < 0) {
            throw new ToolException(directory + " cannot be opened: " + FabricErrno.describe(-fd) + '.');
        }
        return fd;
    }

    /** Creates the message for a directory whose status cannot be read. */
    static String unreadable(Path directory, int errno, String why) {
        return directory + " cannot be read: " + why + ". " + (errno == FabricErrno.EACCES
            ? "It lies in a directory of another user, this command runs as user " + Libc.geteuid() + "; run this as"
                + " that user, or in the group that the driver there serves."
            : "Name the directory of a driver with --dir.");
    }

    /** A sentence about drivers of other users that this one may use, after a space; empty if there are none. */
    public static String ofOtherUsers() {
        // root can enter all folders, and drivers refuse it where it is not in their group
        return Libc.geteuid() == 0 ? "" : ofOtherUsers(DefaultDirectory.shared().getParent());
    }

    static String ofOtherUsers(Path sharedMemory) {
        List<Long> users = new ArrayList<>();
        for (Path folder : CleanCommand.folders(sharedMemory)) {
            if (folder.getFileName().toString().matches("jfabric-[0-9]+") && Files.isExecutable(folder)) {
                FileStatus status = FileStatus.of(Libc.AT_FDCWD, folder.toString());
                // what others may enter, too, says nothing of a group in common
                if (status != null && status.uid() != Libc.geteuid()
                    && (status.permissions() & GROUP_AND_OTHERS_SEARCH) == GROUP_SEARCH) {
                    users.add(status.uid());
                }
            }
        }
        return users.isEmpty() ? "" : " Drivers of other users here serve a group of yours: name the user, if you trust"
            + " it, by " + DefaultDirectory.USER_VARIABLE + "=" + users.stream().map(String::valueOf)
            .collect(Collectors.joining(" or ")) + " or " + DefaultDirectory.USER_PROPERTY + ".";
    }

    /**
     * Creates the exception for a directory without a running driver.
     *
     * @param because   evidence that no driver runs: a clause.
     */
    static ToolException noDriver(Path directory, String because) {
        return new ToolException("No driver runs in " + directory + ": " + because
            + (DefaultDirectory.mayHoldDriver(directory)
                ? ". Start one with 'fabric driver --dir " + directory + "', or name its directory with --dir."
                    + (directory.startsWith(DefaultDirectory.base()) ? ofOtherUsers() : "")
                : ", and it is no driver's directory. Name the driver's directory with --dir."));
    }
}
