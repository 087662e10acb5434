package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.test.TestProcess;

/** Programs and libraries that tests have in C. */
public final class CSource {
    /** Whether it is an error that something cannot be made, as in continuous integration. */
    private static final boolean IS_REQUIRED = "required".equals(System.getenv("JFABRIC_PEERS"));
    private static final String COMPILER = "/usr/bin/gcc";

    private CSource() {
    }

    /** Skips the test, or fails it where all peers have to be there. */
    static void need(boolean isThere, String missing) {
        assertTrue(isThere || !IS_REQUIRED, missing);
        assumeTrue(isThere, missing);
    }

    /**
     * Compiles a file; skips the test, with the reason, where that is not possible.
     *
     * @param source  from the folder of the module.
     * @param options further ones of the compiler; libraries that are linked.
     * @return what was made, deleted with this process.
     */
    public static Path compile(Path source, String... options) throws IOException {
        need(Files.isExecutable(Path.of(COMPILER)), "there is no gcc (apt-get install gcc)");
        need(Files.exists(source), source.toAbsolutePath() + " is not there");
        Path made = Files.createTempFile(source.getFileName().toString(), "");
        made.toFile().deleteOnExit();
        List<String> command = new ArrayList<>(List.of(
            COMPILER, "-Wall", "-Wextra", "-Werror", "-O1", "-o", made.toString(), source.toString()));
        command.addAll(List.of(options));
        TestProcess.start(command).succeeded();
        return made;
    }
}
