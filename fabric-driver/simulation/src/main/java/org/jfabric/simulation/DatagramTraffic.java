package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.link.udp.UdpLinkProvider;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Random datagrams to all nodes, also to itself, and to a group of which all are members. Each message says which one
 * it is. Contexts: messages have their ids, receives the bit {@link #RECEIVE} and their slot.
 */
final class DatagramTraffic implements Program {
    private static final String GROUP = "fi_sockaddr_in://239.255.0.1:5000";
    private static final long RECEIVE = 1L << 62;
    private static final int SLOTS = 32;
    private static final int SLOT_BYTES = 2048;
    private static final int MOST_BYTES = 1472;
    private static final int SHORT_BYTES = 64;
    private static final Duration LATEST = Duration.ofMillis(5);
    private static final Duration END_LIMIT = Duration.ofSeconds(300);

    private final Node node;
    private final DatagramLedger ledger;
    private final SplittableRandom random;
    private final AddressVector vector;
    private final CompletionQueue queue;
    private final Endpoint endpoint;
    private final MulticastGroup group;
    private final UnsafeBuffer bytes;
    private final MemoryRegion memory;
    private final CompletionError error = new CompletionError();
    private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
    private final Long2ObjectHashMap<Integer> sends = new Long2ObjectHashMap<>();
    private final ArrayDeque<Integer> freeReceives = new ArrayDeque<>();
    private final long[] addresses;
    private final int[] known;
    private final long paceNs;
    private long nextNs;
    private int version;

    DatagramTraffic(Node node, DatagramLedger ledger, long paceNs) {
        this.node = node;
        this.ledger = ledger;
        this.paceNs = paceNs;
        random = node.random();
        addresses = new long[node.simulation().nodes().size()];
        known = new int[addresses.length];
        Info hints = new Info().caps(Flags.MSG | Flags.SOURCE | Flags.MULTICAST).linkName(UdpLinkProvider.NAME);
        hints.epAttr().type(EndpointType.DGRAM);
        Domain domain = node.fabric().domain(node.fabric().info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(256));
        vector = domain.openAddressVector(new AddressVectorAttr());
        memory = domain.allocate(2L * SLOTS * SLOT_BYTES);
        bytes = memory.buffer();
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        group = endpoint.join(GROUP, 0, 0);
        for (int i = 0; i < SLOTS; i++) {
            freeSends.add(i);
            freeReceives.add(SLOTS + i);
        }
        ledger.onStart(node, endpoint.name());
    }

    @Override
    public int run() {
        ledger.requireNoViolation();
        learn();
        // now and then datagrams find no receive, and wait in the socket
        int work = ledger.isActive() && random.nextInt(4) == 0 ? 0 : postReceives();
        work += EntryReader.readAll(queue, error, this::onEntry, this::onError);
        if (ledger.isActive() && nextNs <= node.simulation().nanoTime()) {
            if (paceNs > 0) {
                nextNs = node.simulation().nanoTime() + random.nextLong(2 * paceNs);
                node.wakeAt(nextNs);
            }
            for (int i = random.nextInt(6); i > 0 && !freeSends.isEmpty(); i--) {
                work += send();
            }
        }
        return work;
    }

    private void learn() {
        if (version == ledger.version()) {
            return;
        }
        version = ledger.version();
        for (int i = 0; i < known.length; i++) {
            if (known[i] != ledger.life(i)) {
                if (known[i] != 0) {
                    vector.remove(addresses[i]);
                }
                known[i] = ledger.life(i);
                addresses[i] = vector.insert(ledger.name(i));
            }
        }
    }

    private int postReceives() {
        int work = 0;
        while (!freeReceives.isEmpty()) {
            int slot = freeReceives.peek();
            int length = random.nextInt(16) == 0 ? Long.BYTES + random.nextInt(MOST_BYTES) : MOST_BYTES;
            int result = endpoint.recv(memory.address((long) slot * SLOT_BYTES), length,
                FabricAddress.ADDR_UNSPEC, RECEIVE | slot);
            if (result == -FabricErrno.EAGAIN) {
                break;
            }
            Account.require(result == 0, "recv answered " + FabricErrno.name(result));
            freeReceives.remove();
            work++;
        }
        return work;
    }

    private int send() {
        boolean isOfGroup = random.nextInt(8) == 0;
        int to = isOfGroup ? -1 : random.nextInt(known.length);
        if (to >= 0 && known[to] == 0) {
            return 0;
        }
        int slot = freeSends.peek();
        int offset = slot * SLOT_BYTES;
        int length = Long.BYTES + random.nextInt(
            random.nextInt(4) == 0 ? MOST_BYTES - Long.BYTES + 1 : SHORT_BYTES);
        boolean fits = length <= endpoint.injectSize();
        boolean injects = fits && !isOfGroup && random.nextInt(4) == 0;
        long id = ledger.nextId();
        Payload.fill(bytes, offset, length, id);
        Account.Message message = new Account.Message(id, node, to, to < 0 ? 0 : known[to], length);
        message.isPending = !injects;
        long destination = isOfGroup ? group.fiAddr() : addresses[to];
        ledger.onPosted(message);
        int result = injects ? endpoint.inject(bytes, offset, length, destination)
            : endpoint.messages().sendmsg(memory.address(offset), length, 0, destination, id, flags(fits)
                | (isOfGroup ? Flags.MULTICAST : 0));
        if (result == -FabricErrno.EAGAIN) {
            ledger.onRefused(message);
            return 0;
        }
        Account.require(result == 0, "a send answered " + FabricErrno.name(result));
        if (!injects) {
            freeSends.remove();
            sends.put(id, Integer.valueOf(slot));
        }
        return 1;
    }

    private long flags(boolean fits) {
        long more = random.nextInt(4) == 0 ? Flags.MORE : 0;
        long level = random.nextBoolean() ? Flags.TRANSMIT_COMPLETE : 0;
        return Flags.COMPLETION | more | (fits && random.nextInt(4) == 0 ? Flags.INJECT : level);
    }

    private void onEntry(Completion entry) {
        long context = entry.opContext();
        if ((context & RECEIVE) == 0) {
            onSent(context, 0);
            return;
        }
        onReceived(context, entry.len(), 0, entry.srcAddr(), (entry.flags() & Flags.MULTICAST) != 0);
    }

    private void onError() {
        long context = error.opContext();
        if ((context & RECEIVE) == 0) {
            onSent(context, error.err());
            return;
        }
        Account.require(error.err() == FabricErrno.ETRUNC, "a receive ended with " + FabricErrno.name(error.err()));
        onReceived(context, error.len(), error.olen(), error.srcAddr(), (error.flags() & Flags.MULTICAST) != 0);
    }

    private void onSent(long id, int errno) {
        Integer slot = sends.remove(id);
        Account.require(slot != null, "an entry with context " + id + " came twice or never had an operation");
        freeSends.add(slot);
        node.simulation().note("sent", node, id, errno);
        ledger.onEntry(node, id, errno);
    }

    private void onReceived(long context, long length, long cutBytes, long source, boolean isOfGroup) {
        int slot = (int) context;
        int offset = slot * SLOT_BYTES;
        long id = bytes.getLong(offset);
        Account.Message message = ledger.onReceived(node, id, length + cutBytes, isOfGroup);
        Payload.check(bytes, offset, (int) length, (int) (length + cutBytes), id);
        boolean mayBe = source == FabricAddress.ADDR_NOTAVAIL || message.fromLife != known[message.from]
            || source == addresses[message.from];
        Account.require(mayBe, message + " was received from " + source);
        node.simulation().note("received", node, id, length);
        freeReceives.add(slot);
    }

    static Simulate.Result run(long seed, Duration duration, Simulate.Plan plan) {
        boolean isWhole = plan.faults().isEmpty();
        try (Simulation simulation = new Simulation(seed)) {
            DatagramLedger ledger = new DatagramLedger(simulation, plan.nodes());
            simulation.onDatagrams(ledger);
            for (int i = 0; i < plan.nodes(); i++) {
                simulation.add("n" + i, plan.options(), node -> new DatagramTraffic(node, ledger, plan.paceNs()));
            }
            simulation.start();
            // an access to memory that fails ends operations otherwise than the ledger has it
            simulation.faults(plan.faults().stream().filter(each -> each.kind() != Fault.Kind.MEMORY).toList());
            if (!isWhole) {
                SplittableRandom random = new SplittableRandom(~seed);
                simulation.datagramFaults(random.nextInt(200), random.nextInt(200), random.nextInt(200), LATEST);
            }
            simulation.run(duration);
            ledger.end();
            simulation.heal();
            if (!simulation.runUntil(ledger::isOver, END_LIMIT)) {
                throw simulation.failure(ledger.unfinished(), null);
            }
            ledger.requireNoViolation();
            if (isWhole && (ledger.lost != 0 || ledger.doubled != 0 || ledger.failed != 0)) {
                throw simulation.failure("without a fault " + ledger.lost + " datagrams were lost, " + ledger.doubled
                    + " doubled, and " + ledger.failed + " sends have failed", null);
            }
            simulation.check(true);
            return Simulate.result(simulation, ledger.sent, ledger.failed, ledger.received, 0, 0);
        }
    }
}
