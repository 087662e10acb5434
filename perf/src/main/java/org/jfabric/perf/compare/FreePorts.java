package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.net.SocketException;

/** Finds ports that are free at the moment of the call. */
final class FreePorts {
    private static final int TRIES = 20;

    private FreePorts() {
    }

    /** The first of two UDP ports that follow each other. */
    static int udpPair() {
        for (int i = 0; i < TRIES; i++) {
            try (DatagramSocket first = new DatagramSocket();
                DatagramSocket second = new DatagramSocket(first.getLocalPort() + 1)) {
                return second.getLocalPort() - 1;
            } catch (SocketException | IllegalArgumentException ex) {
                continue;
            }
        }
        throw new IllegalStateException("No two UDP ports in a row are free.");
    }

    static int tcp() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException ex) {
            throw new UncheckedIOException("no TCP port is free", ex);
        }
    }
}
