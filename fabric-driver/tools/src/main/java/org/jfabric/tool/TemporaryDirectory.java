package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A private folder for the drivers of one run, in shared memory where there is room, and deleted afterwards.
 */
public final class TemporaryDirectory implements AutoCloseable {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final String PREFIX = "jfabric-tool-";
    /** Each process has a region to send from and one to receive into. */
    private static final int REGIONS = 4;
    /** Drivers, clients and their queues take less. */
    private static final long QUEUES_BYTES = 48L << 20;

    private final Path path;
    private final String note;

    private TemporaryDirectory(Path path, String note) {
        this.path = path;
        this.note = note;
    }

    /**
     * Makes it.
     *
     * @return the folder, in shared memory if there is room.
     * @throws ToolException if there is room for them neither in shared memory nor in the temporary folder.
     */
    public static TemporaryDirectory create(long sizeBytes) {
        return create(SHARED_MEMORY, Path.of(System.getProperty("java.io.tmpdir")), sizeBytes);
    }

    static TemporaryDirectory create(Path sharedMemory, Path temporary, long sizeBytes) {
        long needed = REGIONS * sizeBytes;
        long shared = usableBytes(sharedMemory);
        try {
            // For small messages shared memory is chosen in any case: if it is too small, the driver reports it.
            if (shared >= 0 && (sizeBytes <= 1 << 20 || shared >= needed + QUEUES_BYTES)) {
                return new TemporaryDirectory(Files.createTempDirectory(sharedMemory, PREFIX), null);
            }
            long other = usableBytes(temporary);
            if (other < needed + QUEUES_BYTES) {
                throw new ToolException("Messages of " + sizeBytes + " bytes need " + (needed + QUEUES_BYTES)
                    + " bytes of shared memory, " + sharedMemory + " has " + Math.max(0, shared) + " and " + temporary
                    + " has " + Math.max(0, other) + "; make room there or choose a smaller --size.");
            }
            return new TemporaryDirectory(Files.createTempDirectory(temporary, PREFIX),
                "The files are in " + temporary + ", which may be a disk: " + sharedMemory + " has "
                + Math.max(0, shared) + " bytes, " + (needed + QUEUES_BYTES) + " are needed.");
        } catch (IOException ex) {
            throw new ToolException("A temporary folder for the drivers cannot be made: " + ex + '.', ex);
        }
    }

    /** The folder, readable for this user only. */
    public Path path() {
        return path;
    }

    /** Returns a remark for the user about the place, or null. */
    String note() {
        return note;
    }

    /** Deletes it with everything in it. */
    @Override
    public void close() {
        delete(path);
    }

    /**
     * Deletes the files of a run that can no longer do it itself.
     *
     * @param driver directory of one of its drivers; others than those made here are left alone.
     */
    public static void deleteOf(Path driver) {
        Path parent = driver.toAbsolutePath().getParent();
        if (parent.getFileName() != null && parent.getFileName().toString().startsWith(PREFIX)) {
            delete(parent);
        }
    }

    private static void delete(Path path) {
        try {
            Files.walkFileTree(path, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) {
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, IOException failure) throws IOException {
                    Files.deleteIfExists(folder);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (NoSuchFileException ex) {
            // Deleted already, by the hook that runs at the end of the process.
            return;
        } catch (IOException ex) {
            System.err.println("The folder " + path + " cannot be deleted: " + ex);
        }
    }

    private static long usableBytes(Path folder) {
        try {
            return Files.isWritable(folder) ? Files.getFileStore(folder).getUsableSpace() : -1;
        } catch (IOException ex) {
            return -1;
        }
    }
}
