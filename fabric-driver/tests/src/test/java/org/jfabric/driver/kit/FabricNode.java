package org.jfabric.driver.kit;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.DirectBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;

/** One application's objects: an endpoint with one completion queue, an address vector and some memory. */
public final class FabricNode implements AutoCloseable {
    public static final int MEMORY = 16 << 20;
    public static final long DEADLINE_NS = Deadline.ns(20);

    /** Begins of patterns by what their seeds add to each byte. */
    private static final Map<Byte, byte[]> PATTERNS = new ConcurrentHashMap<>();
    private static final int KEPT_PATTERN = 128 * 1024;

    public final Fabric fabric;
    public final Info info;
    public final Domain domain;
    public final CompletionQueue cq;
    public final AddressVector av;
    public final MemoryRegion memory;
    public final Endpoint endpoint;
    private final Runnable pump;
    private final QueueReader reader;

    /**
     * What a reader sees of a completion; err is 0 for success.
     *
     * @param lost null unless the entry says that messages of a group are lost.
     */
    public record Entry(
        long context, long flags, long len, long buf, long data, long tag, long source, int err, long olen,
        Lost lost) {
        /** Whether messages of a group are lost. */
        public boolean isGap() {
            return err == FabricErrno.ENODATA && lost != null;
        }
    }

    /** First and last position of messages that are lost. */
    public record Lost(long first, long last) {
    }

    public FabricNode(Fabric fabric, String link, Info hints, int cqSize, long endpointContext, Runnable pump) {
        this.fabric = fabric;
        this.pump = pump;
        info = fabric.info(hints.copy().linkName(link)).best();
        if (hints.srcAddr() != null) {
            // the name that the endpoint is to have
            info.srcAddr(hints.srcAddr());
        }
        domain = fabric.domain(info);
        cq = domain.openCompletionQueue(new CompletionQueueAttr().size(cqSize).format(CompletionFormat.TAGGED));
        reader = new QueueReader(cq, pump);
        av = domain.openAddressVector(new AddressVectorAttr());
        memory = domain.allocate(MEMORY);
        endpoint = domain.openEndpoint(info, endpointContext);
        endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(av);
        endpoint.enable();
    }

    /** Reads one completion if there is one. */
    public Entry poll() {
        return reader.poll();
    }

    /** Reads the next completion. */
    public Entry await() {
        return reader.await();
    }

    /** Reads the next completion, which must be a success with that context. */
    public Entry await(long context) {
        Entry next = await();
        if (next.err != 0 || next.context != context) {
            throw new AssertionError("expected context " + context + ", got " + next);
        }
        return next;
    }

    /**
     * Until the driver has ended the step that it is in: it answers commands between two. Operations that made room in
     * that step have their entries then.
     */
    public void awaitStep() {
        awaitStep(domain);
    }

    /**
     * Until the driver has read every request that was posted: of a queue with many it takes one in each of two steps,
     * then twice as many in each further one until it takes 16.
     */
    public void awaitRead(int requests) {
        for (int i = 0; i < 6 + requests / 16; i++) {
            awaitStep(domain);
        }
    }

    /** The same of the driver of a domain. */
    public static void awaitStep(Domain domain) {
        domain.openCounter(new CounterAttr()).close();
    }

    /** Lets everything that is on its way arrive: nothing may complete in many rounds. */
    public void assertQuiet(int rounds) {
        for (int i = 0; i < rounds; i++) {
            Entry next = poll();
            if (next != null) {
                throw new AssertionError("unexpected " + next);
            }
            pump.run();
            Thread.yield();
        }
    }

    public void fill(long offset, int length, int seed) {
        memory.buffer().putBytes((int) offset, pattern(seed, 0, length));
    }

    public void assertFilled(long offset, int length, int seed) {
        assertPattern(memory.buffer(), (int) offset, length, seed, 0);
    }

    /** The bytes at an offset of a buffer are a stretch of the pattern. */
    public static void assertPattern(DirectBuffer buffer, int offset, int length, int seed, int from) {
        byte[] seen = new byte[length];
        buffer.getBytes(offset, seen);
        int at = Arrays.mismatch(pattern(seed, from, length), seen);
        if (at >= 0) {
            throw new AssertionError("byte " + (from + at) + " of " + (from + length) + " differs, seed " + seed);
        }
    }

    /** All bytes of a range of memory have that value. */
    public static void assertAll(byte value, MemoryRegion region, int from, int to) {
        byte[] seen = new byte[to - from];
        region.buffer().getBytes(from, seen);
        byte[] expected = new byte[to - from];
        Arrays.fill(expected, value);
        int at = Arrays.mismatch(expected, seen);
        if (at >= 0) {
            throw new AssertionError("byte " + (from + at) + " is " + seen[at] + " instead of " + value);
        }
    }

    public static byte pattern(int seed, int index) {
        return (byte) (seed * 31 + index * 7 + (index >> 8) + 1);
    }

    /** A stretch of the pattern: megabytes of it one by one through a buffer take seconds under emulation. */
    public static byte[] pattern(int seed, int from, int length) {
        if (from + length > KEPT_PATTERN) {
            return stretch(seed, from, length);
        }
        // no more than 256 different ones
        byte[] kept = PATTERNS.computeIfAbsent((byte) (seed * 31), first -> stretch(seed, 0, KEPT_PATTERN));
        return Arrays.copyOfRange(kept, from, from + length);
    }

    private static byte[] stretch(int seed, int from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = pattern(seed, from + i);
        }
        return bytes;
    }

    @Override
    public void close() {
        fabric.close();
    }
}
