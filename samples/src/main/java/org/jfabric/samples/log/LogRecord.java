package org.jfabric.samples.log;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of one record. A write that was interrupted may have changed any part of it: then the checksum is wrong,
 * and the log ends in front of it.
 *
 * <pre>
 *   0 number u64 | 8 checksum of all the rest u64 | 16 length of the text s32 | 20 text, ASCII
 * </pre>
 */
final class LogRecord {
    static final int LENGTH = 64;
    private static final int CHECKSUM = 8;
    private static final int TEXT_LENGTH = 16;
    private static final int TEXT = 20;

    private LogRecord() {
    }

    static void put(MutableDirectBuffer buffer, int offset, long number, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length > LENGTH - TEXT) {
            throw new IllegalArgumentException("the text has " + bytes.length + " bytes, at most " + (LENGTH - TEXT));
        }
        buffer.setMemory(offset, LENGTH, (byte) 0);
        buffer.putLong(offset, number, ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(offset + TEXT_LENGTH, bytes.length, ByteOrder.LITTLE_ENDIAN);
        buffer.putBytes(offset + TEXT, bytes);
        buffer.putLong(offset + CHECKSUM, checksum(buffer, offset), ByteOrder.LITTLE_ENDIAN);
    }

    /** The text of a record, or null if it is not whole or has another number. */
    static String text(DirectBuffer buffer, int offset, long number) {
        int length = buffer.getInt(offset + TEXT_LENGTH, ByteOrder.LITTLE_ENDIAN);
        if (buffer.getLong(offset, ByteOrder.LITTLE_ENDIAN) != number || length < 0 || length > LENGTH - TEXT
            || buffer.getLong(offset + CHECKSUM, ByteOrder.LITTLE_ENDIAN) != checksum(buffer, offset)) {
            return null;
        }
        return buffer.getStringWithoutLengthAscii(offset + TEXT, length);
    }

    private static long checksum(DirectBuffer buffer, int offset) {
        byte[] bytes = new byte[LENGTH];
        buffer.getBytes(offset, bytes);
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, CHECKSUM);
        crc.update(bytes, TEXT_LENGTH, LENGTH - TEXT_LENGTH);
        return crc.getValue();
    }
}
