package org.jfabric.client;

import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Reads the fields of an SBE message, one after the other, and never past its end: {@link FabricErrno#EINVAL} if a
 * field does not end within the message.
 *
 * <p>Owner: the thread that decodes the message.
 */
public final class FieldReader implements ControlMessage.Reader {
    private final DirectBuffer buffer;
    private final int end;
    private int index;

    /**
     * A reader at the first field that it is to read.
     *
     * @param index  of that field.
     * @param end    index behind the message.
     */
    public FieldReader(DirectBuffer buffer, int index, int end) {
        this.buffer = buffer;
        this.index = index;
        this.end = end;
    }

    @Override
    public long int64() {
        return buffer.getLong(next("a number", Long.BYTES), ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public int int32() {
        return buffer.getInt(next("a number", Integer.BYTES), ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public int uint8() {
        return buffer.getByte(next("a number", Byte.BYTES)) & 0xFF;
    }

    @Override
    public String ascii() {
        return text(StandardCharsets.US_ASCII);
    }

    @Override
    public String utf8() {
        return text(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] bytes() {
        int length = buffer.getInt(next("a length", Integer.BYTES), ByteOrder.LITTLE_ENDIAN);
        if (length < 0 || length > end - index) {
            throw new FabricException(FabricErrno.EINVAL,
                "a field has " + Integer.toUnsignedString(length) + " bytes, " + (end - index) + " are left");
        }
        byte[] bytes = new byte[length];
        buffer.getBytes(index, bytes);
        index += length;
        return bytes;
    }

    private String text(Charset charset) {
        return new String(bytes(), charset);
    }

    private int next(String what, int length) {
        if (end - index < length) {
            throw new FabricException(FabricErrno.EINVAL,
                "a message ends at byte " + end + ", needed is " + what + " at byte " + index);
        }
        int at = index;
        index += length;
        return at;
    }
}
