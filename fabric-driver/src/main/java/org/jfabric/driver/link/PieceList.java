package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegionTable;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;
import org.jfabric.layout.Words;

/**
 * The pieces of registered memory from which one message is gathered or over which it is scattered. Each operation
 * record has one list, which is filled only for operations of several pieces. Empty pieces are left out.
 *
 * <p>Owner: progress agent.
 */
public final class PieceList {
    /** Largest number of pieces of one operation. */
    public static final int MAX_PIECES = WorkRequestDescriptor.MAX_PIECES;

    /** One more: a protocol that sends the operation over another link puts a header in front of its pieces. */
    private static final int CAPACITY = MAX_PIECES + 1;

    private final long[] addresses = new long[CAPACITY];
    private final long[] lengths = new long[CAPACITY];
    private final RegisteredRegion[] regions = new RegisteredRegion[CAPACITY];
    private int count;
    private long lengthBytes;
    /** A piece is in a region whose bytes are copied. */
    private boolean isCopied;

    /** A list without pieces. */
    public PieceList() {
    }

    /**
     * Fills the list with the pieces of an operation, if all of them are in registered regions. The regions are not
     * retained yet.
     *
     * @param pieces address and length of each piece, one after the other; lengths are read as unsigned.
     * @param length pieces, at most {@link #MAX_PIECES}.
     * @return false if a piece is not inside an open region; then the list is empty.
     */
    public boolean resolve(RegionTable table, long[] pieces, int length) {
        count = 0;
        lengthBytes = 0;
        isCopied = false;
        for (int i = 0; i < length; i++) {
            long bytes = pieces[2 * i + 1];
            if (bytes == 0) {
                continue;
            }
            RegisteredRegion region = table.find(pieces[2 * i], bytes);
            if (region == null) {
                region = table.findCopied(pieces[2 * i], bytes);
                if (region == null) {
                    forget();
                    return false;
                }
                isCopied = true;
            }
            regions[count] = region;
            addresses[count] = region.address() + MemoryRegionDescriptor.offset(pieces[2 * i]);
            lengths[count] = bytes;
            count++;
            // each piece is inside a region of at most 2^40 bytes, so that the sum does not overflow
            lengthBytes += bytes;
        }
        return true;
    }

    /**
     * As {@link #resolve}, for an operation that sends the bytes: they are here when this returns. Returns false also
     * if a client's memory is not there any more.
     */
    public boolean fetch(RegionTable table, long[] pieces, int length) {
        if (!resolve(table, pieces, length)) {
            return false;
        }
        boolean isHere = true;
        for (int i = 0; isCopied && isHere && i < count; i++) {
            isHere = !regions[i].isCopied() || regions[i].fetch(addresses[i] - regions[i].address(), lengths[i]);
        }
        if (!isHere) {
            forget();
        }
        return isHere;
    }

    /** Whether {@link #store} has something to do. */
    public boolean isCopied() {
        return isCopied;
    }

    /**
     * Copies what an operation has brought to the client, where a region is not in place. Returns false if a client's
     * memory is not there any more.
     */
    public boolean store(long length) {
        long rest = length;
        for (int i = 0; i < count && rest > 0; i++) {
            long bytes = Math.min(lengths[i], rest);
            if (regions[i].isCopied() && !regions[i].store(addresses[i] - regions[i].address(), bytes)) {
                return false;
            }
            rest -= bytes;
        }
        return true;
    }

    /**
     * Adds a piece of memory that the caller keeps mapped.
     *
     * @param address native address.
     * @param length  bytes; 0 adds nothing.
     */
    public void add(long address, long length) {
        if (length != 0) {
            addresses[count] = address;
            lengths[count] = length;
            count++;
            lengthBytes += length;
        }
    }

    /**
     * Adds a range of another list's bytes; the regions stay with that list.
     *
     * @param length bytes, not beyond the end of the other's last piece.
     */
    public void addPart(PieceList other, long offset, long length) {
        long skip = offset;
        long rest = length;
        for (int i = 0; i < other.count && rest > 0; i++) {
            long here = other.lengths[i] - skip;
            if (here <= 0) {
                skip = -here;
                continue;
            }
            long bytes = Math.min(here, rest);
            add(other.addresses[i] + skip, bytes);
            rest -= bytes;
            skip = 0;
        }
    }

    /** The operation outlives its posting call: its regions must stay mapped. */
    public void retain() {
        for (int i = 0; i < count; i++) {
            regions[i].retain();
        }
    }

    /** The operation that had called {@link #retain()} has ended. */
    public void release() {
        for (int i = 0; i < count; i++) {
            regions[i].release();
        }
        forget();
    }

    /** Empties the list without releasing regions. */
    public void forget() {
        for (int i = 0; i < count; i++) {
            regions[i] = null;
        }
        count = 0;
        lengthBytes = 0;
        isCopied = false;
    }

    /** Pieces in the list. Returns 0 to {@link #MAX_PIECES}. */
    public int count() {
        return count;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Address of a piece. Returns the native address. */
    public long address(int index) {
        return addresses[index];
    }

    /** Length of a piece. Returns the bytes, 1 or more. */
    public long length(int index) {
        return lengths[index];
    }

    public RegisteredRegion region(int index) {
        return regions[index];
    }

    /**
     * Gathers a range of the message.
     *
     * @param dest   native address.
     * @param length bytes, not beyond the end of the last piece.
     */
    public void copyTo(long offset, long dest, long length) {
        long skip = offset;
        long done = 0;
        for (int i = 0; i < count && done < length; i++) {
            long here = lengths[i] - skip;
            if (here <= 0) {
                skip = -here;
                continue;
            }
            long bytes = Math.min(here, length - done);
            Words.copy(addresses[i] + skip, dest + done, bytes);
            done += bytes;
            skip = 0;
        }
    }

    /**
     * Scatters a range of the message.
     *
     * @param source native address.
     * @param length bytes, not beyond the end of the last piece.
     */
    public void copyFrom(long offset, long source, long length) {
        long skip = offset;
        long done = 0;
        for (int i = 0; i < count && done < length; i++) {
            long here = lengths[i] - skip;
            if (here <= 0) {
                skip = -here;
                continue;
            }
            long bytes = Math.min(here, length - done);
            Words.copy(source + done, addresses[i] + skip, bytes);
            done += bytes;
            skip = 0;
        }
    }
}
