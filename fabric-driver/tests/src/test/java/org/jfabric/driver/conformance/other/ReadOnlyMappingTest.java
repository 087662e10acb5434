package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What belongs to another one is mapped read-only: the kernel says so of every process that takes part. */
@Tag("conformance")
@Timeout(60)
class ReadOnlyMappingTest {
    private static final int LENGTH = 1 << 20;
    private static final int ROUNDS = 10_000;

    @Test
    void shouldMapForeignFilesForReadingOnly() {
        Path base = TestDirectory.create();
        try (DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"));
            DriverProcess beta = DriverProcess.launch(base.resolve("beta"));
            FabricNode a = node(alpha);
            FabricNode b = node(beta)) {
            long toB = a.av.insert(b.endpoint.name());
            // until beta has mapped the sender's region
            for (int i = 0; !kinds(beta, alpha).contains("mr"); i++) {
                assertTrue(i < ROUNDS, "the region was never mapped");
                assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, 1, 0, 1));
                assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, toB, 1, 2));
                b.await(1);
                a.await(2);
            }
            // both drivers of each other: nothing but reading
            assertEquals(Set.of("cnc", "ring", "mr"),
                kinds(beta, alpha));
            assertEquals(Set.of("cnc", "ring"), kinds(alpha, beta));
            assertEquals(Set.of("r--s"), permissions(maps(beta.process().pid(), alpha.directory())));
            assertEquals(Set.of("r--s"), permissions(maps(alpha.process().pid(), beta.directory())));
            // the clients, both in this process: nothing but reading of what only the driver writes
            long self = ProcessHandle.current().pid();
            for (DriverProcess driver : List.of(alpha, beta)) {
                List<String> cnc = maps(self, driver.directory()).stream()
                    .filter(line -> line.endsWith("/cnc")).toList();
                assertTrue(!cnc.isEmpty(), "the client maps no cnc");
                assertEquals(Set.of("r--s"), permissions(cnc));
                assertEquals(Set.of(), kindsOf(maps(self, driver.directory()), Set.of("ring")));
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static FabricNode node(DriverProcess driver) {
        return new FabricNode(Fabric.connect(new FabricConfig().directory(driver.awaitReady().directory())), "shm",
            new Info().caps(Flags.TAGGED | Flags.SOURCE), 64, 0, () -> { });
    }

    private static Set<String> kinds(DriverProcess of, DriverProcess owner) {
        return kindsOf(maps(of.process().pid(), owner.directory()), null);
    }

    private static Set<String> kindsOf(List<String> maps, Set<String> wanted) {
        Set<String> result = new TreeSet<>();
        for (String line : maps) {
            String kind = line.replace(" (deleted)", "").replaceAll(".*[/.]", "");
            if (wanted == null || wanted.contains(kind)) {
                result.add(kind);
            }
        }
        return result;
    }

    private static Set<String> permissions(List<String> maps) {
        Set<String> result = new TreeSet<>();
        maps.forEach(line -> result.add(line.split("\\s+")[1]));
        return result;
    }

    /** Lines of a process's maps with files of a directory. */
    private static List<String> maps(long pid, Path directory) {
        Pattern file = Pattern.compile(".* " + Pattern.quote(directory + "/") + ".*");
        try (var lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.filter(line -> file.matcher(line).matches()).toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
