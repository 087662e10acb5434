package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.function.Executable;

/** A pair whose second application has a region that the first may access; bytes around it are watched. */
final class RemoteMemoryPair implements AutoCloseable {
    static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    /** Bytes of the region that peers may access. */
    static final int LENGTH = 1 << 20;

    private static final AtomicLong KEYS = new AtomicLong(0x7000_0000_0000_0001L);
    /** Where the bytes of a held message are, behind everything that tests use. */
    private static final int HELD = 8 << 20;
    private static final long HELD_TAG = 0x4E1D;
    private static final byte UNTOUCHED = 0x5C;

    final FabricPair pair;
    final FabricNode a;
    final FabricNode b;
    final long toB;
    final RemoteMemory remote;
    final MemoryRegion target;
    final long key;
    private final UnsafeBuffer seen;

    RemoteMemoryPair(Setup setup) {
        this(setup, 0, 512);
    }

    RemoteMemoryPair(Setup setup, long moreCaps, int cqSize) {
        this(setup, hints(moreCaps), cqSize);
    }

    RemoteMemoryPair(Setup setup, Info hints, int cqSize) {
        this(setup, hints, cqSize, false);
    }

    private RemoteMemoryPair(Setup setup, Info hints, int cqSize, boolean logsErrors) {
        if ((hints.caps() & Flags.RMA) != 0 && hints.domainAttr().mrMode() == 0) {
            setup.assumeRemoteMemory();
        }
        if ((hints.caps() & Flags.ATOMIC) != 0) {
            setup.assumeAtomics();
        }
        if ((hints.caps() & Flags.RMA_EVENT) != 0) {
            setup.assumeRemoteEvents();
        }
        if ((hints.caps() & Flags.RMA_PMEM) != 0) {
            setup.assumeCommits();
        }
        pair = logsErrors ? FabricPair.withOwnDaemons(setup, delivering(setup, hints), cqSize)
            : new FabricPair(setup, delivering(setup, hints), cqSize);
        a = pair.a;
        b = pair.b;
        toB = pair.toB;
        remote = a.endpoint.remoteMemory();
        target = b.domain.allocate(
            LENGTH, new MemoryRegionAttr().access(BOTH).requestedKey(KEYS.incrementAndGet()));
        key = target.key();
        seen = target.buffer();
        seen.setMemory(0, LENGTH, UNTOUCHED);
    }

    /** A pair also over a card, which gives the key, and whose places are virtual addresses: use {@link #at}. */
    static RemoteMemoryPair ofAnyKeys(Setup setup) {
        return ofAnyKeys(setup, hints(0), 512);
    }

    static RemoteMemoryPair ofAnyKeys(Setup setup, Info hints, int cqSize) {
        Info able = hints.copy();
        if (setup.isByCard()) {
            // whose keys they are
            able.srcAddr("fi_sockaddr_in://" + System.getProperty("jfabric.test.interface") + ":0");
            able.domainAttr().mrMode(MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY);
        }
        return new RemoteMemoryPair(setup, able, cqSize);
    }

    /** What names the place that far behind the begin of the target. */
    long at(long offset) {
        return target.remoteAddress() + offset;
    }

    /** Makes a call of the first application that injects until there is room for it; it writes no entry. */
    void inject(IntSupplier call) {
        Deadline.await("room for an inject", () -> {
            int result = call.getAsInt();
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result);
                a.assertQuiet(1);
            }
            return result == 0;
        }, () -> pair.look(a));
    }

    /** For accesses that are refused: over libfabric's wires the driver logs each as the end of a connection. */
    static RemoteMemoryPair ofRefusals(Setup setup, long moreCaps) {
        return new RemoteMemoryPair(setup, hints(moreCaps), 512, setup.isForeign());
    }

    static Info hints(long moreCaps) {
        return new Info().caps(
            Flags.RMA | Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV | moreCaps);
    }

    /** A pair for a test that uses nothing but atomic operations and messages. */
    static RemoteMemoryPair ofAtomics(Setup setup, int cqSize) {
        return new RemoteMemoryPair(setup, atomicHints(), cqSize);
    }

    static Info atomicHints() {
        return new Info().caps(Flags.ATOMIC | Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
    }

    /** Hints whose writes end when they are in place: over our own wires they do so anyway. */
    static Info delivering(Setup setup, Info hints) {
        Info delivering = hints.copy();
        if (setup.isForeign()) {
            delivering.txAttr().opFlags(hints.txAttr().opFlags() | Flags.DELIVERY_COMPLETE);
        }
        return delivering;
    }

    static long freshKey() {
        return KEYS.incrementAndGet();
    }

    UnsafeBuffer bytes() {
        return seen;
    }

    /** The target holds the pattern there and nothing else was touched. */
    void assertWritten(int offset, int length, int seed) {
        FabricNode.assertPattern(seen, offset, length, seed, 0);
        assertUntouched(0, offset);
        assertUntouched(offset + length, LENGTH);
    }

    void assertUntouched(int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(UNTOUCHED, seen.getByte(i), () -> "a byte that no access may touch was written");
        }
    }

    /** An endpoint of that application that is not enabled; it has the address vector and nothing else. */
    Endpoint open(FabricNode node, Info hints) {
        Endpoint endpoint = node.domain.openEndpoint(node.fabric.info(
            delivering(pair.setup, hints).linkName(pair.setup.link)).best());
        endpoint.bind(node.av);
        return endpoint;
    }

    /** A region of the second application that peers may use like that. */
    MemoryRegion region(int length, long access, long requestedKey) {
        return b.domain.allocate(length, new MemoryRegionAttr().access(access).requestedKey(requestedKey));
    }

    /**
     * Sends a message that the second application has not posted a receive for, so that it stays here. A fenced
     * operation behind it waits for {@link #release}.
     */
    void hold(Endpoint from, long context) {
        assertEquals(0, from.tsend(a.memory.address(HELD), pair.setup.heldLength(), toB, HELD_TAG, context));
    }

    /** Receives the message of {@link #hold}. */
    void release() {
        assertEquals(0, b.endpoint.trecv(
            b.memory.address(HELD), pair.setup.heldLength(), -1L, HELD_TAG, 0, HELD_TAG));
        b.await(HELD_TAG);
    }

    static void assertError(FabricNode.Entry entry, long context, long direction, int errno) {
        assertEquals(FabricErrno.name(errno), FabricErrno.name(entry.err()));
        assertEquals(context, entry.context());
        assertEquals(Flags.RMA | direction, entry.flags());
    }

    /** The peer has refused the access: libfabric's wire tells that only by the end of the connection. */
    void assertRefused(FabricNode.Entry entry, long context, long direction, int errno) {
        assertError(entry, context, direction, refusal(errno));
    }

    /** The errno of an access that the peer has refused with that one. */
    int refusal(int errno) {
        return pair.setup.isForeign() ? FabricErrno.ECONNRESET : errno;
    }

    static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }

    void forget() {
        seen.setMemory(0, LENGTH, UNTOUCHED);
    }

    @Override
    public void close() {
        pair.close();
    }
}
