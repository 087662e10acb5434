package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.Info;

/**
 * The events of one queue, oldest first, in slots that are made once.
 *
 * <p>Owner: the thread that holds its monitor.
 */
final class QueuedEvents {
    /** One event or error. */
    static final class Slot {
        final UnsafeBuffer bytes = new UnsafeBuffer(new byte[EventEntry.MAX_DATA_LENGTH]);
        int event;
        Object fid;
        Info info;
        long context;
        long data;
        /** Positive for an error. */
        int err;
        /** Detail of an error, 0 if it is the same as {@link #err}. */
        int provErrno;
        int length;

        private void set(
            int number, Object about, long ofContext, long value, int errno, DirectBuffer from, int offset, int count) {
            event = number;
            fid = about;
            info = null;
            context = ofContext;
            data = value;
            err = errno;
            provErrno = 0;
            length = Math.min(count, bytes.capacity());
            if (length > 0) {
                bytes.putBytes(0, from, offset, length);
            }
        }
    }

    private final Slot[] slots;
    private long written;
    private long read;

    QueuedEvents(int size) {
        slots = new Slot[size];
        for (int i = 0; i < size; i++) {
            slots[i] = new Slot();
        }
    }

    int size() {
        return slots.length;
    }

    int count() {
        return (int) (written - read);
    }

    /** Adds an event, or an error if {@code err} is positive; false if the ring is full. Longer bytes are cut. */
    boolean add(
        int event, Object fid, long context, long data, int err, DirectBuffer bytes, int offset, int length) {
        if (count() == slots.length) {
            return false;
        }
        slot(written).set(event, fid, context, data, err, bytes, offset, length);
        written++;
        return true;
    }

    /** Gives the newest one its info, which may be null, and what else is known of an error. */
    void detail(Info info, int provErrno) {
        slot(written - 1).info = info;
        slot(written - 1).provErrno = provErrno;
    }

    /** The oldest one, null if there is none. */
    Slot first() {
        return read == written ? null : slot(read);
    }

    /** Drops the oldest one. */
    void consume() {
        // an object that was closed must not be kept by a queue that is no longer filled
        slot(read).fid = null;
        slot(read).info = null;
        read++;
    }

    void clear() {
        while (read != written) {
            consume();
        }
    }

    private Slot slot(long number) {
        return slots[(int) (number % slots.length)];
    }
}
