package org.jfabric.samples.replicas;

import java.util.Map;
import java.util.function.LongSupplier;
import org.jfabric.Fabric;

/**
 * Counts the additions of a client, and copies the count to the backup. When it starts it asks the backup for the
 * count, so that it may end at any time. Owner: one thread.
 */
final class Primary {
    private final Party party;
    private final LongSupplier clock;
    private final boolean waitsForBackup;
    private long count;
    /** Number of the last addition that was counted. */
    private long last;
    /** Number of the last addition that the backup has counted too; -1 until it has answered. */
    private long copied = -1;
    private long copyNs;
    private boolean owesAnswer;

    /**
     * A primary that does not know the count yet.
     *
     * @param clock          nanoseconds.
     * @param waitsForBackup whether an addition is acknowledged only when the backup has it; if not, some are lost.
     */
    Primary(Fabric fabric, Map<String, String> book, LongSupplier clock, boolean waitsForBackup) {
        this.party = new Party(ReplicatedCounter.PRIMARY, fabric, book, this::onMessage);
        this.clock = clock;
        this.waitsForBackup = waitsForBackup;
        copyNs = clock.getAsLong() - ReplicatedCounter.AGAIN_NS;
    }

    int run() {
        int work = party.poll();
        // without a count there is nothing to copy: the backup answers with its own
        if ((copied < last || !isCurrent()) && clock.getAsLong() - copyNs >= ReplicatedCounter.AGAIN_NS) {
            copy();
            work++;
        }
        return work;
    }

    private void copy() {
        copyNs = clock.getAsLong();
        party.send(ReplicatedCounter.BACKUP, ReplicatedCounter.COPY, count, last);
    }

    private void onMessage(long tag, long ofCount, long ofLast) {
        if (tag == ReplicatedCounter.COPIED) {
            if (copied < 0) {
                count = ofCount;
                last = ofLast;
            }
            copied = Math.max(copied, ofLast);
            if (owesAnswer && copied >= last) {
                answer();
            }
        } else if (isCurrent()) {
            add(ofLast);
        }
    }

    /** The client repeats an addition until it is acknowledged; it is counted once. */
    private void add(long number) {
        if (number > last) {
            count++;
            last = number;
            copy();
        }
        if (copied >= last || !waitsForBackup) {
            answer();
        } else {
            owesAnswer = true;
        }
    }

    private void answer() {
        owesAnswer = false;
        party.send(ReplicatedCounter.CLIENT, ReplicatedCounter.ANSWER, count, last);
    }

    /** Whether it knows the count. */
    boolean isCurrent() {
        return copied >= 0;
    }

    long count() {
        return count;
    }
}
