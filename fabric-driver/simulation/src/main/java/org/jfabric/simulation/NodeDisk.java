package org.jfabric.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;

/**
 * The files of the logs that a node writes. They are real; calls fail when the disk is full or broken, and the node's
 * process may be killed in the middle of one. A write that fails or is killed may have been done in part, which ends
 * where a page of the page cache ends, as in the system.
 */
final class NodeDisk extends LogDisk {
    private static final long PAGE = 4096;
    /** In the flags of a descriptor, which are octal: O_RDWR and O_CLOEXEC. */
    private static final Pattern WRITING = Pattern.compile("flags:\\s+\\d*2\\n");

    private final SplittableRandom random;
    private final BooleanSupplier isFull;
    /** Calls that succeed before the next one that fails; -1 if none will fail. */
    private int goodCalls = -1;
    private boolean kills;
    private boolean isDead;
    /** Paths of the files that the process has opened, by descriptor; some are closed. */
    private final Map<Integer, String> opened = new HashMap<>();

    /** In place of the return of a call in which the process is killed. */
    private static final class KilledError extends Error {
        private static final long serialVersionUID = 1L;

        KilledError() {
            super("killed in a call to the files of a log", null, false, false);
        }
    }

    NodeDisk(SplittableRandom random, BooleanSupplier isFull) {
        this.random = random;
        this.isFull = isFull;
    }

    /** Has a call fail after so many others. */
    void arm(int calls, boolean isKilled) {
        goodCalls = calls;
        kills = isKilled;
    }

    void disarm() {
        goodCalls = -1;
    }

    /** The process is dead: its calls do nothing any more. */
    void die() {
        isDead = true;
        disarm();
    }

    /** The next process begins. */
    void revive() {
        isDead = false;
    }

    boolean isDead() {
        return isDead;
    }

    private int check() {
        if (isDead) {
            return -FabricErrno.EIO;
        }
        if (goodCalls < 0 || goodCalls-- > 0) {
            return 0;
        }
        if (kills) {
            die();
            throw new KilledError();
        }
        return -FabricErrno.EIO;
    }

    private int orFull() {
        int result = check();
        return result == 0 && isFull.getAsBoolean() ? -FabricErrno.ENOSPC : result;
    }

    /** Closes what the killed process has left open, as the system does: nobody else opens such files for writing. */
    void closeLeft() {
        opened.forEach((fd, path) -> {
            try {
                boolean isSame = path.equals(path(fd));
                if (isSame && WRITING.matcher(Files.readString(Path.of("/proc/self/fdinfo/" + fd))).find()) {
                    Libc.close(fd);
                }
            } catch (IOException gone) {
                // it was closed
            }
        });
        opened.clear();
    }

    private static String path(int fd) throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString().replace(" (deleted)", "");
    }

    private int opened(int fd) {
        try {
            if (fd >= 0) {
                opened.put(fd, path(fd));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return fd;
    }

    @Override
    public int create(int directory, String name) {
        int result = check();
        return result == 0 ? opened(super.create(directory, name)) : result;
    }

    @Override
    public int reserve(int fd, long lengthBytes) {
        int result = orFull();
        return result == 0 ? super.reserve(fd, lengthBytes) : result;
    }

    @Override
    public int open(int directory, String name, boolean makes) {
        int result = check();
        return result == 0 ? opened(super.open(directory, name, makes)) : result;
    }

    @Override
    public int write(int fd, long address, long lengthBytes, long offset) {
        boolean fails = goodCalls == 0;
        boolean hasNoRoom = !fails && !isDead && random.nextInt(4) == 0 && isFull.getAsBoolean();
        if (fails || hasNoRoom) {
            long pages = (offset + lengthBytes) / PAGE - offset / PAGE;
            long part = (offset / PAGE + random.nextLong(pages + 1)) * PAGE - offset;
            if (part > 0) {
                super.write(fd, address, part, offset);
            }
        }
        int result = hasNoRoom ? -FabricErrno.ENOSPC : check();
        return result == 0 ? super.write(fd, address, lengthBytes, offset) : result;
    }

    @Override
    public int sync(int fd) {
        int result = check();
        return result == 0 ? super.sync(fd) : result;
    }

    @Override
    public int syncNames(int directory) {
        int result = check();
        return result == 0 ? super.syncNames(directory) : result;
    }

    @Override
    public int delete(int directory, String name) {
        int result = check();
        return result == 0 ? super.delete(directory, name) : result;
    }
}
