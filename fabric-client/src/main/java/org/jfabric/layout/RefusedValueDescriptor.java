package org.jfabric.layout;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Layout of the error data of an operation that was refused for one of its values; little endian.
 *
 * <pre>
 *    0  which value (8 bytes)
 *    8  first address of a range of memory, or the address of the peer (8 bytes)
 *   16  bytes of the range (8 bytes)
 *   24  key of the peer's region (8 bytes)
 * </pre>
 */
public final class RefusedValueDescriptor {
    public static final int LENGTH = 4 * Long.BYTES;
    /** A range of local memory. */
    public static final long LOCAL_MEMORY = 1;
    /** A destination. */
    public static final long PEER = 2;
    /** A range of a peer's memory. */
    public static final long REMOTE_MEMORY = 3;

    private RefusedValueDescriptor() {
    }

    /** Error data that names a value. Returns new data: only for errors that an application makes. */
    public static DirectBuffer value(long kind, long address, long lengthBytes, long key) {
        UnsafeBuffer data = new UnsafeBuffer(new byte[LENGTH]);
        data.putLong(0, kind, ByteOrder.LITTLE_ENDIAN);
        data.putLong(8, address, ByteOrder.LITTLE_ENDIAN);
        data.putLong(16, lengthBytes, ByteOrder.LITTLE_ENDIAN);
        data.putLong(24, key, ByteOrder.LITTLE_ENDIAN);
        return data;
    }

    /** Says what the data names; null if it is no data of this layout. */
    public static String describe(DirectBuffer data) {
        if (data.capacity() != LENGTH) {
            return null;
        }
        long address = data.getLong(8, ByteOrder.LITTLE_ENDIAN);
        String bytes = data.getLong(16, ByteOrder.LITTLE_ENDIAN) + " bytes at 0x" + Long.toHexString(address);
        long kind = data.getLong(0, ByteOrder.LITTLE_ENDIAN);
        return kind == LOCAL_MEMORY ? "Not all of the " + bytes + " are in one open region of the domain."
            : kind == PEER ? "The address vector has no address " + address + '.'
            : kind == REMOTE_MEMORY ? "The access was to " + bytes + " of the peer's region with key "
                + data.getLong(24, ByteOrder.LITTLE_ENDIAN) + '.'
            : null;
    }
}
