package org.jfabric.layout;

/**
 * Layout of a {@code .ctl} file: two record rings and one byte for each queue.
 *
 * <pre>
 *    0  header of the command ring, 512 bytes; its first 128 are the common file header:
 *       parameter 1 = length of the command ring, parameter 2 = length of the event ring
 *  512  records of the command ring              client to driver
 *    C  header of the event ring, 512 bytes      C = 512 + length of the command ring
 *       records of the event ring                driver to client
 *       its spare line: 4 bytes, 1 when the client has closed; 0 at the end of its socket means that it died
 *    A  activity bytes, one for each endpoint    A = C + 512 + length of the event ring
 * </pre>
 *
 * <p>An activity byte is set by the client after it committed to a transmit or receive queue of the endpoint, and
 * cleared by the driver before it reads the queues, so that idle queues need not be read in every cycle.
 */
public final class ControlFileDescriptor {
    public static final int ACTIVITY_LENGTH = 4096;

    private ControlFileDescriptor() {
    }

    /** Start of the event ring's header. */
    public static int eventRingOffset(int commandRingLength) {
        return RecordRingDescriptor.HEADER_LENGTH + commandRingLength;
    }

    /** The word that a client sets before it closes. Returns the offset in the file, of 4 bytes. */
    public static int closesOffset(int commandRingLength) {
        return eventRingOffset(commandRingLength) + RecordRingDescriptor.SPARE_OFFSET;
    }

    /** Start of the activity bytes. */
    public static int activityOffset(int commandRingLength, int eventRingLength) {
        return eventRingOffset(commandRingLength) + RecordRingDescriptor.HEADER_LENGTH + eventRingLength;
    }

    public static int fileLength(int commandRingLength, int eventRingLength) {
        return activityOffset(commandRingLength, eventRingLength) + ACTIVITY_LENGTH;
    }
}
