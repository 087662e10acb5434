package org.jfabric.driver.resource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The memory of a client's process, for regions whose bytes are in no file: the descriptor of {@code /proc/self/mem}
 * that the client has opened and passed. It names the address space and not the number of the process, so a process
 * that gets this number later is never accessed. No permission to trace the client is needed.
 *
 * <p>One system call for each access. Pages that are not mapped, or not writable, are an error of that access; the
 * client's end is one too. Pages that the system has to fetch first delay the caller.
 *
 * <p>Owner: progress agent, except for opening it and for the count of its users.
 */
public final class ClientMemory {
    private final int fd;
    private final AtomicInteger users = new AtomicInteger(1);

    private ClientMemory(int fd) {
        this.fd = fd;
    }

    /**
     * Takes a descriptor. Resource thread.
     *
     * @param fd descriptor, which belongs to the new object, and after an exception still to the caller.
     * @throws FabricException {@code FI_EINVAL} if it is something else, or not open for reading and writing.
     */
    public static ClientMemory open(int fd) {
        // anything else could block the progress thread
        if (!Libc.isReadWrite(fd) || !Libc.isInProcFileSystem(fd) || !nameOf(fd).endsWith("/mem")) {
            throw new FabricException(FabricErrno.EINVAL, nameOf(fd) + " is not the memory of a process",
                "Pass /proc/self/mem, opened for reading and writing.");
        }
        return new ClientMemory(fd);
    }

    private static String nameOf(int fd) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (IOException unknown) {
            return "descriptor " + fd;
        }
    }

    /**
     * Copies bytes of the client.
     *
     * @param address of the first one in its process.
     * @param dest    native address here.
     * @return false if not all of them could be read; some may be here.
     */
    public boolean read(long address, long dest, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.pread(fd, dest + done, length - done, address + done);
            if (count <= 0) {
                return false;
            }
            done += count;
        }
        return true;
    }

    /**
     * Copies bytes to the client; they are in its memory when this returns.
     *
     * @param source  native address here.
     * @param address of the first one in its process.
     * @return false if not all of them could be written; some may be there.
     */
    public boolean write(long source, long address, long length) {
        long done = 0;
        while (done < length) {
            long count = Libc.pwrite(fd, source + done, length - done, address + done);
            if (count <= 0) {
                return false;
            }
            done += count;
        }
        return true;
    }

    /** Adds a user. */
    public void retain() {
        users.incrementAndGet();
    }

    /** Removes a user; the last one closes the descriptor. */
    public void release() {
        if (users.decrementAndGet() == 0) {
            Libc.close(fd);
        }
    }
}
