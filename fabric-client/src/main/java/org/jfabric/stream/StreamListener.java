package org.jfabric.stream;

import org.agrona.DirectBuffer;

/**
 * Takes the messages of a stream, in the order of their positions. Owner: the thread that polls.
 */
@FunctionalInterface
public interface StreamListener {
    /**
     * The next message.
     *
     * @param buffer has the payload until this method returns.
     * @param offset of its first byte.
     * @param length bytes, 0 or more.
     * @param header position, time and what else came with it; until this method returns.
     */
    void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header);

    /**
     * Messages are not there and never will be: retention has deleted them, or the disk was full when they were sent.
     * The next message has the position behind the last of them.
     *
     * @param firstPosition of the first of them.
     * @param lastPosition  of the last of them, the same or greater.
     */
    default void onGap(long firstPosition, long lastPosition) {
    }
}
