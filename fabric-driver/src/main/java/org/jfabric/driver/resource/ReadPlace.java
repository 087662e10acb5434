package org.jfabric.driver.resource;

import org.jfabric.layout.ReadPlaceDescriptor;

/**
 * The words of a completion queue's file by which a client that reads a group in place says how far it is. They are the
 * client's: what they say is checked by those who ask. Owner: progress agent.
 */
public final class ReadPlace {
    private final long file;
    /** Null if no thread can sleep at the queue. */
    private final WaitPoint waitPoint;
    private boolean isTaken;
    private long offset;
    private long position;
    private long lost;

    /** The words in a mapped file. */
    public ReadPlace(long file, WaitPoint waitPoint) {
        this.file = file;
        this.waitPoint = waitPoint;
    }

    /** Whether the queue has a reader. */
    public boolean isTaken() {
        return isTaken;
    }

    /** A reader begins, where there is none. */
    public void take(long offset, long position) {
        isTaken = true;
        ReadPlaceDescriptor.storeEnd(file, 0, 0);
        ReadPlaceDescriptor.store(file, offset, position, 0);
    }

    /** The reader has ended. */
    public void giveBack() {
        isTaken = false;
    }

    /** Reads the client's words: the position and the lost messages are those of the offset, or of one before it. */
    public void look() {
        lost = ReadPlaceDescriptor.lost(file);
        position = ReadPlaceDescriptor.position(file);
        offset = ReadPlaceDescriptor.offset(file);
    }

    /** As the last {@link #look} has found it. */
    public long offset() {
        return offset;
    }

    public long position() {
        return position;
    }

    public long lost() {
        return lost;
    }

    /** The client reads up to that offset, then gets the errno. */
    public void end(int errno, long offset) {
        ReadPlaceDescriptor.storeEnd(file, errno, offset);
        wake();
    }

    /** Whether the client's thread sleeps, or is about to. */
    public boolean isAwaited() {
        return waitPoint != null && waitPoint.isWanted();
    }

    public void wake() {
        if (waitPoint != null) {
            waitPoint.onChange();
        }
    }
}
