package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.Affinity;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Systems whose sides are in two network namespaces, in processes of their own; no figures. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CableTest {
    private static final int SIZE = 64;
    private static final long SLICE_NS = 2_000_000;

    @TempDir
    Path folder;

    private void program(String name, String... lines) throws IOException {
        Path file = Files.createFile(folder.resolve(name),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.write(file, lines.length == 0 ? List.of() : List.of("#!/bin/sh", String.join("\n", lines)));
    }

    /** Each of them has the packets of the exchange, on an interface that this host does not have. */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {Contenders.PACKET_CABLE, Contenders.BARE_UDP_CABLE})
    void shouldExchangeOverACableBetweenTwoNamespaces(String id) throws Exception {
        Contender contender = contender(id);
        assumeTrue(contender.missing() == null, contender.missing());
        List<ProcessHandle> sides;
        try (contender) {
            contender.verify(Pass.EXCHANGE, SIZE);
            measure(contender);
            sides = ProcessHandle.current().children().filter(CableTest::isSide).toList();
            assertEquals(2, sides.size());
            assertNotEquals(namespace(sides.getFirst()), namespace(sides.getLast()));
            for (ProcessHandle side : sides) {
                assertNotEquals(namespace(ProcessHandle.current()), namespace(side));
                // a warm-up alone is more
                assertTrue(packets(side) > 100, () -> side + " has received " + packets(side));
            }
            // the same processes and the same cable
            measure(contender);
        }
        for (ProcessHandle side : sides) {
            side.onExit().get(Deadline.s(30), TimeUnit.SECONDS);
        }
        // other processes than before
        try (contender) {
            measure(contender);
        }
    }

    private static void measure(Contender contender) throws InterruptedException {
        contender.open(Pass.EXCHANGE, SIZE);
        assertTrue(contender.slice(Pass.EXCHANGE, SIZE).value(CellMetric.HALF_ROUND_TRIP) > 0);
        contender.closeCell();
    }

    private Contender contender(String id) throws InterruptedException {
        BitSet cpus = Affinity.cpus();
        int cpu = cpus.nextSetBit(0);
        int other = Math.max(cpu, cpus.nextSetBit(cpu + 1));
        RigSettings settings = new RigSettings(folder, SLICE_NS, cpu, other, cpu != other, null);
        return Contenders.all(settings, "test").stream().filter(each -> each.id().equals(id)).findFirst().orElseThrow();
    }

    private static boolean isSide(ProcessHandle process) {
        return RunDirectoryTest.arguments(process).contains(SideProcess.NAME);
    }

    private static Path namespace(ProcessHandle process) throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/" + process.pid() + "/ns/net"));
    }

    private static long packets(ProcessHandle side) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/" + side.pid() + "/net/dev"))) {
                if (line.strip().startsWith(Cable.INTERFACE + ':')) {
                    return Long.parseLong(line.substring(line.indexOf(':') + 1).strip().split("\\s+")[1]);
                }
            }
            return -1;
        } catch (IOException ex) {
            throw new AssertionError(ex);
        }
    }

    @Test
    void shouldBeMissingWithoutItsPrograms() throws Exception {
        Installation path = Installation.ofPath(Map.of("PATH", folder.toString()));
        String noIp = Cable.missing(path);
        assertTrue(noIp.contains("iproute2"), noIp);
        program("ip");
        program("unshare");
        String noNsenter = Cable.missing(path);
        assertTrue(noNsenter.contains("util-linux"), noNsenter);
    }

    @Test
    void shouldBeMissingWithTheReasonIfItIsNotPermitted() throws Exception {
        program("ip");
        program("nsenter");
        program("unshare", "echo 'unshare failed:' >&2", "echo 'Operation not permitted' >&2", "exit 1");
        assertEquals(" is left out: its two network namespaces with a cable between them need root, or CAP_SYS_ADMIN"
            + " and CAP_NET_ADMIN (unshare failed: Operation not permitted).",
            Cable.missing(Installation.ofPath(Map.of("PATH", folder.toString()))));
    }
}
