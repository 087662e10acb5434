package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jfabric.ffi.Libc;
import org.jfabric.tool.ToolException;

/**
 * iceoryx's daemon beside two processes that lend messages to each other. It is not on a message's path. Those
 * processes cannot connect to a second one, so it lives as long as the process that has started it.
 */
final class IceoryxDaemon implements Side {
    private static final String READY = "RouDi is ready";
    private static CompletableFuture<Void> daemon;

    IceoryxDaemon() {
        synchronized (IceoryxDaemon.class) {
            if (daemon == null) {
                daemon = start();
            }
            try {
                daemon.join();
            } catch (CompletionException ex) {
                throw new ToolException(ex.getCause().getMessage());
            }
        }
    }

    /** Starts it in a thread that ends with this process: the daemon ends with its thread, and not before. */
    private static CompletableFuture<Void> start() {
        CompletableFuture<Void> ready = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            StringBuilder output = new StringBuilder();
            try {
                // at TERM it removes its shared memory
                Process daemon = new ProcessBuilder(List.of("setpriv", "--pdeathsig", "TERM", IceoryxLibrary.DAEMON,
                    "--monitoring-mode", "off", "--log-level", "error")).redirectErrorStream(true).start();
                // the rig may have stopped it
                Runtime.getRuntime().addShutdownHook(
                    new Thread(() -> Libc.kill((int) daemon.pid(), SideClient.SIGCONT)));
                daemon.inputReader(StandardCharsets.UTF_8).lines().forEach(line -> {
                    if (line.contains(READY)) {
                        ready.complete(null);
                    } else if (!ready.isDone()) {
                        output.append(line).append('\n');
                    }
                });
                ready.completeExceptionally(new ToolException(IceoryxLibrary.DAEMON
                    + " has ended; only one can run on a host. It wrote:\n" + output));
            } catch (IOException | UncheckedIOException ex) {
                ready.completeExceptionally(
                    new ToolException(IceoryxLibrary.DAEMON + " cannot be started: " + ex.getMessage()));
            }
        }, "iceoryx-daemon");
        thread.setDaemon(true);
        thread.start();
        return ready;
    }

    @Override
    public long run(Pass pass, long count) {
        throw new IllegalStateException("A daemon takes part in no pass.");
    }

    @Override
    public void close() {
        // see above
    }
}
