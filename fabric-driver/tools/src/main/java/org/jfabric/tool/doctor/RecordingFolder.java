package org.jfabric.tool.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.LogDescriptor;

/**
 * A folder that logs are to be written in, and what a file in it could do.
 *
 * @param path       without symbolic links; the nearest folder above that exists where it does not.
 * @param freeBytes  in its file system; -1 if unknown.
 * @param problem    the call that failed, or null.
 * @param reserves   whether the file system has fallocate; else blocks are reserved by writing them.
 * @param syncNs     time of an fdatasync of one page; 0 if it was not reached.
 */
public record RecordingFolder(Path path, long freeBytes, String problem, boolean reserves, long syncNs) {
    static final long SEGMENT = LogDescriptor.DEFAULT_SEGMENT;
    private static final int PAGE = 4_096;
    private static final int OWNER_ONLY = 0600;

    /** Makes a file in a folder, reserves a segment, syncs a page, and deletes the file. */
    public static RecordingFolder probe(Path folder) {
        Path path = folder.toAbsolutePath();
        while (!Files.isDirectory(path) && path.getParent() != null) {
            path = path.getParent();
        }
        try {
            path = path.toRealPath();
        } catch (IOException e) {
            return new RecordingFolder(path, -1, "it cannot be opened: " + e.getMessage(), true, 0);
        }
        int directory = Libc.openDirectory(path);
        if (directory < 0) {
            return new RecordingFolder(path, -1, failed("open", directory), true, 0);
        }
        String name = ".jfabric-doctor-" + ProcessHandle.current().pid();
        int fd = Libc.openat(directory, name,
            Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, OWNER_ONLY);
        try {
            long free = Libc.freeBytes(directory);
            if (fd < 0) {
                return new RecordingFolder(path, free, failed("making a file", fd), true, 0);
            }
            // nothing is left if this process is killed
            Libc.unlinkat(directory, name);
            return probe(path, fd, free);
        } finally {
            if (fd >= 0) {
                Libc.close(fd);
            }
            Libc.close(directory);
        }
    }

    private static RecordingFolder probe(Path path, int fd, long free) {
        int reserved = free < SEGMENT ? 0 : Libc.fallocate(fd, 0, 0, SEGMENT);
        boolean reserves = reserved != -FabricErrno.EOPNOTSUPP;
        if (reserved < 0 && reserves) {
            return new RecordingFolder(path, free, failed("fallocate of " + SEGMENT + " bytes", reserved), true, 0);
        }
        long page = UnsafeApi.allocateMemory(PAGE);
        try {
            UnsafeApi.setMemory(page, PAGE, (byte) 0);
            int written = Libc.writeFully(fd, page, PAGE, 0);
            long beginNs = System.nanoTime();
            int synced = Libc.fdatasync(fd);
            long syncNs = System.nanoTime() - beginNs;
            String problem = written < 0 ? failed("pwrite", written) : synced < 0 ? failed("fdatasync", synced) : null;
            return new RecordingFolder(path, free, problem, reserves, syncNs);
        } finally {
            UnsafeApi.freeMemory(page);
        }
    }

    private static String failed(String call, int result) {
        return call + " failed: " + FabricErrno.describe(-result);
    }
}
