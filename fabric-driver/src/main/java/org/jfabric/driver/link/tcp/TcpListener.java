package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import java.util.concurrent.ThreadLocalRandom;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.SocketName;

/**
 * A listening socket, whose address is the endpoint's address.
 *
 * <p>Made on the resource thread; owner afterwards: progress agent.
 */
abstract class TcpListener extends BoundAddress {
    /** Remedy for an address that cannot be bound. */
    static final String REMEDY = "Name an address of this host and a free port in srcAddr or in jfabric.tcp.interface.";

    private final SocketName name;
    private final int processId;

    TcpListener(SocketName name) {
        // random, because peers detect a restart by a changed number
        this(name, ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE));
    }

    TcpListener(SocketName name, int processId) {
        this.name = name;
        this.processId = processId;
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

    /** The descriptor, -1 if the socket is closed or its descriptor is not accessible. */
    abstract int fd();

    /** The socket's channel, or null if it has none. */
    abstract SelectableChannel channel();

    abstract boolean isOpen();

    /**
     * Accepts the next connection. Returns 0 if {@link #accepted()} has it; {@code -FI_EAGAIN} if none waits; {@code
     * -EMFILE}, {@code -ENFILE}, {@code -ENOBUFS} or {@code -FI_ENOMEM} if resources have run out; another errno if the
     * connection has failed already.
     */
    abstract int accept();

    /** The connection that was accepted last, owned by the caller from now on. */
    abstract TcpPort accepted();

    /** Address of that connection's other end, or null if it is lost already. */
    abstract SocketName acceptedFrom();
}
