package org.jfabric.driver.stream.record;

import org.jfabric.client.log.LogCursor;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.client.log.LogState;
import org.jfabric.client.log.TermStarts;
import org.jfabric.codec.log.SegmentEndDecoder;
import org.jfabric.codec.log.TermStartDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Where the last whole record of a log ends.
 *
 * @param segment  first position of its segment, -1 if there is no segment.
 * @param offset   behind the record.
 * @param position of the next message.
 * @param terms    up to that of the record.
 * @param timeNs   of the record.
 * @param isEnded  whether it is the end of its segment.
 */
record LogEnd(long segment, long offset, long position, TermStarts terms, long timeNs, boolean isEnded) {
    /** Of the record, 0 if there is none. */
    int term() {
        return terms.term();
    }

    /**
     * Finds it. After a power cut records may be missing in front of whole ones: the first that is missing is the end.
     *
     * @throws FabricException {@code FI_EIO} if records are missing that no power cut can have lost.
     */
    static LogEnd of(LogFolder folder) {
        LogState state = folder.reload();
        long trusted = state.trusted();
        long[] segments = folder.segments();
        if (segments.length == 0 || state.isExact() && trusted < segments[0]) {
            if (state.isValid() && trusted > state.oldest()) {
                throw new FabricException(FabricErrno.EIO, "in " + folder.path() + " the segment of position "
                    + (trusted - 1) + " is missing", "Put it back from a copy, or begin a log in another folder.");
            }
            return new LogEnd(-1, 0, state.isValid() ? trusted : 0, new TermStarts(), 0, true);
        }
        int index = Math.max(0, LogFolder.floor(segments, trusted));
        LogSegment segment = open(folder, segments[index], trusted);
        while (segment == null && index > 0) {
            index--;
            segment = open(folder, segments[index], trusted);
        }
        return segment == null ? new LogEnd(-1, 0, segments[0], new TermStarts(), 0, true)
            : walk(folder, segment, trusted);
    }

    private static LogEnd walk(LogFolder folder, LogSegment from, long trusted) {
        LogCursor cursor = new LogCursor();
        LogSegment segment = from;
        try {
            cursor.begin(segment);
            TermStarts terms = segment.terms();
            boolean isEnded = false;
            while (true) {
                int kind = cursor.next();
                if (kind == 0 && cursor.position() < trusted) {
                    throw cursor.broken();
                }
                if (kind == TermStartDecoder.TEMPLATE_ID) {
                    terms.begin(cursor.term(), cursor.position());
                }
                LogSegment next = null;
                if (kind == SegmentEndDecoder.TEMPLATE_ID) {
                    isEnded = true;
                    next = open(folder, cursor.position(), trusted);
                }
                if (kind == 0 || isEnded && next == null) {
                    return new LogEnd(segment.firstPosition(), cursor.offset(), cursor.position(), terms,
                        cursor.timeNs(), isEnded);
                }
                if (next != null) {
                    segment.close();
                    segment = next;
                    cursor.begin(segment);
                    terms = segment.terms();
                    isEnded = false;
                }
            }
        } finally {
            segment.close();
        }
    }

    private static LogSegment open(LogFolder folder, long firstPosition, long trusted) {
        LogSegment segment = LogSegment.open(folder, firstPosition);
        if (segment == null && firstPosition < trusted) {
            throw new FabricException(FabricErrno.EIO, "in " + folder.path() + " the segment of position "
                + firstPosition + " is missing", "Put it back from a copy, or begin a log in another folder.");
        }
        return segment;
    }
}
