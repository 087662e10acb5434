package org.jfabric.driver.kit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.jfabric.info.SocketName;

/** The port of an endpoint that was closed. */
public final class ClosedPort {
    private ClosedPort() {
    }

    /** Runs a task while nobody else can get the port, and with it the next message to the endpoint. */
    public static void keep(Setup setup, String endpointName, Runnable task) {
        if (!setup.hasSocketNames()) {
            task.run();
            return;
        }
        SocketName name = SocketName.parse(endpointName);
        // bound and not listening: connections are refused
        try (Socket socket = new Socket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(name.inetAddress(), name.port()));
            task.run();
        } catch (IOException e) {
            throw new UncheckedIOException(endpointName, e);
        }
    }
}
