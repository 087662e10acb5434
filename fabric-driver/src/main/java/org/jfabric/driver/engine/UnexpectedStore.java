package org.jfabric.driver.engine;

import org.jfabric.driver.resource.CycleClock;

import java.util.Arrays;

/**
 * The unexpected messages of one endpoint: records and payload blocks under a byte budget, of which each peer gets a
 * window as its first credit.
 *
 * <p>Owner: progress agent.
 */
final class UnexpectedStore {
    /** A receiver that takes no message for so long may wait for one that is not read yet. */
    private static final long STUCK_NS = 50_000_000L;

    private final BlockStore blocks;
    private final MessageBudget budget;
    private final CycleClock clock;
    private StoredMessage[] messages = new StoredMessage[64];
    private int messageCount;
    private StoredMessage free;
    /** Since a message has left the store {@link #isStuck} was asked, first at that time. */
    private boolean isAsked;
    private long askedNs;
    private boolean isReported;

    UnexpectedStore(int budgetBytes, int windowBytes, int maxPayloadBytes, CycleClock clock) {
        this.clock = clock;
        this.blocks = new BlockStore(budgetBytes, maxPayloadBytes);
        this.budget = new MessageBudget(budgetBytes, windowBytes, maxPayloadBytes);
    }

    /** The budget of the store's memory. */
    MessageBudget budget() {
        return budget;
    }

    /** Takes a record; the table grows on demand, bounded by the credit and announcements that peers can have. */
    StoredMessage takeMessage() {
        StoredMessage message = free;
        if (message == null) {
            if (messageCount == messages.length) {
                messages = Arrays.copyOf(messages, messageCount * 2);
            }
            message = new StoredMessage(messageCount);
            messages[messageCount++] = message;
        } else {
            free = message.nextFree;
            message.nextFree = null;
        }
        message.sinceNs = clock.nowNs();
        return message;
    }

    /** Whether no message has left the store for a while; asked while one waits for room. */
    boolean isStuck() {
        long nowNs = clock.attendedNs();
        if (!isAsked) {
            isAsked = true;
            isReported = false;
            askedNs = nowNs;
        }
        return nowNs - askedNs > STUCK_NS;
    }

    /** Returns true once for each time in which it is stuck. */
    boolean mustReport() {
        boolean wasReported = isReported;
        isReported = true;
        return !wasReported;
    }

    void giveMessage(StoredMessage message) {
        isAsked = false;
        giveBlock(message);
        message.state = StoredMessage.FREE;
        message.from = null;
        message.receive = null;
        message.awaited = 0;
        message.resident = false;
        message.paused = false;
        message.isHeldBack = false;
        message.inPlace = false;
        message.isLent = false;
        message.nextFree = free;
        free = message;
    }

    /** Frees the payload's block and keeps the record. */
    void giveBlock(StoredMessage message) {
        if (message.block != 0) {
            blocks.give(message.block);
            message.block = 0;
        }
    }

    StoredMessage message(long index) {
        return index >= 0 && index < messageCount ? messages[(int) index] : null;
    }

    /** The greatest number of messages that were in use at the same time. */
    int messageCount() {
        return messageCount;
    }

    long takeBlock(long length) {
        return blocks.take(length);
    }

    /** The number of messages whose payload is in the store or streams into it. */
    int storedBlocks() {
        return blocks.inUse();
    }

    void close() {
        for (int i = 0; i < messageCount; i++) {
            if (messages[i].block != 0) {
                blocks.give(messages[i].block);
            }
        }
        blocks.close();
    }
}
