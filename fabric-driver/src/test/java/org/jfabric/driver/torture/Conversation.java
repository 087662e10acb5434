package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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

    /** Confirmed messages that the receiver does not have. */
    List<Long> lost() {
        List<Long> lost = new ArrayList<>();
        long posted = ledger.posted();
        for (long i = 0; i < posted; i++) {
            if (ledger.isDelivered(i) && !ledger.isReceived(i)) {
                lost.add(i);
            }
        }
        return lost;
    }

    /** The same where the receiver was killed: what its memory holds counts as received. */
    List<Long> lostAtDeath() {
        return lost().stream().filter(each -> !to.holds(number, each)).toList();
    }

    /** A message was received that was not posted. */
    boolean hasInvented() {
        for (long i = ledger.posted() + 1; i < Ledger.CAPACITY; i += 1 + i / 64) {
            if (ledger.isReceived(i)) {
                return true;
            }
        }
        return false;
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
