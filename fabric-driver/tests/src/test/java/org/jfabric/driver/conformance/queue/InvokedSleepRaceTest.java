package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.SleepingSide;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications that run their driver themselves sleep at a descriptor between all messages; no wake-up is lost. */
@Tag("slow")
@Timeout(300)
class InvokedSleepRaceTest {
    private static final int ROUNDS = Effort.rounds(800, 30_000);
    private static final int MAX_SPINS = 4_000;

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"shm", "tcp", "udp", "rxm"})
    @Requirement({"CQ-030", "CQ-036", "REF-029"})
    void shouldBeWokenByEachMessage(String link) throws Exception {
        long seed = System.nanoTime();
        Path base = TestDirectory.create();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (SleepingSide a = new SleepingSide(base.resolve("a"), link, false);
             SleepingSide b = new SleepingSide(base.resolve("b"), link, false)) {
            long toB = a.insert(b.endpoint.name());
            long toA = b.insert(a.endpoint.name());
            Thread other = new Thread(() -> {
                try {
                    run(b, toA, false, seed + 1);
                } catch (Throwable thrown) {
                    failure.set(thrown);
                }
            }, "other side");
            other.start();
            try {
                run(a, toB, true, seed);
            } catch (AssertionError oversleeping) {
                oversleeping.addSuppressed(new AssertionError("seed " + seed + ", the other side is in "
                    + List.of(other.getStackTrace())));
                throw oversleeping;
            } finally {
                other.join(Deadline.ms(30));
            }
            assertEquals(null, failure.get(), () -> "seed " + seed);
            assertTrue(a.sleeps > 0 && b.sleeps > 0, a.sleeps + " and " + b.sleeps + " sleeps");
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Test
    @Requirement({"CQ-030", "CQ-036"})
    void shouldBeWokenByAnotherProcess() throws Exception {
        Path base = TestDirectory.create();
        List<String> options = List.of("-ea", "-Xmx256m", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
        try (TestProcess a = TestJvm.start(options, InvokedSleepRaceTest.class, base.toString(), "a", "b");
             TestProcess b = TestJvm.start(options, InvokedSleepRaceTest.class, base.toString(), "b", "a")) {
            b.say(a.hear("name"));
            a.say(b.hear("name"));
            assertTrue(a.succeeded().contains("slept") && b.succeeded().contains("slept"), () -> a + " " + b);
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** One of both processes; the arguments are a directory, the driver's name in it, and the other's. */
    public static void main(String[] args) throws Exception {
        try (SleepingSide side = new SleepingSide(Path.of(args[0]).resolve(args[1]), "shm", true)) {
            System.out.println("name " + side.endpoint.name());
            System.out.flush();
            byte[] line = new byte[512];
            int length = System.in.read(line);
            long to = side.insert(new String(line, 0, length).replace("name", "").strip());
            run(side, to, args[1].equals("a"), System.nanoTime());
            System.out.println("slept " + side.sleeps);
        }
    }

    /** Sends and receives in turn. The last message may need a side that polls, so both read until both have ended. */
    private static void run(SleepingSide side, long to, boolean begins, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 4; i++) {
            side.post(i);
        }
        for (long round = 0; round < ROUNDS; round++) {
            if (begins) {
                side.send(to, round);
            }
            SleepingSide.require(round, side.await());
            side.post(round + 4);
            SleepingSide.require(round, side.memory.buffer().getLong(0));
            for (int i = random.nextInt(MAX_SPINS); i > 0; i--) {
                Thread.onSpinWait();
            }
            if (!begins) {
                side.send(to, round);
            }
        }
        // what was sent last is perhaps still on its way
        for (int i = 0; i < 1_000; i++) {
            side.driver.cycle();
        }
    }
}
