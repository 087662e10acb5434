package org.jfabric.tool;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;

/**
 * Watches the thread of one side of a ping-pong: its outliers, and how long it waited for a core. Nothing is read while
 * a round trip is measured: both sides sample after the same round trips, and the next one is not measured.
 *
 * <p>In the answer to the coordinator words of fields, separated by commas: {@code outlier,BEGIN,END} and {@code
 * KIND,BEGIN,END,AMOUNT}. Owner: the application's thread.
 */
final class OutlierProbe implements AutoCloseable {
    private static final int LONGEST = 200;
    private static final String OUTLIER = "outlier";

    private final long thresholdNs;
    private final long period;
    private final ThreadLoad load;
    /** The shortest first. */
    private final PriorityQueue<Outliers.Outlier> longest =
        new PriorityQueue<>((a, b) -> Long.compare(a.lengthNs(), b.lengthNs()));
    private final List<Cause> causes = new ArrayList<>();
    private long count;

    /**
     * Begins, on the thread that is watched.
     *
     * @param period      round trips after which both sides sample, at least 2.
     */
    OutlierProbe(long thresholdNs, long period) {
        this.thresholdNs = thresholdNs;
        this.period = period;
        ThreadLoad opened = null;
        try {
            opened = ThreadLoad.ofThisThread("");
        } catch (IOException ex) {
            // a kernel that does not count: these causes are not known
            opened = null;
        }
        load = opened;
    }

    /** Round trips after which both sides sample. */
    long period() {
        return period;
    }

    /** A round trip has been measured. */
    void measured(long beginNs, long endNs) {
        if (endNs - beginNs <= thresholdNs) {
            return;
        }
        count++;
        sample();
        if (longest.size() == LONGEST) {
            if (longest.peek().lengthNs() >= endNs - beginNs) {
                return;
            }
            longest.poll();
        }
        longest.add(new Outliers.Outlier("round trip", beginNs, endNs));
    }

    /** Between two round trips. */
    void sample() {
        if (load != null) {
            load.sample(causes);
        }
    }

    /** Returns the count of outliers, then those that were kept, and all causes. */
    String report() {
        StringBuilder text = new StringBuilder().append(count);
        for (Outliers.Outlier each : longest) {
            text.append(' ').append(OUTLIER).append(',').append(each.beginNs()).append(',').append(each.endNs());
        }
        for (Cause each : causes) {
            text.append(' ').append(each.kind()).append(',').append(each.beginNs()).append(',').append(each.endNs())
                .append(',').append(each.amount());
        }
        return text.toString();
    }

    static long read(String who, String text, List<Outliers.Outlier> outliers, List<Cause> causes) {
        String[] words = text.split(" ");
        for (int i = 1; i < words.length; i++) {
            String[] fields = words[i].split(",");
            long beginNs = Long.parseLong(fields[1]);
            long endNs = Long.parseLong(fields[2]);
            if (fields[0].equals(OUTLIER)) {
                outliers.add(new Outliers.Outlier("round trip", beginNs, endNs));
            } else {
                causes.add(new Cause(who, Cause.Kind.valueOf(fields[0].toUpperCase(Locale.ROOT)), beginNs, endNs,
                    Long.parseLong(fields[3]), ""));
            }
        }
        return Long.parseLong(words[0]);
    }

    @Override
    public void close() {
        if (load != null) {
            load.close();
        }
    }
}
