package org.jfabric.layout;

import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

import static org.jfabric.layout.TableDescriptor.BEGUN;
import static org.jfabric.layout.TableDescriptor.ENDED;
import static org.jfabric.layout.TableDescriptor.GENERATION;
import static org.jfabric.layout.TableDescriptor.HEADER_LENGTH;
import static org.jfabric.layout.TableDescriptor.KEY;
import static org.jfabric.layout.TableDescriptor.LENGTH;
import static org.jfabric.layout.TableDescriptor.REMOVED;
import static org.jfabric.layout.TableDescriptor.USED_OFFSET;
import static org.jfabric.layout.TableDescriptor.VERSION;
import static org.jfabric.layout.TableDescriptor.VERSION_OFFSET;

/**
 * A reader's end of a table: {@link TableDescriptor} says in which order it reads, and why. It trusts no word of the
 * file: whatever stands there, it touches nothing else.
 *
 * <p>A handle of a slot is its index and, in the upper half, the generation of its key.
 *
 * <p>Owner: the reading thread.
 */
public final class TableConsumer {
    /** Each try is given the time of a whole change; a reader that is slower than the writer all the time gives up. */
    private static final int MAX_TRIES = 1000;

    private final MemorySegment memory;
    private final long address;
    private final int slots;
    private final int valueLength;
    private final int slotLength;
    private final int valueStride;
    /** Of the copy that was read last. */
    private long version;
    private long key;
    private int generation;
    private int length;

    /**
     * A reader of a mapped table.
     *
     * @param memory      the file, which is {@link TableDescriptor#fileLength} long or longer.
     * @param slots       of the table.
     * @param valueLength of its longest value.
     */
    public TableConsumer(MemorySegment memory, int slots, int valueLength) {
        this.memory = memory;
        this.address = memory.address();
        this.slots = slots;
        this.valueLength = valueLength;
        this.slotLength = TableDescriptor.slotLength(valueLength);
        this.valueStride = TableDescriptor.valueStride(valueLength);
    }

    /** Changes of the table so far. */
    public long version() {
        long seen = UnsafeApi.getLongAcquire(null, address + VERSION_OFFSET);
        Reference.reachabilityFence(memory);
        return seen;
    }

    /** Slots that have had a key: their indices are lower. */
    public int used() {
        int seen = UnsafeApi.getIntAcquire(null, address + USED_OFFSET);
        Reference.reachabilityFence(memory);
        return Math.clamp(seen, 0, slots);
    }

    /** Finds the slot of a key. Returns its handle, {@code -FI_ENOENT} or what {@link #read} answers. */
    public long find(long wanted) {
        int end = used();
        for (int index = 0; index < end; index++) {
            int result = look(index);
            if (result >= 0 && key == wanted) {
                return handle(index);
            } else if (result < 0 && result != -FabricErrno.ENOENT) {
                return result;
            }
        }
        return -FabricErrno.ENOENT;
    }

    /** The handle of a slot, {@code -FI_ENOENT} if it has no value, or what {@link #read} answers. */
    public long handleAt(int index) {
        if (index < 0 || index >= used()) {
            return -FabricErrno.ENOENT;
        }
        int result = look(index);
        return result < 0 ? result : handle(index);
    }

    /**
     * Reads the value of a slot.
     *
     * @param handle   of the slot; its key may have been removed.
     * @param array    where to, or null for native memory.
     * @param dest     offset in the array as {@code Unsafe} takes it, or native address.
     * @param capacity bytes there; negative for everything but the value.
     * @return length of the value; {@code -FI_ENOENT} if the handle's key was removed, {@code -FI_ETOOSMALL},
     *     {@code -FI_EAGAIN} if the writer was faster for a thousand times, {@code -FI_EIO} if no writer writes this.
     */
    public int read(long handle, byte[] array, long dest, int capacity) {
        int index = (int) handle;
        if (index < 0 || index >= slots) {
            return -FabricErrno.EINVAL;
        }
        int result = copy((int) (handle >>> Integer.SIZE), index, array, dest, capacity);
        Reference.reachabilityFence(memory);
        return result;
    }

    /** Reads a slot without its value, whoever's it is. */
    private int look(int index) {
        int result = copy(-1, index, null, 0, -1);
        Reference.reachabilityFence(memory);
        return result;
    }

    private int copy(int wanted, int index, byte[] array, long dest, int capacity) {
        long slot = address + HEADER_LENGTH + (long) index * slotLength;
        for (int i = 0; i < MAX_TRIES; i++) {
            long ended = UnsafeApi.getLongAcquire(null, slot + ENDED);
            if (ended == 0) {
                return -FabricErrno.ENOENT;
            }
            long head = TableDescriptor.head(slot, ended);
            version = UnsafeApi.getLong(head + VERSION);
            key = UnsafeApi.getLong(head + KEY);
            generation = UnsafeApi.getInt(head + GENERATION);
            // whatever stands there: no copy reaches beyond the slot or the buffer, even one that is thrown away
            length = UnsafeApi.getInt(head + LENGTH);
            if (length > 0 && length <= valueLength && length <= capacity) {
                move(TableDescriptor.value(slot, ended, valueStride), array, dest, length);
            }
            UnsafeApi.loadLoadFence();
            if ((UnsafeApi.getLong(slot + BEGUN) - ended & -2L) == 0) {
                return result(wanted, capacity);
            }
            Thread.onSpinWait();
        }
        return -FabricErrno.EAGAIN;
    }

    private int result(int wanted, int capacity) {
        if (wanted >= 0 && generation != wanted || length == REMOVED) {
            return -FabricErrno.ENOENT;
        }
        if (length < 0 || length > valueLength) {
            return -FabricErrno.EIO;
        }
        return capacity >= 0 && length > capacity ? -FabricErrno.ETOOSMALL : length;
    }

    private static void move(long from, byte[] array, long dest, int length) {
        if (array == null) {
            Words.copy(from, dest, length);
        } else if (length > Words.SHORT_COPY_LIMIT) {
            UnsafeApi.copyMemory(null, from, array, dest, length);
        } else {
            int i = 0;
            for (int end = length - 7; i < end; i += Long.BYTES) {
                UnsafeApi.putLong(array, dest + i, UnsafeApi.getLong(from + i));
            }
            for (; i < length; i++) {
                UnsafeApi.putByte(array, dest + i, UnsafeApi.getByte(from + i));
            }
        }
    }

    /** The table's version by the change that was read last. */
    public long seenVersion() {
        return version;
    }

    /** The key that was read last. */
    public long seenKey() {
        return key;
    }

    private long handle(int index) {
        return (long) generation << Integer.SIZE | index;
    }
}
