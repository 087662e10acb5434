package org.jfabric.client;

/**
 * Where the writer of a group puts messages straight into its ring: of an embedded driver in mode INVOKER, whose client
 * runs the duty cycle. The driver module has the one implementation.
 *
 * <p>Owner: the thread that runs the duty cycle.
 */
public abstract class GroupPort {
    protected GroupPort() {
    }

    /** Whether {@link #offer} would take a message of that length now. */
    public abstract boolean hasRoom(int length);

    /**
     * Writes an untagged message. It has no entry, and takes no slot of a queue.
     *
     * @param array   in which the bytes are, or null.
     * @param address native address of the first byte, or its {@code Unsafe} offset in the array.
     * @param length  bytes, 0 or more.
     * @return 0; {@code -FI_EAGAIN} if a reader must catch up, or earlier messages of the endpoint wait;
     *     {@code -FI_EMSGSIZE} for more bytes than the group takes; {@code -FI_ENOTCONN} if the group has ended.
     */
    public abstract int offer(byte[] array, long address, int length);
}
