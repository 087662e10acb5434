package org.jfabric.driver.stream.record;

/** The system's files, some of whose calls fail. */
final class FaultyDisk implements LogDisk {
    private final LogDisk system = new SystemLogDisk();
    /** Answers instead of the system's, if not 0. */
    int reserved;
    int written;
    int synced;
    int syncs;

    @Override
    public int create(int directory, String name) {
        return system.create(directory, name);
    }

    @Override
    public int reserve(int fd, long lengthBytes) {
        return reserved != 0 ? reserved : system.reserve(fd, lengthBytes);
    }

    @Override
    public int open(int directory, String name, boolean makes) {
        return system.open(directory, name, makes);
    }

    /** Fails in the middle. */
    @Override
    public int write(int fd, long address, long lengthBytes, long offset) {
        if (written != 0) {
            system.write(fd, address, lengthBytes / 2, offset);
            return written;
        }
        return system.write(fd, address, lengthBytes, offset);
    }

    @Override
    public int sync(int fd) {
        syncs++;
        return synced != 0 ? synced : system.sync(fd);
    }

    @Override
    public int syncNames(int directory) {
        return system.syncNames(directory);
    }

    @Override
    public int delete(int directory, String name) {
        return system.delete(directory, name);
    }
}
