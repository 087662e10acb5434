package org.jfabric.driver.link.tcp;

import javax.net.ssl.SSLException;
import org.jfabric.driver.resource.ResourceTask;

/** One slow step of the handshake of a connection over TLS. */
final class HandshakeTask extends ResourceTask {
    private final TcpConnection connection;
    private final TlsPort port;

    HandshakeTask(TcpConnection connection, TlsPort port) {
        this.connection = connection;
        this.port = port;
    }

    /** Whether its connection is closed. */
    boolean isOver() {
        return !connection.isOpen();
    }

    @Override
    protected void execute() throws SSLException {
        port.runTask();
    }

    @Override
    protected void onDone() {
        connection.onTaskDone(null);
    }

    @Override
    protected void onFailed(Throwable cause) {
        connection.onTaskDone(cause);
    }
}
