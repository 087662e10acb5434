package org.jfabric.driver.link;

/**
 * The engine's side of a {@link PayloadChannel}, besides its {@link ChannelHandler}. Owner: progress agent.
 */
public abstract class PayloadHandler {
    /**
     * A message waits at its sender.
     *
     * @param source length and location of the payload; owned by the link and valid only during the call.
     */
    public abstract void onAnnounce(long flags, long tag, long data, RemotePayload source);

    /**
     * A pending {@link PayloadChannel#pull} has ended.
     *
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onPulled(long operation, int errno);
}
