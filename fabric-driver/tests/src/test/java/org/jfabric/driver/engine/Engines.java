package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.kit.Requests;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.ScriptedChannel;
import org.jfabric.driver.link.scripted.ScriptedLink;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.SlabDescriptor;

/** Engines over scripted links, each with one endpoint, and what an application would see of them. */
final class Engines {
    static final int MEMORY = 1 << 19;
    static final int INJECT_SIZE = 64;
    static final long TAGGED = Flags.TAGGED | Flags.COMPLETION;
    static final long MSG = Flags.MSG | Flags.COMPLETION;

    final Script script;
    final List<Node> nodes = new ArrayList<>();
    EngineSettings settings = new EngineSettings(1 << 20, 1 << 14, 4, 4);
    int txSize = 64;
    int rxSize = 64;
    int eagerLimitBytes = 1024;
    boolean directed;
    boolean mayOverrun;
    /** Entries in the order of posting and of matching, whatever their lengths are. */
    boolean strict;
    int driverShare = 512;
    long caps = Flags.SOURCE;
    /** Cells of each endpoint's receive slab; 0 for ordinary receives. */
    int slabCells;
    int slabLimitBytes;
    int slabLeastBytes;
    long slabLentLimitBytes;
    /** Receives are those of a shared receive context, which each node has for its endpoint. */
    boolean shared;

    private final LinkMaker maker;

    /** Other links than scripted ones. */
    abstract static class LinkMaker {
        abstract String linkName();

        /** What an endpoint of that name is called. */
        abstract String address(String name);

        abstract Link open(String address);

        /** The endpoint's own, or null. */
        BoundAddress bind(String address) {
            return null;
        }

        abstract boolean isQuiet();
    }

    Engines(Script script) {
        this(script, new LinkMaker() {
            @Override
            String linkName() {
                return ScriptedLink.NAME;
            }

            @Override
            String address(String name) {
                return "jfabric://rig/" + name;
            }

            @Override
            Link open(String address) {
                return new ScriptedLink(script);
            }

            @Override
            boolean isQuiet() {
                return script.isQuiet();
            }
        });
    }

    Engines(Script script, LinkMaker maker) {
        this.script = script;
        this.maker = maker;
    }

    /** An engine, its client and its endpoint. */
    final class Node {
        final String address;
        final Engine engine;
        final EngineSession session;
        final AddressTable addresses = new AddressTable();
        final CompletionReader completions = new CompletionReader(2048, driverShare);
        final List<String> peersDown = new ArrayList<>();
        final List<Throwable> errors = new ArrayList<>();
        final long memory = UnsafeApi.allocateMemory(MEMORY);
        final RegisteredRegion region;
        final int regionIndex;
        /** The same memory once more, so that pieces of one message can be of different regions. */
        final RegisteredRegion twin;
        final int twinIndex;
        long slab;
        EngineEndpoint endpoint;
        /** Null if the endpoint has receives of its own. */
        EngineEndpoint receives;
        int posted;
        int regionReleases;
        int twinReleases;

        private Node(String address) {
            this.address = address;
            UnsafeApi.setMemory(memory, MEMORY, (byte) 0);
            engine = new Engine(settings, List.of(maker.open(address)), errors::add);
            session = new EngineSession(7, new SessionListener() {
                @Override
                public void onCorruption(long clientId, String reason) {
                    throw new AssertionError(reason);
                }

                @Override
                public void onCompletionQueueOverrun(long clientId, long cqId) {
                    throw new AssertionError("completion queue " + cqId + " overran");
                }

                @Override
                public void onPeerDown(
                    long clientId, long endpointId, long fiAddr, int errno, int provErrno, String peer) {
                    peersDown.add(peer + ' ' + errno);
                }
            });
            region = new RegisteredRegion(1, 0x1_0000_0042L, memory, MEMORY, () -> regionReleases++);
            regionIndex = session.regions().add(region);
            twin = new RegisteredRegion(2, 0x1_0000_0099L, memory, MEMORY, () -> twinReleases++);
            twinIndex = session.regions().add(twin);
            engine.addCompletionQueue(completions.writer);
            enable();
        }

        void enable() {
            EndpointSettings endpointSettings = new EndpointSettings(
                3, address, address, 0, txSize, rxSize, INJECT_SIZE, MEMORY,
                caps | (directed ? Flags.DIRECTED_RECV : 0), eagerLimitBytes, mayOverrun,
                new byte[0]);
            endpointSettings = endpointSettings.strict(strict, strict);
            if (slabCells != 0) {
                int cellBytes = SlabDescriptor.cellLength(Math.max(slabLimitBytes, slabLeastBytes));
                slab = UnsafeApi.allocateMemory(SlabDescriptor.fileLength(slabCells, cellBytes));
                endpointSettings = endpointSettings.with(
                    new SlabMemory(slab, slabCells, cellBytes, slabLimitBytes, slabLeastBytes, slabLentLimitBytes));
            }
            BoundAddress bound = maker.bind(address);
            if (bound != null) {
                endpointSettings = endpointSettings.with(bound);
            }
            receives = !shared ? null : engine.addEndpoint(
                session, endpointSettings, List.of(), addresses, EndpointCompletions.NONE, null);
            endpoint = engine.addEndpoint(
                session, endpointSettings, List.of(maker.linkName()), addresses,
                new EndpointCompletions(completions.writer, completions.writer, EndpointCounters.NONE, false),
                receives);
        }

        long fiAddr(Node other) {
            return addresses.insert(other.address);
        }

        long buf(long offset) {
            return MemoryRegionDescriptor.address(regionIndex, (int) region.generation() & 0xFF, offset);
        }

        long twinBuf(long offset) {
            return MemoryRegionDescriptor.address(twinIndex, (int) twin.generation() & 0xFF, offset);
        }

        /** Fills memory with bytes that only this seed and place have. */
        void fill(int offset, int length, int seed) {
            for (int i = 0; i < length; i++) {
                UnsafeApi.putByte(memory + offset + i, pattern(seed, i));
            }
        }

        void assertFilled(int offset, int length, int seed) {
            for (int i = 0; i < length; i++) {
                if (UnsafeApi.getByte(memory + offset + i) != pattern(seed, i)) {
                    throw new AssertionError(
                        address + ": byte " + i + " of " + length + " differs, seed " + script.seed());
                }
            }
        }

        int tsend(Node to, int offset, int length, long tag, long context) {
            return send(TAGGED, buf(offset), length, fiAddr(to), tag, 0, context);
        }

        int trecv(int offset, int length, long tag, long context) {
            return receive(TAGGED, buf(offset), length, -1, tag, 0, context);
        }

        int send(long flags, long buf, long length, long to, long tag, long data, long context) {
            int result = endpoint.send(flags, buf, length, to, tag, data, context);
            posted += result == 0 ? 1 : 0;
            return result;
        }

        int sendVector(long flags, ScatteredPieces pieces, long to, long tag, long data, long context) {
            int result = endpoint.post(
                Requests.message(WorkRequest.SEND, flags, pieces.requests(this), to, tag, data, context));
            posted += result == 0 ? 1 : 0;
            return result;
        }

        int receiveVector(long flags, ScatteredPieces pieces, long from, long tag, long ignore, long context) {
            int result = endpoint.post(
                Requests.message(WorkRequest.RECEIVE, flags, pieces.requests(this), from, tag, ignore, context));
            posted += result == 0 ? 1 : 0;
            return result;
        }

        int inject(long flags, int offset, int length, long to, long tag, long data) {
            int result = endpoint.inject(flags, memory + offset, length, to, tag, data, 0);
            posted += result == 0 ? 1 : 0;
            return result;
        }

        int receive(long flags, long buf, long length, long from, long tag, long ignore, long context) {
            if (receives != null) {
                // the driver takes the slot of its entry
                return receives.receive(flags, buf, length, from, tag, ignore, context);
            }
            int result = endpoint.receive(flags, buf, length, from, tag, ignore, context);
            posted += result == 0 ? 1 : 0;
            return result;
        }

        /** Claims into pieces of which the second is not registered. */
        int receiveAtNowhere(long flags, long claimed, long context) {
            int result = endpoint.post(Requests.message(
                WorkRequest.RECEIVE, flags, new long[] {buf(0), 1, buf(MEMORY - 1), 2}, -1, claimed, 0, context));
            posted += result == 0 ? 1 : 0;
            return result;
        }

        /** Posts a multi-receive buffer. */
        int mrecv(int offset, int length, long minFree, long context) {
            return receive(MSG | Flags.MULTI_RECV, buf(offset), length, -1, 0, minFree, context);
        }

        int send(Node to, int offset, int length, long context) {
            return send(MSG, buf(offset), length, fiAddr(to), 0, 0, context);
        }

        CompletionReader.Entry next() {
            CompletionReader.Entry entry = completions.take();
            for (int i = 0; i < 1000 && entry == null; i++) {
                step();
                entry = completions.take();
            }
            assertTrue(entry != null, () -> address + ": no completion, seed " + script.seed());
            return entry;
        }

        void assertNoEntry() {
            assertEquals(List.of(), completions.takeAll(), address);
        }

        PeerSends peer(Node other) {
            return endpoint.peers().inbound(other.address);
        }

        ScriptedChannel channel(Node other) {
            return script.channel(address, other.address);
        }

        /** Nothing is held for operations that have ended; what was posted has ended in one entry or none. */
        void assertAtRest() {
            String where = address + ", seed " + script.seed();
            assertEquals(0, endpoint.outstandingSends(), where);
            assertEquals(0, endpoint.receiver().outstanding(), where);
            assertEquals(0, endpoint.receiver().unexpectedMessages(), where);
            assertEquals(0, endpoint.receiver().scan().storedBlocks(), where);
            assertEquals(0, region.useCount(), where);
            assertEquals(0, twin.useCount(), where);
            completions.takeAll();
            assertEquals(posted, completions.taken() + completions.retired(), where);
            assertFalse(completions.writer.isOverrun(), where);
            assertEquals(0, completions.writer.driverQuota().inUse(), where);
            assertFalse(completions.isHeldBack(), where);
            QueueVisitor nothing = new Nothing(where);
            for (int place = 0; place < endpoint.receiver().scan().receives(); place++) {
                endpoint.receiver().scan().visitReceive(place, nothing);
            }
            for (PeerSends peer : endpoint.peers().all()) {
                assertEquals(0, peer.receives().held().heldBytes(), where);
                assertEquals(0, peer.outbox().owned(), where);
            }
        }
    }

    /** Fails for each record of a receive that is in use. */
    private static final class Nothing extends QueueVisitor {
        @Override
        void onAccess(Peer peer, int kind, long key, boolean waiting, long lengthBytes, long sinceNs) {
            throw new AssertionError("an access of key " + key + " is outstanding at " + where);
        }

        private final String where;

        Nothing(String where) {
            this.where = where;
        }

        @Override
        public void onPosted(boolean tagged, long tag, long ignore, int source, long lengthBytes, long sinceNs) {
            throw new AssertionError("a receive of tag " + tag + " is posted at " + where);
        }

        @Override
        public void onUnderWay() {
            throw new AssertionError("a receive is under way at " + where);
        }

        @Override
        public void onUnexpected(
            boolean tagged, long tag, Peer sender, int source, boolean announced, long lengthBytes, long sinceNs) {
            throw new AssertionError("a message of tag " + tag + " waits at " + where);
        }
    }

    Node add(String name) {
        Node node = new Node(maker.address(name));
        nodes.add(node);
        return node;
    }

    void step() {
        script.nextStep();
        for (Node node : nodes) {
            node.engine.poll(16);
        }
    }

    void steps(int count) {
        for (int i = 0; i < count; i++) {
            step();
        }
    }

    /** Steps until nothing is on its way. */
    void settle() {
        int quiet = 0;
        for (int i = 0; i < 20_000; i++) {
            step();
            boolean busy = !maker.isQuiet();
            for (Node node : nodes) {
                busy |= node.engine.hasScheduled();
            }
            quiet = busy ? 0 : quiet + 1;
            if (quiet == 3) {
                return;
            }
        }
        throw new AssertionError("no rest, seed " + script.seed());
    }

    /** Frees the memory of all nodes. */
    void close() {
        for (Node node : nodes) {
            node.engine.closeSession(node.session);
            node.completions.free();
            UnsafeApi.freeMemory(node.memory);
            if (node.slab != 0) {
                UnsafeApi.freeMemory(node.slab);
            }
        }
        script.close();
    }

    static byte pattern(int seed, int index) {
        return (byte) (seed * 31 + index * 7 + (index >> 8) + 1);
    }
}
