package org.jfabric.driver.link;

import org.jfabric.layout.Words;

/**
 * Where the bytes of a streamed message go: the engine's answer to {@link StreamHandler#place}.
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
        /** Leave the connection unread and ask again in the next poll, with the same object. */
        PAUSE,
        /** The message breaks the protocol: end the connection. */
        REFUSE
    }

    private Action action = Action.REFUSE;
    private long address;
    private PieceList pieces;
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
        set(newAction, newAddress, null, newLengthBytes, newToken);
    }

    /**
     * Fills the answer, where the bytes may go to several pieces.
     *
     * @param newAction      what to do.
     * @param newAddress     native address of the first byte, if there are no pieces.
     * @param newPieces      pieces that the bytes are scattered over, or null.
     * @param newLengthBytes bytes to store there; the rest of the message is read and dropped.
     * @param newToken       the engine's name for the message.
     */
    public void set(Action newAction, long newAddress, PieceList newPieces, long newLengthBytes, long newToken) {
        action = newAction;
        address = newAddress;
        pieces = newPieces;
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
     * Where the first byte goes, if there are no {@link #pieces()}.
     *
     * @return native address.
     */
    public long address() {
        return address;
    }

    /**
     * What the bytes are scattered over, for links that read straight into memory. The list is the engine's: it is good
     * until the message is placed or aborted, or the channel is down.
     *
     * @return null if all go to one address.
     */
    public PieceList pieces() {
        return pieces;
    }

    /**
     * Copies bytes of the message to where they go.
     *
     * @param offset in the message.
     * @param source native address.
     * @param length bytes, not beyond {@link #lengthBytes()}.
     */
    public void copyFrom(long offset, long source, long length) {
        if (pieces == null) {
            Words.copy(source, address + offset, length);
        } else {
            pieces.copyFrom(offset, source, length);
        }
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
