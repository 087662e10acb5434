package org.jfabric.driver.link;

import org.jfabric.layout.Words;

/**
 * The destination of a streamed message: the engine's answer to {@link StreamHandler#place}.
 *
 * <p>A connection has one object, which is filled again for each message. Owner: progress agent.
 */
public final class Placement {
    /** The action that the link has to take. */
    public enum Action {
        /** Read into the posted buffer; bytes that do not fit are read and dropped. */
        DIRECT,
        /** Read into the unexpected store. */
        STORE,
        /** Leave the connection unread and ask again in the next poll, with the same object. */
        PAUSE,
        /** Close the connection, because the message violates the protocol. */
        REFUSE
    }

    private Action action = Action.REFUSE;
    private long address;
    private PieceList pieces;
    private long lengthBytes;
    private long token;

    /** For links: an object that the engine fills. */
    public Placement() {
    }

    /**
     * Fills the answer for one contiguous destination.
     *
     * @param newAddress     native address of the first byte.
     * @param newLengthBytes bytes to store there; the rest of the message is read and dropped.
     */
    public void set(Action newAction, long newAddress, long newLengthBytes, long newToken) {
        set(newAction, newAddress, null, newLengthBytes, newToken);
    }

    /**
     * Fills the answer for a destination that may consist of several pieces.
     *
     * @param newAddress     native address of the first byte, if there are no pieces.
     * @param newPieces      pieces over which the bytes are scattered, or null.
     * @param newLengthBytes bytes to store there; the rest of the message is read and dropped.
     */
    public void set(Action newAction, long newAddress, PieceList newPieces, long newLengthBytes, long newToken) {
        action = newAction;
        address = newAddress;
        pieces = newPieces;
        lengthBytes = newLengthBytes;
        token = newToken;
    }

    /** The action that the link has to take. */
    public Action action() {
        return action;
    }

    /** Destination of the first byte, if there are no {@link #pieces()}. Returns the native address. */
    public long address() {
        return address;
    }

    /**
     * The pieces over which the bytes are scattered, for links that read directly into memory. The engine owns the
     * list; it is valid until the message is placed or aborted, or the channel is down. Returns null if the destination
     * is contiguous.
     */
    public PieceList pieces() {
        return pieces;
    }

    /**
     * Copies bytes of the message to their destination.
     *
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

    /** Number of bytes to be stored. */
    public long lengthBytes() {
        return lengthBytes;
    }

    /** The engine's name for the message. */
    public long token() {
        return token;
    }
}
