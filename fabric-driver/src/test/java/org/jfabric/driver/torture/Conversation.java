package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The messages of one worker to another, from the first to the death or the end of either.
 *
 * @param number of the conversation.
 * @param from   sender.
 * @param to     receiver.
 * @param ledger what both have written.
 */
record Conversation(int number, Worker from, Worker to, Ledger ledger) implements AutoCloseable {
    static Conversation begin(Path folder, int number, Worker from, Worker to) {
        try {
            Conversation conversation = new Conversation(number, from, to, Ledger.open(folder, number));
            to.listen(number);
            from.send(number, to);
            return conversation;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Confirmed messages that the receiver, which was killed, has neither accounted for nor in its memory. */
    List<Long> lostAtDeath() {
        return ledger.lost().stream().filter(each -> !to.holds(number, each)).toList();
    }

    /** What its accesses have not left in the receiver's memory, or null. */
    String faultOfAccesses(boolean hasEnded) {
        return to.faultOfAccesses(number, ledger, hasEnded);
    }

    @Override
    public void close() {
        ledger.close();
    }

    @Override
    public String toString() {
        return "conversation " + number + ": " + ledger;
    }
}
