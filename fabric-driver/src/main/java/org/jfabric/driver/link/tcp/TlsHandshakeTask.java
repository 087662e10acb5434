package org.jfabric.driver.link.tcp;

import javax.net.ssl.SSLException;
import org.jfabric.driver.link.support.HandshakeTask;

/** One slow step of the handshake of a connection over TLS. */
final class TlsHandshakeTask extends HandshakeTask {
    private final TcpConnection connection;
    private final TlsPort port;

    TlsHandshakeTask(TcpConnection connection, TlsPort port) {
        this.connection = connection;
        this.port = port;
    }

    @Override
    protected boolean isOver() {
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
