package org.jfabric.driver.conductor;

/** Notified of the result of a hello. Owner: conductor. */
public interface OpenedClient {
    /** The client can be served. */
    void onOpened(ClientSession session);

    /**
     * The client cannot be served.
     *
     * @param errno  positive fabric errno.
     */
    void onRefused(int errno, String reason);
}
