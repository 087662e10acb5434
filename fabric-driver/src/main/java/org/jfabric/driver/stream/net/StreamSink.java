package org.jfabric.driver.stream.net;

import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;

/**
 * Where a {@link StreamReader} puts what it receives: the ring of the reading host. Everything comes in the order of
 * positions, each of them once, as a message or in a gap.
 *
 * <p>Owner: progress agent.
 */
public abstract class StreamSink {
    /** Window of a ring that waits for none of its readers. */
    public static final long UNLIMITED = 0xffff_ffffL;
    /** The writer does not wait for this host. */
    public static final int LOSSY = 2;
    /** The writer's log has older messages. */
    public static final int RECORDED = 4;

    /**
     * The reader has joined, and will receive messages. Called once, before anything else.
     *
     * @param start     place of the first message.
     * @param ringBytes of the writer's ring; messages are not longer than an eighth of it.
     * @param flags     {@link #LOSSY}, {@link #RECORDED}.
     */
    public abstract void onJoined(LogPosition start, int ringBytes, int flags);

    /** Whether a message can be written now. */
    public abstract boolean hasRoom(int payloadLength);

    /**
     * Writes a message, for which there is room.
     *
     * @param flags   as in a group's ring.
     * @param payload native address.
     */
    public abstract void write(long position, int flags, long tag, long data, long payload, int payloadLength);

    /** Messages are lost. */
    public abstract void gap(long first, long last);

    /**
     * The reader has ended: the writer does not have the next messages in its ring any more, but in its log. Replay
     * them from there, and join again behind them.
     *
     * @param next position of the first one.
     */
    public abstract void behind(long next);

    /**
     * The reader has ended.
     *
     * @param errno {@code FI_ESHUTDOWN} and {@code FI_ECONNRESET} as of a writer on this host, {@code FI_ETIMEDOUT} if
     *              it was removed, {@code FI_EHOSTUNREACH} without any answer; else why joining was refused.
     */
    public abstract void end(int errno);

    /**
     * Bytes for further messages: what is free in the ring, less an eighth for what its end leaves unused; or
     * {@link #UNLIMITED}.
     */
    public abstract long window();

    /** Position of the next message of the slowest reader of the ring. */
    public abstract long consumed();

    /** Something rare has happened that an operator should see. */
    public abstract void onNotice(FabricException notice);
}
