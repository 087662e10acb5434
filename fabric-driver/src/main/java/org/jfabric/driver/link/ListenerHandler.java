package org.jfabric.driver.link;

/**
 * The engine's side of a {@link Listener}. Called from {@link Link#poll(int)} only. Owner: progress agent.
 */
public abstract class ListenerHandler {
    /** For the engine's implementation. */
    protected ListenerHandler() {
    }

    /**
     * Requests can come from now on; told once.
     *
     * @param address under which peers connect: as asked for, with what the link has completed.
     */
    public abstract void onListening(String address);

    /**
     * Nothing comes (any more); nothing follows.
     *
     * @param errno positive fabric errno, for example {@code FI_EADDRINUSE}.
     */
    public abstract void onFailed(int errno);

    /**
     * A peer asks for a connection, and shows the right key.
     *
     * @param request to be accepted or rejected later, never from inside this call.
     * @return false if as many as the backlog allows wait for their answers: the link refuses this one, or keeps it and
     *     offers it again.
     */
    public abstract boolean onRequest(IncomingConnection request);
}
