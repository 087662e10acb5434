package org.jfabric.driver;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorConsumer;
import org.agrona.concurrent.errors.ErrorLogReader;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Reads an error log (Agrona's {@code DistinctErrorLog}) that may be damaged, such as that of a killed driver. It shows
 * the records before the first impossible length. Agrona's reader trusts every length; with its bounds checks disabled,
 * an impossible one would make it read outside of the mapping.
 *
 * <p>Has no state: any thread may call it.
 */
public final class ErrorRecords {
    /** Length, number of observations, times of the last and the first one; the text follows. */
    private static final int HEADER_LENGTH = 24;
    private static final int ALIGNMENT = 8;

    private ErrorRecords() {
    }

    /**
     * Shows the records, the oldest first.
     *
     * @param log      the whole log; it is only read.
     * @param consumer called for each record.
     * @return records shown.
     */
    public static int read(DirectBuffer log, ErrorConsumer consumer) {
        int end = 0;
        while (end <= log.capacity() - HEADER_LENGTH) {
            int length = log.getInt(end, LITTLE_ENDIAN);
            if (length < HEADER_LENGTH || length > log.capacity() - end) {
                break;
            }
            end = (int) Math.min(log.capacity(), (long) end + length + ALIGNMENT - 1 & -ALIGNMENT);
        }
        // Agrona's reader takes a writable buffer, but only reads; the buffer is not used outside of this call
        return end == 0 ? 0 : ErrorLogReader.read(new UnsafeBuffer(log, 0, end), consumer);
    }
}
