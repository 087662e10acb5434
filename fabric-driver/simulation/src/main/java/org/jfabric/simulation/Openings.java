package org.jfabric.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.jfabric.AddressVector;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fid;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/** Opens and closes objects now and then, which may fail only for lack of what a fault has taken. */
final class Openings {
    private static final int TURNS = 4096;
    private static final int MOST = 4;
    private static final int MOST_BYTES = 1 << 18;

    private final Node node;
    private final Ledger ledger;
    private final Domain domain;
    private final SplittableRandom random;
    /** Closes what was opened, the oldest first. */
    private final Deque<Runnable> closings = new ArrayDeque<>();

    Openings(Node node, Ledger ledger, Domain domain) {
        this.node = node;
        this.ledger = ledger;
        this.domain = domain;
        this.random = node.random();
    }

    /** Makes a step; returns the work done. */
    int run() {
        if (random.nextInt(TURNS) != 0) {
            return 0;
        }
        if (closings.size() == MOST || !closings.isEmpty() && random.nextBoolean()) {
            closings.poll().run();
            return 1;
        }
        try {
            closings.add(open());
            node.simulation().note("opened", node, closings.size(), 0);
        } catch (FabricException missing) {
            node.simulation().note("not opened", node, missing.errno(), 0);
            Account.require(node.faults().explains(missing.errno()), "opening failed without a fault: " + missing);
            ledger.refused++;
        }
        return 1;
    }

    private Runnable open() {
        if (random.nextBoolean()) {
            return domain.allocate(1 + random.nextInt(MOST_BYTES))::close;
        }
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
        if (random.nextBoolean()) {
            return queue::close;
        }
        return openEndpoint(queue);
    }

    /** Opens a second endpoint; what was opened before a failure is closed again. */
    private Runnable openEndpoint(CompletionQueue queue) {
        Deque<Fid> opened = new ArrayDeque<>();
        opened.push(queue);
        try {
            AddressVector vector = domain.openAddressVector(new AddressVectorAttr());
            opened.push(vector);
            Endpoint endpoint = domain.openEndpoint(domain.info());
            opened.push(endpoint);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(vector);
            endpoint.enable();
        } catch (FabricException missing) {
            close(opened);
            throw missing;
        }
        return () -> close(opened);
    }

    private static void close(Deque<Fid> opened) {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
