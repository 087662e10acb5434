package org.jfabric.driver.link;

/**
 * The receive ring of a link's only connection, for an engine that has nothing else to poll: one word shows whether a
 * message has arrived.
 *
 * <p>This is an abstract class and not an interface, because calls of abstract classes go through one table, however
 * many links are loaded. Owner: progress agent.
 */
public abstract class ResidentRing {
    /** For a link. */
    protected ResidentRing() {
    }

    /**
     * Processes plain messages as {@link Link#poll} does: messages without remote CQ data and completion levels.
     *
     * @param limit largest number of messages to process.
     * @return number of messages processed, n; or {@code -1 - n} if another kind of message is next, which
     *     {@link Link#poll} processes.
     */
    public abstract int pollPlain(int limit);
}
