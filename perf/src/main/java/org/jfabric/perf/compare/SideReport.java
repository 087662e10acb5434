package org.jfabric.perf.compare;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * What a side says of a pass, as one line.
 *
 * @param result      nanoseconds, or messages compared.
 * @param cpuNs       processor time of the whole process meanwhile.
 * @param switches    times that the main thread lost its core without waiting for anything.
 * @param collections garbage collections.
 * @param memoryBytes resident memory of the process afterwards.
 * @param histogram   distribution, or null.
 */
record SideReport(
    long result, long cpuNs, long switches, long collections, long memoryBytes, Histogram histogram) {
    private static final int WORDS = 6;
    private static final String NONE = "-";

    /** The line. */
    String format() {
        return String.join(" ", Long.toString(result), Long.toString(cpuNs), Long.toString(switches),
            Long.toString(collections), Long.toString(memoryBytes), histogram == null ? NONE : encode(histogram));
    }

    /**
     * Reads it.
     *
     * @param line as from {@link #format}.
     * @throws IllegalArgumentException if it is something else.
     */
    static SideReport parse(String line) {
        String[] words = line.split(" ");
        if (words.length != WORDS) {
            throw new IllegalArgumentException("not a report of a pass: " + line);
        }
        return new SideReport(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
            Long.parseLong(words[3]), Long.parseLong(words[4]), words[5].equals(NONE) ? null : decode(words[5]));
    }

    private static String encode(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(java.util.Arrays.copyOf(buffer.array(), length));
    }

    private static Histogram decode(String text) {
        try {
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        } catch (DataFormatException ex) {
            throw new IllegalArgumentException("not a histogram", ex);
        }
    }
}
