package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.tool.TemporaryDirectory;
import org.jfabric.tool.ToolException;

/**
 * The folder of a run, in shared memory, with a link to one for logs, on a disk. Both are also deleted if this process
 * is terminated in the middle of a run; its child processes are ended first, so that none of them creates a file
 * afterwards.
 */
final class RunDirectory implements AutoCloseable {
    /** Name of the link. */
    static final String DISK = "disk";

    private static final String PREFIX = "jfabric-compare-";
    private static final int TRIES = 10;
    private static final long TIMEOUT_S = 2;

    private final TemporaryDirectory directory;
    private final Thread hook = new Thread(this::end, "compare-end");

    /**
     * Makes it.
     *
     * @param sizeBytes of the largest message.
     * @param logs      folder in which one for logs is made.
     */
    RunDirectory(long sizeBytes, Path logs) {
        directory = TemporaryDirectory.create(sizeBytes);
        try {
            Files.createSymbolicLink(directory.path().resolve(DISK), Files.createTempDirectory(logs, PREFIX));
        } catch (IOException ex) {
            directory.close();
            throw new ToolException("A folder for logs cannot be made in " + logs + ": " + ex + '.', ex);
        }
        Runtime.getRuntime().addShutdownHook(hook);
    }

    Path path() {
        return directory.path();
    }

    private void end() {
        List<ProcessHandle> left = descendants();
        // repeated, because the main thread still runs and may have started more processes meanwhile
        for (int i = 0; i < TRIES && !left.isEmpty(); i++) {
            left.forEach(ProcessHandle::destroyForcibly);
            CompletableFuture.allOf(left.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, TIMEOUT_S, TimeUnit.SECONDS).join();
            left = descendants();
        }
        delete();
    }

    private void delete() {
        deleteLogs(directory.path());
        directory.close();
    }

    /** Deletes the logs of a run. Has no effect if they are deleted. */
    static void deleteLogs(Path run) {
        try {
            Folders.delete(run.resolve(DISK).toRealPath());
        } catch (IOException ex) {
            // they are deleted
            return;
        }
    }

    private static List<ProcessHandle> descendants() {
        return ProcessHandle.current().descendants().toList();
    }

    @Override
    public void close() {
        delete();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ex) {
            // This process is ending: the hook runs, or ran.
            return;
        }
    }
}
