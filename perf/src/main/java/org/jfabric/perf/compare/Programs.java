package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs of other packages. */
final class Programs {
    private static final long TIMEOUT_S = 10;

    private Programs() {
    }

    /** Where a program is on the path, or null. */
    static Path find(String name) {
        String path = System.getenv("PATH");
        if (path == null) {
            return null;
        }
        for (String folder : path.split(":")) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, name);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return file;
            }
        }
        return null;
    }

    /** What a program prints, or an empty text if it cannot be run or fails. */
    static String output(Path folder, List<String> command) throws InterruptedException {
        try {
            Process process = new ProcessBuilder(command).directory(folder == null ? null : folder.toFile())
                .redirectErrorStream(true).start();
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
