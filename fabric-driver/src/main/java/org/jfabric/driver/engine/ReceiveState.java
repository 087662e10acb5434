package org.jfabric.driver.engine;

/**
 * The states of a {@link ReceiveOperation}; numbers, because they are compared for each message.
 *
 * <pre>
 *   FREE --- POSTED --- the message is complete ---------------------------------.
 *              |------- STREAMING, FILLING --- the rest has arrived -------------+-- entry --- FREE
 *              |                                '--- ENDED --- its turn ---------'
 *              |------- PULLING, or WANTS_SEGMENTS --- SEGMENTS --- all arrived -+-- entry --- FINISHING --- FREE
 *              |                                '--- ENDED_TO_TELL --- its turn -'
 *              |------- CLAIMED --------------------------------------------------- entry --- FREE
 *              '------- BUFFER --- ENDING ----------------------------------------- entry --- FREE
 * </pre>
 */
final class ReceiveState {
    // of every receive
    static final int FREE = 0;
    static final int POSTED = 1;

    // while the payload of its message arrives
    /** The bytes of a streamed message are placed directly in the buffer. */
    static final int STREAMING = 2;
    /** Waits for the rest of a streamed message that goes into the unexpected store. */
    static final int FILLING = 3;
    /** The link fetches the announced payload. */
    static final int PULLING = 4;
    /** The request for segments is still to be sent to the peer. */
    static final int WANTS_SEGMENTS = 5;
    /** Segments were requested and arrive. */
    static final int SEGMENTS = 6;
    /** The entry is written; the FINISH message is still to be sent to the peer. */
    static final int FINISHING = 7;

    // of a multi-receive buffer
    /** It takes messages. */
    static final int BUFFER = 8;
    /** It takes no more, and ends when all its messages have entries. */
    static final int ENDING = 9;

    // of a peek
    /** It has claimed its message; its entry is still to be written. */
    static final int CLAIMED = 10;

    // while the entry waits; all greater states
    /** The message is placed or lost; the entry waits for those of messages that were matched before. */
    static final int ENDED = 11;
    /** As {@link #ENDED}, for an announced message: its sender is notified after the entry is written. */
    static final int ENDED_TO_TELL = 12;

    private ReceiveState() {
    }
}
