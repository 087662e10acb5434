package org.jfabric.driver.hostile;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A record with its number and a checksum, so that one that is not whole, or of another place, is noticed. */
final class CommittedRecord {
    static final int LENGTH = 64;
    private static final int CHECKSUM = 8;
    private static final int PAYLOAD = 16;

    private CommittedRecord() {
    }

    static void put(MutableDirectBuffer buffer, int offset, long number) {
        buffer.putLong(offset, number, LITTLE_ENDIAN);
        for (int i = PAYLOAD; i < LENGTH; i++) {
            buffer.putByte(offset + i, (byte) (number * 31 + i));
        }
        buffer.putLong(offset + CHECKSUM, checksum(buffer, offset), LITTLE_ENDIAN);
    }

    static boolean isWhole(DirectBuffer buffer, int offset, long number) {
        return buffer.getLong(offset, LITTLE_ENDIAN) == number
            && buffer.getLong(offset + CHECKSUM, LITTLE_ENDIAN) == checksum(buffer, offset);
    }

    private static long checksum(DirectBuffer buffer, int offset) {
        byte[] bytes = new byte[LENGTH];
        buffer.getBytes(offset, bytes);
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, CHECKSUM);
        crc.update(ByteBuffer.wrap(bytes, PAYLOAD, LENGTH - PAYLOAD));
        return crc.getValue();
    }
}
