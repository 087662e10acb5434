package org.jfabric.driver.link.tcp;

import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.BoundAddress;

import java.nio.channels.SelectableChannel;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A socket that listens: what an endpoint is reached by, and named after.
 *
 * <p>Made on the resource thread; owner then: progress agent.
 */
abstract class TcpListener extends BoundAddress {
    /** What is to be done about a name that is not to be had. */
    static final String REMEDY = "Name an address of this host and a free port in srcAddr or in jfabric.tcp.interface.";

    private final SocketName name;
    private final int processId;

    TcpListener(SocketName name) {
        this.name = name;
        // another one after a restart, which is what peers look at
        this.processId = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    }

    /**
     * Listens.
     *
     * @param kind    of sockets.
     * @param wanted  address, the wildcard only for connections; port 0 for any.
     * @param backlog connections that the system keeps.
     * @throws FabricException why not.
     */
    static TcpListener open(Sockets kind, SocketName wanted, int backlog) {
        return kind == Sockets.NATIVE
            ? TcpNativeListener.open(wanted, backlog) : TcpNioListener.open(wanted, backlog);
    }

    final SocketName name() {
        return name;
    }

    final int processId() {
        return processId;
    }

    @Override
    public final String address() {
        return name.toString();
    }

    /** Its descriptor, -1 if it is closed or has none that is known. */
    abstract int fd();

    /** Its channel, or null if it has none. */
    abstract SelectableChannel channel();

    abstract boolean isOpen();

    /**
     * Takes the next connection.
     *
     * @return 0: {@link #accepted()} is it; {@code -FI_EAGAIN} if none waits; {@code -EMFILE}, {@code -ENFILE},
     *     {@code -FI_ENOMEM}; others for a connection that is broken already.
     */
    abstract int accept();

    /** The connection that was taken last; the caller's from now on. */
    abstract TcpPort accepted();

    /** Address of that connection's other end, or null if it is gone already. */
    abstract SocketName acceptedFrom();
}
