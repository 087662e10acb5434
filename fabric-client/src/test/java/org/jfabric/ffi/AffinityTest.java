package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AffinityTest {
    @TempDir
    Path root;

    @Test
    void shouldBindCallingThreadAndLetGo() {
        BitSet before = Affinity.cpus();
        double coresBefore = CpuQuota.availableCores();
        assertFalse(before.isEmpty());
        int cpu = before.length() - 1;
        try {
            assertEquals(0, Affinity.bind(cpu));
            BitSet only = new BitSet();
            only.set(cpu);
            assertEquals(only, Affinity.cpus());
            assertEquals(coresBefore, CpuQuota.availableCores(), "binding must not change the quota");
        } finally {
            assertEquals(0, Affinity.bind(before));
        }
        assertEquals(before, Affinity.cpus());
    }

    @Test
    void shouldRefuseProcessorsThatCannotBe() {
        assertEquals(-LinuxErrno.EINVAL, Affinity.bind(-1));
        assertEquals(-LinuxErrno.EINVAL, Affinity.bind(Affinity.MAX_CPUS));
        assertEquals(-LinuxErrno.EINVAL, Affinity.bind(Affinity.MAX_CPUS - 1));
        assertEquals(-LinuxErrno.EINVAL, Affinity.bind(new BitSet()));
        BitSet tooMany = new BitSet();
        tooMany.set(Affinity.MAX_CPUS);
        assertEquals(-LinuxErrno.EINVAL, Affinity.bind(tooMany));
    }

    @Test
    void shouldCountTheProcessorsOfTheMachine() {
        assertTrue(Affinity.processors() >= Affinity.cpus().length(), () -> Affinity.processors() + " processors");
    }

    @Test
    void shouldTellCoresOfThisProcess() {
        double cores = CpuQuota.availableCores();
        assertTrue(cores > 0 && cores <= Math.max(Affinity.cpus().cardinality(),
            Runtime.getRuntime().availableProcessors()), "cores " + cores);
    }

    @Test
    void shouldTakeAllowedProcessorsWhenThereIsNoQuota() throws IOException {
        process("0-3,8,10-11", "0::/a\n", "");
        assertEquals(7, CpuQuota.availableCores(root));
        write("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n");
        write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
        assertEquals(7, CpuQuota.availableCores(root));
        write("sys/fs/cgroup/a/cpu.max", "garbage\n");
        assertEquals(7, CpuQuota.availableCores(root));
    }

    @Test
    void shouldTakeSmallestQuotaOfAllParents() throws IOException {
        process("0-15", "0::/a/b\n", "30 1 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n");
        write("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
        assertEquals(4, CpuQuota.availableCores(root));
        write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        assertEquals(1.5, CpuQuota.availableCores(root));
    }

    @Test
    void shouldTakeQuotaOfVersionOne() throws IOException {
        process("0-15", "5:cpu,cpuacct:/docker/x\n4:cpuset:/y\n",
            "31 30 0:27 / /sys/fs/cgroup/cpu\\040acct rw - cgroup cgroup rw,cpu,cpuacct\n" +
            "32 30 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
        write("sys/fs/cgroup/cpu acct/docker/x/cpu.cfs_quota_us", "50000\n");
        write("sys/fs/cgroup/cpu acct/docker/x/cpu.cfs_period_us", "100000\n");
        assertEquals(0.5, CpuQuota.availableCores(root));
        write("sys/fs/cgroup/cpu acct/docker/x/cpu.cfs_quota_us", "-1\n");
        assertEquals(16, CpuQuota.availableCores(root));
    }

    @Test
    void shouldFindQuotaWhenContainerSeesOnlyItsOwnGroup() throws IOException {
        process("0-15", "5:cpu:/docker/x\n", "31 30 0:27 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        assertEquals(2.5, CpuQuota.availableCores(root));
        write("proc/self/cgroup", "5:cpu:/../other\n");
        assertEquals(2.5, CpuQuota.availableCores(root));
    }

    private void process(String cpus, String groups, String mounts) throws IOException {
        write("proc/self/status", "Name:\tjava\nCpus_allowed:\tff\nCpus_allowed_list:\t" + cpus + "\n");
        write("proc/self/cgroup", groups);
        write("proc/self/mountinfo", mounts);
    }

    private void write(String file, String content) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, content);
    }
}
