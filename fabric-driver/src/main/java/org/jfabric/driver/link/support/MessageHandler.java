package org.jfabric.driver.link.support;

/**
 * What a {@link MessageChannel} reports to the protocol that uses it, besides what it reports to any handler. Called
 * from the link's poll only.
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageHandler {
    /**
     * A pending {@link MessageChannel#pull} has ended.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onPulled(long operation, int errno);

    /**
     * The link has posted receives of this connection again; of links that count them
     * ({@link MessageConnections#postedReceives()}).
     *
     * @param count since the last call.
     */
    public abstract void onReposted(int count);

    /**
     * A message waits, itself or behind another, because there is no room: whether it can be taken all the same. Asked
     * once for each by links that count receives, so that credit does not wait behind messages.
     *
     * @param address native address of the payload, valid during the call.
     * @param length  bytes of the payload.
     * @return true if it was taken; false if it has to wait for its turn.
     */
    public abstract boolean takesEarly(long address, int length);
}
