package org.jfabric.perf.compare;

import org.agrona.concurrent.UnsafeBuffer;
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
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.tool.ToolException;

/** One of two clients, each of a daemon of its own, that sleep in a blocking read until a message is there. */
final class WaitingSide implements Side {
    private static final int QUEUE_SIZE = 64;
    private static final int ENTRY_BYTES = 64;
    private static final long TIMEOUT_NS = 30_000_000_000L;
    private static final long TAG = 9;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;

    private final SideSettings settings;
    private final Fabric fabric;
    private final CompletionQueue queue;
    private final AddressVector addresses;
    private final Endpoint endpoint;
    private final MemoryRegion region;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[ENTRY_BYTES]);
    private long peer;

    /** Attaches to the daemon. */
    WaitingSide(SideSettings settings, String link) {
        this.settings = settings;
        fabric = Fabric.connect(new FabricConfig()
            .directory(settings.directory().resolve(settings.role().daemon().text()))
            .clientName(settings.role().text()));
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.RDM).maxMsgSize(settings.sizeBytes());
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(QUEUE_SIZE);
        Domain domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(
            new CompletionQueueAttr().size(2 * QUEUE_SIZE).waitObject(WaitObject.UNSPEC));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        region = domain.allocate(2L * settings.sizeBytes());
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(addresses);
        endpoint.enable();
        endpoint.publish(settings.role().text());
    }

    @Override
    public void connect() {
        peer = addresses.insertService(settings.other().daemon().text(), settings.other().text());
    }

    @Override
    public void arm(Pass pass) {
        post();
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long i = 0; i < count; i++) {
            if (settings.role() == SideRole.PING) {
                post();
                send();
                await();
            } else {
                await();
                if (i < count - 1) {
                    post();
                }
                send();
            }
        }
        return System.nanoTime() - begin;
    }

    private void post() {
        check(endpoint.trecv(
            region.address(0), settings.sizeBytes(), FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE));
    }

    private void send() {
        int result;
        while ((result = endpoint.tsend(region.address(settings.sizeBytes()), settings.sizeBytes(), peer, TAG, SEND))
            == -FabricErrno.EAGAIN) {
            Thread.yield();
        }
        check(result);
    }

    private void await() {
        check(queue.sread(entry, 0, 1, 0, TIMEOUT_NS) - 1);
    }

    private static void check(int result) {
        if (result != 0) {
            throw new ToolException("A call of a client that waits answered " + result + '.');
        }
    }

    @Override
    public void close() {
        fabric.close();
    }
}
