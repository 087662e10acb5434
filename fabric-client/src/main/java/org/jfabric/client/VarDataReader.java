package org.jfabric.client;

import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Reads the variable-length fields behind an SBE block, one after the other, and never past the end of the message.
 *
 * <p>Owner: the thread that decodes the message.
 */
public final class VarDataReader {
    private final DirectBuffer buffer;
    private final int end;
    private int index;

    /**
     * A reader at the first field.
     *
     * @param index  of the first field.
     * @param end    index behind the message.
     */
    public VarDataReader(DirectBuffer buffer, int index, int end) {
        this.buffer = buffer;
        this.index = index;
        this.end = end;
    }

    /**
     * The next field as characters.
     *
     * @return text, perhaps empty.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the field does not end within the message.
     */
    public String ascii() {
        return text(StandardCharsets.US_ASCII);
    }

    /**
     * The next field as characters.
     *
     * @return text, perhaps empty.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the field does not end within the message.
     */
    public String utf8() {
        return text(StandardCharsets.UTF_8);
    }

    /**
     * The next field as characters, where an empty one stands for none.
     *
     * @return text, or null.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the field does not end within the message.
     */
    public String asciiOrNull() {
        String text = ascii();
        return text.isEmpty() ? null : text;
    }

    /**
     * The next field as it is.
     *
     * @throws FabricException with {@link FabricErrno#EINVAL} if the field does not end within the message.
     */
    public byte[] bytes() {
        if (end - index < Integer.BYTES) {
            throw new FabricException(FabricErrno.EINVAL,
                "a message ends at byte " + end + ", needed is a length at byte " + index);
        }
        int length = buffer.getInt(index, ByteOrder.LITTLE_ENDIAN);
        index += Integer.BYTES;
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
}
