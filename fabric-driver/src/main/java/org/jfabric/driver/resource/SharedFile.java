package org.jfabric.driver.resource;

import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.FileType;

/**
 * A file that the driver made for a client and keeps mapped; it owns the mapping.
 */
public final class SharedFile {
    private final SharedFiles files;
    private final long clientId;
    private final long number;
    private final long generation;
    private final FileType type;
    private final MappedFile mapping;

    SharedFile(
        SharedFiles files, long clientId, long number, long generation, FileType type, MappedFile mapping) {
        this.files = files;
        this.clientId = clientId;
        this.number = number;
        this.generation = generation;
        this.type = type;
        this.mapping = mapping;
    }

    /** The client that can write it; 0 for a table, whose writers come and go. */
    public long clientId() {
        return clientId;
    }

    /** Its number in the directory, from 1. */
    public long number() {
        return number;
    }

    /** Generation of the number: numbers are used again. Returns all 64 bits as in the file's header. */
    public long generation() {
        return generation;
    }

    /** Its name in the directory, for example {@code 17.tq}. */
    public String name() {
        return type.fileName(number);
    }

    /** Address of the mapping. Returns the native address of the first byte. */
    public long address() {
        return mapping.address();
    }

    public long lengthBytes() {
        return mapping.lengthBytes();
    }

    public FileType type() {
        return type;
    }

    /**
     * Opens the file once more, to be passed to its client: for reading only if the client only reads it. Resource
     * thread.
     *
     * @return descriptor, which the caller closes.
     * @throws NativeCallException if it has no name any more, or no descriptor is free.
     */
    public int open() {
        boolean isRead = type == FileType.SLAB || type == FileType.VIEW || type == FileType.TABLE;
        int fd = files.open(name(), isRead ? Libc.O_RDONLY : Libc.O_RDWR);
        if (!FileStatus.of(fd).isSameFile(mapping.status())) {
            Libc.close(fd);
            throw new NativeCallException("check of file", FabricErrno.ENOENT,
                mapping.path() + " was replaced by another file");
        }
        return fd;
    }

    /** Deletes the name; processes that have the file mapped keep it. Any thread. */
    public void delete() {
        Libc.unlinkat(files.directoryFd(), name());
    }

    /** Unmaps the file; it must not be accessed any more. Resource thread, because large files take long. */
    public void unmap() {
        files.forget(this);
        mapping.close();
    }

    /**
     * Checks whether the file became shorter than the mapping, so that accesses fail. Returns null if the file is
     * complete, otherwise a description.
     */
    String inspect() {
        long page = Libc.pageBytes();
        // a passed file need not end with a whole page
        long lastPage = mapping.address() + (mapping.lengthBytes() - 1 & -page);
        // the kernel reads the last page for us: right also if the name was deleted or given to another file
        if (Libc.populate(lastPage, page, false) == -FabricErrno.EFAULT) {
            return "file " + mapping.path() + " was cut under the driver's mapping of " + mapping.lengthBytes()
                + " bytes (it has " + seenBytes() + " bytes now)";
        }
        FileStatus seen = status();
        if (seen != null && seen.isSameFile(mapping.status()) && seen.sizeBytes() < mapping.lengthBytes()) {
            return "file " + mapping.path() + " was cut to " + seen.sizeBytes() + " bytes, the driver mapped "
                + mapping.lengthBytes();
        }
        return null;
    }

    private String seenBytes() {
        FileStatus seen = status();
        return seen == null ? "no name and an unknown number of" : Long.toString(seen.sizeBytes());
    }

    private FileStatus status() {
        try {
            return FileStatus.of(files.directoryFd(), name());
        } catch (NativeCallException ex) {
            return null;
        }
    }
}
