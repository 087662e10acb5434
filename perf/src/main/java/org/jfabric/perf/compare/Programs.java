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
     * @return an empty text if it cannot be run or fails.
     */
    static String output(Path folder, List<String> command, Map<String, String> environment)
        throws InterruptedException {
        Result result = run(folder, command, environment);
        return result.status == 0 ? result.text : "";
    }

    /** Runs a program; returns null if it succeeds, else its output or why it cannot be run. */
    static String failure(List<String> command) throws InterruptedException {
        Result result = run(null, command, Map.of());
        return result.status == 0 ? null : result.text;
    }

    private record Result(int status, String text) {
    }

    private static Result run(Path folder, List<String> command, Map<String, String> environment)
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
                return new Result(-1, "it did not end within " + TIMEOUT_S + " s");
            }
            return new Result(process.exitValue(), text.strip());
        } catch (IOException ex) {
            return new Result(-1, ex.getMessage());
        }
    }
}
