package org.jfabric.perf.compare;

/** A log on a disk, of messages of the cell's size. Owner: one thread. */
interface Journal extends AutoCloseable {
    /**
     * Begins an empty log; the one before is deleted, at the latest with the next one.
     *
     * @param synced true if {@link #await} waits for stable storage.
     */
    void renew(boolean synced);

    /** Writes a message; waits while there is no room. */
    void write();

    /** Waits until the page cache, or stable storage, has all that was written. */
    void await();

    /** Opens the log for reading, from its first message on. */
    void rewind();

    /**
     * Reads messages.
     *
     * @param most of them, 1 or more.
     * @return how many were read, 0 if none is there now.
     */
    int read(int most);

    @Override
    void close();
}
