package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.AddressVectorAttr;
import org.jfabric.CompletionQueue;
import org.jfabric.CompletionQueueAttr;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EndpointType;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.PingPongLoop;
import org.jfabric.tool.ToolException;

/**
 * A client of a daemon that sends to itself, one message at a time: the next receive is posted while a message is under
 * way. Of other endpoints it may have some open that have no traffic.
 */
final class JFabricSelf implements Side {
    private static final int CHUNK = 64;
    private static final int IDLE_QUEUE_SIZE = 16;
    private static final String LINK = "loopback";
    private static final String SERVICE = "self";

    private final SideSettings settings;
    private final PingPongFabric fabric;
    private final Fabric idle;
    private PingPongLoop loop;
    private boolean armed;

    /**
     * Attaches to the daemon.
     *
     * @param settings  of the cell.
     * @param endpoints open in all, at least 1.
     */
    JFabricSelf(SideSettings settings, int endpoints) {
        this.settings = settings;
        fabric = PingPongFabric.application(
            settings.directory().resolve(SideRole.DRIVER.text()), null, LINK, settings.sizeBytes(), SERVICE);
        idle = endpoints > 1 ? openIdle(settings, endpoints - 1) : null;
    }

    private static Fabric openIdle(SideSettings settings, int endpoints) {
        Fabric fabric = Fabric.connect(new FabricConfig()
            .directory(settings.directory().resolve(SideRole.DRIVER.text())).clientName("idle"));
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName(LINK);
        hints.epAttr().type(EndpointType.RDM);
        hints.txAttr().size(IDLE_QUEUE_SIZE);
        hints.rxAttr().size(IDLE_QUEUE_SIZE);
        Domain domain = fabric.domain(fabric.info(hints).best());
        AddressVector addresses = domain.openAddressVector(new AddressVectorAttr());
        List<Endpoint> opened = new ArrayList<>(endpoints);
        while (opened.size() < endpoints) {
            CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * IDLE_QUEUE_SIZE));
            Endpoint endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.enable();
            opened.add(endpoint);
        }
        return fabric;
    }

    @Override
    public void connect() {
        long self = fabric.peer(SideRole.DRIVER.text(), SERVICE);
        loop = new PingPongLoop(fabric.endpoint(), fabric.queue(), self, fabric.receiveRegion().address(0),
            fabric.sendRegion().address(0), settings.sizeBytes(), settings.spinning());
    }

    @Override
    public long run(Pass pass, long count) {
        if (pass == Pass.VERIFY) {
            return verify(count);
        }
        armOnce();
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            chunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    /** One receive is always posted, also between passes. */
    private void armOnce() {
        if (!armed) {
            check(loop.arm());
            armed = true;
        }
    }

    private void chunk(int count) {
        for (int i = 0; i < count; i++) {
            int result = loop.postSend();
            if (result == 0) {
                result = loop.arm();
            }
            if (result == 0) {
                result = loop.await();
            }
            check(result);
        }
    }

    private long verify(long count) {
        for (long i = 0; i < count; i++) {
            PingPongContents.fill(fabric.sendRegion().segment(), settings.sizeBytes(), i);
            armOnce();
            check(loop.postSend());
            check(loop.await());
            armed = false;
            long position = PingPongContents.mismatch(fabric.receiveRegion().segment(), settings.sizeBytes(), i);
            if (loop.lastLength() != settings.sizeBytes() || position >= 0) {
                throw new ToolException("Message " + i + " to oneself is not as sent (" + loop.lastLength()
                    + " bytes, first difference at " + position + "); this is a defect of JFabric, please report it.");
            }
        }
        return count;
    }

    private void check(int result) {
        if (result != 0) {
            throw new ToolException(result == -FabricErrno.EAVAIL ? fabric.failure()
                : "A transfer was refused with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }

    @Override
    public void close() {
        try {
            if (idle != null) {
                idle.close();
            }
        } finally {
            fabric.close();
        }
    }
}
