package org.jfabric.driver.link;

/**
 * Where all messages of a link arrive while they are plain, for an engine that has nothing else to poll: most polls
 * read one word for each peer that was heard of lately.
 *
 * <p>This is an abstract class and not an interface, because calls of abstract classes go through one table, however
 * many links are loaded. Owner: progress agent.
 */
public abstract class PlainMessages {
    protected PlainMessages() {
    }

    /**
     * Processes plain messages as {@link Link#poll} does: messages without remote CQ data and completion levels.
     *
     * @param limit largest number of messages to process from each peer.
     * @return number of messages processed, n; or {@code -1 - n} if another kind of message is next, which
     *     {@link Link#poll} processes.
     */
    public abstract int pollPlain(int limit);
}
