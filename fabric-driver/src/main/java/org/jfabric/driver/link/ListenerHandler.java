package org.jfabric.driver.link;

/**
 * The engine's side of a {@link Listener}. Called only from {@link Link#poll(int)}. Owner: progress agent.
 */
public abstract class ListenerHandler {
    /** For the engine's implementation. */
    protected ListenerHandler() {
    }

    /**
     * Requests can arrive from now on. Called once.
     *
     * @param address address at which peers connect: the requested one, with the parts that the link has filled in
     *                (port 0).
     */
    public abstract void onListening(String address);

    /**
     * The listener has failed, before or after {@link #onListening}. No further call follows.
     *
     * @param errno positive fabric errno, for example {@code FI_EADDRINUSE}.
     */
    public abstract void onFailed(int errno);

    /**
     * A peer requests a connection, with the right authorization key.
     *
     * @param request the request; the engine accepts or rejects it later, never from inside this call.
     * @return false if the backlog is full of requests that wait for their answers; the link then refuses this one, or
     *     keeps it and offers it again.
     */
    public abstract boolean onRequest(IncomingConnection request);
}
