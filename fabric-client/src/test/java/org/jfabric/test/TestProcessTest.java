package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class TestProcessTest {

    /** Says its arguments and property, then echoes, and ends with 3. */
    static final class Echo {
        public static void main(String[] arguments) {
            System.out.println("arguments " + Arrays.toString(arguments) + ' ' + System.getProperty("a.b"));
            System.err.println("slowness " + System.getProperty(Deadline.SLOWNESS));
            Scanner input = new Scanner(System.in);
            while (input.hasNextLine()) {
                String line = input.nextLine();
                System.out.println("heard " + line);
                if (line.equals("end")) {
                    System.exit(3);
                }
            }
        }
    }

    @Test
    void shouldTalkWithAJvmOfTheTestsClassPath() {
        try (TestProcess echo = TestJvm.start(List.of("a.b=c"), Echo.class, "x", "y z")) {
            assertEquals("[x, y z] c", echo.hear("arguments"));
            assertEquals(Double.toString(Deadline.slowness()),
                Double.toString(Double.parseDouble(echo.hear("slowness"))));
            echo.say("one");
            echo.say("two");
            echo.say("end");
            assertEquals("heard two", echo.awaitLine("heard t"));
            assertEquals(3, echo.ended().status());
            AssertionError said = assertThrows(AssertionError.class, () -> echo.awaitLine("heard one"));
            assertTrue(said.getMessage().contains("has ended with 3, said:\narguments [x, y z] c\n"), said::getMessage);
            assertTrue(assertThrows(AssertionError.class, echo::succeeded).getMessage().contains("heard end"));
        }
    }

    @Test
    void shouldEndWhatIsStillThere() {
        TestProcess sleeper = TestProcess.start(List.of("sleep", "1000"));
        TestProcess.signal(sleeper.process(), "STOP");
        assertTrue(sleeper.isAlive());
        AssertionError still = assertThrows(AssertionError.class, () -> sleeper.ended(0));
        assertTrue(still.getMessage().contains("is up"), still::getMessage);
        sleeper.close();
        assertFalse(sleeper.isAlive());
    }

    @Test
    void shouldRunAProgramToItsEnd() {
        assertEquals("a b\n", TestProcess.run("echo", "a b").succeeded());
        assertEquals(1, TestProcess.run("false").status());
        assertTrue(assertThrows(AssertionError.class, () -> TestProcess.run("/no such program"))
            .getMessage().contains("/no such program"));
    }

    @Test
    void shouldMakeAndDeleteFolders() throws IOException {
        Path folder = TestDirectory.create();
        Files.createDirectories(folder.resolve("a/b"));
        Files.writeString(folder.resolve("a/b/c"), "d");
        TestDirectory.delete(folder);
        assertTrue(Files.notExists(folder));
    }
}
