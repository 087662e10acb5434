package org.jfabric.driver.link.shm;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Socket, directory and mappings of a connection to another driver. Filled on the resource thread, then used on the
 * progress thread.
 */
final class ShmFiles {
    /** The group of {@code jfabric.dir.group} may list a directory and reach the socket in it. */
    private static final int BEYOND_GROUP_MODE = 0027;

    private final Environment environment;
    private final int ownDirectoryFd;
    private int fd = -1;
    private int peerDirectoryFd = -1;
    private byte[] peerDirectory;
    private OwnerId peerOwner;
    private long ownRingNumber;
    private MappedFile ownRing;
    private MappedFile peerRing;
    private int peerRingLength;
    private boolean peerWantsStamps;
    private MappedFile peerCnc;

    ShmFiles(Environment environment, int ownDirectoryFd) {
        this.environment = environment;
        this.ownDirectoryFd = ownDirectoryFd;
    }

    int fd() {
        return fd;
    }

    void fd(int newFd) {
        fd = newFd;
    }

    int peerDirectoryFd() {
        return peerDirectoryFd;
    }

    /** The absolute path of the peer's directory. */
    byte[] peerDirectory() {
        return peerDirectory;
    }

    OwnerId peerOwner() {
        return peerOwner;
    }

    long ownRingNumber() {
        return ownRingNumber;
    }

    MappedFile ownRing() {
        return ownRing;
    }

    MappedFile peerRing() {
        return peerRing;
    }

    boolean peerWantsStamps() {
        return peerWantsStamps;
    }

    int peerRingLength() {
        return peerRingLength;
    }

    MappedFile peerCnc() {
        return peerCnc;
    }

    /**
     * Opens the peer's directory. It must belong to this user, be inaccessible to others but for a group that cannot
     * change it, and not be a symbolic link; resource thread.
     */
    void openDirectory(Path directory) {
        peerDirectory = directory.toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8);
        peerDirectoryFd = Libc.openDirectory(directory);
        if (peerDirectoryFd < 0) {
            int errno = -peerDirectoryFd;
            throw new FabricException(
                errno == FabricErrno.ENOENT ? FabricErrno.EHOSTUNREACH : errno,
                "there is no driver directory " + directory,
                "Start that driver: ./fabric driver --dir " + directory);
        }
        FileStatus status = FileStatus.of(peerDirectoryFd);
        if (!status.isDirectory() || status.uid() != Libc.geteuid() || (status.mode() & BEYOND_GROUP_MODE) != 0) {
            throw new FabricException(
                FabricErrno.EACCES,
                "directory " + directory + " has uid " + status.uid() + " and mode "
                    + Integer.toOctalString(status.mode() & 07777) + ", needed are uid " + Libc.geteuid()
                    + " and no access for others than a group that cannot write",
                "Different users cannot share memory; use the tcp link");
        }
    }

    /** Connects to the peer's socket; resource thread. */
    void connect(Path socket) {
        int result = UnixSocket.connect(socket, UnixSocket.SOCK_NONBLOCK);
        if (result < 0) {
            throw new FabricException(
                FabricErrno.EHOSTUNREACH,
                "no driver listens at " + socket + " (" + FabricErrno.name(result) + ')',
                "Start that driver, or remove the files of a killed one: ./fabric driver --dir "
                    + socket.getParent());
        }
        fd = result;
        long uid = UnixSocket.peerCredentials(fd);
        if (uid != Libc.geteuid()) {
            throw new FabricException(
                FabricErrno.EACCES, "the driver at " + socket + " runs as uid " + uid + ", this one as "
                + Libc.geteuid());
        }
    }

    /** Makes this side's ring; resource thread. */
    void createRing(long number, int lengthBytes, OwnerId owner) {
        ownRing = ShmRing.create(environment, ownDirectoryFd, number, lengthBytes, owner);
        ownRingNumber = number;
    }

    /** Opens the files that the peer's hello names; resource thread. */
    void openPeer(ShmHello hello) {
        try {
            openFiles(hello);
        } catch (NativeCallException e) {
            if (e.errno() != FabricErrno.ENOENT) {
                throw e;
            }
            throw new FabricException(FabricErrno.ECONNRESET,
                "driver " + hello.driverName() + " has removed its files while it was connecting",
                "It has ended; its endpoints can be reached again by the next send after it was started", e);
        }
    }

    private void openFiles(ShmHello hello) {
        peerOwner = hello.owner();
        peerRing = ShmRing.open(environment, peerDirectoryFd, hello);
        peerRingLength = hello.ringLength();
        peerWantsStamps = hello.wantsStamps();
        peerCnc = environment.openFile(peerDirectoryFd, CncDescriptor.FILE_NAME, CncDescriptor.METADATA_OFFSET);
        PeerFile.verify(peerCnc, FileType.CNC, peerOwner, hello.driverName(), CncDescriptor.FILE_NAME);
    }

    /** Whether a file of the connection itself was truncated while it was mapped. */
    boolean isCut(int ownUsable, int peerReached) {
        int known = Math.max(ShmRing.firstLength(peerRingLength), peerReached);
        return ownRing.isCut(RecordRingDescriptor.HEADER_LENGTH + (long) ownUsable)
            || peerRing.isCut(RecordRingDescriptor.HEADER_LENGTH + (long) known) || peerCnc.isCut();
    }

    /** Releases everything; progress thread. */
    void release(LinkServices services) {
        if (fd >= 0) {
            services.unwatchAndClose(fd);
            fd = -1;
        }
        unmap(services);
    }

    /** Releases everything but the mappings: the peer sees the end, and the ring's name is deleted; progress thread. */
    void hangUp(LinkServices services) {
        if (fd >= 0) {
            services.unwatchAndClose(fd);
            fd = -1;
        }
        if (ownRingNumber != 0) {
            // not later: the directory may be closed by then
            ShmRing.delete(ownDirectoryFd, ownRingNumber);
            ownRingNumber = 0;
        }
    }

    /** Releases the mappings and everything else that is left; progress thread. */
    void unmap(LinkServices services) {
        services.submit(new ReleaseTask(this));
    }

    /** Releases everything at once, for a connection that was never used; resource thread. */
    void closeNow() {
        if (fd >= 0) {
            Libc.close(fd);
            fd = -1;
        }
        closeMappings();
    }

    private void closeMappings() {
        close(ownRing);
        close(peerRing);
        close(peerCnc);
        if (ownRingNumber != 0) {
            ShmRing.delete(ownDirectoryFd, ownRingNumber);
            ownRingNumber = 0;
        }
        if (peerDirectoryFd >= 0) {
            Libc.close(peerDirectoryFd);
            peerDirectoryFd = -1;
        }
    }

    private static void close(MappedFile file) {
        if (file != null) {
            file.close();
        }
    }

    private static final class ReleaseTask extends ResourceTask {
        private final ShmFiles files;

        ReleaseTask(ShmFiles files) {
            this.files = files;
        }

        @Override
        protected void execute() {
            files.closeMappings();
        }

        @Override
        protected void onDone() {
            // nothing waits for it
        }

        @Override
        protected void onFailed(Throwable cause) {
            // closing open files does not fail
        }
    }
}
