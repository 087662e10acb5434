package org.jfabric.driver.link;

/**
 * Where the bytes of a streamed message go: the engine's answer to {@link ChannelHandler#place}.
 *
 * <p>One object for each connection, filled anew for each message. Owner: progress agent.
 */
public final class Placement {
    /** What the link does with the bytes. */
    public enum Action {
        /** Into the posted buffer; what does not fit is read and dropped. */
        DIRECT,
        /** Into the unexpected store. */
        STORE,
        /** Leave the connection unread until {@link Link#resume} is called for the channel. */
        PAUSE,
        /** The message breaks the protocol: end the connection. */
        REFUSE
    }

    private Action action = Action.REFUSE;
    private long address;
    private long lengthBytes;
    private long token;

    /** For links: a placement that is filled by the engine. */
    public Placement() {
    }

    /**
     * Fills the answer.
     *
     * @param newAction      what to do.
     * @param newAddress     native address of the first byte.
     * @param newLengthBytes bytes to store there; the rest of the message is read and dropped.
     * @param newToken       the engine's name for the message.
     */
    public void set(Action newAction, long newAddress, long newLengthBytes, long newToken) {
        action = newAction;
        address = newAddress;
        lengthBytes = newLengthBytes;
        token = newToken;
    }

    /**
     * What the link does with the bytes.
     *
     * @return the action.
     */
    public Action action() {
        return action;
    }

    /**
     * Where the first byte goes.
     *
     * @return native address.
     */
    public long address() {
        return address;
    }

    /**
     * How many bytes are stored.
     *
     * @return bytes; the rest of the message is dropped.
     */
    public long lengthBytes() {
        return lengthBytes;
    }

    /**
     * The engine's name for the message.
     *
     * @return the token.
     */
    public long token() {
        return token;
    }
}
