package org.jfabric.test;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * How a JVM that a test starts finds its classes: the test's own class path, and where possible an archive of them that
 * is loaded and linked already, so that a driver is ready after half of the processor time.
 *
 * <p>Such an archive takes jars only, so the folders of classes are packed first. It is made once for each state of the
 * class path, in the module's target folder, by the first that needs it. Nobody waits for it.
 */
final class ClassArchive {
    /** What is run to see which classes are used; on the class path of the modules that start processes. */
    private static final String TRAINING = "org.jfabric.driver.kit.ArchiveTraining";
    private static final long TRAINING_S = 60;
    private static final String CLASS_PATH = System.getProperty("java.class.path");
    private static final List<Path> ENTRIES =
        Arrays.stream(CLASS_PATH.split(":")).map(Path::of).filter(Files::exists).toList();
    /** Where the archive is, or will be; null if there can be none. */
    private static final Path FOLDER = prepare();

    private ClassArchive() {
    }

    /** What names the class path on a command line. */
    static List<String> options() {
        // a JVM whose other options do not fit the archive ignores it, and would warn in the output that tests read
        return FOLDER == null || !Files.exists(done(FOLDER)) ? List.of("-cp", CLASS_PATH)
            : List.of("-XX:AOTCache=" + FOLDER.resolve("classes.aot"), "-Xlog:aot=off", "-Xlog:cds=off",
                // compiles at once what the training run has called often: more than a short life gains
                "-XX:+UnlockDiagnosticVMOptions", "-XX:-AOTReplayTraining", "-cp", jars(FOLDER));
    }

    private static Path prepare() {
        Path target = Path.of("target").toAbsolutePath();
        try {
            Class.forName(TRAINING, false, ClassArchive.class.getClassLoader());
            if (!Files.isDirectory(target)) {
                return null;
            }
            Path folder = Files.createDirectories(target.resolve("class-archive").resolve(state()));
            if (!Files.exists(done(folder))) {
                Thread maker = new Thread(() -> makeOnce(folder), "archive of classes");
                maker.setDaemon(true);
                maker.start();
            }
            return folder;
        } catch (ClassNotFoundException e) {
            return null;
        } catch (IOException e) {
            System.err.println("no archive of classes for the processes of tests: " + e);
            return null;
        }
    }

    private static void makeOnce(Path folder) {
        try (FileChannel file = FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = file.tryLock()) {
            if (lock != null && !Files.exists(done(folder))) {
                make(folder);
            }
        } catch (IOException | InterruptedException e) {
            // processes start without the archive then, only slower
            System.err.println("no archive of classes for the processes of tests: " + e);
        }
    }

    private static Path done(Path folder) {
        return folder.resolve("done");
    }

    private static String jars(Path folder) {
        List<String> jars = new ArrayList<>();
        for (int i = 0; i < ENTRIES.size(); i++) {
            jars.add((Files.isDirectory(ENTRIES.get(i)) ? jar(folder, i) : ENTRIES.get(i)).toString());
        }
        return String.join(":", jars);
    }

    private static Path jar(Path folder, int index) {
        return folder.resolve(index + ".jar");
    }

    /** Changes with every file on the class path. */
    private static String state() throws IOException {
        int hash = Runtime.version().hashCode();
        for (Path entry : ENTRIES) {
            for (Path file : files(entry)) {
                hash = 31 * hash + Objects.hash(file, Files.size(file), Files.getLastModifiedTime(file));
            }
        }
        return Integer.toHexString(hash);
    }

    private static List<Path> files(Path entry) throws IOException {
        try (Stream<Path> files = Files.walk(entry)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static void make(Path folder) throws IOException, InterruptedException {
        try (Stream<Path> earlier = Files.list(folder.getParent())) {
            earlier.filter(each -> !each.equals(folder)).toList().forEach(TestDirectory::delete);
        }
        for (int i = 0; i < ENTRIES.size(); i++) {
            if (Files.isDirectory(ENTRIES.get(i))) {
                pack(ENTRIES.get(i), jar(folder, i));
            }
        }
        List<String> command = new ArrayList<>(List.of(TestJvm.java().toString()));
        command.addAll(TestJvm.OPTIONS);
        command.addAll(List.of("-Xmx256m", "-XX:AOTCacheOutput=" + folder.resolve("classes.aot"),
            "-Djfabric.dir.base=" + folder.resolve("driver"), "-cp", jars(folder), TRAINING));
        Path said = folder.resolve("said");
        Process training = new ProcessBuilder(command)
            .redirectErrorStream(true).redirectOutput(said.toFile()).start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(training)));
        if (!training.waitFor(TRAINING_S, TimeUnit.SECONDS) || !Files.exists(folder.resolve("classes.aot"))) {
            end(training);
            throw new IOException("it was not made, see " + said);
        }
        Files.createFile(done(folder));
    }

    /** With the process that it has started to write the archive. */
    private static void end(Process training) {
        training.descendants().forEach(ProcessHandle::destroyForcibly);
        training.destroyForcibly();
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (OutputStream file = Files.newOutputStream(jar); ZipOutputStream out = new ZipOutputStream(file)) {
            out.setLevel(Deflater.BEST_SPEED);
            for (Path each : files(classes)) {
                out.putNextEntry(new ZipEntry(classes.relativize(each).toString()));
                Files.copy(each, out);
                out.closeEntry();
            }
        }
    }
}
