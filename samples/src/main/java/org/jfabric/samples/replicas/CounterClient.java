package org.jfabric.samples.replicas;

import java.util.Map;
import java.util.function.LongSupplier;
import org.jfabric.Fabric;

/** Adds one, again and again; each time it waits until the addition is acknowledged. Owner: one thread. */
final class CounterClient {
    private final Party party;
    private final LongSupplier clock;
    private long acknowledged;
    private long sentNs;

    CounterClient(Fabric fabric, Map<String, String> book, LongSupplier clock) {
        this.party = new Party(ReplicatedCounter.CLIENT, fabric, book, this::onMessage);
        this.clock = clock;
        sentNs = clock.getAsLong() - ReplicatedCounter.AGAIN_NS;
    }

    int run() {
        int work = party.poll();
        if (clock.getAsLong() - sentNs >= ReplicatedCounter.AGAIN_NS) {
            send();
            work++;
        }
        return work;
    }

    private void send() {
        sentNs = clock.getAsLong();
        party.send(ReplicatedCounter.PRIMARY, ReplicatedCounter.ADD, 0, acknowledged + 1);
    }

    private void onMessage(long tag, long count, long last) {
        if (last > acknowledged) {
            acknowledged = last;
            send();
        }
    }

    /** Additions that will not be lost. */
    long acknowledged() {
        return acknowledged;
    }
}
