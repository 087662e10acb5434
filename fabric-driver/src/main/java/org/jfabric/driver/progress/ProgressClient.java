package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.engine.EngineSession;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * State of the progress thread for one client: its session, its completion queues, its counters and the queues of its
 * endpoints by the index of their activity bytes.
 *
 * <p>Owner: progress agent.
 */
public final class ProgressClient {
    /** Cycles in which each activity byte is read once. */
    private static final int ROUND_CYCLES = 32;
    /** Words of activity bytes that are read in every cycle: two cache lines. */
    private static final int LEAST_WORDS = 16;

    private final EngineSession session;
    private final long activityAddress;
    private final List<CompletionWriter> writers = new ArrayList<>();
    private final List<CounterWriter> counters = new ArrayList<>();
    private EndpointQueues[] queuesByActivity = new EndpointQueues[8];
    private int activityWords;
    private int activityWordsPerCycle;
    private int nextActivityWord;

    /**
     * A client without endpoints.
     *
     * @param activityAddress native address of the activity bytes in the client's control file.
     */
    public ProgressClient(EngineSession session, long activityAddress) {
        this.session = session;
        this.activityAddress = activityAddress;
    }

    /** The engine's part. */
    public EngineSession session() {
        return session;
    }

    List<CompletionWriter> writers() {
        return writers;
    }

    List<CounterWriter> counters() {
        return counters;
    }

    /** Words of eight activity bytes that hold bytes of endpoints. */
    int activityWords() {
        return activityWords;
    }

    /** Words to read in one cycle: all if there are few; otherwise so many that all are read in 32 cycles. */
    int activityWordsPerCycle() {
        return activityWordsPerCycle;
    }

    /** The word to begin with; perhaps the one behind the last. */
    int nextActivityWord() {
        return nextActivityWord;
    }

    void nextActivityWord(int word) {
        nextActivityWord = word;
    }

    /** Eight activity bytes in one read. */
    long activity(int word) {
        return UnsafeApi.getLongAcquire(null, activityAddress + ((long) word << 3));
    }

    EndpointQueues queues(int activityIndex) {
        return activityIndex < queuesByActivity.length ? queuesByActivity[activityIndex] : null;
    }

    void clearActivity(int activityIndex) {
        UnsafeApi.putByte(activityAddress + activityIndex, (byte) 0);
    }

    void add(EndpointQueues queues) {
        int index = queues.activityIndex;
        if (index >= queuesByActivity.length) {
            queuesByActivity = Arrays.copyOf(queuesByActivity, Math.max(queuesByActivity.length * 2, index + 1));
        }
        queuesByActivity[index] = queues;
        activityWords = Math.max(activityWords, (index >> 3) + 1);
        int words = (activityWords + ROUND_CYCLES - 1) / ROUND_CYCLES;
        activityWordsPerCycle = Math.min(activityWords, Math.max(LEAST_WORDS, words));
    }

    void remove(EndpointQueues queues) {
        // not there if the table had no memory to grow
        if (queues.activityIndex < queuesByActivity.length) {
            queuesByActivity[queues.activityIndex] = null;
        }
    }
}
