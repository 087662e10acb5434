package org.jfabric.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.resource.PreloadedSockets;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each check over trees of files that stand for hosts. */
class DoctorTest {
    private static final long MUCH = 1L << 32;

    @TempDir
    private Path root;

    private final DriverConfig.Builder config = DriverConfig.builder().directory(Path.of("/dev/shm/jfabric-7/d"));
    private String configProblem;
    private long uid = 7;
    private long driverPid;
    private long freeBytes = MUCH;
    private List<Path> leftovers = List.of();
    private int javaFeature = 25;
    private List<Verdict> verdicts = List.of(new Verdict("shm", true, 1, List.of()));
    private String linksProblem;
    private RecordingFolder recording;

    private void file(String path, String text) {
        try {
            Path file = root.resolve(path.substring(1));
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Host host() {
        return new Host(root, config.build(), configProblem, uid, driverPid, freeBytes, leftovers, javaFeature,
            verdicts, linksProblem, recording);
    }

    private Finding examine(Check check) {
        return check.examine(host());
    }

    private static void assertGrade(Grade grade, Finding finding, String... words) {
        String text = finding.seen() + " | " + finding.remedy() + " | " + finding.commands();
        assertEquals(grade, finding.grade(), text);
        for (String word : words) {
            assertTrue(text.contains(word), () -> "no \"" + word + "\" in " + text);
        }
    }

    @Test
    void shouldFindNothingBadInAnEmptyTree() {
        List<Finding> findings = Doctor.examine(host());
        assertEquals(19, findings.size());
        findings.forEach(each -> assertTrue(each.grade().compareTo(Grade.NOTE) <= 0, each::toString));
        assertEquals(19, findings.stream().map(Finding::check).distinct().count());
    }

    @Test
    void shouldReportOptionsThatADriverWouldRefuse() {
        config.set("jfabric.queue.txSize", "64");
        assertGrade(Grade.OK, examine(new ConfigurationCheck()),
            " options differ from the defaults", "code or command line");
        configProblem = "one option is wrong";
        assertGrade(Grade.ERROR, examine(new ConfigurationCheck()), "one option is wrong");
    }

    @Test
    void shouldCompareFreeSharedMemoryWithTheNeed() {
        SharedMemoryCheck check = new SharedMemoryCheck();
        file("/proc/self/mountinfo", """
            22 1 0:20 / / rw - ext4 /dev/vda rw
            23 22 0:21 / /dev rw - devtmpfs udev rw
            24 23 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=65536k
            """);
        assertGrade(Grade.OK, examine(check), "4096 MiB", "tmpfs at /dev/shm");
        freeBytes = 3 << 20;
        // never less than it has
        assertGrade(Grade.ERROR, examine(check), "3 MiB", "--shm-size", "mount -o remount,size=320M /dev/shm");
        file("/proc/self/mountinfo", "24 23 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw,inode64\n");
        assertGrade(Grade.ERROR, examine(check), "3 MiB", "[]");
        file("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:           10000 kB\n");
        assertGrade(Grade.ERROR, examine(check), "3 MiB", "mount -o remount,size=8448M /dev/shm");
        file("/proc/self/mountinfo", "22 1 0:20 / / rw - ext4 /dev/vda rw\n");
        assertGrade(Grade.ERROR, examine(check), "3 MiB", "[]");
        file("/proc/self/mountinfo", """
            22 1 0:20 / / rw - ext4 /dev/vda rw
            24 23 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=65536k
            """);
        driverPid = 12;
        assertGrade(Grade.WARNING, examine(check), "no room for another client");
        freeBytes = MUCH;
        assertGrade(Grade.OK, examine(check));
        config.directory(Path.of("/home/me/d"));
        assertGrade(Grade.WARNING, examine(check), "ext4 at /", "jfabric.dir.base");
    }

    @Test
    void shouldNameTheCardsThatHaveClocks() {
        CardClockCheck check = new CardClockCheck();
        assertGrade(Grade.OK, examine(check), "none");
        file("/sys/class/net/lo/mtu", "65536\n");
        file("/sys/class/net/eth1/device/ptp/ptp0/clock_name", "mlx5\n");
        assertGrade(Grade.OK, examine(check), "eth1 has /dev/ptp0");
    }

    @Test
    void shouldSayWhichLibrarySocketsGoThrough() throws IOException {
        SocketLibraryCheck check = new SocketLibraryCheck();
        assertGrade(Grade.OK, examine(check), "sockets go through the C library");
        file("/proc/self/environ", "A=b\0LD_PRELOAD=libvma.so:/opt/own.so\0C=d\ne\0");
        file("/proc/self/maps", "7f00-7f01 r-xp 00000000 fe:00 17   /usr/lib/libvma.so.9.8.1\n");
        assertGrade(Grade.WARNING, examine(check), "this environment names /opt/own.so, which the loader has not");
        file("/opt/real.so", "");
        Files.createSymbolicLink(root.resolve("opt/own.so"), root.resolve("opt/real.so"));
        file("/proc/self/maps", """
            7f00-7f01 r-xp 00000000 fe:00 17   /usr/lib/libvma.so.9.8.1
            7f02-7f03 r-xp 00000000 fe:00 18   /opt/real.so
            """);
        assertGrade(Grade.OK, examine(check), "libvma.so, /opt/own.so of LD_PRELOAD has no functions");
        verdicts = List.of(new Verdict("shm", true, 1, List.of()), new Verdict("tcp", true, 1, List.of(
            new Reason(PreloadedSockets.CONDITION, "/usr/lib/libvma.so.9", "", ""))));
        assertGrade(Grade.NOTE, examine(check), "sockets go through /usr/lib/libvma.so.9", "socketLibrary=SYSTEM");
        verdicts = List.of();
        linksProblem = "no socket";
        assertGrade(Grade.NOTE, examine(check), "no driver can be asked");
        driverPid = 12;
        file("/proc/12/environ", "LD_PRELOAD=/gone/libx.so\0");
        file("/proc/12/maps", "7f00-7f01 r-xp 00000000 fe:00 17   /usr/lib/libvma.so.9.8.1\n");
        assertGrade(Grade.WARNING, examine(check), "the driver's environment", "/gone/libx.so", "cat /proc/12/maps");
    }

    private void recordIn(String path, long free, String problem, boolean reserves) {
        recording = new RecordingFolder(Path.of(path), free, problem, reserves, 2_500_000);
    }

    @Test
    void shouldSayWhatTheFileSystemOfARecordingMeansForIt() {
        RecordingFolderCheck check = new RecordingFolderCheck();
        assertGrade(Grade.OK, examine(check), "--log-folder");
        file("/proc/self/mountinfo", """
            22 1 0:20 / / rw - ext4 /dev/vda rw
            23 1 0:21 / /run rw - tmpfs tmpfs rw
            24 1 0:22 / /layer rw - overlay overlay rw,lowerdir=/a
            25 1 0:23 / /net rw - nfs4 host:/export rw
            26 1 0:24 / /fast rw - ext4 /dev/vdb rw,nobarrier
            27 1 0:25 / /sshfs rw - fuse.sshfs host: rw
            """);
        recordIn("/var/logs", MUCH, null, true);
        assertGrade(Grade.OK, examine(check), "4096 MiB free in /var/logs on ext4 at /, a sync takes 2.5 ms");
        recordIn("/run/logs", MUCH, null, true);
        assertGrade(Grade.WARNING, examine(check), "tmpfs at /run", "no power cut");
        recordIn("/layer/logs", MUCH, null, true);
        assertGrade(Grade.WARNING, examine(check), "overlay at /layer", "deleted with the container");
        recordIn("/net/logs", MUCH, null, true);
        assertGrade(Grade.WARNING, examine(check), "nfs4 at /net", "another host");
        recordIn("/sshfs/logs", MUCH, null, true);
        assertGrade(Grade.WARNING, examine(check), "fuse.sshfs", "another host");
        recordIn("/fast/logs", MUCH, null, true);
        assertGrade(Grade.WARNING, examine(check), "without barriers");
        recordIn("/var/logs", MUCH, null, false);
        assertGrade(Grade.NOTE, examine(check), "no fallocate");
        recordIn("/var/logs", 200 << 20, null, true);
        assertGrade(Grade.WARNING, examine(check), "a log needs two");
        recordIn("/net/logs", 100 << 20, null, true);
        assertGrade(Grade.ERROR, examine(check), "no room for a segment of 128 MiB");
        recordIn("/run/logs", MUCH, "fdatasync failed: FI_EIO", true);
        assertGrade(Grade.ERROR, examine(check), "fdatasync failed: FI_EIO");
    }

    @Test
    void shouldWarnOfFilesThatALogoutDeletes() {
        LogoutCheck check = new LogoutCheck();
        uid = 1000;
        assertGrade(Grade.OK, examine(check), "no systemd-logind");
        file("/proc/1/comm", "systemd\n");
        assertGrade(Grade.WARNING, examine(check), "RemoveIPC=yes", "system user", "systemctl restart systemd-logind");
        file("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
        assertGrade(Grade.WARNING, examine(check));
        file("/etc/systemd/logind.conf", "[Login]\nRemoveIPC = no\n");
        assertGrade(Grade.OK, examine(check));
        file("/etc/systemd/logind.conf.d/50-other.conf", "[Login]\nRemoveIPC=yes\n");
        assertGrade(Grade.WARNING, examine(check));
        file("/etc/systemd/logind.conf.d/90-jfabric.conf", "[Login]\nRemoveIPC=no\n");
        assertGrade(Grade.OK, examine(check));
        file("/etc/systemd/logind.conf.d/90-jfabric.conf", "[Login]\nRemoveIPC=yes\n");
        uid = 999;
        assertGrade(Grade.OK, examine(check), "system user");
    }

    @Test
    void shouldQuoteWhatAShellWouldTakeApart() {
        assertEquals("/dev/shm/jfabric-7/a", ShellWord.of(Path.of("/dev/shm/jfabric-7/a")));
        assertEquals("'/dev/shm/my files/$a'", ShellWord.of("/dev/shm/my files/$a"));
        assertEquals("'it'\\''s'", ShellWord.of("it's"));
        leftovers = List.of(Path.of("/dev/shm/my files"));
        assertGrade(Grade.WARNING, examine(new LeftoversCheck()), "./fabric clean --dir '/dev/shm/my files'");
    }

    @Test
    void shouldNameLeftoversAndTheCommandThatRemovesThem() {
        assertGrade(Grade.OK, examine(new LeftoversCheck()));
        leftovers = List.of(Path.of("/dev/shm/jfabric-7/a"), Path.of("/dev/shm/jfabric-7/b"));
        assertGrade(Grade.WARNING, examine(new LeftoversCheck()),
            "./fabric clean --dir /dev/shm/jfabric-7/a", "./fabric clean --dir /dev/shm/jfabric-7/b");
    }

    @Test
    void shouldReadTheLimitsOfTheDriverThatRuns() {
        LimitsCheck check = new LimitsCheck();
        assertGrade(Grade.NOTE, examine(check), "cannot be read");
        String format = "Limit   Soft Limit   Hard Limit  Units\nMax open files   %s   %s   files\n"
            + "Max locked memory   %s   %s   bytes\n";
        file("/proc/self/limits", format.formatted("65536", "65536", "8388608", "8388608"));
        file("/proc/12/limits", format.formatted("1024", "65536", "unlimited", "unlimited"));
        assertGrade(Grade.OK, examine(check), "8388608 bytes", "65536");
        config.set("jfabric.link.enabled", "shm,verbs");
        assertGrade(Grade.WARNING, examine(check), "LimitMEMLOCK=infinity", "ulimit -l unlimited");
        driverPid = 12;
        assertGrade(Grade.WARNING, examine(check), "open files 1024", "ulimit -n 65536");
    }

    @Test
    void shouldCompareCoresWithThreadsThatSpin() {
        CoresCheck check = new CoresCheck();
        file("/proc/self/status", "Cpus_allowed_list:\t0-3\n");
        assertGrade(Grade.OK, examine(check), "4.0 cores", "SHARED");
        config.set("jfabric.threading.mode", "DEDICATED");
        assertGrade(Grade.OK, examine(check));
        config.set("jfabric.threading.progressThreads", "3");
        assertGrade(Grade.WARNING, examine(check), "3 threads of the driver spin");
        config.set("jfabric.threading.progressThreads", "4");
        assertGrade(Grade.ERROR, examine(check), "4 threads of the driver spin", "progressThreads=1");
        config.set("jfabric.threading.progressThreads", "1");
        file("/proc/self/cgroup", "0::/box\n");
        file("/proc/self/mountinfo", "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        file("/sys/fs/cgroup/box/cpu.max", "200000 100000\n");
        assertGrade(Grade.WARNING, examine(check), "2.0 cores", "spins");
        file("/sys/fs/cgroup/box/cpu.max", "50000 100000\n");
        assertGrade(Grade.ERROR, examine(check), "0.5 cores", "jfabric.threading.mode=SHARED");
        config.set("jfabric.threading.mode", "SHARED");
        assertGrade(Grade.NOTE, examine(check), "0.5 cores");
    }

    @Test
    void shouldCountHowOftenAQuotaWasUsedUpInBothVersionsOfControlGroups() {
        ThrottlingCheck check = new ThrottlingCheck();
        assertGrade(Grade.OK, examine(check), "no quota");
        file("/proc/self/cgroup", "0::/box\n");
        file("/sys/fs/cgroup/box/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 0\nthrottled_usec 0\n");
        assertGrade(Grade.OK, examine(check), "never");
        file("/sys/fs/cgroup/box/cpu.stat", "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 7\n");
        assertGrade(Grade.WARNING, examine(check), "4 times", "cpuset");
        // a container sees its own group at the top, under the name that it has outside
        driverPid = 12;
        file("/proc/12/cgroup", "3:cpu,cpuacct:/docker/abc\n2:memory:/docker/abc\n");
        file("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 9\nnr_throttled 11\nthrottled_time 7\n");
        assertGrade(Grade.WARNING, examine(check), "11 times");
    }

    @Test
    void shouldWantTheSpinningThreadOnAnIsolatedCore() {
        BindingCheck check = new BindingCheck();
        assertGrade(Grade.OK, examine(check), "no thread spins");
        config.set("jfabric.threading.mode", "DEDICATED");
        assertGrade(Grade.NOTE, examine(check), "jfabric.threading.progressCpu");
        config.set("jfabric.threading.progressCpu", "3");
        file("/proc/self/status", "Cpus_allowed_list:\t0-1,3\n");
        assertGrade(Grade.WARNING, examine(check), "isolcpus=3");
        file("/sys/devices/system/cpu/isolated", "2-3\n");
        assertGrade(Grade.OK, examine(check), "core 3 is isolated");
        file("/proc/self/status", "Cpus_allowed_list:\t0-1\n");
        assertGrade(Grade.ERROR, examine(check), "[0, 1]");
    }

    @Test
    void shouldWantThePerformanceGovernorOnEachCore() {
        GovernorCheck check = new GovernorCheck();
        assertGrade(Grade.OK, examine(check), "virtual machines");
        file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        // one that is offline has neither
        file("/sys/devices/system/cpu/cpu1/topology/core_id", "1\n");
        file("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
        assertGrade(Grade.OK, examine(check), "performance");
        file("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
        assertGrade(Grade.WARNING, examine(check), "powersave=1", "cpupower frequency-set -g performance");
    }

    @Test
    void shouldWantAFastClock() {
        ClockSourceCheck check = new ClockSourceCheck();
        String folder = "/sys/devices/system/clocksource/clocksource0/";
        file(folder + "current_clocksource", "kvm-clock\n");
        assertGrade(Grade.OK, examine(check), "kvm-clock");
        file(folder + "current_clocksource", "hpet\n");
        file(folder + "available_clocksource", "hpet acpi_pm\n");
        assertGrade(Grade.WARNING, examine(check), "hpet", "dmesg");
        file(folder + "available_clocksource", "tsc hpet kvm-clock\n");
        assertGrade(Grade.WARNING, examine(check), "echo tsc > " + folder + "current_clocksource");
    }

    @Test
    void shouldShowHugePages() {
        String folder = "/sys/kernel/mm/transparent_hugepage/";
        TransparentHugePagesCheck transparent = new TransparentHugePagesCheck();
        file(folder + "enabled", "always [madvise] never\n");
        file(folder + "shmem_enabled", "always [within_size] advise never deny force\n");
        assertGrade(Grade.OK, examine(transparent), "private memory madvise, shared memory within_size");
        file(folder + "shmem_enabled", "always within_size advise [never] deny force\n");
        assertGrade(Grade.NOTE, examine(transparent), "huge=within_size");
        file(folder + "enabled", "[always] madvise never\n");
        assertGrade(Grade.WARNING, examine(transparent), "echo madvise > " + folder + "enabled");
        ReservedHugePagesCheck reserved = new ReservedHugePagesCheck();
        file("/proc/meminfo", "MemTotal:  100 kB\nHugePages_Total:      3\nHugePages_Free:       0\n");
        assertGrade(Grade.OK, examine(reserved), "3 reserved, 0 free");
        config.set("jfabric.link.enabled", "verbsrxm");
        assertGrade(Grade.NOTE, examine(reserved), "vm.nr_hugepages=67");
    }

    @Test
    void shouldReadTheOptionsOfTheVirtualMachineOfTheDriver() {
        JavaCheck check = new JavaCheck();
        assertGrade(Grade.OK, examine(check), "version 25");
        driverPid = 12;
        assertGrade(Grade.NOTE, examine(check), "cannot be read");
        file("/proc/12/cmdline", "java\0-Dagrona.disable.bounds.checks=true\0-jar\0x.jar\0driver\0");
        assertGrade(Grade.WARNING, examine(check), "without -XX:-UsePerfData |");
        file("/proc/12/cmdline", "java\0-XX:-UsePerfData\0-Dagrona.disable.bounds.checks=true\0-jar\0x.jar\0driver\0");
        assertGrade(Grade.OK, examine(check));
        javaFeature = 21;
        assertGrade(Grade.ERROR, examine(check), "version 21");
    }

    @Test
    void shouldWarnOfEnabledLinksThatCannotBeUsed() {
        LinksCheck check = new LinksCheck();
        Verdict refused = new Verdict("verbs", false, 0, List.of(new Reason("device", "none", "one", "Plug it in.")));
        verdicts = List.of(verdicts.getFirst(), refused);
        assertGrade(Grade.OK, examine(check), "usable shm");
        config.set("jfabric.link.enabled", "shm,verbs");
        assertGrade(Grade.WARNING, examine(check), "verbs: rejected; device: seen none", "./fabric info --why");
        verdicts = List.of();
        assertGrade(Grade.ERROR, examine(check), "usable none");
        linksProblem = "no room";
        assertGrade(Grade.ERROR, examine(check), "no room");
    }

    @Test
    void shouldCompareTheBuffersOfSocketsWithWhatTheKernelGives() {
        assertGrade(Grade.OK, examine(new SocketBuffersCheck()), "link udp is not enabled");
        config.set("jfabric.link.enabled", "loopback,udp");
        assertGrade(Grade.OK, examine(new SocketBuffersCheck()), "limits unknown");
        file("/proc/sys/net/core/rmem_max", "212992\n");
        file("/proc/sys/net/core/wmem_max", "4194304\n");
        assertGrade(Grade.WARNING, examine(new SocketBuffersCheck()), "net.core.rmem_max 212992",
            "asked for 2097152 bytes", "[sysctl -w net.core.rmem_max=2097152]");
        config.set("jfabric.udp.bufferBytes", "100k");
        assertGrade(Grade.OK, examine(new SocketBuffersCheck()), "asked for 102400 bytes");
    }

    @Test
    void shouldFindTheWayOfMulticastAndBridgesThatWouldCutIt() {
        assertGrade(Grade.OK, examine(new MulticastCheck()), "link udp is not enabled");
        config.set("jfabric.link.enabled", "loopback,udp");
        file("/sys/class/net/lo/flags", "0x1009\n");
        file("/sys/class/net/down/flags", "0x1002\n");
        assertGrade(Grade.NOTE, examine(new MulticastCheck()), "no interface that is up has MULTICAST");
        file("/sys/class/net/eth0/flags", "0x1003\n");
        file("/proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
            + "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
        assertGrade(Grade.NOTE, examine(new MulticastCheck()), "interfaces eth0, no route",
            "[ip route add 224.0.0.0/4 dev eth0]");
        file("/proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n"
            + "eth1\t000000E0\t00000000\t0001\t0\t0\t0\t000000F0\t0\t0\t0\n");
        assertGrade(Grade.OK, examine(new MulticastCheck()), "route by eth1");
        file("/sys/class/net/br0/bridge/multicast_snooping", "1\n");
        file("/sys/class/net/br0/bridge/multicast_querier", "0\n");
        assertGrade(Grade.NOTE, examine(new MulticastCheck()), "without a querier on br0",
            "[echo 1 > /sys/class/net/br0/bridge/multicast_querier]");
        file("/sys/class/net/br0/bridge/multicast_querier", "1\n");
        assertGrade(Grade.OK, examine(new MulticastCheck()), "interfaces eth0, route by eth1");
    }
}
