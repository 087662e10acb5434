package org.jfabric.driver.link;

/**
 * The engine's side of a {@link PayloadChannel}, besides its {@link ChannelHandler}. Owner: progress agent.
 */
public abstract class PayloadHandler {
    /**
     * A message is waiting at the sender. The object is the link's and only valid during the call.
     *
     * @param flags  as for {@link ChannelHandler#onMessage}, perhaps with {@code Flags.FENCE}: to be acknowledged.
     * @param tag    as for {@link ChannelHandler#onMessage}.
     * @param data   as for {@link ChannelHandler#onMessage}.
     * @param source length and place of the payload.
     */
    public abstract void onAnnounce(long flags, long tag, long data, RemotePayload source);

    /**
     * A pending {@link PayloadChannel#pull} has ended.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onPulled(long operation, int errno);
}
