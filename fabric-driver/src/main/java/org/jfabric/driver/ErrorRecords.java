package org.jfabric.driver;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorConsumer;
import org.agrona.concurrent.errors.ErrorLogReader;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Reads an error log (Agrona's {@code DistinctErrorLog}) that may be damaged, such as that of a killed driver: the
 * records before the first impossible length. Agrona's reader believes every length, and without bounds checks an
 * impossible one would lead it out of the mapping.
 *
 * <p>Any thread.
 */
public final class ErrorRecords {
    /** Length, count and both times: the text begins behind them. */
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
        // Agrona's reader asks for a buffer that could be written, and only reads: it goes no further than this call
        return end == 0 ? 0 : ErrorLogReader.read(new UnsafeBuffer(log, 0, end), consumer);
    }
}
