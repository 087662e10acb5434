package org.jfabric.driver.link.udp;

import org.jfabric.SocketName;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.ffi.MessageVector;

/**
 * A bound UDP socket. Opened on the resource thread; owner afterwards: progress agent.
 */
abstract class UdpPort extends BoundAddress {
    private final SocketName name;

    UdpPort(SocketName name) {
        this.name = name;
    }

    @Override
    public final String address() {
        return name.toString();
    }

    final SocketName name() {
        return name;
    }

    /** Descriptor that becomes readable when a datagram arrives, or -1 if it is not known. */
    abstract int fd();

    /** Receives what is there, at most so many; the number of datagrams. */
    abstract int receive(MessageVector vector, int count);

    /** Sends datagrams; how many were taken, or why the first was not as a negative errno. */
    abstract int send(MessageVector vector, int count);

    /** Receives what is sent to a group; 0 or a negative errno. */
    abstract int join(SocketName group);
}
