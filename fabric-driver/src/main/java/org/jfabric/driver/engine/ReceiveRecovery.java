package org.jfabric.driver.engine;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jfabric.info.FabricErrno;

/**
 * After an access to shared memory failed, finds the receives and messages that were being processed: they are in no
 * list any more, so no other code would end them. The line that failed does not matter, because the virtual machine
 * reports such a fault a little late.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveRecovery {
    private final ReceivePool pool;
    private final EndedReceives ends;
    private final WaitingMessages waiting;
    private final Pulls pulls;
    private final Peeks peeks;

    ReceiveRecovery(ReceivePool pool, EndedReceives ends, WaitingMessages waiting, Pulls pulls, Peeks peeks) {
        this.pool = pool;
        this.ends = ends;
        this.waiting = waiting;
        this.pulls = pulls;
        this.peeks = peeks;
    }

    void run(List<PeerReceives> peers) {
        Set<ReceiveOperation> known = Collections.newSetFromMap(new IdentityHashMap<>());
        pool.addFree(known);
        for (PeerReceives from : peers) {
            from.entryOrder().addTo(known);
        }
        // of these, keep only ended receives whose entries wait: receives in progress are in the lists of pulls below
        known.removeIf(operation -> operation.late.inOrder && !operation.isEnded());
        for (PeerReceives from : peers) {
            addPulls(known, from);
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.isPosted() || known.contains(operation)) {
                continue;
            }
            if (operation.reported) {
                ends.release(operation);
            } else if (operation.state == ReceiveState.CLAIMED) {
                peeks.recover(operation);
            } else {
                ends.fail(operation, 0, FabricErrno.EIO);
            }
        }
        waiting.recover();
        for (PeerReceives from : peers) {
            ends.reportEnded(from);
        }
    }

    private void addPulls(Set<ReceiveOperation> known, PeerReceives from) {
        ReceiveOperation operation = from.firstPull();
        while (operation != null) {
            ReceiveOperation next = operation.late.nextPull;
            known.add(operation);
            // in every other state the link or the peer still ends it
            if (operation.state == ReceiveState.POSTED || operation.isEnded() && !operation.late.inOrder) {
                pulls.recover(operation);
            }
            operation = next;
        }
    }
}
