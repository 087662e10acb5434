package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.TransmitOperation;

/**
 * The sessions and handshakes of one endpoint with its peers.
 *
 * <p>Owner: progress agent.
 */
public abstract class DatagramSessions {
    /** Result of {@link #onDatagram}: there is no message for the application. */
    protected static final int NO_MESSAGE = -1;

    /** Whether there is neither a session nor a handshake, so that no time matters. */
    protected abstract boolean isEmpty();

    /** Whether datagrams of handshakes are expected. */
    protected abstract boolean isShaking();

    /** Whether a channel's messages can be sealed now; if not, it is notified when they can, or goes down. */
    protected abstract boolean isReady(UdpChannel channel);

    /** Where the sealed message is put that is sent in a place of the next call. */
    protected abstract long slot(int index);

    /** Where a record may lie until it is opened. */
    protected abstract long scratch();

    /** Seals a message into memory; its length, or a negative errno. */
    protected abstract int seal(UdpChannel channel, TransmitOperation operation, long to);

    /** A channel is closed: nothing waits for its session any more. */
    protected abstract void forget(UdpChannel channel);

    /** Whether a datagram has a message, sealed. */
    protected abstract boolean isData(long address, int length);

    /**
     * Handles a datagram, and opens it in its place.
     *
     * @param name    address of its sender, in the kernel's layout.
     * @return length of the message, or {@link #NO_MESSAGE}.
     */
    protected abstract int onDatagram(long name, long address, int length);

    /** A message was dropped that had waited for a receive, with too many others. */
    protected abstract void onDropped();

    /** Checks what depends on time; 0 if there was nothing to do. */
    protected abstract int poll();

    /** The endpoint is detached. */
    protected abstract void close();
}
