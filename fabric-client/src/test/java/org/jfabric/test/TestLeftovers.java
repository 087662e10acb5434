package org.jfabric.test;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ends the processes and deletes the folders that the tests of this JVM have left behind, also when it is killed: a
 * process beside it reads a pipe that has its end with the JVM. Processes are known by a variable of their environment,
 * which their own children inherit, folders by their names. At the start it does the same for earlier runs, in which
 * that process was killed too.
 */
public final class TestLeftovers {
    /** Variable of the environment of each process that a test starts: the session, which is the number of the JVM. */
    static final String VARIABLE = "JFABRIC_TEST_SESSION";

    private static final long END_S = 20;
    /**
     * Signals of a terminal are for the tests, and nothing may read what it prints. A folder may change while it is
     * deleted, until what uses it is gone.
     */
    private static final String PROGRAM = """
        trap '' INT TERM HUP PIPE
        end() {
            local each
            for each in /proc/[0-9]*; do
                if grep -qzsxF "$variable=$1" "$each/environ"; then
                    echo "left by tests, killed: process ${each#/proc/}: $(tr '\\0' ' ' < "$each/cmdline")"
                    kill -KILL "${each#/proc/}"
                fi
            done 2> /dev/null
            for each in 1 2 3; do
                rm -rf -- "$folders$1"-* 2> /dev/null && break
            done
        }
        session=$1 variable=$2 folders=$3
        for folder in "$folders"*-*; do
            earlier=${folder#"$folders"}
            earlier=${earlier%%-*}
            case $earlier in *[!0-9]* | '') continue ;; esac
            [ ! -O "$folder" ] || [ -e "/proc/$earlier" ] || end "$earlier"
        done
        echo ready
        cat > /dev/null
        end "$session"
        """;

    private static Process guard;

    private TestLeftovers() {
    }

    /** Number of the JVM whose tests have started this process, or of this JVM. */
    static String session() {
        String session = System.getenv(VARIABLE);
        return session == null ? Long.toString(ProcessHandle.current().pid()) : session;
    }

    /** What the environment of a process that a test starts has more than its own. */
    public static ProcessBuilder mark(ProcessBuilder builder) {
        builder.environment().put(VARIABLE, session());
        return builder;
    }

    /** Before the first test of a session. */
    static synchronized void guard() {
        if (System.getenv(VARIABLE) == null && guard == null) {
            try {
                guard = guard(session());
            } catch (IOException e) {
                throw new AssertionError("what tests leave behind cannot be removed", e);
            }
        }
    }

    /** A process that waits for the end of its input, and returns when it has removed what earlier runs left. */
    static Process guard(String session) throws IOException {
        Process process = new ProcessBuilder(List.of("/bin/bash", "-c", PROGRAM, "jfabric-test-leftovers", session,
            VARIABLE, TestDirectory.PARENT.resolve(TestDirectory.PREFIX).toString()))
            .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String line = process.inputReader().readLine();
        while (line != null && !line.equals("ready")) {
            System.err.println("earlier run: " + line);
            line = process.inputReader().readLine();
        }
        return process;
    }

    /** Behind the last test of a session: prints which processes were left. */
    static synchronized void end() {
        if (guard != null) {
            end(guard).forEach(System.err::println);
            guard = null;
        }
    }

    /** Returns what was said of processes that were left. */
    static List<String> end(Process guard) {
        try {
            guard.getOutputStream().close();
            List<String> said = guard.inputReader().lines().toList();
            if (!guard.waitFor(Deadline.ns(END_S), TimeUnit.NANOSECONDS)) {
                throw new AssertionError("what tests left behind was not removed within " + Deadline.s(END_S) + " s");
            }
            return said;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
