package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The messages of one worker to another, from the first to the death or the end of either.
 *
 * @param number of the conversation.
 * @param from   sender.
 * @param to     receiver.
 * @param ledger what both have written.
 */
record Conversation(int number, Worker from, Worker to, Ledger ledger) implements AutoCloseable {
    /** The default of {@code jfabric.shm.connectTimeoutNs} and {@code jfabric.tcp.connectTimeoutNs}. */
    static final long CONNECT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

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

    /**
     * Whether a stop of that length, of either side or its driver, that begins now may make its connection fail: it is
     * longer than a connection may take, and nothing was confirmed, so that there may be none yet. A connection that
     * was made waits for a stopped peer. Over udp there is none.
     */
    boolean isExcusedBy(long stopNs) {
        return stopNs >= CONNECT_TIMEOUT_NS && !ledger.hasConfirmed();
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
