package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jfabric.AddressVector;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Fabric;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitObject;

/** One application: a domain with an address vector and endpoints, which share completion queues or not. */
final class SoakClient {
    /** Values of BUFFERED_LIMIT and BUFFERED_MIN. */
    private static final int[] LIMITS = {8, 64, 1000, 4096};
    private static final int[] LEAST = {8, 64, 500};

    final Info info;
    final Domain domain;
    final AddressVector vector;
    final boolean directed;
    /** Its endpoints post multi-receive buffers. */
    final boolean usesMultiReceive;
    /** Its endpoints have buffered receives. */
    final boolean buffers;
    /** Its endpoints have an entry for each access of a peer (RMA_EVENT). */
    final boolean reports;
    /** Such entries without data, since the last barrier. */
    long reportedReads;
    long reportedWrites;
    final Counter sent;
    final Counter received;
    /** The expected values of the counters. */
    long sends;
    long failedSends;
    long receives;
    long failedReceives;
    final List<SoakQueue> queues = new ArrayList<>();
    private final SoakWorld world;
    private final boolean locks;
    private final boolean selectiveSends;
    private final boolean selectiveReceives;
    private final SoakQueue common;
    /** Whether counters are bound; with counters messages do not take the short path. */
    private final boolean counts;

    SoakClient(SoakWorld world, Fabric fabric, Random random) {
        this.world = world;
        directed = random.nextInt(4) != 0;
        // so that a few seeds have each combination
        int receiving = Math.floorMod(world.seed + world.clients.size(), 3);
        usesMultiReceive = receiving == 1;
        buffers = receiving == 2;
        locks = world.drivers.isInvoker ? world.locks : random.nextInt(3) == 0;
        selectiveSends = random.nextBoolean();
        selectiveReceives = random.nextBoolean();
        boolean mayReport = (world.drivers.accesses() & Flags.RMA_EVENT) != 0;
        reports = world.accesses && random.nextInt(4) == 0 && mayReport;
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | (directed ? Flags.DIRECTED_RECV : 0)
            | (usesMultiReceive ? Flags.MULTI_RECV : 0)
            | (world.accesses ? world.drivers.accesses() & (Flags.RMA | Flags.ATOMIC) : 0)
            | (reports ? Flags.RMA_EVENT : 0));
        if (buffers) {
            hints.mode(Mode.BUFFERED_RECV);
        }
        if (locks) {
            hints.domainAttr().threading(Threading.SAFE);
        }
        info = fabric.info(hints.linkName(world.drivers.link)).best();
        domain = fabric.domain(info);
        vector = domain.openAddressVector(new AddressVectorAttr());
        sent = domain.openCounter(new CounterAttr());
        received = domain.openCounter(new CounterAttr());
        counts = random.nextInt(3) == 0;
        common = random.nextInt(3) == 0 ? openQueue(24 + random.nextInt(200)) : null;
    }

    SoakEndpoint open(int index, Random random) {
        Info wanted = info.copy();
        wanted.txAttr().size(1 + random.nextInt(random.nextBoolean() ? 6 : 64));
        wanted.rxAttr().size(4 + random.nextInt(random.nextBoolean() ? 6 : 100));
        SoakMemory memory = new SoakMemory(domain.allocate(SoakMemory.LENGTH));
        SoakQueue tx = common;
        SoakQueue rx = common;
        if (common == null && random.nextBoolean()) {
            tx = openQueue(12 + random.nextInt(100));
            rx = tx;
        } else if (common == null) {
            tx = openQueue(2 + random.nextInt(60));
            rx = openQueue(4 + random.nextInt(60));
        }
        SoakEndpoint endpoint = new SoakEndpoint(
            this, index, domain.openEndpoint(wanted, SoakWorld.ENDPOINT_CONTEXT + index), memory, tx, rx);
        endpoint.selectiveSends = selectiveSends;
        endpoint.selectiveReceives = selectiveReceives;
        endpoint.endpoint.bind(tx.cq, Flags.TRANSMIT | (selectiveSends ? Flags.SELECTIVE_COMPLETION : 0));
        endpoint.endpoint.bind(rx.cq, Flags.RECV | (selectiveReceives ? Flags.SELECTIVE_COMPLETION : 0));
        if (counts) {
            endpoint.endpoint.bind(sent, Flags.SEND);
            endpoint.endpoint.bind(received, Flags.RECV);
        }
        endpoint.endpoint.bind(vector);
        if (buffers) {
            endpoint.buffered = new BufferedReceiveCheck(world, endpoint, LIMITS[random.nextInt(LIMITS.length)],
                LEAST[random.nextInt(LEAST.length)]);
            endpoint.endpoint.setopt(EndpointOption.BUFFERED_LIMIT, endpoint.buffered.limit);
            endpoint.endpoint.setopt(EndpointOption.BUFFERED_MIN, endpoint.buffered.least);
            rx.deliversInSlabs = true;
        }
        if (world.accesses) {
            endpoint.replaceAccessed();
        }
        endpoint.endpoint.enable();
        endpoint.onEnabled();
        return endpoint;
    }

    /** Allocates memory with a key that no region of this world has had. */
    AccessedMemory allocateAccessed() {
        // not all endpoints may be open yet
        return new AccessedMemory(domain, world.nextId++, SoakWorld.MOST_ENDPOINTS);
    }

    /** Waits until the driver has finished its current step. */
    void awaitStep() {
        if (!world.drivers.isInvoker) {
            domain.openCounter(new CounterAttr()).close();
        }
    }

    /** Adds the operations of one endpoint, all of which have ended. */
    void count(SoakEndpoint endpoint) {
        for (SoakMessage message : endpoint.sends) {
            boolean failed = message.ended && message.errno != 0;
            sends += failed ? 0 : 1;
            failedSends += failed ? 1 : 0;
        }
        for (SoakReceive receive : endpoint.receives) {
            // messages in slabs are counted when their entries are read
            if (!receive.isPeek() && (endpoint.buffered == null || receive.entry != null)) {
                count(receive);
            }
        }
        if (endpoint.buffered != null) {
            receives += endpoint.buffered.counted;
            failedReceives += endpoint.buffered.countedFailed;
        }
        endpoint.claimEnds.stream().filter(each -> (each.peekFlags & Flags.DISCARD) == 0).forEach(this::count);
    }

    private void count(SoakReceive receive) {
        if (receive.isBuffer) {
            receive.parts.forEach(part -> count(part.entry));
            failedReceives += receive.entry.errno() != 0 ? 1 : 0;
        } else {
            count(receive.entry);
        }
    }

    private void count(SoakEntry entry) {
        boolean failed = entry != null && entry.errno() != 0;
        receives += failed ? 0 : 1;
        failedReceives += failed ? 1 : 0;
    }

    /** Whether the counters have the expected values. */
    boolean isCounted() {
        return !counts || sent.read() == sends && sent.readErr() == failedSends
            && received.read() == receives && received.readErr() == failedReceives;
    }

    String counts() {
        return sent.read() + " sent of " + sends + ", " + sent.readErr() + " failed of " + failedSends + ", "
            + received.read() + " received of " + receives + ", " + received.readErr() + " failed of "
            + failedReceives;
    }

    private SoakQueue openQueue(int size) {
        boolean hasWaitObject = world.random.nextInt(3) == 0;
        SoakQueue queue = new SoakQueue(
            domain.openCompletionQueue(new CompletionQueueAttr().size(size).format(CompletionFormat.TAGGED)
                .waitObject(hasWaitObject ? WaitObject.UNSPEC : WaitObject.NONE)),
            size, !locks, hasWaitObject, world::onEntry);
        queues.add(queue);
        return queue;
    }

    /** Closes an endpoint with its memory and the queues that it does not share. */
    void close(SoakEndpoint endpoint) {
        endpoint.endpoint.close();
        endpoint.memory.region().close();
        if (endpoint.accessed != null) {
            endpoint.accessed.close();
        }
        for (SoakQueue queue : List.of(endpoint.tx, endpoint.rx)) {
            queue.senders.remove(endpoint);
            queue.receivers.remove(endpoint);
            if (queue != common && queues.remove(queue)) {
                queue.cq.close();
            }
        }
    }
}
