package org.jfabric.perf.compare;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.tool.TemporaryDirectory;

/**
 * The folder of a run. It is also deleted if this process is terminated in the middle of a run; its child processes are
 * ended first, so that none of them creates a file afterwards.
 */
final class RunDirectory implements AutoCloseable {
    private static final int TRIES = 10;
    private static final long TIMEOUT_S = 2;

    private final TemporaryDirectory directory;
    private final Thread hook = new Thread(this::end, "compare-end");

    /**
     * Makes it.
     *
     * @param sizeBytes of the largest message.
     */
    RunDirectory(long sizeBytes) {
        directory = TemporaryDirectory.create(sizeBytes);
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
        directory.close();
    }

    private static List<ProcessHandle> descendants() {
        return ProcessHandle.current().descendants().toList();
    }

    @Override
    public void close() {
        directory.close();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ex) {
            // This process is ending: the hook runs, or ran.
            return;
        }
    }
}
