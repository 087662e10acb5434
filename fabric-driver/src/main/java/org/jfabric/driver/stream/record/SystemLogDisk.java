package org.jfabric.driver.stream.record;

import org.jfabric.ffi.Libc;

/** The system's files. Stateless. */
final class SystemLogDisk implements LogDisk {
    private static final int OWNER_ONLY = 0600;

    @Override
    public int create(int directory, String name) {
        return Libc.openat(directory, name,
            Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, OWNER_ONLY);
    }

    @Override
    public int reserve(int fd, long lengthBytes) {
        return Libc.reserve(fd, 0, lengthBytes);
    }

    @Override
    public int open(int directory, String name, boolean makes) {
        return Libc.openat(directory, name,
            Libc.O_RDWR | (makes ? Libc.O_CREAT : 0) | Libc.O_NOFOLLOW | Libc.O_NONBLOCK | Libc.O_CLOEXEC, OWNER_ONLY);
    }

    @Override
    public int write(int fd, long address, long lengthBytes, long offset) {
        return Libc.writeFully(fd, address, lengthBytes, offset);
    }

    @Override
    public int sync(int fd) {
        return Libc.fdatasync(fd);
    }

    @Override
    public int syncNames(int directory) {
        return Libc.fsync(directory);
    }

    @Override
    public int delete(int directory, String name) {
        return Libc.unlinkat(directory, name);
    }
}
