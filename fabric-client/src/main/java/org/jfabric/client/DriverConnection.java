package org.jfabric.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.ControlFileDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

/**
 * The way to one driver: its directory, its socket and the control file of this client.
 *
 * <p>Control path; any thread. Addresses of mappings taken from here stay valid as long as anything refers to them, so
 * closing takes no memory away from a thread that is still reading. The files themselves are given back when their
 * object is closed ({@link #release}), at the latest by {@link #close()}: such a thread reads zeros from then on.
 * Without that, deleted files would fill memory until a garbage collection, which an application without garbage never
 * has.
 */
public final class DriverConnection implements AutoCloseable {
    private final Attachment attachment;
    private final EmbeddedDriver embedded;
    private final Doorbell doorbell;
    private final DriverFiles files;
    private final ClientThreads threads;
    /** How to give back the files of open objects, by their addresses; guarded by itself. */
    private final Map<Long, MappedFile.Discard> mapped = new HashMap<>();
    /** Since room was missing; guarded by {@link #mapped}. */
    private boolean hasReleased;
    /** Above this number of entries it is swept of memory that is no longer mapped. */
    private int sweepSize = 64;
    /** The same of closed objects whose memory may be in use; guarded by {@link #mapped}. */
    private final List<MappedFile.Discard> inUse = new ArrayList<>();
    private final MemorySegment control;
    private final MemorySegment cnc;
    private boolean closed;
    private boolean memoryPassed;

    private DriverConnection(
        Attachment attachment, EmbeddedDriver embedded, Doorbell doorbell, DriverFiles files,
        ClientThreads threads) {
        this.threads = threads;
        this.attachment = attachment;
        this.embedded = embedded;
        this.doorbell = doorbell;
        this.files = files;
        this.control = open(FileType.CONTROL, attachment.controlFile(), 0, ControlFileDescriptor.fileLength(
            attachment.commandRingLength(), attachment.eventRingLength()));
        this.cnc = embedded == null ? openCnc() : null;
    }

    /**
     * Connects over the socket of the driver in a directory.
     *
     * @param user       of the driver; of another one than this process's the files come over the socket.
     * @param timeoutNs  how long to wait for a driver that is just starting, and for its answer.
     * @throws FabricException with {@link FabricErrno#ENODEV} if there is no driver, {@link FabricErrno#EACCES} for
     *     another user's, {@link FabricErrno#ETIMEDOUT} if it does not answer, or what it answers.
     */
    public static DriverConnection connect(
        Path directory, DriverUser user, long timeoutNs, String clientName, ClientThreads threads) {
        long deadlineNs = threads.nanoTime() + timeoutNs;
        DriverHello hello = DriverHello.exchange(directory, user, deadlineNs, clientName, threads);
        boolean opened = false;
        DriverFiles files = null;
        try {
            files = user.isOwn() ? DriverFiles.named(directory)
                : DriverFiles.passed(directory, user, hello.attachment().clientId(), timeoutNs);
            DriverConnection connection = new DriverConnection(
                hello.attachment(), null, hello.doorbell(), files, threads);
            opened = true;
            return connection;
        } finally {
            if (!opened) {
                hello.doorbell().close();
                closeFiles(files);
            }
        }
    }

    /**
     * Attaches to a driver in this process whose duty cycle the client runs. Returns a connection without a socket.
     */
    public static DriverConnection embedded(EmbeddedDriver driver) {
        Attachment attachment = driver.attach();
        boolean opened = false;
        DriverFiles files = null;
        try {
            files = DriverFiles.named(attachment.directory());
            DriverConnection connection = new DriverConnection(
                attachment, driver, null, files, ClientThreads.SYSTEM);
            opened = true;
            return connection;
        } finally {
            if (!opened) {
                driver.detach(attachment.clientId());
                closeFiles(files);
            }
        }
    }

    /** The driver's answer to the hello. */
    public Attachment attachment() {
        return attachment;
    }

    /** The driver in this process. Returns null if the client is attached by the socket. */
    public EmbeddedDriver embedded() {
        return embedded;
    }

    /** The socket. Returns null with an embedded driver. */
    public Doorbell doorbell() {
        return doorbell;
    }

    /** Clock and thread of the client, those of the system with an embedded driver, which does not use them. */
    ClientThreads threads() {
        return threads;
    }

    /**
     * Passes a file to the driver, over the socket.
     *
     * @throws FabricException {@link FabricErrno#ENODEV} if the driver is gone, or what else the system answers.
     */
    public void pass(int descriptor) {
        int result = doorbell.pass(descriptor);
        if (result < 0) {
            throw new FabricException(result == -FabricErrno.ECONNRESET ? FabricErrno.ENODEV : -result,
                "a file cannot be passed to the driver");
        }
    }

    /** Whether the driver has a descriptor of the memory of this process. */
    public boolean hasPassedMemory() {
        return memoryPassed;
    }

    /**
     * Passes a descriptor of the memory of this process over the socket, in front of the command that needs it. The
     * driver needs no permission to trace this process then. Once is enough.
     *
     * @throws FabricException {@link FabricErrno#EACCES} if the system does not open it, {@link FabricErrno#ENODEV} if
     *     the driver is gone, or what else the system answers.
     */
    public void passMemory() {
        int fd = Libc.openat(Libc.AT_FDCWD, "/proc/self/mem", Libc.O_RDWR | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            throw new FabricException(-fd, "/proc/self/mem cannot be opened, so the driver cannot copy memory of this "
                + "process", "Mount /proc and let the process be dumpable, or take memory by allocate().");
        }
        try {
            pass(fd);
            memoryPassed = true;
        } finally {
            Libc.close(fd);
        }
    }

    public MemorySegment control() {
        return control;
    }

    /**
     * Signal for the queues of an endpoint.
     *
     * @throws FabricException with {@link FabricErrno#EIO} for an index that cannot be.
     */
    public QueueSignal signal(int activityIndex) {
        if (activityIndex < 0 || activityIndex >= ControlFileDescriptor.ACTIVITY_LENGTH) {
            throw new FabricException(FabricErrno.EIO, "the driver answered activity index " + activityIndex
                + ", needed is one from 0 to " + (ControlFileDescriptor.ACTIVITY_LENGTH - 1));
        }
        long activity = control.address() + activityIndex + ControlFileDescriptor.activityOffset(
            attachment.commandRingLength(), attachment.eventRingLength());
        return new QueueSignal(activity, parkedAddress(), doorbell);
    }

    /** Signal for changes of counters, which belong to no endpoint; only {@link QueueSignal#onChange} may be used. */
    public QueueSignal changeSignal() {
        return new QueueSignal(0, parkedAddress(), doorbell);
    }

    /** Native address of the driver's parked word; 0 if it never sleeps. */
    private long parkedAddress() {
        boolean mayPark = cnc != null
            && UnsafeApi.getIntAcquire(null, cnc.address() + CncDescriptor.MAY_PARK_OFFSET) != 0;
        return mayPark ? cnc.address() + CncDescriptor.PARKED_OFFSET : 0;
    }

    /** The mappings that a thread which uses {@link #signal(int)} must keep reachable, with that of its queue. */
    public Object memoryOf(MemorySegment file) {
        return new Object[] {file, control, cnc};
    }

    /**
     * Maps a file of the driver and checks whose it is.
     *
     * @param generation     that stands in its header, or 0 if that does not matter.
     * @param minLengthBytes least length.
     * @return the whole mapping, which lives as long as anything refers to it; for {@link #release}.
     * @throws FabricException with what was seen and needed.
     */
    public MemorySegment open(FileType type, long number, long generation, long minLengthBytes) {
        return map(type, number, generation, minLengthBytes, false);
    }

    /**
     * Maps a file that only the driver writes, and checks whose it is.
     *
     * @param minLengthBytes least length.
     * @return the whole mapping, read-only, which lives as long as anything refers to it.
     * @throws FabricException with what was seen and needed.
     */
    public MemorySegment openReadOnly(FileType type, long number, long minLengthBytes) {
        return map(type, number, 0, minLengthBytes, true);
    }

    /**
     * Ends both directions of the socket, so that a thread asleep on it wakes and the driver sees the end; not for an
     * embedded driver. The descriptor stays open until {@link #close()}.
     */
    public void shutdown() {
        sayClosed();
        doorbell.shutdown(UnixSocket.SHUT_RDWR);
    }

    /** Ends the sending direction of the socket: the driver ends this client, and then the other direction. */
    void finish() {
        sayClosed();
        doorbell.shutdown(UnixSocket.SHUT_WR);
    }

    /** In front of whatever the driver sees as the end of the socket: a client that ends without it has died. */
    private void sayClosed() {
        try {
            UnsafeApi.putIntRelease(
                null, control.address() + ControlFileDescriptor.closesOffset(attachment.commandRingLength()), 1);
        } catch (InternalError cut) {
            // a cut control file ends the client at the driver, which reports that
            return;
        }
    }

    /**
     * Ends the use of a driver that is gone, for a client that has connected to the next one: closes socket and
     * directory. What is mapped stays, and is given back with the files of the next connection.
     */
    public void retire(DriverConnection successor) {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        doorbell.close();
        files.close();
        synchronized (mapped) {
            successor.take(mapped, inUse);
            mapped.clear();
            inUse.clear();
        }
    }

    private void take(Map<Long, MappedFile.Discard> open, List<MappedFile.Discard> closed) {
        synchronized (mapped) {
            mapped.putAll(open);
            inUse.addAll(closed);
        }
    }

    /**
     * Gives back a file whose object is closed. Its blocks are free when the driver has given it back, too.
     *
     * @param file    as it was opened; ignored if it is no mapping of this connection, or null.
     * @param isInUse whether something may refer to its bytes: the file is kept until the collector finds that nothing
     *                does. Else whoever still reads there reads zeros.
     */
    public void release(MemorySegment file, boolean isInUse) {
        synchronized (mapped) {
            hasReleased = true;
            MappedFile.Discard discard = file == null ? null : mapped.remove(file.address());
            if (discard != null && isInUse) {
                inUse.removeIf(MappedFile.Discard::isOver);
                inUse.add(discard);
            } else if (discard != null) {
                discard.run();
            }
        }
    }

    /**
     * Whether something was given back that may not have come to the file system.
     *
     * @param isLast whether it must have come by the next call.
     * @return true if something was released since the last such call.
     */
    public boolean mayGetRoom(boolean isLast) {
        synchronized (mapped) {
            boolean result = hasReleased;
            hasReleased &= !isLast;
            return result;
        }
    }

    /** Memory of closed objects that may be in use. */
    public long bytesInUse() {
        synchronized (mapped) {
            inUse.removeIf(MappedFile.Discard::isOver);
            return inUse.stream().mapToLong(MappedFile.Discard::lengthBytes).sum();
        }
    }

    /**
     * Opens a file of a driver of this process's user once more.
     *
     * @return descriptor for reading and writing, which the caller closes.
     * @throws FabricException with what the system answers.
     */
    public int openDescriptor(FileType type, long number) {
        int fd = Libc.openat(Libc.AT_FDCWD,
            attachment.directory().resolve(type.fileName(number)).toString(), Libc.O_RDWR | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            throw new FabricException(-fd, "cannot open " + type.fileName(number) + " of the driver");
        }
        return fd;
    }

    /**
     * Closes socket and directory, and gives back the files: their mappings read as zeros. Has no effect if it is
     * already closed.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        if (embedded != null) {
            embedded.detach(attachment.clientId());
        } else {
            sayClosed();
            doorbell.close();
        }
        discard();
    }

    private void discard() {
        files.close();
        synchronized (mapped) {
            mapped.values().forEach(MappedFile.Discard::run);
            mapped.clear();
            inUse.forEach(MappedFile.Discard::run);
            inUse.clear();
        }
    }

    /**
     * Ends the connection as the end of this process would: nothing is written to the driver. For simulations, of an
     * attached client.
     */
    void abandon() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        doorbell.close();
        discard();
    }

    private MemorySegment openCnc() {
        return map(FileType.CNC, 0, 0, CncDescriptor.METADATA_OFFSET, true);
    }

    private MemorySegment map(FileType type, long number, long generation, long minLengthBytes, boolean readOnly) {
        try {
            MappedFile file = files.map(type, number, readOnly, minLengthBytes);
            MemorySegment segment = file.segment(Arena.ofAuto());
            keep(file);
            boolean isOwn = false;
            try {
                check(file, type, generation);
                isOwn = true;
            } finally {
                if (!isOwn) {
                    release(segment, false);
                }
            }
            return segment;
        } catch (NativeCallException failed) {
            throw new FabricException(failed.errno(), "cannot map a file of the driver: " + failed.getMessage(),
                DriverHello.remedy(failed.errno(), "If the driver was started again meanwhile, connect again."),
                failed);
        }
    }

    private void keep(MappedFile file) {
        synchronized (mapped) {
            if (mapped.size() >= sweepSize) {
                mapped.values().removeIf(MappedFile.Discard::isOver);
                sweepSize = Math.max(64, 2 * mapped.size());
            }
            mapped.put(file.address(), file.discard());
        }
    }

    private void check(MappedFile file, FileType type, long generation) {
        DirectBuffer header = file.directBuffer(0, FileHeaderDescriptor.HEADER_LENGTH);
        String wrong = FileHeaderDescriptor.verify(header, type);
        if (wrong == null) {
            OwnerId owner = new OwnerId(
                header.getLong(FileHeaderDescriptor.OWNER_HIGH_OFFSET, ByteOrder.LITTLE_ENDIAN),
                header.getLong(FileHeaderDescriptor.OWNER_LOW_OFFSET, ByteOrder.LITTLE_ENDIAN));
            long seen = header.getLong(FileHeaderDescriptor.GENERATION_OFFSET, ByteOrder.LITTLE_ENDIAN);
            // the ring of another driver's group has a second name in this driver's directory
            if (type != FileType.GROUP && !owner.equals(attachment.driverOwner())) {
                wrong = "the file belongs to driver " + owner + ", connected is " + attachment.driverOwner();
            } else if (generation != 0 && seen != generation) {
                wrong = "the file has generation " + seen + ", needed is " + generation;
            }
        }
        if (wrong != null) {
            throw new FabricException(FabricErrno.EIO, file.path() + ": " + wrong,
                "If the driver was started again meanwhile, connect again.");
        }
    }

    private static void closeFiles(DriverFiles files) {
        if (files != null) {
            files.close();
        }
    }
}
