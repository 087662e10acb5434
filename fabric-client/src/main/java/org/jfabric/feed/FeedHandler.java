package org.jfabric.feed;

import org.agrona.DirectBuffer;

/**
 * Takes the messages of a feed. Owner: the thread that polls the {@link FeedReceiver}.
 */
@FunctionalInterface
public interface FeedHandler {
    /**
     * The first copy of a message has arrived. Messages come in the order in which their first copies arrive.
     *
     * @param sender   id of the sender; a sender that was started again has another one.
     * @param sequence of the message, from 0 for each sender.
     * @param buffer   has the message until this method returns.
     * @param offset   of its first byte.
     * @param length   bytes, 0 or more.
     */
    void onMessage(long sender, long sequence, DirectBuffer buffer, int offset, int length);

    /**
     * Messages have arrived by no path, and later ones have, more of them than the window holds. They are never
     * delivered.
     *
     * @param sender        id of the sender.
     * @param firstSequence of the first of them.
     * @param count         how many in a row, 1 or more.
     */
    default void onGap(long sender, long firstSequence, long count) {
    }
}
