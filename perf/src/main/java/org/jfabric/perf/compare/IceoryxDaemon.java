package org.jfabric.perf.compare;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jfabric.tool.ToolException;

/**
 * iceoryx's daemon beside two processes that lend messages to each other. It is not on a message's path. Those
 * processes cannot connect to a second one, so it lives as long as the process that has started it.
 */
final class IceoryxDaemon implements Side {
    private static final String READY = "RouDi is ready";
    private static Process daemon;

    IceoryxDaemon() {
        synchronized (IceoryxDaemon.class) {
            if (daemon == null) {
                daemon = start();
            }
        }
    }

    private static Process start() {
        try {
            // it removes its shared memory at TERM, which it also gets when the thread that has started it ends
            Process started = new ProcessBuilder(List.of("setpriv", "--pdeathsig", "TERM", IceoryxLibrary.DAEMON,
                "--monitoring-mode", "off", "--log-level", "error")).redirectErrorStream(true).start();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> end(started)));
            BufferedReader output = started.inputReader(StandardCharsets.UTF_8);
            StringBuilder before = new StringBuilder();
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.contains(READY)) {
                    Thread rest = new Thread(() -> output.lines().forEach(ignored -> { }), "iceoryx-output");
                    rest.setDaemon(true);
                    rest.start();
                    return started;
                }
                before.append(line).append('\n');
            }
            throw new ToolException(IceoryxLibrary.DAEMON + " has ended; only one can run on a host. It wrote:\n"
                + before);
        } catch (IOException ex) {
            throw new ToolException(IceoryxLibrary.DAEMON + " cannot be started: " + ex.getMessage());
        }
    }

    private static void end(Process started) {
        started.destroy();
        try {
            started.waitFor();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
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
