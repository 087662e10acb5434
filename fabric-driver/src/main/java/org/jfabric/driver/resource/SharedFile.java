package org.jfabric.driver.resource;

import org.jfabric.FabricErrno;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.layout.FileType;

/**
 * A file that the driver made for a client and keeps mapped, and whose mapping it is.
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

    /**
     * The client that can write it.
     *
     * @return the client's number.
     */
    public long clientId() {
        return clientId;
    }

    /**
     * Its number in the directory.
     *
     * @return from 1.
     */
    public long number() {
        return number;
    }

    /**
     * Which use of the number it is.
     *
     * @return all 64 bits as in the file's header.
     */
    public long generation() {
        return generation;
    }

    /**
     * Its name in the directory.
     *
     * @return for example {@code 17.tq}.
     */
    public String name() {
        return type.fileName(number);
    }

    /**
     * Where it is mapped.
     *
     * @return native address of the first byte.
     */
    public long address() {
        return mapping.address();
    }

    /**
     * How much of it is mapped.
     *
     * @return bytes, whole pages.
     */
    public long lengthBytes() {
        return mapping.lengthBytes();
    }

    /** Deletes the name; whoever has it mapped keeps it. Any thread. */
    public void delete() {
        Libc.unlinkat(files.directoryFd(), name());
    }

    /** Unmaps it; nothing of it may be touched any more. Resource thread, because much memory takes long. */
    public void unmap() {
        files.forget(this);
        mapping.close();
    }

    /**
     * Whether the file became shorter than the mapping, so that accesses fail.
     *
     * @return null if it is whole, else what was seen.
     */
    String inspect() {
        long page = Libc.pageBytes();
        long lastPage = mapping.address() + mapping.lengthBytes() - page;
        // the kernel looks up the last page for us: right also if the name was deleted or given to another file
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
