package org.jfabric.driver.stream.net;

import org.jfabric.info.LogPosition;

/**
 * The messages of a writer, which a {@link StreamWriter} sends: its ring, and its log if there is one. A message is
 * read in place; it stays until the next one is read.
 *
 * <p>The fields have the message that was {@link #read(long)} last. What is called here does not call the writer, but
 * for {@link StreamWriter#needed()}. Owner: progress agent.
 */
public abstract class StreamSource {
    /** Flags of a group's ring: tagged, has data. */
    protected int flags;
    /** 0 if untagged. */
    protected long tag;
    /** 0 without. */
    protected long data;
    /** Native address of the payload. */
    protected long payload;
    /** Its bytes. */
    protected int payloadLength;

    /** The log, its term, and the first position of the ring. */
    public abstract LogPosition first();

    /** Bytes of the ring. */
    public abstract int ringBytes();

    /** Position behind the newest message that readers may see. */
    public abstract long next();

    /** Position of the oldest message that can be read. */
    public abstract long oldest();

    /**
     * Reads a message.
     *
     * @return 0; {@code -FI_EAGAIN} if it is being fetched, {@code -FI_ENODATA} if it is there no more.
     */
    public abstract int read(long position);

    /**
     * Bytes of the ring in front of a message, counted since its begin; of one that is older than the ring those in
     * front of its oldest message.
     */
    public abstract long offset(long position);

    /** Whether the log has the messages that {@link #read} does not find any more. */
    public abstract boolean isRecorded();

    /** Whether a message waits until {@link StreamWriter#needed()} is greater. */
    public abstract boolean isBlocked();

    /** A host reads from a position on. */
    public abstract void onJoined(RemoteReader reader);

    /** Another writer sends a stream of this name to the same multicast group. */
    public abstract void onOtherWriter(String address);

    /**
     * A host reads no more.
     *
     * @param errno 0 if it has left; {@code FI_ETIMEDOUT} if it was removed, {@code FI_ECONNRESET} if it is silent.
     */
    public abstract void onLeft(RemoteReader reader, int errno);
}
