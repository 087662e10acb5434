package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import java.util.ArrayDeque;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/** A listening socket of a simulated host. */
final class SimulatedListener extends TcpListener {
    private final SimulatedNetwork network;
    private final int fd;
    private final int backlog;
    /** Connections that have arrived or are on their way, in their order. */
    final ArrayDeque<SimulatedPort> waiting = new ArrayDeque<>();
    private SimulatedPort accepted;
    private boolean closed;

    SimulatedListener(SimulatedNetwork network, int fd, SocketName name, int processId, int backlog) {
        super(name, processId);
        this.network = network;
        this.fd = fd;
        this.backlog = backlog;
    }

    boolean isFull() {
        return waiting.size() > backlog;
    }

    boolean hasWaiting(long nowNs) {
        SimulatedPort first = waiting.peek();
        return first != null && first.answerNs <= nowNs;
    }

    @Override
    int fd() {
        return closed ? -1 : fd;
    }

    @Override
    SelectableChannel channel() {
        return null;
    }

    @Override
    boolean isOpen() {
        return !closed;
    }

    @Override
    int accept() {
        if (!hasWaiting(network.nowNs())) {
            return -FabricErrno.EAGAIN;
        }
        int errno = network.failure(name(), SimulatedNetwork.Call.ACCEPT);
        if (errno == FabricErrno.ECONNABORTED || errno == FabricErrno.EPERM) {
            // the connection is lost; others still wait
            SimulatedPort lost = waiting.poll();
            network.reset(lost);
            lost.close();
        }
        if (errno != 0) {
            return -errno;
        }
        accepted = waiting.poll();
        return 0;
    }

    @Override
    TcpPort accepted() {
        return accepted;
    }

    @Override
    SocketName acceptedFrom() {
        return accepted.remote();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            network.forget(this);
            // the host resets connections that nothing has accepted
            for (SimulatedPort port : waiting) {
                network.reset(port);
                port.close();
            }
            waiting.clear();
        }
    }
}
