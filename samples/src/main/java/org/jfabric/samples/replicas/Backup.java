package org.jfabric.samples.replicas;

import java.util.Map;
import org.jfabric.Fabric;

/** Keeps a copy of the count. Owner: one thread. */
final class Backup {
    private final Party party;
    private long count;
    private long last;

    Backup(Fabric fabric, Map<String, String> book) {
        party = new Party(ReplicatedCounter.BACKUP, fabric, book, this::onMessage);
    }

    int run() {
        return party.poll();
    }

    private void onMessage(long tag, long newCount, long newLast) {
        if (newLast > last) {
            count = newCount;
            last = newLast;
        }
        party.send(ReplicatedCounter.PRIMARY, ReplicatedCounter.COPIED, count, last);
    }

    long count() {
        return count;
    }
}
