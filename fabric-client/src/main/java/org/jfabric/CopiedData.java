package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Bytes of variable length that an entry was read with: copied into memory of the caller where it gave some, else into
 * memory of this object. These are the two ways in which err_data of libfabric is owned, for every kind of entry.
 *
 * <p>Owner: the thread that reads the queue.
 */
final class CopiedData {
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer own;
    private MutableDirectBuffer callers;
    private int callersOffset;
    private int callersCapacity;
    private int size;

    CopiedData(int maxLength) {
        own = new UnsafeBuffer(new byte[maxLength]);
    }

    /** Memory of the caller to use from now on; null or capacity 0 goes back to the own one. */
    void useMemory(String what, MutableDirectBuffer buffer, int offset, int capacityLength) {
        if (buffer == null || capacityLength == 0) {
            callers = null;
            callersOffset = 0;
            callersCapacity = 0;
        } else {
            if (offset < 0 || capacityLength < 0 || (long) offset + capacityLength > buffer.capacity()) {
                throw new FabricException(FabricErrno.EINVAL, what + " buffer has offset " + offset + " and length "
                    + capacityLength + ", needed is a range within its " + buffer.capacity() + " bytes",
                    "Correct offset and length, or pass a larger buffer.");
            }
            callers = buffer;
            callersOffset = offset;
            callersCapacity = capacityLength;
        }
        clear();
    }

    /** Most bytes that can be stored now. */
    int capacity() {
        return callers != null ? callersCapacity : own.capacity();
    }

    /** Takes a copy, cut to {@link #capacity()}. */
    void copy(DirectBuffer source, int offset, int length) {
        int copied = Math.min(length, capacity());
        MutableDirectBuffer to = callers != null ? callers : own;
        to.putBytes(callersOffset, source, offset, copied);
        view.wrap(to, callersOffset, copied);
        size = copied;
    }

    /** Takes a copy as before API 1.5: always into the memory of this object, and without its size. */
    void copyToOwn(DirectBuffer source, int offset, int length) {
        int copied = Math.min(length, own.capacity());
        own.putBytes(0, source, offset, copied);
        view.wrap(own, 0, copied);
    }

    void clear() {
        clearAllButSize();
        size = 0;
    }

    /** As {@link #clear()} before API 1.5, where there is no size that could change. */
    void clearAllButSize() {
        view.wrap(0, 0);
    }

    /** The member err_data_size. */
    int size() {
        return size;
    }

    /** The bytes stored; the same object each time. */
    DirectBuffer view() {
        return view;
    }
}
