package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.stream.net.PeerAddress;
import org.jfabric.info.SocketName;

/**
 * The peer that gets everything that a socket sends, if there is one. It gets a socket of its own, which is
 * connected to it: the system finds the route once, and not for each datagram. What that peer sends arrives there, too.
 *
 * <p>Owner: progress agent.
 */
final class SolePeer {
    /** So many datagrams in a row make a peer the only one, and so many to others end that. */
    private static final int RUN = 1024;

    private final UdpPort port;
    private final LinkServices services;
    private final boolean mayOpen;
    /** Where the last datagram was sent. */
    private final PeerAddress peer = new PeerAddress();
    /** Datagrams in a row to it. */
    private int run;
    private UdpPort connected;
    private PeerAddress connectedPeer;
    /** Datagrams since it was used last. */
    private int unused;
    private boolean isOpening;
    private boolean isClosed;

    SolePeer(UdpPort port, LinkServices services, boolean mayOpen) {
        this.mayOpen = mayOpen;
        this.port = port;
        this.services = services;
    }

    /** Its socket; null if there is none. */
    UdpPort connected() {
        return connected;
    }

    /** A datagram is to be sent to an address. */
    void sends(long name, int nameLength) {
        if (peer.is(name, nameLength)) {
            run++;
        } else {
            peer.set(name, nameLength);
            run = 1;
        }
        if (connected != null && ++unused == RUN) {
            connected.close(services);
            connected = null;
        } else if (mayOpen && connected == null && run == RUN && !isOpening) {
            isOpening = true;
            services.submit(new Opening(SocketName.ofBytes(peer.toBytes())));
        }
    }

    /** Whether its socket sends what is for a peer. */
    boolean has(PeerAddress other) {
        if (connected == null || !connectedPeer.is(other)) {
            return false;
        }
        unused = 0;
        return true;
    }

    void close() {
        isClosed = true;
        if (connected != null) {
            connected.close(services);
        }
    }

    /** Opens the socket. Datagrams may go to another peer when it is there. */
    private final class Opening extends ResourceTask {
        private final SocketName name;
        private UdpPort opened;

        Opening(SocketName name) {
            this.name = name;
        }

        @Override
        protected void execute() {
            opened = port.openConnected(name);
        }

        @Override
        protected void onDone() {
            isOpening = false;
            if (isClosed && opened != null) {
                opened.close(services);
            } else if (opened != null) {
                connected = opened;
                connectedPeer = PeerAddress.of(name);
                unused = 0;
            }
        }

        @Override
        protected void onFailed(Throwable cause) {
            // everything is sent by the socket of the stream, as before
            isOpening = false;
        }
    }
}
