package org.jfabric.tool;

import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The launcher on machines without the JDK that it needs. The copy that is run lies in an empty folder, so it would
 * have to build first; Maven is a script that leaves a mark. The shell expands no patterns ({@code bash -f}), so that
 * the folders in which JDKs are usually installed are not found here either.
 */
@Timeout(60)
@Tag("slow") // each test runs a shell
class LauncherTest {
    private static final String[] TOOLS = {
        "sed", "head", "dirname", "readlink", "find", "mkdir", "touch", "flock", "cat", "mv", "rm", "timeout"};

    @TempDir
    Path folder;
    private Path bin;
    private Path launcher;

    private record Run(int status, String output) {
    }

    @BeforeEach
    void prepare() throws IOException {
        Path script = script();
        launcher = Files.copy(script, folder.resolve("fabric"));
        bin = Files.createDirectory(folder.resolve("bin"));
        for (String tool : TOOLS) {
            for (String place : new String[] {"/usr/bin", "/bin"}) {
                Path real = Path.of(place, tool);
                if (Files.exists(real) && !Files.exists(bin.resolve(tool))) {
                    executable(bin.resolve(tool), "exec " + real + " \"$@\"");
                }
            }
        }
        executable(bin.resolve("mvn"), "echo \"$@\" > " + folder.resolve("maven-was-run") + "; exit 1");
    }

    private static Path script() {
        Path at = Path.of("").toAbsolutePath();
        while (at != null && !Files.isExecutable(at.resolve("fabric"))) {
            at = at.getParent();
        }
        Assumptions.assumeTrue(at != null, "the launcher is not there: these are not the project's sources");
        return at.resolve("fabric");
    }

    private static void executable(Path file, String body) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /** Answers what a JVM of that version answers when it is asked for it. */
    private static void java(Path file, String version) throws IOException {
        executable(file,
            "[ \"$1\" = -version ] && echo 'openjdk version \"" + version + "\" 2024-10-15' >&2 && exit 0\n"
            + "echo run > " + file.resolveSibling("java-was-run"));
    }

    private Run run(Map<String, String> variables) throws IOException, InterruptedException {
        return run(variables, "driver");
    }

    private Run run(Map<String, String> variables, String command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(
            "/bin/bash", "-f", launcher.toString(), command, "--dir", folder.resolve("driver").toString())
            .redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", bin.toString(), "HOME", folder.toString()));
        builder.environment().putAll(variables);
        TestProcess process = TestProcess.start(builder).ended();
        return new Run(process.status(), process.output());
    }

    private void assertSaysWhatToInstall(Run run, Path java) {
        assertEquals(1, run.status, run.output);
        assertEquals(1, run.output.lines().count(), "one line: " + run.output);
        assertTrue(run.output.startsWith("fabric: JFabric runs on JDK 25 or newer"), run.output);
        assertTrue(run.output.contains("install") && run.output.contains("25-jdk"), run.output);
        assertFalse(Files.exists(folder.resolve("maven-was-run")), "Maven was run");
        assertFalse(java != null && Files.exists(java.resolveSibling("java-was-run")), "the JVM was run");
    }

    @Test
    void shouldSayWhatToInstallWhereThereIsNoJava() throws Exception {
        assertSaysWhatToInstall(run(Map.of()), null);
    }

    @Test
    void shouldSayWhatToInstallWhereThePathHasAnOlderJava() throws Exception {
        for (String version : new String[] {"21.0.5", "24-ea", "1.8.0_432", "garbage"}) {
            Path java = bin.resolve("java");
            Files.deleteIfExists(java);
            java(java, version);
            assertSaysWhatToInstall(run(Map.of()), java);
        }
    }

    @Test
    void shouldSayWhatToInstallWhereJavaHomeIsAnOlderOneOrNone() throws Exception {
        Path home = Files.createDirectories(folder.resolve("jdk-21/bin")).getParent();
        java(home.resolve("bin/java"), "21.0.5");
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.5\"\n");
        assertSaysWhatToInstall(run(Map.of("JAVA_HOME", home.toString())), home.resolve("bin/java"));
        assertSaysWhatToInstall(run(Map.of("JAVA_HOME", folder.resolve("nothing").toString())), null);
    }

    @Test
    void shouldNameWhatWasAskedForIfItIsTooOld() throws Exception {
        Path java = folder.resolve("java");
        java(java, "17.0.1");
        Run run = run(Map.of("JFABRIC_JAVA", java.toString()));
        assertEquals(1, run.status, run.output);
        assertEquals(1, run.output.lines().count(), run.output);
        assertTrue(run.output.contains("JFABRIC_JAVA is " + java) && run.output.contains("JDK 25"), run.output);
        assertFalse(Files.exists(folder.resolve("maven-was-run")));
    }

    /** Precondition of the other tests: with a JVM of the right version the next thing is the build. */
    @Test
    void shouldGoOnWithAJavaThatIsNewEnough() throws Exception {
        java(bin.resolve("java"), "25.0.1");
        Run run = run(Map.of());
        assertTrue(run.output.contains("building JFabric"), run.output);
        String arguments = Files.readString(folder.resolve("maven-was-run"));
        assertTrue(arguments.contains("-pl fabric-driver/tools -am"), run.output);
    }

    /** Split at blanks and nothing else: neither patterns nor quotes change what the JVM is given. */
    @Test
    void shouldGiveTheJvmItsOptionsAsTheyAreWritten() throws Exception {
        Path java = bin.resolve("java");
        executable(java, "[ \"$1\" = -version ] && echo 'openjdk version \"25.0.1\" 2025-10-15' >&2 && exit 0\n"
            + "printf '<%s>' \"$@\"");
        Files.createDirectories(folder.resolve("fabric-driver/target"));
        Files.createFile(folder.resolve("fabric-driver/target/jfabric-driver-runnable.jar"));
        ProcessBuilder builder = new ProcessBuilder("/bin/bash", launcher.toString(), "help", "stat")
            .directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", bin.toString(), "HOME", folder.toString(),
            "JFABRIC_JAVA", java.toString(), "JFABRIC_JAVA_OPTS", " -Da=1  * -Db='x\n@file"));
        String output = TestProcess.start(builder).ended().output();

        assertTrue(output.contains("<-Da=1><*><-Db='x><@file><-jar>"), output);
        assertTrue(output.strip().endsWith("<help><stat>"), output);
    }

    /**
     * A JVM of the right version that answers with its options, and for the training writes a cache and a line into
     * {@code trainings}; where there is a file {@code fails} it fails instead.
     */
    private void trainableJava() throws IOException {
        executable(bin.resolve("java"),
            "[ \"$1\" = -version ] && echo 'openjdk version \"25.0.1\" 2025-10-15' >&2 && exit 0\n"
            + "for option; do case $option in -XX:AOTCacheOutput=*)\n"
            + "    echo trained >> " + folder.resolve("trainings") + "\n"
            + "    [ ! -e " + folder.resolve("fails") + " ] || { echo broken; exit 1; }\n"
            + "    echo cache > \"${option#*=}\"; exit 0;;\n"
            + "esac; done\n"
            + "printf '<%s>' \"$@\"");
        Files.createDirectories(jar().getParent());
        Files.writeString(jar(), "classes");
    }

    private Path jar() {
        return folder.resolve("fabric-driver/target/jfabric-driver-runnable.jar");
    }

    private Path cache() {
        return folder.resolve("fabric-driver/target/jfabric-driver-runnable.aot");
    }

    private int trainings() throws IOException {
        Path file = folder.resolve("trainings");
        return Files.exists(file) ? Files.readAllLines(file).size() : 0;
    }

    private void assertUsesCache(boolean uses, Run run) {
        assertEquals(0, run.status, run.output);
        assertEquals(uses, run.output.contains("<-XX:AOTCache=" + cache() + ">"), run.output);
        assertTrue(run.output.contains("<driver><--dir>"), run.output);
    }

    @Test
    void shouldMakeACacheOnceAndUseIt() throws Exception {
        trainableJava();
        Run first = run(Map.of());
        assertTrue(first.output.contains("making the AOT cache"), first.output);
        assertUsesCache(true, first);
        Run second = run(Map.of());
        assertFalse(second.output.contains("making"), second.output);
        assertUsesCache(true, second);
        assertUsesCache(true, run(Map.of("JFABRIC_JAVA_OPTS", "-Djfabric.queue.txSize=512")));
        assertEquals(1, trainings());
    }

    @Test
    void shouldMakeTheCacheAnewAfterTheJarOrWhatElseMattersHasChanged() throws Exception {
        trainableJava();
        run(Map.of());
        Files.writeString(jar(), "other classes");
        assertUsesCache(true, run(Map.of()));
        assertEquals(2, trainings(), "the jar has changed");
        assertUsesCache(true, run(Map.of("JFABRIC_JAVA_OPTS", "-Xmx1g")));
        assertEquals(3, trainings(), "the heap has changed");
        Files.writeString(cache(), "cut");
        assertUsesCache(true, run(Map.of("JFABRIC_JAVA_OPTS", "-Xmx1g")));
        assertEquals(4, trainings(), "the cache is not the one that was made");
    }

    @Test
    void shouldRunWithoutACacheThatCannotBeMadeAndNotTryAgain() throws Exception {
        trainableJava();
        Files.createFile(folder.resolve("fails"));
        Run first = run(Map.of());
        assertUsesCache(false, first);
        assertTrue(first.output.contains("there is no AOT cache") && first.output.contains(cache() + ".log"),
            first.output);
        Run second = run(Map.of());
        assertUsesCache(false, second);
        assertFalse(second.output.contains("AOT"), second.output);
        assertEquals(1, trainings());
        Files.delete(folder.resolve("fails"));
        Files.writeString(jar(), "repaired classes");
        assertUsesCache(true, run(Map.of()));
    }

    @Test
    void shouldLeaveTheCacheOutWhereItIsNotWanted() throws Exception {
        trainableJava();
        assertUsesCache(false, run(Map.of("JFABRIC_AOT", "off")));
        assertUsesCache(false, run(Map.of("JFABRIC_JAVA_OPTS", "-XX:AOTCache=other")));
        run(Map.of(), "stat");
        assertEquals(0, trainings(), "made for nothing");
        run(Map.of());
        Run stat = run(Map.of(), "stat");
        assertTrue(stat.output.contains("<-XX:AOTCache=" + cache() + ">"), stat.output);
        assertFalse(run(Map.of("JFABRIC_AOT", "profiles")).output.contains("AOTReplayTraining"));
    }

    /** With the options that the launcher gives, whatever the file is. */
    @Test
    void shouldNotDisturbAVirtualMachineWithACacheThatDoesNotFit() throws Exception {
        trainableJava();
        String output = run(Map.of()).output;
        List<String> command = new ArrayList<>(List.of(TestJvm.java().toString()));
        for (String option : output.substring(output.indexOf('<') + 1).split("><")) {
            if (option.contains("AOT") || option.startsWith("-Xlog") || option.startsWith("-XX:+Unlock")) {
                command.add(option);
            }
        }
        assertTrue(command.contains("-XX:AOTCache=" + cache()), output);
        command.add("-Xmx64m");
        command.add("--version");
        TestProcess process = TestProcess.start(new ProcessBuilder(command).redirectErrorStream(true)).ended();
        assertEquals(0, process.status(), process.output());
        assertFalse(process.output().toLowerCase(Locale.ROOT).contains("aot"), process.output());
        assertFalse(process.output().contains("warning"), process.output());
    }

    @Test
    void shouldTrainWithoutLeavingAnythingBehind() {
        ToolRun run = ToolRun.of("aot-training", "--messages", "640");
        assertEquals(0, run.status(), run.err());
        assertEquals("", run.out());
    }

    @Test
    void shouldRunASampleFromItsOwnJar() throws Exception {
        trainableJava();
        Path samples = folder.resolve("samples/target/samples.jar");
        Run unbuilt = run(Map.of(), "sample");
        assertTrue(unbuilt.output.contains("building JFabric"), unbuilt.output);
        assertTrue(Files.readString(folder.resolve("maven-was-run")).contains("-pl samples -am"), unbuilt.output);
        Files.createDirectories(samples.getParent());
        Files.writeString(samples, "classes");
        Run built = run(Map.of(), "sample");
        assertEquals(0, built.status, built.output);
        assertTrue(built.output.contains("<-jar><" + samples + "><--dir>"), built.output);
        assertEquals(0, trainings(), "a cache for what is run once");
    }

    @Test
    void shouldBuildTheRigOnlyForTheCommandThatIsInIt() throws Exception {
        java(bin.resolve("java"), "25.0.1");
        Run run = run(Map.of(), "compare");
        assertTrue(run.output.contains("building JFabric"), run.output);
        assertTrue(Files.readString(folder.resolve("maven-was-run")).contains("-pl perf -am"), run.output);
    }
}
