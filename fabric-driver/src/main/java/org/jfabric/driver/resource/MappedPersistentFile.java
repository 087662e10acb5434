package org.jfabric.driver.resource;

import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The file of a persistent region, which a client has opened and passed: mapped here, and kept open for its syncs. Its
 * name is the client's matter. Resource thread.
 */
public final class MappedPersistentFile implements StableStorage {
    private final int fd;
    private final SharedFile memory;

    private MappedPersistentFile(int fd, SharedFile memory) {
        this.fd = fd;
        this.memory = memory;
    }

    /**
     * Maps a file.
     *
     * @param fd          descriptor, which belongs to the new object, and after an exception still to the caller.
     * @throws FabricException {@code FI_EINVAL} if it is not a regular file of that length that can be read and
     *     written, {@code FI_EOPNOTSUPP} on a file system without stable storage, {@code FI_EACCES} for a file of
     *     another user.
     */
    public static MappedPersistentFile open(SharedFiles files, long clientId, long uid, int fd, long lengthBytes) {
        String path = "the file of client " + clientId;
        if (!Libc.isReadWrite(fd)) {
            throw new FabricException(FabricErrno.EINVAL, path + " is not open for reading and writing");
        }
        String unstable = Libc.volatileFileSystem(fd);
        if (unstable != null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                path + " is in a " + unstable + ", which keeps files in memory only", "Use a file on a disk.");
        }
        return new MappedPersistentFile(fd, files.adopt(clientId, MappedFile.ofDescriptor(fd, path, lengthBytes, uid)));
    }

    /** Address of the region's first byte in this process. Returns the native address. */
    public long address() {
        return memory.address();
    }

    public long lengthBytes() {
        return memory.lengthBytes();
    }

    @Override
    public void sync() {
        int result = Libc.fdatasync(fd);
        if (result < 0) {
            throw new NativeCallException("fdatasync", -result, "the file of client " + memory.clientId());
        }
    }

    /** Unmaps and closes the file; it must not be used any more. */
    public void close() {
        memory.unmap();
        Libc.close(fd);
    }
}
