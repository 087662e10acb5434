package org.jfabric.tool.doctor;

import java.nio.file.Path;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sizing;

/** Size and kind of the file system for the driver's files. */
final class SharedMemoryCheck implements Check {
    private static final String NAME = "shared memory";
    private static final int POINT_FIELD = 4;

    @Override
    public Finding examine(Host host) {
        DriverConfig config = host.config();
        Path directory = config.directory().path();
        String[] mount = mount(host, directory);
        String seen = host.freeBytes() < 0 ? "free space of " + directory + " is unknown"
            : (host.freeBytes() >> 20) + " MiB free for " + directory + " on " + mount[1] + " at " + mount[0];
        String resize = "mount -o remount,size=" + Math.max(256, (host.freeBytes() >> 20) + 256) + "M " + mount[0];
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

    /** Mount point and type of the file system that holds a path. */
    private static String[] mount(Host host, Path path) {
        String[] found = {"/dev/shm", ""};
        int longest = -1;
        for (String line : host.lines("/proc/self/mountinfo")) {
            int separator = line.indexOf(" - ");
            String[] fields = line.split(" ");
            if (separator < 0 || fields.length <= POINT_FIELD) {
                continue;
            }
            Path point = Path.of(fields[POINT_FIELD].replace("\\040", " "));
            // of several at one place the last one is in use
            if (path.startsWith(point) && point.getNameCount() >= longest) {
                longest = point.getNameCount();
                found = new String[] {point.toString(), line.substring(separator + 3).split(" ")[0]};
            }
        }
        return found;
    }
}
