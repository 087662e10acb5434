package org.jfabric.driver.link.scripted;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.info.Flags;

/**
 * What happens on the scripted links of one test: a seed, how often each event occurs, and a clock of steps. The same
 * seed gives the same run. Percentages are of the calls in question; a new script has none of the events and delivers
 * each frame in the next poll.
 *
 * <p>All links of a script run on one thread.
 */
public final class Script {
    /** Percent of calls that answer {@code -FI_EAGAIN}. */
    public int wouldBlockPercent;
    /** Percent of eager sends that end later by {@code onSent}. */
    public int pendingSendPercent;
    /** Percent of pending sends that fail, the receiver seeing an aborted message. */
    public int failedSendPercent;
    /** Percent of eager messages that stream in pieces; the others are resident. */
    public int streamPercent;
    /** Percent of pulls that are done at once. */
    public int pullDonePercent = 100;
    /** Percent of pulls that end later; what is left is not supported. */
    public int pullPendingPercent;
    /** Percent of pending pulls that fail. */
    public int failedPullPercent;
    /** Percent of opens that are refused. */
    public int refusePercent;
    /** Percent of deaths that tell of the streaming message before they tell of the channel. */
    public int abortFirstPercent = 50;
    /** Most steps that a frame is on its way. */
    public int maxDelaySteps;
    /** Most steps until an open arrives. */
    public int maxConnectSteps;
    /** Most steps until an end notices that its connection is dead. */
    public int maxNoticeSteps;
    /** Frames on their way in one direction; more would block. */
    public int capacityFrames = Integer.MAX_VALUE;
    /** Longest eager payload. */
    public int eagerLimitBytes = 1024;
    /** Longest segment. */
    public int segmentLimitBytes = 512;

    /** Levels that the links give beyond their default. */
    public long levels = Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;
    /** Whether an end knows what the other one has taken. */
    public boolean tellsTaken = true;
    /** Whether peers can reach announced pieces; else they take such payloads in segments. */
    public boolean vectors = true;

    /** Sees what happens. */
    public Observer observer = Observer.NONE;
    /** Announcements that went so far. */
    public int announcements;
    /** Messages that were sent without an operation. */
    public int shortSends;

    final Map<String, ScriptedLink> linkByAddress = new HashMap<>();
    private final List<ScriptedLink> links = new ArrayList<>();
    private final List<Frame> frames = new ArrayList<>();
    private final List<Frame> free = new ArrayList<>();
    private final long seed;
    private final Random random;
    private int step;

    /**
     * A script without events.
     *
     * @param seed of all random choices.
     */
    public Script(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
    }

    /**
     * Sets every event to some frequency.
     *
     * @return this.
     */
    public Script randomize() {
        wouldBlockPercent = random.nextInt(3) * 15;
        pendingSendPercent = random.nextInt(3) * 30;
        streamPercent = random.nextInt(3) * 50;
        pullDonePercent = random.nextInt(3) * 33;
        pullPendingPercent = random.nextInt(3) * 33;
        maxDelaySteps = random.nextInt(2) * random.nextInt(6);
        maxConnectSteps = random.nextInt(10);
        maxNoticeSteps = random.nextInt(10);
        capacityFrames = 1 + random.nextInt(20);
        eagerLimitBytes = 64 << random.nextInt(5);
        segmentLimitBytes = 16 << random.nextInt(6);
        tellsTaken = (seed & 1) == 0;
        return this;
    }

    ChannelLimits limits() {
        return new ChannelLimits(
            eagerLimitBytes, segmentLimitBytes, 1L << 40, 8, Flags.TRANSMIT_COMPLETE | levels, 0);
    }

    /** Time goes on. */
    public void nextStep() {
        step++;
    }

    /**
     * The seed, for messages of failures.
     *
     * @return as given.
     */
    public long seed() {
        return seed;
    }

    /**
     * The source of random choices, for schedules that belong to this script.
     *
     * @return the one that the links use.
     */
    public Random random() {
        return random;
    }

    /**
     * Whether nothing is on its way on any link.
     *
     * @return true if polls would find nothing, now and later.
     */
    public boolean isQuiet() {
        for (ScriptedLink link : links) {
            if (!link.arm()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The channel between two endpoints, seen from one of them.
     *
     * @param local  address of that end.
     * @param remote address of the other.
     * @return the living channel, or null.
     */
    public ScriptedChannel channel(String local, String remote) {
        ScriptedLink link = linkByAddress.get(local);
        return link == null ? null : link.find(local, remote);
    }

    void add(ScriptedLink link) {
        links.add(link);
    }

    boolean chance(int percent) {
        return percent != 0 && random.nextInt(100) < percent;
    }

    int step() {
        return step;
    }

    int stepAfter(int maxSteps) {
        return step + (maxSteps == 0 ? 0 : random.nextInt(maxSteps + 1));
    }

    Frame take() {
        if (free.isEmpty()) {
            Frame frame = new Frame(Math.max(eagerLimitBytes, segmentLimitBytes));
            frames.add(frame);
            return frame;
        }
        return free.remove(free.size() - 1);
    }

    /** Frees what frames hold; no link is used any more. */
    public void close() {
        frames.forEach(Frame::free);
    }

    void give(Frame frame) {
        frame.operation = null;
        free.add(frame);
    }
}
