package org.jfabric.driver.stream.record;

import java.util.HashSet;
import java.util.Set;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.info.FabricErrno;

/** The system's files, some of whose calls fail. */
final class FaultyDisk extends LogDisk {
    /** Answers instead of the system's, if not 0. */
    int reserved;
    int written;
    /** The write with this number from now on finds no space, once. */
    int fullWrite;
    int synced;
    int syncs;
    /** The process is killed in front of the call behind so many others. */
    int callsLeft = Integer.MAX_VALUE;

    /** Descriptors of files with bytes that were not synced. */
    final Set<Integer> dirty = new HashSet<>();

    /** Thrown in place of a kill. */
    static final class KilledException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private void step() {
        if (--callsLeft < 0) {
            throw new KilledException();
        }
    }

    @Override
    public int create(int directory, String name) {
        step();
        return super.create(directory, name);
    }

    @Override
    public int reserve(int fd, long lengthBytes) {
        step();
        return reserved != 0 ? reserved : super.reserve(fd, lengthBytes);
    }

    @Override
    public int open(int directory, String name, boolean makes) {
        step();
        return super.open(directory, name, makes);
    }

    /** Fails in the middle. */
    @Override
    public int write(int fd, long address, long lengthBytes, long offset) {
        step();
        dirty.add(fd);
        if (--fullWrite == 0) {
            return -FabricErrno.ENOSPC;
        }
        if (written != 0) {
            super.write(fd, address, lengthBytes / 2, offset);
            return written;
        }
        return super.write(fd, address, lengthBytes, offset);
    }

    @Override
    public int sync(int fd) {
        step();
        syncs++;
        dirty.remove(fd);
        return synced != 0 ? synced : super.sync(fd);
    }

    @Override
    public int syncNames(int directory) {
        step();
        return super.syncNames(directory);
    }

    @Override
    public int delete(int directory, String name) {
        step();
        return super.delete(directory, name);
    }
}
