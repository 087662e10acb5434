package org.jfabric.perf.compare;

import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * Report of a side about a pass, as one line.
 *
 * @param result       nanoseconds, or messages compared.
 * @param load         of the process meanwhile.
 * @param driverCycles duty cycles of a daemon meanwhile, 0 if they are not counted.
 * @param histogram    distribution, or null.
 * @param profile      distribution of the thread's time, or null.
 */
record SideReport(long result, PassLoad load, long driverCycles, Histogram histogram,
    Profile profile) {
    private static final int LOAD_WORD = 1;
    private static final int CYCLES_WORD = LOAD_WORD + PassLoad.WORDS;
    private static final int WORDS = CYCLES_WORD + 3;
    private static final String NONE = "-";

    String format() {
        return String.join(" ", Long.toString(result), load.format(),
            Long.toString(driverCycles), histogram == null ? NONE : encode(histogram),
            profile == null ? NONE : profile.format());
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
        String histogram = words[CYCLES_WORD + 1];
        String profile = words[CYCLES_WORD + 2];
        return new SideReport(Long.parseLong(words[0]), PassLoad.parse(words, LOAD_WORD),
            Long.parseLong(words[CYCLES_WORD]),
            histogram.equals(NONE) ? null : decode(histogram), profile.equals(NONE) ? null : Profile.parse(profile));
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
