package org.jfabric.samples.counters;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;

/**
 * Many small messages that are not reported one by one: no entries are written, both sides only count, and wait for a
 * number.
 */
public final class CountedQuotes {
    private static final int QUOTES = 1000;
    private static final int BURST = 50;
    private static final int LENGTH = 8;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private CountedQuotes() {
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "counters-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Domain domain = fabric.domain(fabric.info(new Info().caps(Flags.TAGGED)).best());
            CompletionQueue failures = domain.openCompletionQueue(new CompletionQueueAttr());
            AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
            Counter sent = domain.openCounter(new CounterAttr());
            Counter received = domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC));
            Endpoint endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(failures, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(sent, Flags.SEND);
            endpoint.bind(received, Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();

            long self = addresses.insert(endpoint.name());
            MemoryRegion memory = domain.allocate(BURST * LENGTH);
            UnsafeBuffer quote = new UnsafeBuffer(new byte[LENGTH]);
            for (int begin = 0; begin < QUOTES; begin += BURST) {
                for (int i = 0; i < BURST; i++) {
                    quote.putLong(0, begin + i);
                    endpoint.trecv(memory.address(i * LENGTH), LENGTH, FabricAddress.ADDR_UNSPEC, 1, 0, i);
                    endpoint.tinject(quote, 0, LENGTH, self, 1);
                }
                int answer = received.await(begin + BURST, DEADLINE_NS);
                if (answer != 0) {
                    System.out.println("after " + received.read() + " quotes: " + FabricErrno.name(-answer));
                    return;
                }
            }
            System.out.println("sent " + sent.read() + ", received " + received.read() + ", failed "
                + (sent.readErr() + received.readErr()));
            System.out.println("the last quote is " + memory.buffer().getLong((BURST - 1) * LENGTH));
        }
    }
}
