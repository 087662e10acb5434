package org.jfabric.layout;

import org.agrona.UnsafeApi;
import org.jfabric.info.Flags;

/**
 * A reader's end of a group's ring: {@link GroupRingDescriptor} says in which order it reads, and why. It is used by
 * drivers, which deliver the messages to receives, and by clients that read them in place.
 *
 * <p>Every byte of the ring may be wrong: lengths are checked, each field is read once, and nothing outside of the ring
 * is touched. Where the writer may overwrite what is not read a message is copied first, and the copy is checked.
 *
 * <p>Owner: the reading thread.
 */
public final class GroupConsumer {
    /** There is no further message now. */
    public static final int NONE = 0;
    /** A message was found; its fields stay until the next call of {@link #next}. */
    public static final int MESSAGE = 1;
    /** Messages were overwritten or are missing, from {@link #nextPosition()} to before {@link #position()}. */
    public static final int GAP = 2;
    /** What follows was overwritten although the writer waits for its readers: it has removed this one. */
    public static final int REMOVED = 3;
    /** As {@link #NONE}; and what is in the ring was overwritten before the recorder's next step is seen. */
    public static final int OVERWRITTEN = 4;
    /** The ring has what no writer writes; {@link #failure()} says what. */
    public static final int BROKEN = 5;

    private final long header;
    private final long records;
    private final int capacity;
    private final int maxPayload;
    private final long key;
    private final boolean isLossy;
    /** What is overwritten before it was read is in a log. */
    private final boolean isRecorded;
    /** Own memory for one message if the ring may overwrite it, else 0. */
    private long copy;
    private long cursor;
    /** Position of the message at the cursor, if none was lost. */
    private long nextPosition;
    /** Bytes that were overwritten before the message {@link #skippedBefore} could be read. */
    private long skipped;
    private long skippedBefore;
    private String failure;

    // the message at the cursor
    private long position;
    private int flags;
    /** Where its tag and data are: in the ring, or, of a copied message, in fields. */
    private long record;
    private long tag;
    private long data;
    private long timeNs;
    private long payload;
    private int payloadLength;
    private int recordLength;
    /** Bytes of the record that stands for the gap that was found; 0 if that is in front of a message. */
    private int gapLength;

    /**
     * A reader of a mapped ring.
     *
     * @param file       native address of the file.
     * @param capacity   of the ring, in bytes; the file is so long behind its header.
     * @param isLossy    whether the writer does not wait for this reader.
     * @param isRecorded whether what is overwritten is in a log.
     * @param mayOverrun whether records may be overwritten that are not read: messages are copied, until
     *                   {@link #close()}.
     * @param offset     of the first record that is read.
     * @param position   of that message.
     */
    public GroupConsumer(
        long file, int capacity, boolean isLossy, boolean isRecorded, boolean mayOverrun, long offset, long position) {
        this.header = file;
        this.records = file + GroupRingDescriptor.HEADER_LENGTH;
        this.capacity = capacity;
        this.maxPayload = GroupRingDescriptor.maxPayload(capacity);
        this.key = UnsafeApi.getLong(file + GroupRingDescriptor.KEY_OFFSET);
        this.isLossy = isLossy;
        this.isRecorded = isRecorded;
        this.copy = mayOverrun ? UnsafeApi.allocateMemory(maxPayload) : 0;
        this.cursor = offset;
        this.nextPosition = position;
    }

    /** End of the records that are written; all of them can be read after this call. */
    public long tail() {
        return UnsafeApi.getLongAcquire(null, header + GroupRingDescriptor.TAIL_OFFSET);
    }

    private long intent() {
        return UnsafeApi.getLongVolatile(null, header + GroupRingDescriptor.INTENT_OFFSET);
    }

    /** Everything before this offset of the ring has been read. */
    public long offset() {
        return cursor;
    }

    /** Position of the next message, if none is lost. */
    public long nextPosition() {
        return nextPosition;
    }

    public int capacity() {
        return capacity;
    }

    /** Position of the message that was found. */
    public long position() {
        return position;
    }

    /** Its flags, as in completions: {@code Flags.MULTICAST} and others. */
    public long kind() {
        return Flags.MULTICAST | ((flags & GroupRingDescriptor.TAGGED) != 0 ? Flags.TAGGED : Flags.MSG)
            | ((flags & GroupRingDescriptor.HAS_DATA) != 0 ? Flags.REMOTE_CQ_DATA : 0);
    }

    public long tag() {
        return copy != 0 ? tag : UnsafeApi.getLong(record + GroupRingDescriptor.TAG);
    }

    /** Its remote CQ data, 0 without. */
    public long data() {
        if ((flags & GroupRingDescriptor.HAS_DATA) == 0) {
            return 0;
        }
        return copy != 0 ? data : UnsafeApi.getLong(record + GroupRingDescriptor.DATA);
    }

    /** When it arrived at this host, in nanoseconds; 0 if that is not known. */
    public long timeNs() {
        if ((flags & GroupRingDescriptor.HAS_TIME) == 0) {
            return 0;
        }
        return copy != 0 ? timeNs : UnsafeApi.getLong(record + GroupRingDescriptor.TIME);
    }

    /** Native address of its bytes: in the ring, or in {@link #copy()}. */
    public long payload() {
        return payload;
    }

    public int payloadLength() {
        return payloadLength;
    }

    /** Native address of the memory into which messages are copied; 0 if they are read in the ring. */
    public long copy() {
        return copy;
    }

    /** The longest message. */
    public int maxPayload() {
        return maxPayload;
    }

    /** After {@link #BROKEN}: what is wrong with the ring. */
    public String failure() {
        return failure;
    }

    /**
     * Finds the message at the cursor, which stays there until {@link #take()}.
     *
     * @param written end of the records that are written, or an earlier end up to which is read.
     * @return {@link #MESSAGE}, or another constant of this class.
     */
    public int next(long written) {
        for (;;) {
            long available = written - cursor;
            if (available <= 0) {
                return NONE;
            }
            if (available > capacity) {
                return onOverrun("is " + available + " bytes ahead");
            }
            int length = readHeader();
            if (length == 0 || length > available) {
                return onOverrun("has a record of " + UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH)
                    + " bytes at " + cursor);
            }
            position = GroupRingDescriptor.position(UnsafeApi.getLong(record + GroupRingDescriptor.MARK), key);
            boolean isPadding = (flags & GroupRingDescriptor.PADDING) != 0;
            if (copy != 0 && !isCopied(isPadding)) {
                return onOverrun(null);
            }
            if ((flags & GroupRingDescriptor.GAP) != 0) {
                return missing();
            }
            if (!isPadding) {
                return position == nextPosition ? MESSAGE : gap();
            }
            cursor += recordLength;
        }
    }

    /**
     * As {@link #next}, of a ring in which nothing is overwritten that this reader has yet to read: finds a message
     * without the end of the records, whose line is the writer's.
     *
     * @return {@link #MESSAGE}; {@link #NONE} also if what follows is not what a writer writes, which {@link #next}
     *     finds out; {@link #BROKEN}.
     */
    public int nextWritten() {
        for (;;) {
            // what the writer has stored before is there
            if (UnsafeApi.getLongAcquire(null, records + (cursor & capacity - 1) + GroupRingDescriptor.MARK)
                != GroupRingDescriptor.mark(nextPosition, key)) {
                return NONE;
            }
            if (readHeader() == 0) {
                return broken("has a record of " + UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH)
                    + " bytes at " + cursor);
            }
            if ((flags & (GroupRingDescriptor.PADDING | GroupRingDescriptor.GAP)) == 0) {
                position = nextPosition;
                return MESSAGE;
            }
            if ((flags & GroupRingDescriptor.GAP) != 0) {
                position = nextPosition;
                return missing();
            }
            cursor += recordLength;
        }
    }

    /** Reads length and flags of the record at the cursor. Returns the length, 0 for one that cannot be. */
    private int readHeader() {
        int place = (int) (cursor & capacity - 1);
        record = records + place;
        int length = UnsafeApi.getInt(record + GroupRingDescriptor.LENGTH);
        flags = UnsafeApi.getInt(record + GroupRingDescriptor.FLAGS);
        int before = (flags & GroupRingDescriptor.HAS_MORE) != 0
            ? GroupRingDescriptor.longHeader(flags) : GroupRingDescriptor.RECORD_HEADER;
        payloadLength = length - before;
        if (payloadLength < 0 || length > capacity - place
            || payloadLength > maxPayload && (flags & GroupRingDescriptor.PADDING) == 0) {
            return 0;
        }
        payload = record + before;
        recordLength = GroupRingDescriptor.alignedLength(length);
        return length;
    }

    /** Whether the record was copied before it was overwritten. */
    private boolean isCopied(boolean isPadding) {
        if (!isPadding) {
            tag = UnsafeApi.getLong(record + GroupRingDescriptor.TAG);
            data = UnsafeApi.getLong(record + GroupRingDescriptor.DATA);
            if ((flags & GroupRingDescriptor.HAS_TIME) != 0) {
                timeNs = UnsafeApi.getLong(record + GroupRingDescriptor.TIME);
            }
            Words.copy(payload, copy, payloadLength);
            payload = copy;
        }
        UnsafeApi.loadFence();
        return intent() - cursor <= capacity;
    }

    /** Messages are missing in front of the one at the cursor: as many as can have been overwritten. */
    private int gap() {
        long lost = position - nextPosition;
        long overwritten = skippedBefore == nextPosition ? skipped : 0;
        gapLength = 0;
        if (lost < 0 || overwritten == 0 && lost > 0
            || lost > overwritten / GroupRingDescriptor.RECORD_ALIGNMENT + GroupRingDescriptor.missing(header)) {
            // each message that was overwritten took a line at least, and each gap stood for those that it says
            return broken("has message " + position + " at " + cursor + ", where " + nextPosition
                + (overwritten == 0 ? " follows" : " or a later one of the " + overwritten + " bytes behind follows"));
        }
        return GAP;
    }

    /** The record at the cursor stands for messages, of which a reader that has begun behind it wants the rest. */
    private int missing() {
        long first = position;
        if (first > nextPosition) {
            // others before it were overwritten
            return gap();
        }
        position = tag();
        if (position <= nextPosition || position - first > GroupRingDescriptor.missing(header)) {
            return broken("has a gap from " + first + " to before " + position + " at " + cursor + ", where "
                + nextPosition + " follows");
        }
        gapLength = recordLength;
        return GAP;
    }

    /** The record at the cursor is overwritten, or impossible. */
    private int onOverrun(String otherwise) {
        // the record was read before the word that says whether it was overwritten meanwhile
        UnsafeApi.loadFence();
        if (copy == 0 || otherwise != null && intent() - cursor <= capacity) {
            return broken(otherwise);
        }
        if (!isLossy) {
            return REMOVED;
        }
        long latest = UnsafeApi.getLongVolatile(null, header + GroupRingDescriptor.LATEST_OFFSET);
        if (latest == cursor && isRecorded) {
            // the recorder's next step brings a newer one unless the writer is dead
            return OVERWRITTEN;
        }
        if (latest - cursor <= 0 || (latest & GroupRingDescriptor.RECORD_ALIGNMENT - 1) != 0) {
            return broken("has its newest message at " + latest + ", before " + cursor);
        }
        skipped = latest - cursor + (skippedBefore == nextPosition ? skipped : 0);
        skippedBefore = nextPosition;
        cursor = latest;
        // the end of the records is read again
        return NONE;
    }

    private int broken(String what) {
        failure = what;
        return BROKEN;
    }

    /** The message that was found counts as read: its record may be overwritten from now on. */
    public void take() {
        cursor += recordLength;
        nextPosition = position + 1;
    }

    /** The gap was reported: the message behind it is the next one. */
    public void skipGap() {
        cursor += gapLength;
        nextPosition = position;
        gapLength = 0;
    }

    /** Frees the memory of copies; no message is read any more. */
    public void close() {
        if (copy != 0) {
            UnsafeApi.freeMemory(copy);
            copy = 0;
        }
    }
}
