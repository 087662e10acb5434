package org.jfabric.driver.resource;

import org.jfabric.ffi.Libc;

/**
 * What the writers of logs do to files. This class has the system's calls; tests and simulations let some of them fail.
 * Answers are 0 or more, or a negative errno. Stateless.
 */
public class LogDisk {
    public static final LogDisk SYSTEM = new LogDisk();

    private static final int OWNER_ONLY = 0600;

    /** For the one of the system, and for simulations. */
    protected LogDisk() {
    }

    /** Makes an empty file. Returns its descriptor. */
    public int create(int directory, String name) {
        return Libc.openat(directory, name,
            Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, OWNER_ONLY);
    }

    /** Gives a file that length, with all its blocks. */
    public int reserve(int fd, long lengthBytes) {
        return Libc.reserve(fd, 0, lengthBytes);
    }

    /** Opens a file for reading and writing, and makes an empty one if it is not there and may be. */
    public int open(int directory, String name, boolean makes) {
        return Libc.openat(directory, name,
            Libc.O_RDWR | (makes ? Libc.O_CREAT : 0) | Libc.O_NOFOLLOW | Libc.O_NONBLOCK | Libc.O_CLOEXEC, OWNER_ONLY);
    }

    /** Writes all bytes, or fails. */
    public int write(int fd, long address, long lengthBytes, long offset) {
        return Libc.writeFully(fd, address, lengthBytes, offset);
    }

    /** Waits until all bytes of a file are on stable storage. */
    public int sync(int fd) {
        return Libc.fdatasync(fd);
    }

    /** Waits until the names of a folder are on stable storage. */
    public int syncNames(int directory) {
        return Libc.fsync(directory);
    }

    public int delete(int directory, String name) {
        return Libc.unlinkat(directory, name);
    }
}
