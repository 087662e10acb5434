package org.jfabric.driver.link.support;

/**
 * The events that a {@link MessageChannel} reports to the protocol that uses it, in addition to those of every handler.
 * Called only from the link's poll.
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageChannelHandler {
    /**
     * A pending {@link MessageChannel#pull} has ended.
     *
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onPulled(long operation, int errno);

    /**
     * The link has posted receives of this connection again. Called by links that count them
     * ({@link MessageConnector#postedReceives()}).
     *
     * @param count number of receives posted since the last call.
     */
    public abstract void onReposted(int count);

    /**
     * Offers a message that waits because there is no room for it or for one before it. Links that count receives call
     * this once for each such message, so that credit does not wait behind messages.
     *
     * @param address native address of the payload, valid during the call.
     * @return true if the message was consumed; false if it must wait for its turn.
     */
    public abstract boolean takesEarly(long address, int length);

    /**
     * The peer has written registered memory, by the link below and with data.
     *
     * @param lengthBytes of the write.
     * @return false if the report has to wait, and all messages behind it: the link asks again in each poll.
     */
    public abstract boolean onWritten(int lengthBytes, long data);
}
