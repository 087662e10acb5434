package org.jfabric.perf.compare;

import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.tool.PingPongLoop;
import org.jfabric.tool.ToolException;

/**
 * Endpoints of a client of its own that are open and idle. If asked to, each in turn sends itself one message, whose
 * receive was posted when it had its turn before.
 */
final class ColdEndpoints implements AutoCloseable {
    private static final int QUEUE_SIZE = 16;

    private final Fabric fabric;
    private final PingPongLoop[] loops;
    private int next;

    ColdEndpoints(SideSettings settings, String link, int endpoints) {
        fabric = Fabric.connect(new FabricConfig()
            .directory(settings.directory().resolve(SideRole.DRIVER.text())).clientName("idle"));
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.RDM);
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(QUEUE_SIZE);
        Domain domain = fabric.domain(fabric.info(hints).best());
        AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
        MemoryRegion region = domain.allocate(2L * settings.sizeBytes());
        loops = new PingPongLoop[endpoints];
        boolean sends = settings.pass() == Pass.COLD;
        for (int i = 0; i < endpoints; i++) {
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * QUEUE_SIZE));
            Endpoint endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.RECV);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(addresses);
            endpoint.enable();
            if (sends) {
                loops[i] = new PingPongLoop(endpoint, queue, addresses.insert(endpoint.name()), region.address(0),
                    region.address(settings.sizeBytes()), settings.sizeBytes(), settings.spinning());
            }
        }
    }

    /** One message through each, which makes the endpoint's way to itself, and the receive of its next one. */
    void prepare() {
        for (PingPongLoop loop : loops) {
            check(loop.arm());
            check(loop.postSend());
            check(loop.await());
            check(loop.arm());
        }
    }

    /**
     * Sends the message of the endpoint whose turn it is. Returns the nanoseconds from the call that sends to the entry
     * of the receive.
     */
    long firstMessage() {
        PingPongLoop loop = loops[next];
        next = next + 1 == loops.length ? 0 : next + 1;
        long begin = System.nanoTime();
        int sent = loop.postSend();
        int received = sent == 0 ? loop.await() : sent;
        long elapsedNs = System.nanoTime() - begin;
        check(received);
        check(loop.arm());
        return elapsedNs;
    }

    private static void check(int result) {
        if (result != 0) {
            throw new ToolException("A message of an idle endpoint to itself failed with "
                + FabricErrno.name(-result) + ".");
        }
    }

    @Override
    public void close() {
        fabric.close();
    }
}
