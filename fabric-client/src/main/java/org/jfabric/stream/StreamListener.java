package org.jfabric.stream;

import org.agrona.DirectBuffer;

/**
 * Takes the messages of a {@link Subscription} or a {@link LogReader}, in the order of their positions. Owner: the
 * thread that polls.
 */
@FunctionalInterface
public interface StreamListener {
    /**
     * The next message.
     *
     * @param buffer has the payload until this method returns; it must not be written to.
     * @param offset of its first byte.
     * @param length bytes, 0 or more.
     * @param header position, time and what else came with it; until this method returns.
     */
    void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header);

    /**
     * Messages are not there and never will be: the writer of a lossy group did not wait for this reader, retention has
     * deleted them, or the disk was full when they were sent. Behind the last of them comes the next message, or a
     * further gap. Does nothing unless it is overridden.
     *
     * @param firstPosition of the first of them.
     * @param lastPosition  of the last of them, the same or greater.
     */
    default void onGap(long firstPosition, long lastPosition) {
    }
}
