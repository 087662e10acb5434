package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;

/** Checks the accounts of a driver's endpoints between two of its cycles: credit, reserved memory, operations. */
public final class SimulatedEngine {
    private SimulatedEngine() {
    }

    /**
     * Checks what holds at all times.
     *
     * @param budgetBytes of each endpoint for messages without a receive.
     * @return what is wrong; empty if nothing is.
     */
    public static List<String> check(EngineSession session, long budgetBytes) {
        List<String> wrong = new ArrayList<>();
        for (EngineEndpoint endpoint : session.endpoints()) {
            long reserved = 0;
            long ofStreams = 0;
            for (PeerSends peer : endpoint.peers().all()) {
                HeldMessages messages = peer.receives().held();
                long held = messages.heldBytes();
                long credit = peer.peer().credit().leftBytes();
                reserved += held - messages.missingBytes();
                ofStreams += peer.frames() == null ? held : 0;
                require(wrong, held >= 0, endpoint, peer, "stores " + held + " bytes");
                require(wrong, messages.count() >= 0, endpoint, peer, messages.count() + " messages wait");
                require(wrong, credit >= 0, endpoint, peer, "the credit is " + credit);
                require(wrong, peer.frames() == null || messages.missingBytes() <= 0, endpoint, peer,
                    messages.missingBytes() + " bytes are stored beyond the credit");
            }
            long unreserved = endpoint.receiver().scan().unreservedBytes();
            // of a peer without credit more may be stored than it has reserved, and is reserved when it goes down
            require(wrong, unreserved + ofStreams >= 0 && unreserved + reserved == budgetBytes, endpoint, null,
                unreserved + " bytes are not reserved, " + reserved + " are, of " + budgetBytes);
        }
        return wrong;
    }

    /**
     * Checks what holds when all sends have ended and all messages were received. Returns what is wrong; empty if
     * nothing is.
     */
    public static List<String> checkAtRest(EngineSession session) {
        List<String> wrong = new ArrayList<>();
        for (EngineEndpoint endpoint : session.endpoints()) {
            require(wrong, endpoint.outstandingSends() == 0, endpoint, null,
                endpoint.outstandingSends() + " sends are outstanding");
            int stored = endpoint.receiver().scan().storedBlocks();
            require(wrong, stored == 0, endpoint, null, stored + " messages are stored, "
                + endpoint.outstandingReceives() + " receives are posted, " + endpoint.waitingMessages()
                + " messages wait");
            for (PeerSends peer : endpoint.peers().all()) {
                HeldMessages messages = peer.receives().held();
                require(wrong, messages.heldBytes() == 0, endpoint, peer, messages.heldBytes() + " bytes are stored");
                require(wrong, messages.count() == 0, endpoint, peer, messages.count() + " messages wait");
                require(wrong, peer.receives().entryOrder().isEmpty(), endpoint, peer, "entries of receives wait");
                require(wrong, peer.outbox().isClear() && peer.outbox().owned() == 0, endpoint, peer,
                    "sends are queued, " + peer.outbox().owned() + " records");
            }
        }
        return wrong;
    }

    private static void require(
        List<String> wrong, boolean holds, EngineEndpoint endpoint, PeerSends peer, String text) {
        if (!holds) {
            String of = peer == null ? "" : ", peer " + peer.peer().address();
            wrong.add(endpoint.settings().address() + of + ": " + text);
        }
    }
}
