package org.jfabric.driver.link;

/**
 * A passive endpoint that listens at a link, made by {@link ConnectionManager#listen}. Owner: progress agent.
 */
public abstract class Listener {
    /** For the links that offer connected endpoints. */
    protected Listener() {
    }

    /**
     * Stops listening, or abandons the attempt to. The handler is not called any more and new requests are refused.
     * Requests that the handler has taken stay as they are; the engine rejects them.
     */
    public abstract void close();
}
