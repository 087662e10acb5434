package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The completion queues and counters of an engine, and the list of those with something to publish.
 *
 * <pre>
 *   listed:  │ kept for the next cycle │ published │ at ▶ now │ to come │ appended meanwhile │
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class FlushList {
    private final List<BatchWriter> members = new ArrayList<>();
    private BatchWriter[] listed = new BatchWriter[16];
    private int count;

    /** An empty list. */
    FlushList() {
    }

    /**
     * Adds a writer and publishes what it has written so far.
     *
     * @param writer in no list.
     */
    void add(BatchWriter writer) {
        members.add(writer);
        writer.enter(this);
    }

    /**
     * Removes a writer; nothing is published for it any more.
     *
     * @param writer ignored if it is no member.
     */
    void remove(BatchWriter writer) {
        if (members.remove(writer)) {
            writer.leave();
        }
    }

    /**
     * Publishes all changes; called once at the end of a duty cycle. Returns the amount of work done in addition to
     * publishing.
     */
    int flush() {
        int work = 0;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            BatchWriter writer = listed[i];
            if (!writer.isIn(this)) {
                continue;
            }
            work += writer.publish();
            if (!writer.isIn(this)) {
                // what it has started has ended its owner
                continue;
            }
            if (writer.staysListed()) {
                listed[kept++] = writer;
            } else {
                writer.onPublished();
            }
        }
        // usually one entry; a loop is cheaper here than Arrays.fill
        while (count > kept) {
            listed[--count] = null;
        }
        return work;
    }

    /** Lists all members again, because a memory fault may have interrupted {@link #flush()}. */
    void recover() {
        Arrays.fill(listed, 0, count, null);
        count = 0;
        for (BatchWriter writer : members) {
            writer.enter(this);
        }
    }

    boolean isEmpty() {
        return count == 0;
    }

    void append(BatchWriter writer) {
        if (count == listed.length) {
            listed = Arrays.copyOf(listed, count * 2);
        }
        listed[count++] = writer;
    }
}
