package org.jfabric.tool;

import java.util.Locale;

/**
 * Something that happened in a process, which an outlier may have coincided with.
 *
 * @param who     process, thread or driver.
 * @param beginNs begin of the time in which it happened, by {@link System#nanoTime()} of this host.
 * @param endNs   its end; the time may be longer than what happened in it.
 * @param amount  nanoseconds or a count, as the kind says.
 * @param detail  for people, may be empty.
 */
record Cause(String who, Kind kind, long beginNs, long endNs, long amount, String detail) {
    /** A cause that took a smaller part of an outlier is not named. */
    private static final int LEAST_PART = 10;
    /**
     * Longest time between two samples, in lengths of an outlier. With a longer one it is not known whether something
     * happened during the outlier.
     */
    private static final int MOST_LENGTHS = 8;

    /** Kinds of causes. */
    enum Kind {
        /** The virtual machine stopped its threads. */
        SAFEPOINT("safepoint", true, false),
        /** A garbage collection. */
        COLLECTION("collection", true, false),
        /** The thread was ready to run, and had no core. */
        PREEMPTED("preempted", true, true),
        /** The kernel had to map pages of the thread. */
        PAGE_FAULTS("page-faults", false, true),
        /** A duty cycle of a driver took long. */
        SLOW_CYCLE("slow-cycle", true, false),
        /** Sends waited because a peer granted nothing. */
        NO_CREDIT("no-credit", true, false),
        /** Messages came before their receives. */
        NO_RECEIVE("no-receive", false, false),
        /** A process was stopped. */
        STOPPED("stopped", false, false),
        /** A peer was gone. */
        PEER_DOWN("peer-down", false, false),
        /** A driver recorded an error. */
        ERROR("error", false, false);

        private final String text;
        private final boolean isTime;
        /** Whether the amount is the difference between two samples. */
        private final boolean isSampled;

        Kind(String text, boolean isTime, boolean isSampled) {
            this.isSampled = isSampled;
            this.text = text;
            this.isTime = isTime;
        }

        String text() {
            return text;
        }

        /** Whether the amount is nanoseconds. */
        boolean isTime() {
            return isTime;
        }
    }

    /** Whether this happened during that time and was long enough to matter for it. */
    boolean coincides(long fromNs, long toNs) {
        long lengthNs = toNs - fromNs;
        return beginNs - toNs < 0 && endNs - fromNs > 0
            && (!kind.isTime || amount >= lengthNs / LEAST_PART)
            && (!kind.isSampled || endNs - beginNs <= MOST_LENGTHS * lengthNs);
    }

    String toText() {
        String amountText = String.format(Locale.ROOT, "%,d", amount);
        String text = switch (kind) {
            case SAFEPOINT -> "safepoint of " + amountText + " ns";
            case COLLECTION -> "collection of " + amountText + " ns";
            case PREEMPTED -> "waited " + amountText + " ns for a core";
            case PAGE_FAULTS -> amountText + " page fault(s)";
            case SLOW_CYCLE -> "slow cycle of " + amountText + " ns";
            case NO_CREDIT -> "no credit for " + amountText + " ns";
            case NO_RECEIVE -> amountText + " message(s) before their receives";
            case STOPPED -> "was stopped";
            case PEER_DOWN -> "peer is down";
            default -> "error";
        };
        if (kind.isSampled) {
            text += String.format(Locale.ROOT, " within %,d ns", endNs - beginNs);
        }
        return who + ": " + text + (detail.isEmpty() ? "" : " (" + detail + ')');
    }

    void writeTo(JsonWriter writer) {
        writer.beginObject()
            .member("who", who)
            .member("kind", kind.text)
            .member(kind.isTime ? "ns" : "count", amount)
            .member("withinNs", endNs - beginNs)
            .member("detail", detail)
            .endObject();
    }
}
