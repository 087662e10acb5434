package org.jfabric.driver.hostile;

import java.nio.file.Path;
import org.jfabric.Fabric;
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

/**
 * Commits records to a file until the machine is killed, and says the number of each whose success it has read. Before,
 * it checks those of the run before: what was said there must be in the file. Arguments: the file, and the last number
 * that was said.
 */
final class PowerCutMain {
    private static final int CAPACITY = 1 << 20;
    private static final int WINDOW = 8;

    private PowerCutMain() {
    }

    public static void main(String[] args) {
        long committed = Long.parseLong(args[1]);
        DriverConfig config = DriverConfig.builder()
            .directory(Path.of("/dev/shm/power/driver")).threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config);
             Fabric fabric = driver.fabric();
             FabricNode node = new FabricNode(fabric, "loopback", new Info().caps(Flags.RMA | Flags.RMA_PMEM), 64, 0,
                 driver::cycle)) {
            MemoryRegion region = node.domain.allocatePersistent(Path.of(args[0]),
                (long) CAPACITY * CommittedRecord.LENGTH,
                new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(5));
            for (long number = 1; number <= committed; number++) {
                if (!CommittedRecord.isWhole(region.buffer(), offset(number), number)) {
                    System.out.println("lost record " + number + " of " + committed);
                    System.exit(1);
                }
            }
            System.out.println("found " + committed);
            commit(node, committed + 1);
        }
    }

    private static int offset(long number) {
        return (int) (number - 1) * CommittedRecord.LENGTH;
    }

    private static void commit(FabricNode node, long first) {
        long to = node.av.insert(node.endpoint.name());
        RemoteRequest request = new RemoteRequest();
        long posted = first - 1;
        for (long ended = first - 1; ended < CAPACITY;) {
            while (posted < CAPACITY && posted - ended < WINDOW) {
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
            node.await(ended);
            System.out.println("committed " + ended);
            System.out.flush();
        }
    }
}
