package org.jfabric.samples.hello;

import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * The smallest whole program: a driver inside of this process, run by the program's own calls, and an endpoint that
 * sends a message to itself.
 */
public final class HelloFabric {
    private static final long TAG = 7;

    private HelloFabric() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder().set("jfabric.dir.name", "hello-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Domain domain = fabric.domain(fabric.info(new Info()).best());
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
            AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
            MemoryRegion memory = domain.allocate(4096);
            Endpoint endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
            long self = addresses.insert(endpoint.name());

            int length = memory.buffer().putStringUtf8(0, "hello, fabric");
            endpoint.trecv(memory.address(2048), 1024, FabricAddress.ADDR_UNSPEC, TAG, 0, 1);
            endpoint.tsend(memory.address(0), length, self, TAG, 2);
            for (int seen = 0; seen < 2;) {
                int count = queue.poll(entry -> System.out.println("done: operation " + entry.opContext()), 2);
                if (count < 0 && count != -FabricErrno.EAGAIN) {
                    throw new IllegalStateException("cannot read the queue: " + FabricErrno.describe(count));
                }
                seen += Math.max(0, count);
            }
            System.out.println("received: " + memory.buffer().getStringUtf8(2048));
        }
    }
}
