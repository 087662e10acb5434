package org.jfabric.layout;

/**
 * Layout of the {@code record} file: the last events of every agent of a driver. Only the driver writes it, and never
 * reads it; tools map it read-only. It stays when the driver is killed.
 *
 * <pre>
 *    0  common file header; parameter 1 = start time of the driver (ms since 1970),
 *       parameter 2 = its process id
 *  128  number of rings, 4 bytes
 *  132  events of each ring, 4 bytes, a power of two
 * 4096  the rings
 *
 *  a ring, which has one writer
 *    0  thread, 4 bytes            number of the thread that wrote last, as in /proc; 0: none or unknown
 *    4  length of the name, 4 bytes
 *    8  name of the agent, 48 bytes, ASCII
 *   64  the events; a new one takes the place of the oldest
 *
 *  an event, 256 bytes
 *    0  sequence, 8 bytes          number of the event in its ring, from 1; 0 while it is written, stored last
 *    8  time, 8 bytes              ns since 1970
 *   16  time, 8 bytes              ns of CLOCK_MONOTONIC
 *   24  kind, 4 bytes
 *   28  length of the text, 4 bytes
 *   32  client, 8 bytes            0: none
 *   40  object, 8 bytes            endpoint or passive endpoint; 0: none
 *   48  first number, 8 bytes      the kind says which
 *   56  second number, 8 bytes
 *   64  text, up to 192 bytes, UTF-8, perhaps cut inside its last character
 * </pre>
 *
 * <p>An event is valid if its sequence is not 0 and is the same before and after it was read.
 */
public final class EventRecordDescriptor {
    public static final String FILE_NAME = "record";
    /** Name of the file of the driver before, which was killed. */
    public static final String PREVIOUS_FILE_NAME = "record.previous";
    public static final int RINGS_OFFSET = 128;
    /** Offset of the number of events of each ring. */
    public static final int EVENTS_OFFSET = 132;
    /** Offset of the first ring. */
    public static final int FIRST_RING_OFFSET = 4096;

    /** Offset in a ring of the thread that wrote last. */
    public static final int THREAD_OFFSET = 0;
    /** Offset in a ring of the length of the agent's name. */
    public static final int NAME_LENGTH_OFFSET = 4;
    /** Offset in a ring of the agent's name. */
    public static final int NAME_OFFSET = 8;
    /** Longest name in bytes. */
    public static final int MAX_NAME_LENGTH = 48;
    /** Offset in a ring of the first event. */
    public static final int FIRST_EVENT_OFFSET = 64;

    public static final int EVENT_LENGTH = 256;
    public static final int SEQUENCE_OFFSET = 0;
    /** Offset in an event of its time since 1970. */
    public static final int EPOCH_NS_OFFSET = 8;
    /** Offset in an event of its time by the monotonic clock. */
    public static final int MONOTONIC_NS_OFFSET = 16;
    public static final int KIND_OFFSET = 24;
    /** Offset in an event of the length of its text. */
    public static final int TEXT_LENGTH_OFFSET = 28;
    public static final int CLIENT_OFFSET = 32;
    /** Offset in an event of the client's object. */
    public static final int OBJECT_OFFSET = 40;
    /** Offset in an event of its first number. */
    public static final int FIRST_OFFSET = 48;
    public static final int SECOND_OFFSET = 56;
    public static final int TEXT_OFFSET = 64;
    /** Longest text in bytes. */
    public static final int MAX_TEXT_LENGTH = EVENT_LENGTH - TEXT_OFFSET;

    private EventRecordDescriptor() {
    }

    /**
     * Bytes of a ring.
     *
     * @param events that it keeps, at least 1.
     */
    public static long ringLength(int events) {
        return FIRST_EVENT_OFFSET + (long) events * EVENT_LENGTH;
    }

    public static long fileLength(int rings, int events) {
        return FIRST_RING_OFFSET + rings * ringLength(events);
    }
}
