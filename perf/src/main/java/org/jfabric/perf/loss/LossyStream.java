package org.jfabric.perf.loss;

import org.agrona.DirectBuffer;

/** A stream from one thread to another one. Each method belongs to one of the two. */
interface LossyStream extends AutoCloseable {
    /** Takes what has arrived. */
    @FunctionalInterface
    interface Listener {
        /** A message. */
        void onMessage(DirectBuffer buffer, int offset, int length);
    }

    /** Writing thread: port to which the relay passes what it is asked. */
    int askedPort();

    /** Writing thread: the relay is there; the side that asks is opened by one of the two threads. */
    void openWriter(int relayPort);

    /** Reading thread. */
    void openReader(int relayPort, Listener listener);

    /** Writing thread: whether messages can be sent. */
    boolean isConnected();

    /** Writing thread; false if there is no room now. */
    boolean offer(DirectBuffer buffer, int length);

    /** Writing thread: a step of its driver. */
    void stepWriter();

    /** Reading thread. */
    void poll();

    /** Reading thread. */
    void closeReader();

    @Override
    void close();
}
