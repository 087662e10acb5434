package org.jfabric.driver.link.support;

import java.util.Arrays;
import org.jfabric.driver.link.TransmitOperation;

/**
 * Messages of one endpoint for datagrams that wait to be sent, to whomever, in the order of posting. It grows to as
 * many as the endpoint has had waiting at once.
 *
 * <p>Owner: progress agent.
 */
public final class DatagramQueue {
    private static final int FIRST_CAPACITY = 64;

    private TransmitOperation[] operations = new TransmitOperation[FIRST_CAPACITY];
    private DatagramChannel[] channels = new DatagramChannel[FIRST_CAPACITY];
    private long head;
    private long tail;

    /** An empty queue. */
    public DatagramQueue() {
    }

    /**
     * Whether nothing waits.
     *
     * @return true if there is no message.
     */
    public boolean isEmpty() {
        return head == tail;
    }

    /**
     * How many wait.
     *
     * @return messages.
     */
    public int size() {
        return (int) (tail - head);
    }

    /**
     * Whom a message is for.
     *
     * @param index from 0, the oldest.
     * @return its channel, perhaps closed.
     */
    public DatagramChannel channel(int index) {
        return channels[(int) (head + index) & channels.length - 1];
    }

    /**
     * A message.
     *
     * @param index from 0, the oldest.
     * @return its operation; not to be looked at if the channel is closed.
     */
    public TransmitOperation operation(int index) {
        return operations[(int) (head + index) & operations.length - 1];
    }

    /**
     * Adds a message.
     *
     * @param channel   whom it is for.
     * @param operation of it.
     */
    public void add(DatagramChannel channel, TransmitOperation operation) {
        if (size() == operations.length) {
            grow();
        }
        int index = (int) tail & operations.length - 1;
        operations[index] = operation;
        channels[index] = channel;
        tail++;
    }

    /** Takes the oldest message away. */
    public void drop() {
        int index = (int) head & operations.length - 1;
        operations[index] = null;
        channels[index] = null;
        head++;
    }

    /** Takes away the oldest messages that are for closed channels: those end with the endpoint's own records. */
    public void dropClosed() {
        while (head != tail && channels[(int) head & channels.length - 1].isClosed()) {
            drop();
        }
    }

    /** Takes all messages away. */
    public void clear() {
        head = tail;
        Arrays.fill(operations, null);
        Arrays.fill(channels, null);
    }

    private void grow() {
        int count = size();
        TransmitOperation[] moreOperations = new TransmitOperation[count * 2];
        DatagramChannel[] moreChannels = new DatagramChannel[count * 2];
        for (int i = 0; i < count; i++) {
            moreOperations[i] = operation(i);
            moreChannels[i] = channel(i);
        }
        operations = moreOperations;
        channels = moreChannels;
        head = 0;
        tail = count;
    }
}
