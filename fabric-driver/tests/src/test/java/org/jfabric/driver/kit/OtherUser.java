package org.jfabric.driver.kit;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.ffi.Libc;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Assumptions;

/**
 * Processes of users that have no account: numbers are enough for the kernel. They need a class path that all can read,
 * which that of the tests often is not, below the home of root.
 */
public final class OtherUser {
    private static final String SETPRIV = "/usr/bin/setpriv";

    private final long uid;
    private final long gid;
    private final List<Long> groups;

    /**
     * A user.
     *
     * @param uid    number, also of its first group.
     * @param groups the others.
     */
    public OtherUser(long uid, Long... groups) {
        this.uid = uid;
        this.gid = uid;
        this.groups = List.of(groups);
    }

    /** Skips the test unless this process may start such. */
    public static void require() {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can start processes of other users");
        Assumptions.assumeTrue(Files.isExecutable(Path.of(SETPRIV)), "there is no " + SETPRIV + " (util-linux)");
    }

    /** Copies the class path of the tests to where all can read it; to be deleted by {@link TestDirectory#delete}. */
    public static Path copyClasses() {
        try {
            Path folder = Files.createTempDirectory("jfabric-classes");
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            int index = 0;
            for (String entry : System.getProperty("java.class.path").split(":")) {
                Path from = Path.of(entry);
                Path to = folder.resolve((100 + index++) + (Files.isDirectory(from) ? "" : ".jar"));
                if (Files.exists(from)) {
                    copy(from, to);
                }
            }
            return folder;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes)
                throws IOException {
                Path made = Files.createDirectory(to.resolve(from.relativize(directory).toString()));
                Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwxr-xr-x"));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path made = file.equals(from) ? to : to.resolve(from.relativize(file).toString());
                Files.copy(file, made);
                Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-r--r--"));
                return FileVisitResult.CONTINUE;
            }
        });
    }

    public long uid() {
        return uid;
    }

    /** Gives the user a folder of its own. */
    public Path home(Path folder) {
        try {
            Files.createDirectory(folder);
            Files.setAttribute(folder, "unix:gid", (int) gid);
            Files.setAttribute(folder, "unix:uid", (int) uid);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
            return folder;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Starts a JVM.
     *
     * @param classes    of {@link #copyClasses}.
     * @param properties NAME=VALUE, or options with a hyphen in front.
     */
    public TestProcess start(Path classes, List<String> properties, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(SETPRIV, "--reuid=" + uid, "--regid=" + gid));
        command.add(groups.isEmpty() ? "--clear-groups"
            : "--groups=" + String.join(",", groups.stream().map(Object::toString).toList()));
        List<String> java = TestJvm.command(properties, main, arguments);
        // the last of two class paths counts
        java.addAll(java.lastIndexOf(main.getName()), List.of("-cp", classPath(classes)));
        java.removeIf(each -> each.startsWith("-XX:AOTCache="));
        command.addAll(java);
        return TestProcess.start(command);
    }

    private static String classPath(Path classes) {
        try (var entries = Files.list(classes)) {
            return String.join(":", entries.map(Path::toString).sorted().toList());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
