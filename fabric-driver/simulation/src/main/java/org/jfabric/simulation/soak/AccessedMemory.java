package org.jfabric.simulation.soak;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jfabric.Domain;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.info.Flags;

/**
 * Memory of an endpoint that all endpoints access, with a model of its bytes. Each initiator has a lane of its own, in
 * which its accesses take effect in the order of posting, so the model changes when they are posted. Behind the lanes
 * are sums to which all initiators add; guard bytes surround everything.
 */
final class AccessedMemory {
    static final int LANE = 96 << 10;
    static final int SUMS = 4;
    private static final int GUARD = 4096;

    final MemoryRegion region;
    final long key;
    boolean closed;
    /** The values that fetches of each sum have returned, and the last one for each initiator and sum. */
    private final List<Set<Long>> fetched = new ArrayList<>();
    private final long[] last;
    private final int lanes;
    private final ByteBuffer model;

    AccessedMemory(Domain domain, long key, int lanes) {
        this.key = key;
        this.lanes = lanes;
        int length = 2 * GUARD + lanes * LANE + SUMS * Long.BYTES;
        last = new long[lanes * SUMS];
        Arrays.fill(last, -1);
        for (int i = 0; i < SUMS; i++) {
            fetched.add(new HashSet<>());
        }
        region = domain.allocate(length,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(key));
        model = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        for (int i = 0; i < length; i += Long.BYTES) {
            model.putLong(i, key * 31 + i);
        }
        for (int i = 0; i < SUMS; i++) {
            model.putLong(sum(i), 0);
        }
        region.buffer().putBytes(0, model.array());
    }

    /** Where the lane of an initiator begins. */
    int lane(int initiator) {
        return GUARD + initiator * LANE;
    }

    int sum(int index) {
        return GUARD + lanes * LANE + index * Long.BYTES;
    }

    int length() {
        return model.capacity();
    }

    byte[] bytes(int offset, int length) {
        return Arrays.copyOfRange(model.array(), offset, offset + length);
    }

    void write(int offset, byte[] bytes) {
        System.arraycopy(bytes, 0, model.array(), offset, bytes.length);
    }

    long word(int offset) {
        return model.getLong(offset);
    }

    void word(int offset, long value) {
        model.putLong(offset, value);
    }

    /** Checks a sum's fetch, when all have ended; called in the order of posting of each initiator. */
    void onEnded(SoakAccess access) {
        if (!access.isSum() || access.errno != 0 || closed && !access.wantsEntry) {
            return;
        }
        int index = (access.offset - sum(0)) / Long.BYTES;
        int initiator = access.from * SUMS + index;
        if (access.old <= last[initiator] || !fetched.get(index).add(access.old)) {
            throw new AssertionError(access + " returned " + access.old + " after " + last[initiator]
                + ", also returned to another access: " + fetched.get(index).contains(access.old));
        }
        last[initiator] = access.old;
    }

    /** The first byte that differs from the model, or -1; while nothing is outstanding. */
    int firstDifference() {
        for (int i = 0; i < SUMS; i++) {
            model.putLong(sum(i), fetched.get(i).size());
        }
        byte[] bytes = new byte[length()];
        region.buffer().getBytes(0, bytes);
        return Arrays.mismatch(bytes, model.array());
    }

    void close() {
        region.close();
        closed = true;
    }

    @Override
    public String toString() {
        return "key " + key + (closed ? ", closed" : "");
    }
}
