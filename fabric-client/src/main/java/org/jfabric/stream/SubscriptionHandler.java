package org.jfabric.stream;

import org.agrona.DirectBuffer;

/**
 * Takes the messages of a {@link Subscription}, in order. Keep one handler and pass it to each poll: a lambda that
 * captures variables is a new object each time. Owner: the thread that polls.
 */
@FunctionalInterface
public interface SubscriptionHandler {
    /**
     * A message. The bytes are the application's until this method returns; they must not be written to.
     *
     * @param buffer where it is.
     * @param offset of its first byte.
     * @param length bytes, 0 or more.
     * @param header its position; the same object each time.
     */
    void onMessage(DirectBuffer buffer, int offset, int length, MessageHeader header);
}
