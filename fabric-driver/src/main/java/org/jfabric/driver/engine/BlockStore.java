package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

import java.util.Arrays;

/**
 * Memory for unexpected payloads: blocks of powers of two from 64 bytes, cut from chunks. A chunk whose blocks are all
 * free serves any size again, so that a change of message sizes does not use up the memory.
 *
 * <pre>
 *  chunk (natively aligned to its length)
 *  +---------+---------+---------+-----
 *  | block 0 | block 1 | block 2 | ...     a free block's first word is the address of the next free one
 *  +---------+---------+---------+-----
 * </pre>
 *
 * <p>Blocks taken in one order and given back in another can leave every chunk in use by a few blocks, and a peer's
 * limit for eager messages may be above ours. A payload that fits into no chunk is then allocated separately. The
 * peers' credit bounds the sum, and a peer that keeps to its credit is never refused. Nothing else allocates. Owner:
 * progress agent.
 */
final class BlockStore {
    private static final int MIN_SHIFT = 6;

    private final int chunkLength;
    private final int chunkShift;
    private final int maxChunks;
    private final long memory;
    private final long base;
    private final int[] freeInChunk;
    private final byte[] shiftOfChunk;
    private final long[] firstFree;
    private final int[] nextChunk;
    private final int[] previousChunk;
    private final int[] partialOfShift;
    private int emptyChunks;
    private int inUse;
    private int overflowing;

    /**
     * A store of a fixed size.
     *
     * @param budgetBytes     payload bytes that always fit, whatever the message lengths.
     * @param maxPayloadBytes longest payload.
     */
    BlockStore(int budgetBytes, int maxPayloadBytes) {
        int largest = Math.max(1 << MIN_SHIFT, Integer.highestOneBit(Math.max(1, maxPayloadBytes - 1)) << 1);
        chunkLength = Math.max(largest, 1 << 14);
        chunkShift = Integer.numberOfTrailingZeros(chunkLength);
        int sizes = Integer.numberOfTrailingZeros(largest) - MIN_SHIFT + 1;
        // rounding to a power of two at most doubles the bytes; each size may have one partly used chunk
        maxChunks = 2 * (budgetBytes / chunkLength + 1) + sizes;
        memory = UnsafeApi.allocateMemory((long) (maxChunks + 1) * chunkLength);
        base = (memory + chunkLength - 1) & -chunkLength;
        freeInChunk = new int[maxChunks];
        shiftOfChunk = new byte[maxChunks];
        firstFree = new long[maxChunks];
        nextChunk = new int[maxChunks];
        previousChunk = new int[maxChunks];
        partialOfShift = new int[32];
        Arrays.fill(partialOfShift, -1);
        for (int i = 0; i < maxChunks; i++) {
            nextChunk[i] = i + 1 < maxChunks ? i + 1 : -1;
        }
    }

    /** Takes a block. Returns the native address. */
    long take(long length) {
        inUse++;
        int shift = length <= 1 << MIN_SHIFT ? MIN_SHIFT : 64 - Long.numberOfLeadingZeros(length - 1);
        if (shift > chunkShift) {
            return overflow(length);
        }
        int chunk = partialOfShift[shift];
        if (chunk < 0) {
            chunk = emptyChunks;
            if (chunk < 0) {
                return overflow(length);
            }
            emptyChunks = nextChunk[chunk];
            cut(chunk, shift);
        }
        long block = firstFree[chunk];
        firstFree[chunk] = UnsafeApi.getLong(block);
        if (--freeInChunk[chunk] == 0) {
            unlink(chunk, shift);
        }
        return block;
    }

    /**
     * Returns a block to the store.
     *
     * @param block from {@link #take}.
     */
    void give(long block) {
        inUse--;
        if (block < base || block - base >= (long) maxChunks << chunkShift) {
            overflowing--;
            UnsafeApi.freeMemory(block);
            return;
        }
        int chunk = (int) ((block - base) >>> chunkShift);
        int shift = shiftOfChunk[chunk];
        UnsafeApi.putLong(block, firstFree[chunk]);
        firstFree[chunk] = block;
        int free = ++freeInChunk[chunk];
        int blocks = chunkLength >> shift;
        if (free == blocks) {
            if (blocks > 1) {
                unlink(chunk, shift);
            }
            nextChunk[chunk] = emptyChunks;
            emptyChunks = chunk;
        } else if (free == 1) {
            link(chunk, shift);
        }
    }

    int inUse() {
        return inUse;
    }

    /** The number of blocks in use that were allocated outside the chunks. */
    int overflowing() {
        return overflowing;
    }

    private long overflow(long length) {
        overflowing++;
        return UnsafeApi.allocateMemory(length);
    }

    void close() {
        UnsafeApi.freeMemory(memory);
    }

    private void cut(int chunk, int shift) {
        int blockLength = 1 << shift;
        long start = base + ((long) chunk << chunkShift);
        long next = 0;
        for (long block = start + chunkLength - blockLength; block >= start; block -= blockLength) {
            UnsafeApi.putLong(block, next);
            next = block;
        }
        firstFree[chunk] = next;
        shiftOfChunk[chunk] = (byte) shift;
        freeInChunk[chunk] = chunkLength >> shift;
        link(chunk, shift);
    }

    private void link(int chunk, int shift) {
        int head = partialOfShift[shift];
        nextChunk[chunk] = head;
        previousChunk[chunk] = -1;
        if (head >= 0) {
            previousChunk[head] = chunk;
        }
        partialOfShift[shift] = chunk;
    }

    private void unlink(int chunk, int shift) {
        int previous = previousChunk[chunk];
        int next = nextChunk[chunk];
        if (previous < 0) {
            partialOfShift[shift] = next;
        } else {
            nextChunk[previous] = next;
        }
        if (next >= 0) {
            previousChunk[next] = previous;
        }
    }
}
