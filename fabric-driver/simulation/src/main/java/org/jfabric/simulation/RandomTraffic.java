package org.jfabric.simulation;

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
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Random operations: tagged messages to all nodes, also to itself, and writes that are read back. Each message says
 * which one it is. Contexts: messages have their ids, receives the bit {@link #RECEIVE}, accesses {@link #ACCESS}.
 */
final class RandomTraffic implements Program {
    private static final long RECEIVE = 1L << 62;
    private static final long ACCESS = 1L << 61;
    private static final int SLOTS = 16;
    private static final int SLOT_BYTES = 1 << 17;
    private static final int ACCESS_BYTES = 4096;
    private static final long KEY = 7;
    private static final int SENDS_BETWEEN_PATHS = 16;
    private static final int SHORT_BYTES = 256;
    private static final int MEDIUM_BYTES = 8192;

    private final Node node;
    private final Ledger ledger;
    private final SplittableRandom random;
    private final AddressVector vector;
    private final CompletionQueue queue;
    private final Endpoint endpoint;
    private final MemoryRegion memory;
    private final UnsafeBuffer bytes;
    private final CompletionError error = new CompletionError();
    private final ArrayDeque<Integer> freeSends = new ArrayDeque<>();
    private final Long2ObjectHashMap<Integer> slots = new Long2ObjectHashMap<>();
    private final ArrayDeque<Integer> freeReceives = new ArrayDeque<>();
    private final long[] addresses;
    private final int[] known;
    private final long accessOffset;
    private final boolean remoteAccess;
    /** Several links under one address. */
    private final boolean hasLinks;
    private final Openings openings;
    /** Mean time between two batches of operations, 0 for no pause. */
    private final long paceNs;
    private long nextNs;
    private int version;
    private long receives;
    /** 0 none, 1 writing, 2 reading. */
    private int access;
    private int accessTo;
    private int accessLife;
    private int accessLength;
    private boolean isAccessConfirmed;
    private final RemoteRequest writing = new RemoteRequest();
    private long accessSeed;

    RandomTraffic(Node node, Ledger ledger, String link, boolean remoteAccess, long paceNs) {
        this.node = node;
        this.ledger = ledger;
        this.remoteAccess = remoteAccess;
        this.paceNs = paceNs;
        random = node.random();
        hasLinks = Simulate.BEST.equals(link);
        int nodes = node.simulation().nodes().size();
        addresses = new long[nodes];
        known = new int[nodes];
        Info hints = new Info().caps(Flags.TAGGED | Flags.SOURCE | (remoteAccess ? Flags.RMA : 0)).linkName(link);
        Domain domain = node.fabric().domain(node.fabric().info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(512));
        vector = domain.openAddressVector(new AddressVectorAttr());
        accessOffset = 2L * SLOTS * SLOT_BYTES;
        memory = domain.allocate(accessOffset + 2L * ACCESS_BYTES);
        bytes = memory.buffer();
        MemoryRegion target = remoteAccess ? domain.allocate((long) nodes * ACCESS_BYTES,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(KEY)) : null;
        endpoint = domain.openEndpoint(info(domain));
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        for (int i = 0; i < SLOTS; i++) {
            freeSends.add(i);
            freeReceives.add(SLOTS + i);
        }
        openings = new Openings(node, ledger, domain);
        ledger.onStart(node, endpoint.name(), target == null ? 0 : target.remoteAddress());
    }

    /** With several links the address may be that of an earlier life, which the others keep in their vectors then. */
    private Info info(Domain domain) {
        Info info = domain.info();
        boolean isAgain = hasLinks && !(node instanceof ClientNode) && ledger.name(node.index()) != null;
        return isAgain && random.nextBoolean() ? info.srcAddr(ledger.name(node.index())) : info;
    }

    @Override
    public int run() {
        learn();
        int work = postReceives() + EntryReader.readAll(queue, error, this::onEntry, this::onError);
        work += ledger.isActive() ? openings.run() : 0;
        if (ledger.isActive() && nextNs <= node.simulation().nanoTime()) {
            if (paceNs > 0) {
                nextNs = node.simulation().nanoTime() + random.nextLong(2 * paceNs);
                node.wakeAt(nextNs);
            }
            for (int i = random.nextInt(4); i > 0 && !freeSends.isEmpty(); i--) {
                work += send();
            }
            if (remoteAccess && access == 0 && random.nextInt(8) == 0) {
                work += write();
            }
        }
        return work;
    }

    /** Whether an operation has no entry yet. */
    boolean isBusy() {
        return access != 0 || freeSends.size() != SLOTS;
    }

    private void learn() {
        if (version == ledger.version()) {
            return;
        }
        int newest = ledger.version();
        for (int i = 0; i < known.length; i++) {
            if (known[i] != ledger.life(i) && !learn(i)) {
                // again in the next step
                return;
            }
        }
        version = newest;
    }

    /** Replaces the address of a node; false if a fault has kept the driver from it. */
    private boolean learn(int index) {
        boolean isKnown = known[index] != 0;
        if (isKnown && hasLinks && ledger.name(index).equals(vector.lookup(addresses[index]))) {
            known[index] = ledger.life(index);
            return true;
        }
        known[index] = 0;
        try {
            if (isKnown) {
                vector.remove(addresses[index]);
            }
            addresses[index] = vector.insert(ledger.name(index));
        } catch (FabricException failed) {
            node.simulation().note("not known", node, index, failed.errno());
            if (!node.faults().explains(failed.errno())) {
                throw failed;
            }
            return false;
        }
        known[index] = ledger.life(index);
        return true;
    }

    private int postReceives() {
        int work = 0;
        while (!freeReceives.isEmpty()) {
            int slot = freeReceives.peek();
            long receive = receives;
            int result = endpoint.trecv(memory.address((long) slot * SLOT_BYTES), SLOT_BYTES,
                FabricAddress.ADDR_UNSPEC, 0, -1, RECEIVE | receive);
            if (result == -FabricErrno.EAGAIN) {
                break;
            }
            Account.require(result == 0, "trecv answered " + FabricErrno.name(result));
            freeReceives.remove();
            slots.put(RECEIVE | receive, Integer.valueOf(slot));
            receives++;
            work++;
        }
        return work;
    }

    private int send() {
        int to = random.nextInt(known.length);
        if (known[to] == 0) {
            return 0;
        }
        int slot = freeSends.peek();
        int length = length();
        long id = ledger.nextId();
        Payload.fill(bytes, slot * SLOT_BYTES, length, id);
        boolean confirmed = random.nextInt(4) == 0;
        long flags = confirmed ? Flags.DELIVERY_COMPLETE : random.nextBoolean() ? Flags.TRANSMIT_COMPLETE : 0;
        int result = endpoint.messages().tsendmsg(memory.address((long) slot * SLOT_BYTES), length, 0,
            addresses[to], random.nextLong(), id, flags | Flags.COMPLETION);
        if (result == -FabricErrno.EAGAIN) {
            return 0;
        }
        Account.require(result == 0, "tsendmsg answered " + FabricErrno.name(result));
        freeSends.remove();
        slots.put(id, Integer.valueOf(slot));
        Account.Message message = new Account.Message(id, node, to, known[to], length);
        message.isConfirmed = confirmed;
        ledger.onPosted(message);
        return 1;
    }

    private int length() {
        int kind = random.nextInt(32);
        return Long.BYTES + random.nextInt(
            kind < 24 ? SHORT_BYTES : kind < 31 ? MEDIUM_BYTES : SLOT_BYTES - Long.BYTES + 1);
    }

    private int write() {
        int to = random.nextInt(known.length);
        if (known[to] == 0) {
            return 0;
        }
        accessTo = to;
        accessLife = known[to];
        accessSeed = random.nextLong();
        accessLength = Long.BYTES + random.nextInt(ACCESS_BYTES - Long.BYTES);
        Payload.fill(bytes, (int) accessOffset, accessLength, accessSeed);
        isAccessConfirmed = random.nextBoolean();
        int result = endpoint.remoteMemory().writemsg(writing.clear().memory(memory.address(accessOffset), accessLength)
            .destAddr(addresses[to]).remote(place(to), KEY).opContext(ACCESS)
            .flags(Flags.COMPLETION | (isAccessConfirmed ? Flags.DELIVERY_COMPLETE : 0)));
        access = result == 0 ? 1 : 0;
        Account.require(result == 0 || result == -FabricErrno.EAGAIN, "write answered " + FabricErrno.name(result));
        return access;
    }

    private long place(int to) {
        return ledger.remoteAddress(to) + (long) node.index() * ACCESS_BYTES;
    }

    private void onEntry(Completion entry) {
        long context = entry.opContext();
        if (context == ACCESS) {
            onAccess();
        } else if ((context & RECEIVE) != 0) {
            int slot = take(context);
            long id = bytes.getLong(slot * SLOT_BYTES);
            Payload.check(bytes, slot * SLOT_BYTES, (int) entry.len(), id);
            ledger.onReceived(node, id, entry.len(), context & ~RECEIVE);
            node.simulation().note("received", node, id, entry.len());
            freeReceives.add(slot);
        } else {
            freeSends.add(take(context));
            node.simulation().note("sent", node, context, 0);
            Account.Message sent = ledger.onEntry(node, context, 0);
            if (hasLinks && context % SENDS_BETWEEN_PATHS == 0 && known[sent.to] != 0 && sent.to != node.index()) {
                ledger.onPath(sent, endpoint.path(addresses[sent.to]).linkName());
            }
        }
    }

    private int take(long context) {
        Integer slot = slots.remove(context);
        Account.require(slot != null, "an entry with context " + Long.toHexString(context) + " came twice or never had"
            + " an operation");
        return slot;
    }

    private void onError() {
        long context = error.opContext();
        node.simulation().note("failed", node, context, error.err());
        if (context == ACCESS) {
            access = 0;
        } else if ((context & RECEIVE) != 0) {
            freeReceives.add(take(context));
            Account.require(error.err() != FabricErrno.ETRUNC, "a receive was too short");
        } else {
            freeSends.add(take(context));
            ledger.onEntry(node, context, error.err());
        }
    }

    private void onAccess() {
        ledger.accesses++;
        if (access == 2) {
            access = 0;
            // the bytes of a write that is not confirmed are lost with a connection
            if (accessLife == ledger.life(accessTo)
                && (isAccessConfirmed || !node.simulation().harm().explains(node.index(), accessTo))) {
                Payload.check(bytes, (int) accessOffset + ACCESS_BYTES, accessLength, accessSeed);
            }
            return;
        }
        access = 0;
        int result = endpoint.remoteMemory().read(memory.address(accessOffset + ACCESS_BYTES), accessLength,
            addresses[accessTo], place(accessTo), KEY, ACCESS);
        if (result == 0) {
            access = 2;
        } else {
            Account.require(result == -FabricErrno.EAGAIN || accessLife != ledger.life(accessTo),
                "read answered " + FabricErrno.name(result));
        }
    }
}
