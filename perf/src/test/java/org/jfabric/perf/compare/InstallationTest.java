package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InstallationTest {
    private static final String PROGRAM = "ucx_perftest";

    @TempDir
    Path folder;

    private Path program(String below) throws IOException {
        Path file = folder.resolve(below).resolve(PROGRAM);
        Files.createDirectories(file.getParent());
        return Files.createFile(file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @Test
    void shouldTakeTheFirstProgramOfThePath() throws Exception {
        Path second = program("second");
        program("third");
        Files.createDirectories(folder.resolve("first").resolve(PROGRAM));
        Installation path = Installation.ofPath(Map.of("PATH",
            folder.resolve("first") + ":" + folder.resolve("second") + ":" + folder.resolve("third")));
        assertEquals(second, path.find(PROGRAM));
        assertEquals(List.of(second.toString(), "-v"), path.command(List.of(PROGRAM, "-v")));
        assertEquals(Map.of(), path.environment());
        assertEquals(second + " by PATH", path.origin(PROGRAM));
        assertNull(path.find("ucx_info"));
    }

    @Test
    void shouldTakeProgramsAndLibrariesOfTheFolderThatAVariableNames() throws Exception {
        Path own = program("home/bin");
        Path onPath = program("path");
        Map<String, String> environment = Map.of("UCX_HOME", folder.resolve("home").toString(),
            "PATH", folder.resolve("path").toString(), "LD_LIBRARY_PATH", "/others");
        Installation home = Installation.preferring("UCX_HOME", environment);
        assertEquals(own, home.find(PROGRAM));
        assertEquals(own + " by UCX_HOME", home.origin(PROGRAM));
        assertEquals(Map.of("LD_LIBRARY_PATH",
            folder.resolve("home/lib") + ":" + folder.resolve("home/lib64") + ":/others"), home.environment());
        // both can be measured side by side
        assertEquals(onPath, Installation.ofPath(environment).find(PROGRAM));
    }

    @Test
    void shouldKnowNothingOfAVariableThatIsNotSet() {
        assertNull(Installation.of("UCX_HOME", Map.of()));
        assertNull(Installation.of("UCX_HOME", Map.of("UCX_HOME", "")));
        assertNull(Installation.preferring("UCX_HOME", Map.of()).folder());
    }

    @Test
    void shouldNotFallBackToThePathWhereTheFolderHasNoProgram() throws Exception {
        Map<String, String> environment =
            Map.of("UCX_HOME", folder.resolve("empty").toString(), "PATH", program("path").getParent().toString());
        assertNull(Installation.preferring("UCX_HOME", environment).find(PROGRAM));
    }

    @Test
    void shouldReadVersionAndBuild() {
        assertEquals("1.13.1, revision 0000000, built with debug, assertions, params-check", UcxTool.POSIX.version(
            "# Version 1.13.1\n# Git branch '<unknown>', revision 0000000\n"
            + "# Configured with: --prefix=/usr --disable-logging"));
        assertEquals("", UcxTool.POSIX.version(""));
        assertEquals("1.17.0", LibfabricTool.SHM.version("fi_info: 1.17.0\nlibfabric: 1.17.0\nlibfabric api: 1.17"));
    }
}
