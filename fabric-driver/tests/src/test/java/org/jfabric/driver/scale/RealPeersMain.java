package org.jfabric.driver.scale;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;

/**
 * Many endpoints of one driver, all peers of the same endpoint elsewhere. Each sends a first message and then sends
 * back what it receives.
 */
final class RealPeersMain {
    static final int LENGTH = 64;

    private static final int OPERATIONS = 16;
    /** Contexts of receives are the numbers of the endpoints, those of sends are above. */
    private static final long SEND = 1L << 32;

    private final CompletionQueue cq;
    private final QueueReader reader;
    private final MemoryRegion memory;
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final long target;

    private RealPeersMain(Fabric fabric, String target, int count, Runnable pump) {
        Info info = fabric.info(new Info().linkName("tcp").caps(Flags.TAGGED | Flags.MSG)
            .txAttr(new TxAttr().size(OPERATIONS)).rxAttr(new RxAttr().size(OPERATIONS))).best();
        Domain domain = fabric.domain(info);
        cq = domain.openCompletionQueue(new CompletionQueueAttr().size(2L * OPERATIONS * count)
            .format(CompletionFormat.TAGGED));
        reader = new QueueReader(cq, pump);
        AddressVector av = domain.openAddressVector(new AddressVectorAttr());
        this.target = av.insert(target);
        memory = domain.allocate(LENGTH);
        for (int i = 0; i < count; i++) {
            Endpoint endpoint = domain.openEndpoint(info, i);
            endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(av);
            endpoint.enable();
            endpoints.add(endpoint);
            System.out.println("name " + endpoint.name());
        }
    }

    /** Directory of the driver, name of the endpoint that all are peers of, number of endpoints. */
    public static void main(String[] args) throws IOException {
        DriverConfig config = DriverConfig.builder().directory(Path.of(args[0])).threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.tcp.interface", "lo").build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config)) {
            RealPeersMain peers = new RealPeersMain(
                driver.fabric(), args[1], Integer.parseInt(args[2]), driver::cycle);
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
            peers.run();
        }
    }

    private void run() throws IOException {
        for (int i = 0; i < endpoints.size(); i++) {
            receive(i);
            send(i);
        }
        while (System.in.available() == 0) {
            FabricNode.Entry entry = reader.poll();
            if (entry == null) {
                Thread.yield();
            } else if (entry.err() == 0 && entry.context() < SEND) {
                receive((int) entry.context());
                send((int) entry.context());
            }
        }
    }

    private void receive(int index) {
        check(endpoints.get(index).trecv(memory.address(), LENGTH, FabricAddress.ADDR_UNSPEC, 0, -1L, index));
    }

    private void send(int index) {
        check(endpoints.get(index).tsend(memory.address(), LENGTH, target, index, SEND + index));
    }

    private static void check(int result) {
        if (result < 0) {
            throw new AssertionError(FabricErrno.name(-result));
        }
    }
}
