package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.core.LauncherFactory;

@Timeout(60)
class TestLeftoversTest {

    /** A JVM with tests that leaves a process and a folder with a file. */
    static final class Leaver {
        public static void main(String[] arguments) throws IOException {
            String session = Long.toString(ProcessHandle.current().pid());
            TestLeftovers.guard(session);
            System.out.println("left " + leave(session).pid());
            System.in.read();
        }
    }

    static Process leave(String session) throws IOException {
        Files.createFile(Files.createDirectory(folder(session)).resolve("file"));
        ProcessBuilder builder = new ProcessBuilder("sleep", "1000");
        builder.environment().put(TestLeftovers.VARIABLE, session);
        return builder.start();
    }

    private static Path folder(String session) {
        return TestDirectory.PARENT.resolve(TestDirectory.PREFIX + session + "-left");
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
    }

    @Test
    void shouldRemoveWhatIsLeftByAJvmThatIsKilled() {
        try (TestProcess leaver = TestJvm.start(Leaver.class)) {
            long left = Long.parseLong(leaver.hear("left"));
            assertTrue(isAlive(left));
            leaver.kill();
            Deadline.awaitParked(() -> "process " + left + " and " + folder("" + leaver.pid()) + " are removed",
                () -> !isAlive(left) && Files.notExists(folder("" + leaver.pid())));
        }
    }

    @Test
    void shouldRemoveWhatAnEarlierRunHasLeftButNothingOfARunThatLives() throws IOException {
        TestProcess earlier = TestProcess.run("true");
        try (TestProcess living = TestProcess.start(List.of("sleep", "1000"))) {
            Process left = leave("" + earlier.pid());
            Process used = leave("" + living.pid());
            try {
                Process guard = TestLeftovers.guard("none");
                Deadline.awaitParked(() -> "process " + left.pid() + " is killed", () -> !left.isAlive());
                assertFalse(Files.exists(folder("" + earlier.pid())));
                assertEquals(List.of(), TestLeftovers.end(guard));
                assertTrue(used.isAlive());
                assertTrue(Files.exists(folder("" + living.pid())));
            } finally {
                left.destroyForcibly();
                used.destroyForcibly();
                TestDirectory.delete(folder("" + living.pid()));
            }
        }
    }

    @Test
    void shouldKeepFoldersWhenATestEndsASessionOfItsOwn() throws IOException {
        Path folder = TestDirectory.create();
        try (LauncherSession session = LauncherFactory.openSession()) {
            session.getLauncher();
        }
        Files.delete(folder);
    }

    @Test
    void shouldMarkTheProcessesAndFoldersOfTests() throws IOException {
        Path folder = TestDirectory.create();
        try {
            assertTrue(folder.getFileName().toString().startsWith("jfabric-test" + TestLeftovers.session() + "-"),
                folder::toString);
            assertEquals(TestLeftovers.session() + "\n",
                TestProcess.run("bash", "-c", "echo $" + TestLeftovers.VARIABLE).output());
        } finally {
            Files.delete(folder);
        }
    }
}
