package org.jfabric.layout;

import org.agrona.UnsafeApi;
import org.agrona.collections.Long2LongHashMap;
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
 * The writer's end of a table: {@link TableDescriptor} says in which order it writes, and why. Which key has which slot
 * it keeps in memory of its own; the writer after one that has died finds that out from the slots.
 *
 * <p>Owner: the writing thread.
 */
public final class TableProducer {
    private static final long NONE = -1;

    private final MemorySegment memory;
    private final long address;
    private final int slots;
    private final int valueLength;
    private final int slotLength;
    private final int valueStride;
    private final Long2LongHashMap slotByKey;
    /** Slots whose key was removed; the last one is used next. */
    private final int[] free;
    private int freeCount;
    private int used;
    private long version;

    /**
     * The writer of a mapped table, which continues where the writer before it has ended.
     *
     * @param memory      the file, which is {@link TableDescriptor#fileLength} long or longer.
     * @param slots       of the table.
     * @param valueLength of its longest value.
     */
    public TableProducer(MemorySegment memory, int slots, int valueLength) {
        this.memory = memory;
        this.address = memory.address();
        this.slots = slots;
        this.valueLength = valueLength;
        this.slotLength = TableDescriptor.slotLength(valueLength);
        this.valueStride = TableDescriptor.valueStride(valueLength);
        // as large as it ever gets, so that a put allocates nothing
        this.slotByKey = new Long2LongHashMap(
            (int) Math.min(1 << 30, slots / 0.55 + 1), 0.55f, NONE);
        this.free = new int[slots];
        takeOver();
    }

    /** The change that a dead writer has ended in a slot may be one that it has not counted. */
    private void takeOver() {
        version = UnsafeApi.getLongVolatile(null, address + VERSION_OFFSET);
        used = Math.clamp(UnsafeApi.getIntVolatile(null, address + USED_OFFSET), 0, slots);
        for (int index = 0; index < slots && index <= used; index++) {
            long slot = slot(index);
            long ended = UnsafeApi.getLongVolatile(null, slot + ENDED);
            if (ended == 0) {
                continue;
            }
            long head = TableDescriptor.head(slot, ended);
            version = Math.max(version, UnsafeApi.getLong(head + VERSION));
            used = Math.max(used, index + 1);
            if (UnsafeApi.getInt(head + LENGTH) == REMOVED) {
                free[freeCount++] = index;
            } else {
                slotByKey.put(UnsafeApi.getLong(head + KEY), index);
            }
        }
        UnsafeApi.putIntRelease(null, address + USED_OFFSET, used);
        UnsafeApi.putLongRelease(null, address + VERSION_OFFSET, version);
        Reference.reachabilityFence(memory);
    }

    /** Changes of the table so far. */
    public long version() {
        return version;
    }

    /** Keys that have a value. */
    public int size() {
        return slotByKey.size();
    }

    /**
     * Writes the value of a key.
     *
     * @param array  of the value, or null for native memory.
     * @param source offset in the array as {@code Unsafe} takes it, or native address.
     * @return 0; {@code -FI_EMSGSIZE} for a value that is too long, {@code -FI_ENOSPC} if all slots have other keys.
     */
    public int put(long key, byte[] array, long source, int length) {
        if (length < 0 || length > valueLength) {
            return -FabricErrno.EMSGSIZE;
        }
        long known = slotByKey.get(key);
        int index = (int) known;
        if (known == NONE) {
            if (freeCount == 0 && used == slots) {
                return -FabricErrno.ENOSPC;
            }
            index = freeCount > 0 ? free[--freeCount] : used;
            slotByKey.put(key, index);
        }
        write(index, known == NONE ? 1 : 0, key, array, source, length);
        return 0;
    }

    /** Removes a key with its value. Returns 0, or {@code -FI_ENOENT} if it has none. */
    public int remove(long key) {
        long known = slotByKey.remove(key);
        if (known == NONE) {
            return -FabricErrno.ENOENT;
        }
        write((int) known, 0, key, null, 0, REMOVED);
        free[freeCount++] = (int) known;
        return 0;
    }

    private void write(int index, int keys, long key, byte[] array, long source, int length) {
        long slot = slot(index);
        long ended = UnsafeApi.getLong(slot + ENDED);
        int generation = ended == 0 ? 0 : UnsafeApi.getInt(TableDescriptor.head(slot, ended) + GENERATION);
        long head = TableDescriptor.head(slot, ended + 1);
        long value = TableDescriptor.value(slot, ended + 1, valueStride);
        UnsafeApi.putLong(slot + BEGUN, ended + 1);
        UnsafeApi.storeStoreFence();
        UnsafeApi.putLong(head + VERSION, version + 1);
        UnsafeApi.putLong(head + KEY, key);
        UnsafeApi.putInt(head + GENERATION, generation + keys & Integer.MAX_VALUE);
        UnsafeApi.putInt(head + LENGTH, length);
        if (length > 0 && array == null) {
            Words.copy(source, value, length);
        } else if (length > 0) {
            Words.copy(array, source, value, length);
        }
        UnsafeApi.putLongRelease(null, slot + ENDED, ended + 1);
        if (index == used) {
            used++;
            UnsafeApi.putIntRelease(null, address + USED_OFFSET, used);
        }
        version++;
        // behind the slot: who has seen the version sees the value
        UnsafeApi.putLongRelease(null, address + VERSION_OFFSET, version);
        Reference.reachabilityFence(memory);
    }

    private long slot(int index) {
        return address + HEADER_LENGTH + (long) index * slotLength;
    }
}
