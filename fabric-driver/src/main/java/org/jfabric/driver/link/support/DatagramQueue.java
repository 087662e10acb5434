package org.jfabric.driver.link.support;

import java.util.Arrays;
import org.jfabric.driver.link.TransmitOperation;

/**
 * The messages of one datagram endpoint that wait to be sent, to any destination, in the order of posting. The queue
 * grows to the largest number of messages that have waited at once.
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

    /** Whether no message waits. */
    public boolean isEmpty() {
        return head == tail;
    }

    /** Number of messages that wait. */
    public int size() {
        return (int) (tail - head);
    }

    /**
     * The destination of a message.
     *
     * @param index from 0, the oldest.
     */
    public DatagramChannel channel(int index) {
        return channels[(int) (head + index) & channels.length - 1];
    }

    /**
     * The operation of a message.
     *
     * @param index from 0, the oldest.
     * @return the operation; not valid if the channel is closed.
     */
    public TransmitOperation operation(int index) {
        return operations[(int) (head + index) & operations.length - 1];
    }

    public void add(DatagramChannel channel, TransmitOperation operation) {
        if (size() == operations.length) {
            grow();
        }
        int index = (int) tail & operations.length - 1;
        operations[index] = operation;
        channels[index] = channel;
        tail++;
    }

    /** Removes the oldest message. */
    public void drop() {
        int index = (int) head & operations.length - 1;
        operations[index] = null;
        channels[index] = null;
        head++;
    }

    /**
     * Removes messages for closed channels from the head of the queue. The engine ends their operations by the
     * endpoint's own records.
     */
    public void dropClosed() {
        while (head != tail && channels[(int) head & channels.length - 1].isClosed()) {
            drop();
        }
    }

    /** Removes all messages. */
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
