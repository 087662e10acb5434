package org.jfabric.driver.link.tcp;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The connection management message, which each side of a connection sends once, before all other messages.
 *
 * <pre>
 *    0 version u8, 3 | 1 type u8 | 2 length of the data u16, network order | 4 not used, 4 bytes
 *    8 not used, 8 bytes
 *   16 not used, 8 bytes
 *   24 probe u64 in the sender's byte order: 1, or 0 in a rejection
 *   32 data, 0 to 256 bytes
 * </pre>
 *
 * <p>Libfabric reads header and data with one call each and treats a short read as an error, so that each message must
 * be written by one call. Immutable.
 *
 * @param isBigEndian the sender's byte order; false for a rejection, which does not contain it.
 * @param data        data of the layer above; not changed afterwards.
 */
record CmMessage(int type, boolean isBigEndian, byte[] data) {
    static final int REQUEST = 0;
    static final int RESPONSE = 1;
    static final int REJECT = 6;
    static final int HEADER_LENGTH = 32;
    static final int MAX_DATA_LENGTH = 256;
    static final int MAX_LENGTH = HEADER_LENGTH + MAX_DATA_LENGTH;

    static final byte VERSION = 3;

    /** First byte of a connection that begins with TLS. */
    private static final byte TLS_HANDSHAKE = 22;
    private static final int TYPE_OFFSET = 1;
    private static final int LENGTH_OFFSET = 2;
    private static final int PROBE_OFFSET = 24;
    private static final long PROBE = 1L;

    /** A message of this machine, which is little endian. */
    CmMessage(int type, byte[] data) {
        this(type, false, data);
    }

    int length() {
        return HEADER_LENGTH + data.length;
    }

    /** Writes the message in the form of a little-endian machine; {@link #length()} bytes. */
    void encode(MutableDirectBuffer buffer, int offset) {
        buffer.setMemory(offset, HEADER_LENGTH, (byte) 0);
        buffer.putByte(offset, VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte) type);
        buffer.putShort(offset + LENGTH_OFFSET, (short) data.length, ByteOrder.BIG_ENDIAN);
        buffer.putLong(offset + PROBE_OFFSET, type == REJECT ? 0 : PROBE, ByteOrder.LITTLE_ENDIAN);
        buffer.putBytes(offset + HEADER_LENGTH, data);
    }

    /**
     * Reads a message.
     *
     * @return null if the message is incomplete.
     * @throws FabricException {@code FI_EIO} if the bytes are not such a message.
     */
    static CmMessage decode(DirectBuffer buffer, int offset, int available) {
        // the bytes of a port scanner are refused as soon as the first of them is wrong
        if (available >= 1 && buffer.getByte(offset) != VERSION) {
            throw broken(buffer.getByte(offset) == TLS_HANDSHAKE
                ? "a handshake of TLS; the peer demands encryption, and this link is plain"
                : "version " + (buffer.getByte(offset) & 0xFF) + " instead of " + VERSION);
        }
        if (available > TYPE_OFFSET) {
            int type = buffer.getByte(offset + TYPE_OFFSET);
            if (type != REQUEST && type != RESPONSE && type != REJECT) {
                throw broken("type " + (type & 0xFF));
            }
        }
        if (available < LENGTH_OFFSET + Short.BYTES) {
            return null;
        }
        int dataLength = buffer.getShort(offset + LENGTH_OFFSET, ByteOrder.BIG_ENDIAN) & 0xFFFF;
        if (dataLength > MAX_DATA_LENGTH) {
            throw broken(dataLength + " bytes of data, at most " + MAX_DATA_LENGTH);
        }
        if (available < HEADER_LENGTH + dataLength) {
            return null;
        }
        int type = buffer.getByte(offset + TYPE_OFFSET);
        long probe = buffer.getLong(offset + PROBE_OFFSET, ByteOrder.LITTLE_ENDIAN);
        if (type != REJECT && probe != PROBE && probe != Long.reverseBytes(PROBE)) {
            throw broken("probe of the byte order 0x" + Long.toHexString(probe));
        }
        byte[] data = new byte[dataLength];
        buffer.getBytes(offset + HEADER_LENGTH, data);
        return new CmMessage(type, type != REJECT && probe != PROBE, data);
    }

    private static FabricException broken(String what) {
        return new FabricException(FabricErrno.EIO, "not a message that begins a connection: " + what,
            "Check that the peer is an endpoint of libfabric's tcp provider, or of net in 1.17.");
    }
}
