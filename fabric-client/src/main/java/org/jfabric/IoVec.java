package org.jfabric;

import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * Pieces of registered memory that one message is gathered from or scattered over, in order (struct iovec).
 *
 * <pre>{@code
 * pieces.clear().add(header.address(), 16).add(body.address(), 4096);
 * endpoint.messages().tsendv(pieces, peer, 7, 1);
 * }</pre>
 *
 * <p>Made once with room for some pieces and used again and again; the calls copy it, so it may be changed as soon as
 * they return. Pieces may lie in different regions, may be empty and may overlap in a send. Adding pieces allocates
 * nothing. Owner: one thread at a time. Source: fi_msg(3), section fi_sendv; fi_tagged(3), sections fi_tsendv and
 * fi_trecvv; fi_endpoint(3), iov_limit of both attributes.
 */
public final class IoVec {
    private final long[] pieces;
    private int count;

    /** Room for as many pieces as every link of this version takes. */
    public IoVec() {
        this(WorkRequestDescriptor.MAX_PIECES);
    }

    /**
     * Room for a fixed number of pieces. More than the endpoint's {@code iov_limit} can be held here, but a call that
     * is given more refuses them.
     *
     * @param capacity pieces, 1 or more.
     * @throws FabricException {@link FabricErrno#EINVAL} for a capacity below 1.
     */
    public IoVec(int capacity) {
        if (capacity < 1) {
            throw new FabricException(FabricErrno.EINVAL, "the capacity is " + capacity + ", at least 1 is needed");
        }
        pieces = new long[2 * capacity];
    }

    /**
     * Adds a piece after the others. Its memory is checked when it is used.
     *
     * @param address     in registered memory, as of {@link MemoryRegion#address(long)}.
     * @param lengthBytes bytes of the piece.
     * @return this.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no room.
     */
    public IoVec add(long address, long lengthBytes) {
        if (2 * count == pieces.length) {
            throw new FabricException(FabricErrno.EINVAL, "all " + count + " pieces are in use",
                "Clear it before it is filled again, or make it with a greater capacity.");
        }
        pieces[2 * count] = address;
        pieces[2 * count + 1] = lengthBytes;
        count++;
        return this;
    }

    /**
     * Adds a whole slice behind the other pieces.
     *
     * @param slice of registered memory.
     * @return this.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no room.
     */
    public IoVec add(MemorySlice slice) {
        return add(slice.address(), slice.lengthBytes());
    }

    /**
     * Forgets all pieces.
     *
     * @return this.
     */
    public IoVec clear() {
        count = 0;
        return this;
    }

    /**
     * Pieces added since the last {@link #clear()}.
     *
     * @return 0 to {@link #capacity()}.
     */
    public int count() {
        return count;
    }

    /**
     * Room for pieces.
     *
     * @return as given when it was made.
     */
    public int capacity() {
        return pieces.length / 2;
    }

    /**
     * Bytes of all pieces together: the length of the message that is sent, or of the longest that fits.
     *
     * @return the sum.
     */
    public long lengthBytes() {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += pieces[2 * i + 1];
        }
        return sum;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("IoVec{");
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : ", ").append(Codes.hex(pieces[2 * i])).append('+').append(pieces[2 * i + 1]);
        }
        return text.append('}').toString();
    }

    /** Address and length of each piece, one after the other. */
    long[] pieces() {
        return pieces;
    }

    /** Address of the first piece. */
    long firstAddress() {
        return count == 0 ? 0 : pieces[0];
    }

    /**
     * Fills a list of pieces with those of a vector, or with the one piece if that is null; returns their number, or -1
     * if they are not valid.
     */
    static int fill(long[] list, IoVec iov, long buf, long len) {
        if (iov == null) {
            list[0] = buf;
            list[1] = len;
            return len < 0 ? -1 : 1;
        }
        return iov.isValid() ? iov.copyTo(list) : -1;
    }

    /** Copies the pieces of a valid vector; returns their number. */
    int copyTo(long[] list) {
        for (int i = 0; i < 2 * count; i++) {
            list[i] = pieces[i];
        }
        return count;
    }

    /** Whether a call may take it: not too many pieces, none without address or with a negative length. */
    boolean isValid() {
        if (count > WorkRequestDescriptor.MAX_PIECES) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            long length = pieces[2 * i + 1];
            if (length < 0 || length > Long.MAX_VALUE / WorkRequestDescriptor.MAX_PIECES
                || length != 0 && pieces[2 * i] == 0) {
                return false;
            }
        }
        return true;
    }
}
