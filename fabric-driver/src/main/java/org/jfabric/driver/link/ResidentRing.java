package org.jfabric.driver.link;

/**
 * Where the messages of a link's only connection arrive, for an engine that has nothing else to look after: one word
 * says whether there is one.
 *
 * <p>An abstract class and not an interface: calls of abstract classes go through one table, whatever number of links
 * is loaded. Owner: progress agent.
 */
public abstract class ResidentRing {
    /** For a link. */
    protected ResidentRing() {
    }

    /**
     * Takes plain messages, those without remote data and levels, as {@link Link#poll} does.
     *
     * @param limit messages to take at most.
     * @return messages taken; or {@code -1 -} that number if something else is next, which {@link Link#poll} takes.
     */
    public abstract int pollPlain(int limit);
}
