package org.jfabric.stream;

/** What a {@link SubscriptionHandler} learns of a message beside its bytes; valid until it returns. */
public final class MessageHeader {
    private long position;

    MessageHeader() {
    }

    /**
     * The number of the message in the writer's log.
     *
     * @return 0 or more.
     */
    public long position() {
        return position;
    }

    void position(long newPosition) {
        position = newPosition;
    }

    @Override
    public String toString() {
        return "MessageHeader{position=" + position + '}';
    }
}
