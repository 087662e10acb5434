package org.jfabric.client;

/**
 * A driver in INVOKER mode as its embedding client sees it: the client's calls run the duty cycle and go straight into
 * the engine. The driver module has the one implementation.
 *
 * <p>Thread rule: one thread at a time, for the driver and everything opened through it.
 */
public abstract class EmbeddedDriver {
    /** For the one subclass, in the driver. */
    protected EmbeddedDriver() {
    }

    /**
     * Attaches the embedding client; there is no socket, because both live and die together.
     *
     * @return files and identity.
     */
    public abstract Attachment attach();

    /**
     * Ends the embedding client: its objects are closed.
     *
     * @param clientId from {@link #attach()}.
     */
    public abstract void detach(long clientId);

    /**
     * Runs one duty cycle.
     *
     * @return work done, 0 if there was nothing to do.
     */
    public abstract int cycle();

    /**
     * The engine's side of an endpoint.
     *
     * @param endpointId as answered when it was enabled.
     * @return the port; valid until the endpoint is closed.
     */
    public abstract EndpointPort port(long endpointId);
}
