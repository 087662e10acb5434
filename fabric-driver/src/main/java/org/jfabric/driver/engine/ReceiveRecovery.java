package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Finds, after an access to shared memory failed, what was in hand at that moment: receives and messages that are in no
 * list any more, so that nobody else would end them. Which line failed does not matter, as the virtual machine reports
 * such a fault a little late.
 *
 * <p>Owner: progress agent.
 */
final class ReceiveRecovery {
    private final Receiver receiver;
    private final ReceivePool pool;
    private final UnexpectedStore store;
    private final Pulls pulls;
    private final Peeks peeks;

    ReceiveRecovery(Receiver receiver, ReceivePool pool, UnexpectedStore store, Pulls pulls, Peeks peeks) {
        this.receiver = receiver;
        this.pool = pool;
        this.store = store;
        this.pulls = pulls;
        this.peeks = peeks;
    }

    void run(List<Peer> peers) {
        Set<ReceiveOperation> known = Collections.newSetFromMap(new IdentityHashMap<>());
        pool.addFree(known);
        for (Peer peer : peers) {
            peer.entryOrder().addTo(known);
        }
        // of these, only entries that wait are safe here: what is under way is known by the lists of pulls below
        known.removeIf(operation -> operation.inOrder && !operation.isEnded());
        for (Peer peer : peers) {
            addPulls(known, peer);
        }
        for (int i = 0, size = pool.size(); i < size; i++) {
            ReceiveOperation operation = pool.get(i);
            if (operation.isPosted() || known.contains(operation)) {
                continue;
            }
            if (operation.reported) {
                receiver.release(operation);
            } else if (operation.state == ReceiveOperation.CLAIMED) {
                peeks.recover(operation);
            } else {
                receiver.fail(operation, 0, FabricErrno.EIO);
            }
        }
        returnMessages();
        for (Peer peer : peers) {
            receiver.reportEnded(peer);
        }
    }

    private void addPulls(Set<ReceiveOperation> known, Peer peer) {
        ReceiveOperation operation = peer.firstPull();
        while (operation != null) {
            ReceiveOperation next = operation.nextPull;
            known.add(operation);
            // in every other state somebody will still come for it
            if (operation.state == ReceiveOperation.POSTED || operation.isEnded() && !operation.inOrder) {
                pulls.recover(operation);
            }
            operation = next;
        }
    }

    private void returnMessages() {
        for (int i = 0, count = store.messageCount(); i < count; i++) {
            StoredMessage message = store.message(i);
            if (message.state == StoredMessage.FILLING && message.resident) {
                // its copy was in hand, and nobody will come back for it
                if (message.receive != null) {
                    message.peer.removePull(message.receive);
                }
                receiver.abort(message, FabricErrno.EIO);
                continue;
            }
            boolean held = message.isWaiting() || message.isClaimed() || message.receive != null;
            if (message.state != StoredMessage.FREE && !held) {
                if (message.peer != null && message.state == StoredMessage.STORED) {
                    message.peer.left(message.length, message.epoch);
                }
                store.giveMessage(message);
            }
        }
    }
}
