package org.jfabric.tool.doctor;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;

/** Size and kind of the file system for the driver's files. */
final class SharedMemoryCheck implements Check {
    private static final String NAME = "shared memory";
    private static final long LEAST_MORE_MIB = 256;
    private static final Pattern SIZE = Pattern.compile("(?:^|,)size=(\\d{1,15})k");
    private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s*(\\d{1,15}) kB");

    @Override
    public Finding examine(Host host) {
        DriverConfig config = host.config();
        Path directory = config.directory();
        String[] mount = host.mount(directory);
        String seen = host.freeBytes() < 0 ? "free space of " + directory + " is unknown"
            : (host.freeBytes() >> 20) + " MiB free for " + directory + " on " + mount[1] + " at " + mount[0];
        String[] resize = resize(host, mount);
        if (host.freeBytes() >= 0) {
            String shortage = Sizing.shortage(config, host.freeBytes());
            if (host.driverPid() == 0 && shortage != null) {
                return Finding.error(NAME, seen, "A driver would not start: " + shortage.lines().findFirst().orElse("")
                    + " In a container: --shm-size.", resize);
            }
            if (host.freeBytes() < Sizing.forDefaultClients(config, 1).totalBytes()) {
                return Finding.warning(NAME, seen, "There is no room for another client with default queues. In a"
                    + " container: --shm-size.", resize);
            }
        }
        return mount[1].equals("tmpfs") || mount[1].equals("ramfs") || mount[1].isEmpty() ? Finding.ok(NAME, seen)
            : Finding.warning(NAME, seen, "The file system writes the queues to a disk now and then, which stalls them."
                + " Choose a tmpfs with jfabric.dir.base.");
    }

    /** The command that enlarges a tmpfs by what a driver and a client need; none if its size is not known. */
    private static String[] resize(Host host, String[] mount) {
        long sizeMiB = !mount[1].equals("tmpfs") ? 0 : sizeMiB(host, mount[2]);
        long neededMiB = Sizing.forDriver(host.config()).totalBytes()
            + Sizing.forDefaultClients(host.config(), 1).totalBytes() >> 20;
        String command = "mount -o remount,size=" + (sizeMiB + Math.max(LEAST_MORE_MIB, neededMiB + 1)) + "M "
            + ShellWord.of(mount[0]);
        return sizeMiB == 0 ? new String[0] : new String[] {command};
    }

    /** The size among the options of a tmpfs, or else half of the memory, which the kernel does not show. */
    private static long sizeMiB(Host host, String options) {
        Matcher size = SIZE.matcher(options);
        if (size.find()) {
            return Long.parseLong(size.group(1)) >> 10;
        }
        return host.lines("/proc/meminfo").stream().map(TOTAL::matcher).filter(Matcher::matches)
            .mapToLong(total -> Long.parseLong(total.group(1)) >> 11).findFirst().orElse(0);
    }
}
