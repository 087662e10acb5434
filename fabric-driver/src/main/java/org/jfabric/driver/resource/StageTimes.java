package org.jfabric.driver.resource;

import java.util.ArrayList;
import java.util.List;

/**
 * The sampled times of messages in their {@link Stage}s, as one histogram for each stage.
 *
 * <p>Who chooses the samples has a limit to check anyway: the producer of a ring, or the writer of a completion queue,
 * lets its limit end at the next sample. So messages that are no samples take no step for it.
 *
 * <p>Owner: progress agent.
 */
public final class StageTimes {
    /** Nothing is sampled. */
    public static final StageTimes OFF = new StageTimes(0, new TimeHistogram[0]);

    private static final String NAME = "jfabric_stage_latency_seconds";
    /** The first bucket ends at 32 ns. */
    private static final int FIRST_BITS = 5;
    /** Longer times are mistakes of who wrote the time stamp. */
    private static final long MAX_NS = 1L << 50;

    private final int interval;
    private final TimeHistogram[] histograms;
    private final List<Samples> sources = new ArrayList<>();

    /** Samples whose end another process reports. */
    public interface Samples {
        /** Records the samples that have ended since the last call. */
        void collect();
    }

    private StageTimes(int interval, TimeHistogram[] histograms) {
        this.interval = interval;
        this.histograms = histograms;
    }

    /**
     * Opens the histograms.
     *
     * @param interval one message of so many is a sample; 0 for none.
     * @param counters of the driver; none is opened if there are no samples.
     * @return {@link #OFF} if there are no samples.
     */
    public static StageTimes open(int interval, TimeHistogram.CounterOpener counters) {
        if (interval == 0) {
            return OFF;
        }
        Stage[] stages = Stage.values();
        TimeHistogram[] histograms = new TimeHistogram[stages.length];
        for (int i = 0; i < stages.length; i++) {
            histograms[i] = new TimeHistogram(counters, FIRST_BITS, 0, NAME, "stage", stages[i].label());
        }
        return new StageTimes(interval, histograms);
    }

    /** Whether there are samples. */
    public boolean isOn() {
        return interval != 0;
    }

    /** The distance of two samples. Returns a number of messages, a power of two; 0 if there are none. */
    public int interval() {
        return interval;
    }

    /**
     * Records the time of a sample. The begin may be from a clock reading of another process: an impossible time is
     * ignored, and so is every time if nothing is to be sampled.
     */
    public void record(Stage stage, long ns) {
        if (interval != 0 && ns >= 0 && ns <= MAX_NS) {
            histograms[stage.ordinal()].record(ns);
        }
    }

    /** Collects samples from now on, until {@link #remove}. */
    public void add(Samples samples) {
        sources.add(samples);
    }

    /**
     * Collects no more of these samples, whose files may be gone.
     *
     * @param samples ignored if they were not added.
     */
    public void remove(Samples samples) {
        sources.remove(samples);
    }

    /** Adds what was recorded since the last call to the counters. */
    public void publish() {
        for (int i = 0; i < sources.size(); i++) {
            sources.get(i).collect();
        }
        for (TimeHistogram histogram : histograms) {
            histogram.publish();
        }
    }

    /** Begins all histograms again from 0. */
    public void reset() {
        for (TimeHistogram histogram : histograms) {
            histogram.reset();
        }
    }
}
