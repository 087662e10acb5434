package org.jfabric.driver.link.tcp;

import java.io.IOException;
import org.jfabric.driver.link.support.HandshakeTask;

/** One slow step of the handshake of a connection that is encrypted. */
final class SecuringTask extends HandshakeTask {
    private final TcpConnection connection;
    private final SecurePort port;

    SecuringTask(TcpConnection connection, SecurePort port) {
        this.connection = connection;
        this.port = port;
    }

    @Override
    protected boolean isOver() {
        return !connection.isOpen();
    }

    @Override
    protected void execute() throws IOException {
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
