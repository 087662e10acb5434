package org.jfabric.driver.stream.net;

/**
 * A socket for the datagrams of streams. What is sent is collected until {@link #flush()}, or until there is no room
 * for more. Addresses of peers are a {@code sockaddr} in native memory.
 *
 * <p>Owner: progress agent.
 */
public abstract class StreamSocket {
    /** Bytes of the longest datagram, at least 512: what the path carries, less its own headers. */
    public abstract int maxDatagramBytes();

    /** Native memory for the next datagram, the same until it is sent; 0 if the socket takes none now. */
    public abstract long claim();

    /** Sends the datagram that was written into the claimed memory. */
    public abstract void send(int lengthBytes, long name, int nameLength);

    /** Sends the last datagram to another peer, too; it may be lost if the socket takes no more. */
    public abstract void repeat(long name, int nameLength);

    /** Gives the socket what was collected. */
    public abstract void flush();

    /** Takes the next datagram that has arrived; its length, negative if there is none. */
    public abstract int receive();

    /** Native address of the datagram that was received. */
    public abstract long address();

    /** When it arrived, of a socket with times: nanoseconds; 0 if that is not known. */
    public long timeNs() {
        return 0;
    }

    /** Native address of its sender's address, as the system gives it. */
    public abstract long name();

    /** Length of that in bytes. */
    public abstract int nameLength();

    /** The sender of the last datagram is there now, and no repetition: it has answered what was drawn here. */
    void admit() {
        // a socket that seals nothing hears everybody
    }

    /** Makes the next datagram wake the thread; false if the system has no event for it. */
    public abstract boolean arm();

    /** Closes the socket; what was collected is sent before. */
    public abstract void close();
}
