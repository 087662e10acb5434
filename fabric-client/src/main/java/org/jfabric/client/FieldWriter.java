package org.jfabric.client;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.jfabric.codec.control.ControlMessage;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Writes the fields of an SBE message, one after the other. A text that is null is written as empty; one in UTF-8,
 * which is for people, is cut to what a field takes.
 *
 * <p>Owner: the thread that encodes the message.
 */
public final class FieldWriter implements ControlMessage.Writer {
    private static final int INITIAL_LENGTH = 1024;
    private static final int MAX_TEXT_LENGTH = 4096;

    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(INITIAL_LENGTH);
    private final boolean asciiOnly;
    private int length;

    /**
     * A writer without fields.
     *
     * @param asciiOnly whether other characters than ASCII are refused where these are needed; else they become
     *                  question marks.
     */
    public FieldWriter(boolean asciiOnly) {
        this.asciiOnly = asciiOnly;
    }

    /** Begins another message. */
    public void clear() {
        length = 0;
    }

    /** Where the message stands, from index 0. */
    public DirectBuffer buffer() {
        return buffer;
    }

    /** Bytes of the message. */
    public int length() {
        return length;
    }

    @Override
    public void int64(long value) {
        buffer.putLong(length, value, ByteOrder.LITTLE_ENDIAN);
        length += Long.BYTES;
    }

    @Override
    public void int32(int value) {
        buffer.putInt(length, value, ByteOrder.LITTLE_ENDIAN);
        length += Integer.BYTES;
    }

    @Override
    public void uint8(int value) {
        buffer.putByte(length++, (byte) value);
    }

    @Override
    public void ascii(String name, String value) {
        String text = value == null ? "" : value;
        if (asciiOnly && !StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
            throw new FabricException(
                FabricErrno.EINVAL, name + " is \"" + text + "\", needed are ASCII characters");
        }
        bytes(name, text.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void utf8(String name, String value) {
        String text = value == null ? "" : value;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // characters of up to three bytes each must not exceed the field
        bytes(name, bytes.length <= MAX_TEXT_LENGTH ? bytes
            : text.substring(0, Math.min(text.length(), MAX_TEXT_LENGTH / 3)).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void bytes(String name, byte[] value) {
        if (value.length > MAX_TEXT_LENGTH) {
            throw new FabricException(FabricErrno.EINVAL,
                name + " has " + value.length + " bytes, at most " + MAX_TEXT_LENGTH + " are possible");
        }
        int32(value.length);
        buffer.putBytes(length, value);
        length += value.length;
    }
}
