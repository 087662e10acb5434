package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Programs of other packages. */
final class Programs {
    private static final long TIMEOUT_S = 10;

    private Programs() {
    }

    /** Returns the path of a program, or null if it is not on the path. */
    static Path find(String name) {
        return Installation.ofPath(System.getenv()).find(name);
    }

    /** Returns the output of a program, or an empty text if it cannot be run or fails. */
    static String output(Path folder, List<String> command) throws InterruptedException {
        return output(folder, command, Map.of());
    }

    /**
     * Runs a program and collects its output.
     *
     * @param folder      to run it in, or null.
     * @param command     of it.
     * @param environment added to this process's own.
     * @return an empty text if it cannot be run or fails.
     */
    static String output(Path folder, List<String> command, Map<String, String> environment)
        throws InterruptedException {
        try {
            ProcessBuilder builder = new ProcessBuilder(command).directory(folder == null ? null : folder.toFile())
                .redirectErrorStream(true);
            builder.environment().putAll(environment);
            Process process = builder.start();
            process.getOutputStream().close();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return "";
            }
            return process.exitValue() == 0 ? text.strip() : "";
        } catch (IOException ex) {
            return "";
        }
    }
}
