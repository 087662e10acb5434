package org.jfabric.driver.link;

/**
 * A passive endpoint at a link, from {@link ConnectionManager#listen} on. Owner: progress agent.
 */
public abstract class Listener {
    /** For the links that offer connected endpoints. */
    protected Listener() {
    }

    /**
     * Ends it, whether it listens already or not: the handler is not called any more and new requests are refused.
     * Requests that the handler has taken are not touched; whoever took them rejects them.
     */
    public abstract void close();
}
