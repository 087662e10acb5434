package org.jfabric.driver.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;

/**
 * Commits records to a file, and messages to recorded groups, until the machine is killed, and says the number of each
 * record whose success it has read. Before, it checks those of the run before: what was said there must be in the file.
 * Arguments: the folder, the last number that was said, what was said of the {@link PowerCutGroups}, and, if it is to
 * end by itself, the number of its last record.
 */
final class PowerCutMain {
    private static final int CAPACITY = 1 << 20;
    private static final int WINDOW = 8;

    private PowerCutMain() {
    }

    public static void main(String[] args) throws IOException {
        Path shared = Files.createTempDirectory(Path.of("/dev/shm"), "power");
        try {
            run(args, shared.resolve("driver"));
        } finally {
            TestDirectory.delete(shared);
        }
    }

    private static void run(String[] args, Path directory) {
        long committed = Long.parseLong(args[1]);
        DriverConfig config = DriverConfig.builder()
            .directory(directory).threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config);
             // the machine may be emulated on a busy host
             Fabric fabric = driver.fabric(new FabricConfig().commandTimeoutNs(TimeUnit.MINUTES.toNanos(2)));
             FabricNode node = new FabricNode(fabric, "loopback", new Info().caps(Flags.RMA | Flags.RMA_PMEM), 64, 0,
                 driver::cycle)) {
            MemoryRegion region = node.domain.allocatePersistent(Path.of(args[0], "records"),
                (long) CAPACITY * CommittedRecord.LENGTH,
                new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(5));
            for (long number = 1; number <= committed; number++) {
                if (!CommittedRecord.isWhole(region.buffer(), offset(number), number)) {
                    System.out.println("lost record " + number + " of " + committed);
                    System.exit(1);
                }
            }
            PowerCutGroups groups = new PowerCutGroups(fabric, Path.of(args[0]), args[2], driver::cycle);
            System.out.println("found " + committed);
            System.out.flush();
            commit(node, committed + 1, args.length > 3 ? Long.parseLong(args[3]) : CAPACITY, groups);
        }
    }

    private static int offset(long number) {
        return (int) (number - 1) * CommittedRecord.LENGTH;
    }

    private static void commit(FabricNode node, long first, long last, PowerCutGroups groups) {
        long to = node.av.insert(node.endpoint.name());
        RemoteRequest request = new RemoteRequest();
        long posted = first - 1;
        for (long ended = first - 1; ended < last;) {
            while (posted < last && posted - ended < WINDOW) {
                posted++;
                int place = (int) (posted % WINDOW) * CommittedRecord.LENGTH;
                CommittedRecord.put(node.memory.buffer(), place, posted);
                request.clear().memory(node.memory.address(place), CommittedRecord.LENGTH).destAddr(to)
                    .remote(offset(posted), 5).opContext(posted).flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE);
                int result = node.endpoint.remoteMemory().writemsg(request);
                if (result != 0) {
                    throw new IllegalStateException(FabricErrno.describe(-result));
                }
            }
            ended++;
            groups.step();
            node.await(ended);
            System.out.println("committed " + ended);
            System.out.flush();
        }
    }
}
