package org.jfabric.client.log;

import java.util.Arrays;
import org.jfabric.codec.log.SegmentHeaderDecoder;
import org.jfabric.codec.log.SegmentHeaderEncoder;

/**
 * Where the last terms of a log have begun. Each segment's header has it, so that it is there after retention has
 * deleted the records by which terms begin. One thread.
 */
public final class TermStarts {
    private static final int COUNT = SegmentHeaderDecoder.termStartsLength();
    private static final long UNKNOWN = -1;

    private final long[] starts = new long[COUNT];
    private int term;

    /** Of a log in which no term has begun. */
    public TermStarts() {
        Arrays.fill(starts, UNKNOWN);
    }

    static TermStarts of(SegmentHeaderDecoder header) {
        TermStarts result = new TermStarts();
        result.term = (int) header.term();
        for (int i = 0; i < COUNT; i++) {
            result.starts[i] = header.termStarts(i);
        }
        return result;
    }

    void write(SegmentHeaderEncoder header) {
        for (int i = 0; i < COUNT; i++) {
            header.termStarts(i, starts[i]);
        }
    }

    /** The newest term. */
    public int term() {
        return term;
    }

    /** A later term begins. Terms between have no messages, so that they end where they begin. */
    public void begin(int newTerm, long position) {
        int later = newTerm - term;
        for (int i = COUNT - 1; i >= 0; i--) {
            starts[i] = i >= later ? starts[i - later] : position;
        }
        term = newTerm;
    }

    /** Where a term that is not the newest one has ended: the next one has begun there. -1 if it is too long ago. */
    public long end(int ofTerm) {
        int index = term - ofTerm - 1;
        return index < COUNT ? starts[index] : UNKNOWN;
    }
}
