package org.jfabric.stream;

import java.nio.file.Path;
import java.util.UUID;
import org.jfabric.client.log.LogCursor;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.client.log.LogState;
import org.jfabric.codec.log.GapDecoder;
import org.jfabric.codec.log.MessageDecoder;
import org.jfabric.codec.log.SegmentEndDecoder;
import org.jfabric.codec.log.TermStartDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Reads a log from its folder, without a driver, and follows one that is being written.
 *
 * <pre>{@code
 * try (LogReader log = LogReader.open(Path.of("/var/lib/quotes")).from(position)) {
 *     while (log.poll((buffer, offset, length, header) -> take(buffer, offset, length, header.position()), 16) > 0) {
 *         position = log.position();
 *     }
 * }
 * }</pre>
 *
 * <p>A message is delivered only if it is whole: after an unclean end a log is read to its last whole record. Once
 * opened, a segment can be read to its end although retention deletes it. The folder is only read: permission to read
 * it is enough.
 *
 * <p>A poll allocates nothing but where a segment begins, or where a message is longer than all before. One thread at
 * a time.
 */
public final class LogReader implements AutoCloseable {
    /** Instead of a position: the oldest message that there is. */
    public static final long OLDEST = -1;

    private final LogFolder folder;
    private final LogCursor cursor = new LogCursor();
    private final StreamHeader header = new StreamHeader();
    /** Null at the end of a segment whose next one is not there yet. */
    private LogSegment segment;
    /** Where that one begins. */
    private long nextSegment;
    /** Of the next message or gap. */
    private long position;
    /** Positions from here on may not be there; read anew when it is reached. */
    private long limit;

    private LogReader(LogFolder folder) {
        this.folder = folder;
    }

    /**
     * Opens a log, in front of its oldest message.
     *
     * @param folder of the log.
     * @return the reader; close it.
     * @throws FabricException {@code FI_ENOENT} if no log is there, {@code FI_EACCES} if it may not be read,
     *     {@code FI_EIO} if the log was changed, {@code FI_EINVAL} for another version of its format.
     */
    public static LogReader open(Path folder) {
        LogReader reader = new LogReader(LogFolder.open(folder));
        boolean isGood = false;
        try {
            reader.from(OLDEST);
            isGood = true;
            return reader;
        } finally {
            if (!isGood) {
                reader.close();
            }
        }
    }

    /**
     * Goes to a position. If retention has deleted it, the next poll reports a gap, up to the oldest message.
     *
     * @param next position of the next message, or {@link #OLDEST}. The end of the log is one, too: the next message
     *             to be written.
     * @return this.
     * @throws FabricException {@code FI_EINVAL} for a position behind the end, which it names; else as
     *     {@link #open(Path)}.
     */
    public LogReader from(long next) {
        LogState state = reload();
        long[] segments = folder.segments();
        long oldest = oldest(state, segments);
        long wanted = next == OLDEST ? oldest : next;
        if (next < OLDEST) {
            throw beyond(next, state.written());
        }
        enter(null);
        for (int i = Math.max(0, LogFolder.floor(segments, wanted)); i >= 0 && i < segments.length; i--) {
            enter(LogSegment.open(folder, segments[i]));
            if (segment != null) {
                break;
            }
        }
        if (segment == null) {
            if (segments.length > 0 && segments[0] < state.trusted()) {
                // it was given up this moment
                return from(next);
            }
            if (wanted > state.trusted()) {
                throw beyond(wanted, state.trusted());
            }
            position = wanted;
            nextSegment = wanted;
            return this;
        }
        if (wanted < segment.firstPosition()) {
            cursor.begin(segment);
        } else {
            segment.seek(cursor, wanted, Long.MAX_VALUE, state.trusted());
            passUntil(wanted, state);
        }
        position = wanted;
        return this;
    }

    /**
     * Goes on where a reader has stopped that had read in a given term: its next position is the one to continue with
     * only if the log has not lost what that reader has seen.
     *
     * @param term of the last message that was read.
     * @param next position behind it.
     * @return this.
     * @throws FabricException {@code FI_EINVAL} if the term has ended before that position, which it names, or has
     *     never begun; else as {@link #from(long)}.
     */
    public LogReader from(int term, long next) {
        long end = endOfTerm(term);
        if (next > end) {
            throw new FabricException(FabricErrno.EINVAL, "position " + next + " of term " + term + " was lost: the "
                + "log " + folder.path() + " has gone on from position " + end + " in a later term",
                "Undo what was made of the messages from " + end + " on, and continue there with from(position).");
        }
        return from(next);
    }

    /**
     * Goes to the first message that was not written before a time, or to the end.
     *
     * @param timeNs nanoseconds since 1970.
     * @return this.
     * @throws FabricException as {@link #from(long)}.
     */
    public LogReader fromTime(long timeNs) {
        LogState state = reload();
        long[] segments = folder.segments();
        int index = segments.length - 1;
        LogSegment found = null;
        while (index >= 0 && found == null) {
            found = LogSegment.open(folder, segments[index]);
            if (found != null && index > 0 && found.timeNs() >= timeNs) {
                found.close();
                found = null;
            }
            index--;
        }
        enter(found);
        if (found == null) {
            return from(OLDEST);
        }
        segment.seek(cursor, Long.MAX_VALUE, timeNs, state.trusted());
        while (step(state, Long.MAX_VALUE) != 0) {
            boolean isOfMessages = cursor.position() > cursor.recordPosition();
            if (isOfMessages && cursor.timeNs() >= timeNs) {
                return from(cursor.recordPosition());
            }
        }
        return from(cursor.position());
    }

    /**
     * Delivers messages and gaps.
     *
     * @param listener takes them. A message that it throws at counts as delivered.
     * @param most     messages at most, at least 1.
     * @return how many messages; 0 if there are none now.
     * @throws FabricException {@code FI_EIO} if the next record was changed or cut, {@code FI_ENOENT} if the next
     *     segment was deleted by somebody; names file and offset. The reader stays where it is.
     */
    public int poll(StreamListener listener, int most) {
        int count = 0;
        while (count < most) {
            int kind = nextKind();
            if (kind == 0) {
                return count;
            }
            if (kind == MessageDecoder.TEMPLATE_ID) {
                if (cursor.recordPosition() >= position) {
                    reportGapBefore(listener, cursor.recordPosition());
                    count++;
                    deliver(listener);
                }
            } else if (kind == GapDecoder.TEMPLATE_ID && cursor.lastPosition() >= position) {
                long first = position;
                position = cursor.position();
                listener.onGap(first, position - 1);
            }
        }
        return count;
    }

    private void deliver(StreamListener listener) {
        header.position = cursor.recordPosition();
        header.term = cursor.term();
        header.timeNs = cursor.timeNs();
        header.flags = cursor.flags();
        header.tag = cursor.tag();
        header.data = cursor.data();
        position = cursor.position();
        listener.onMessage(cursor.buffer(), cursor.payloadOffset(), cursor.payloadLength(), header);
    }

    /** Of messages that are in no segment any more. */
    private void reportGapBefore(StreamListener listener, long next) {
        if (position < next) {
            long first = position;
            position = next;
            listener.onGap(first, next - 1);
        }
    }

    /** Goes to a position, or to the end if the log does not have it yet. */
    void fromOrEnd(long next) {
        try {
            from(next);
        } catch (FabricException e) {
            if (e.errno() != FabricErrno.EINVAL) {
                throw e;
            }
            fromTime(Long.MAX_VALUE);
        }
    }

    /** Whether there is a writer now, which may add to the log. */
    boolean hasWriter() {
        return folder.hasWriter();
    }

    /** Goes over the next record, whatever it is. Returns its kind, 0 if there is none now. */
    private int nextKind() {
        if (segment == null || cursor.position() >= limit) {
            LogState state = reload();
            if (segment == null && !enterNext(state) || cursor.position() >= limit) {
                return 0;
            }
        }
        int kind = cursor.next();
        if (kind == SegmentEndDecoder.TEMPLATE_ID) {
            enter(null);
            nextSegment = cursor.position();
        } else if (kind == 0) {
            if (cursor.position() < folder.state().trusted()) {
                throw cursor.broken();
            }
            // what was read may be older than a writer that has opened the log meanwhile
            limit = 0;
        }
        return kind;
    }

    private LogState reload() {
        LogState state = folder.reload();
        limit = state.isExact() ? state.written() : Long.MAX_VALUE;
        cursor.forget();
        return state;
    }

    /** Opens the segment with the next position, or with the oldest one. */
    private boolean enterNext(LogState state) {
        LogSegment next = LogSegment.open(folder, nextSegment);
        if (next == null && nextSegment < state.trusted()) {
            long oldest = oldest(state, folder.segments());
            if (oldest <= nextSegment) {
                throw missing(nextSegment);
            }
            next = LogSegment.open(folder, oldest);
        }
        if (next == null) {
            return false;
        }
        enter(next);
        cursor.begin(next);
        return true;
    }

    private void enter(LogSegment next) {
        if (segment != null) {
            segment.close();
        }
        segment = next;
    }

    /** What retention has left: the state says it, or, if that may be older than the files, the files do. */
    private long oldest(LogState state, long[] segments) {
        if (!state.isExact()) {
            return segments.length == 0 ? 0 : segments[0];
        }
        if (LogFolder.floor(segments, state.oldest()) < 0 && state.written() > state.oldest()) {
            throw missing(state.oldest());
        }
        return state.oldest();
    }

    private FabricException missing(long first) {
        return new FabricException(FabricErrno.ENOENT, "in " + folder.path() + " the segment of position " + first
            + " is missing", "Put it back from a copy, or read on behind it, from the first position of a later"
            + " segment, which is in its name.");
    }

    private void passUntil(long wanted, LogState state) {
        while (cursor.position() < wanted) {
            if (step(state, wanted) == 0) {
                throw beyond(wanted, cursor.position());
            }
        }
    }

    /** Goes over the next record of what is there, and into the next segment. Returns its kind, 0 at the end. */
    private int step(LogState state, long wanted) {
        if (cursor.position() >= limit) {
            return 0;
        }
        int kind = cursor.next();
        if (kind == SegmentEndDecoder.TEMPLATE_ID) {
            LogSegment next = LogSegment.open(folder, cursor.position());
            if (next == null && cursor.position() < state.trusted()) {
                throw missing(cursor.position());
            }
            if (next == null) {
                return 0;
            }
            enter(next);
            cursor.begin(next);
        } else if (kind == 0 && cursor.position() < Math.min(wanted, state.trusted())) {
            throw cursor.broken();
        }
        return kind;
    }

    private FabricException beyond(long wanted, long end) {
        return new FabricException(FabricErrno.EINVAL, "position " + wanted + " is not in the log " + folder.path()
            + ", which ends at position " + end, "Messages behind the end were never written, or were lost with their"
            + " writer's host: undo what was made of them, and continue at the end.");
    }

    /** Where a later term begins than a given one, {@link Long#MAX_VALUE} if that is the last one. */
    private long endOfTerm(int term) {
        LogState state = reload();
        long[] segments = folder.segments();
        for (int i = 0; i < segments.length; i++) {
            try (LogSegment each = LogSegment.open(folder, segments[i])) {
                if (each == null) {
                    continue;
                }
                if (each.term() > term) {
                    return known(each.terms().end(term), term);
                }
                LogSegment after = i + 1 < segments.length ? LogSegment.open(folder, segments[i + 1]) : null;
                boolean isWithin = after != null && after.term() <= term;
                if (after != null) {
                    after.close();
                }
                if (!isWithin) {
                    long end = endOfTerm(term, each, state);
                    if (end != Long.MAX_VALUE) {
                        return end;
                    }
                }
            }
        }
        return Long.MAX_VALUE;
    }

    private long known(long end, int term) {
        if (end < 0) {
            throw new FabricException(FabricErrno.EINVAL, "where term " + term + " has ended in the log "
                + folder.path() + " is not known any more, since it is too many terms ago, and deleted",
                "Undo what was made of its messages, or trust it and continue with from(position).");
        }
        return end;
    }

    private long endOfTerm(int term, LogSegment in, LogState state) {
        LogCursor terms = new LogCursor();
        terms.begin(in);
        while (terms.position() <= limit) {
            int kind = terms.next();
            if (kind == 0 && terms.position() < state.trusted()) {
                throw terms.broken();
            }
            if (kind == 0 || kind == SegmentEndDecoder.TEMPLATE_ID) {
                break;
            }
            if (kind == TermStartDecoder.TEMPLATE_ID && terms.term() > term) {
                return terms.recordPosition();
            }
        }
        return Long.MAX_VALUE;
    }

    /**
     * The position of the next message.
     *
     * @return store it, with the term of the last message and {@link #logId()}, to go on there later.
     */
    public long position() {
        return position;
    }

    /**
     * How far the log survives the death of its writer: the position behind the last message in the page cache. Read
     * anew, by a system call.
     *
     * @return 0 or more.
     */
    public long written() {
        return reload().written();
    }

    /**
     * How far the log survives a power cut: the position behind the last message on stable storage. Read anew, by a
     * system call.
     *
     * @return at most {@link #written()}.
     */
    public long synced() {
        return reload().synced();
    }

    /**
     * The identity of the log: positions of another one are other positions.
     *
     * @return the id, as {@link org.jfabric.info.LogPosition#logId()} of a group that is recorded there.
     */
    public UUID logId() {
        return new UUID(folder.logId().high(), folder.logId().low());
    }

    /**
     * The group that was recorded.
     *
     * @return as its writer has named it.
     */
    public String group() {
        return folder.group();
    }

    @Override
    public void close() {
        enter(null);
        folder.close();
    }
}
