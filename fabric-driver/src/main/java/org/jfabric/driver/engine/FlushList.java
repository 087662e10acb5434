package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The completion queues and counters of an engine, and which of them have something to publish.
 *
 * <pre>
 *   listed:  │ kept, to be asked again │ published │ at ▶ now │ to come │ appended meanwhile │
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
     * Publishes for a writer from now on, also what it has written before.
     *
     * @param writer in no list.
     */
    void add(BatchWriter writer) {
        members.add(writer);
        writer.enter(this);
    }

    /**
     * Ends what {@link #add} began; nothing is published for the writer any more.
     *
     * @param writer not necessarily a member.
     */
    void remove(BatchWriter writer) {
        if (members.remove(writer)) {
            writer.leave();
        }
    }

    /**
     * Publishes everything; once at the end of a duty cycle.
     *
     * @return work done besides.
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
            if (writer.goesOn()) {
                listed[kept++] = writer;
            } else {
                writer.onPublished();
            }
        }
        // mostly one; by hand, because a bulk fill costs more than a message's share of the cycle
        while (count > kept) {
            listed[--count] = null;
        }
        return work;
    }

    /** A memory fault may have ended {@link #flush()} in the middle: all members are asked once more. */
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
