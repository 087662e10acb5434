package org.jfabric;

import org.jfabric.client.WorkRequest;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * Ranges of a peer's memory that one read or write gathers from or scatters over, in order (struct fi_rma_iov).
 *
 * <pre>{@code
 * RmaIoVec ranges = new RmaIoVec();
 * ranges.clear().add(0, 16, 7).add(4096, 48, 8);
 * int result = endpoint.remoteMemory().writemsg(request.memory(memory.address(), 64).remote(ranges));
 * }</pre>
 *
 * <p>Together they are as long as the local memory; its bytes fill the first range, then the second. Made once and used
 * again and again; the calls copy it. Adding ranges allocates nothing. Owner: one thread at a time. Source: fi_rma(3),
 * struct fi_msg_rma; fi_endpoint(3), rma_iov_limit.
 */
public final class RmaIoVec {
    private static final int MAX = WorkRequestDescriptor.MAX_PIECES;

    private final long[] words = new long[WorkRequestDescriptor.RANGE_WORDS * MAX];
    private int count;

    /** No ranges, and room for 4. */
    public RmaIoVec() {
    }

    /**
     * Adds a range behind the others. The peer checks it.
     *
     * @param offset      {@link MemoryRegion#remoteAddress()} of the peer's region, plus the offset of the first byte.
     * @param lengthBytes bytes of the range, 0 or more.
     * @param key         key of that region.
     * @return this.
     * @throws FabricException {@link FabricErrno#EINVAL} if there are 4, more than any link takes, or for a negative
     *                         length.
     */
    public RmaIoVec add(long offset, long lengthBytes, long key) {
        if (count == MAX || lengthBytes < 0) {
            throw new FabricException(FabricErrno.EINVAL, "a range of " + lengthBytes + " bytes behind " + count
                + " others", "A length is 0 or more, and there are at most " + MAX + "; clear() forgets them.");
        }
        int at = WorkRequestDescriptor.RANGE_WORDS * count++;
        words[at] = offset;
        words[at + 1] = lengthBytes;
        words[at + 2] = key;
        return this;
    }

    /**
     * Forgets all ranges.
     *
     * @return this.
     */
    public RmaIoVec clear() {
        count = 0;
        return this;
    }

    /**
     * Ranges added since the last {@link #clear()}.
     *
     * @return 0 to 4.
     */
    public int count() {
        return count;
    }

    long lengthBytes() {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += words[WorkRequestDescriptor.RANGE_WORDS * i + 1];
        }
        return sum;
    }

    /** Fills the record: one range as of a call that names it itself, which every link takes. */
    void copyTo(WorkRequest work) {
        work.rangeCount = count == 1 ? 0 : count;
        work.remoteAddr = words[0];
        work.key = words[2];
        System.arraycopy(words, 0, work.ranges, 0, WorkRequestDescriptor.RANGE_WORDS * count);
    }
}
