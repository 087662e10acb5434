package org.jfabric.tool;

import java.util.Locale;

/**
 * Result of a ping-pong. Times are nanoseconds for half a round trip.
 *
 * @param mode              {@code embedded} or {@code daemon}.
 * @param verified          messages whose contents were compared, in a pass of its own.
 * @param spinning          true if waiting threads kept their cores; false if there were too few cores.
 * @param meanNs            total time of the pass without clocks, over twice the count.
 * @param messagesPerSecond twice the count over the total time of the pass without clocks.
 * @param load              other use of the processors in the passes that were timed.
 * @param outliers          round trips that took long, and why; null if that was not asked for.
 */
record PingPongResult(
    String link,
    String mode,
    long sizeBytes,
    long count,
    long verified,
    boolean spinning,
    double meanNs,
    Latency latencyNs,
    double messagesPerSecond,
    MachineLoad.Seen load,
    Outliers outliers) {

    /**
     * The distribution, from a clock around each round trip.
     *
     * @param p50   half of the values are not above it.
     * @param p99   99 % are not above it.
     * @param p999  99.9 % are not above it.
     * @param p9999 99.99 % are not above it.
     * @param max   the greatest.
     */
    record Latency(double p50, double p99, double p999, double p9999, double max) {
    }

    static PingPongResult of(
        PingPongPlan plan, long sizeBytes, long count, long verified, long elapsedNs, Latency latencyNs,
        MachineLoad.Seen load) {
        double time = Math.max(1, elapsedNs);
        return new PingPongResult(
            plan.link(), plan.mode(), sizeBytes, count, verified, plan.spinning(),
            time / (2.0 * count), latencyNs, 2.0 * count * 1e9 / time, load, null);
    }

    /** Adds explained outliers. */
    PingPongResult with(Outliers found) {
        return new PingPongResult(
            link, mode, sizeBytes, count, verified, spinning, meanNs, latencyNs, messagesPerSecond, load, found);
    }

    /**
     * One object on one line; the names are what programs rely on.
     */
    String toJson() {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("link", link)
            .member("mode", mode)
            .member("sizeBytes", sizeBytes)
            .member("count", count)
            .member("verified", verified)
            .member("spinning", spinning)
            .name("halfRoundTripNs").beginObject()
            .member("mean", meanNs)
            .member("p50", latencyNs.p50)
            .member("p99", latencyNs.p99)
            .member("p99.9", latencyNs.p999)
            .member("p99.99", latencyNs.p9999)
            .member("max", latencyNs.max)
            .endObject()
            .member("messagesPerSecond", messagesPerSecond)
            .member("busy", load.isBusy())
            .name("othersCores").value(load.othersCores(), 2)
            .member("stolenPercent", load.stolenPercent());
        if (outliers != null) {
            outliers.writeTo(writer.name("outliers"));
        }
        return writer.endObject().toString();
    }

    /**
     * The same for people.
     */
    String toText() {
        StringBuilder text = new StringBuilder();
        line(text, "link", link + ", " + mode + ", two processes");
        line(text, "message", grouped(sizeBytes) + " bytes, tagged");
        line(text, "round trips", grouped(count) + " in each pass");
        line(text, "verified", grouped(verified) + " messages, all as sent");
        line(text, "waiting", spinning ? "spinning" : "yielding and sleeping; with more cores it would spin");
        line(text, "half round trip", "mean " + nanos(meanNs) + " ns");
        line(text, "  with clocks", "p50 " + nanos(latencyNs.p50) + "  p99 " + nanos(latencyNs.p99)
            + "  p99.9 " + nanos(latencyNs.p999) + "  p99.99 " + nanos(latencyNs.p9999)
            + "  max " + nanos(latencyNs.max) + " ns");
        line(text, "rate", grouped(Math.round(messagesPerSecond)) + " messages/s, one at a time"
            + (sizeBytes >= 4096 ? ", " + String.format(Locale.ROOT, "%.2f", messagesPerSecond * sizeBytes / 1e9)
            + " GB/s" : ""));
        if (load.isBusy()) {
            line(text, "machine busy", load + "; times are longer than on an idle one, and vary");
        }
        if (outliers != null) {
            line(text, "outliers", outliers.toText().strip());
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String name, String value) {
        text.append(String.format(Locale.ROOT, "%-16s %s%n", name, value));
    }

    private static String grouped(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String nanos(double value) {
        return value < 10_000 ? String.format(Locale.ROOT, "%.1f", value) : grouped(Math.round(value));
    }
}
