package org.jfabric.driver.link.tcp;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;
import org.agrona.BufferUtil;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A socket that is encrypted as the connections of its link are, for a protocol that the link does not have. Buffers
 * are direct ones. Bytes that were not written are passed again, the same ones.
 *
 * <p>Owner: one thread at a time.
 */
final class SecureChannel implements ByteChannel {
    private static final long HANDSHAKE_NS = 2_000_000_000;
    private static final long PAUSE_NS = 100_000;

    private final StreamSecurity security;
    private final SecurePort port;
    private final InetAddress peer;
    private boolean isOpen = true;

    private SecureChannel(SocketChannel socket, boolean isClient, StreamSecurity security) throws IOException {
        this.security = security;
        peer = ((InetSocketAddress) socket.getRemoteAddress()).getAddress();
        port = security.secured(new TcpNioPort(socket), isClient);
    }

    /**
     * Waits until both ends are proved.
     *
     * @param security of this connection alone, closed with it.
     * @param access   the peers that are admitted, null for all with a trusted key.
     */
    static SecureChannel open(SocketChannel socket, boolean isClient, StreamSecurity security, AccessList access)
        throws IOException {
        SecureChannel opened = null;
        boolean isProved = false;
        try {
            opened = new SecureChannel(socket, isClient, security);
            opened.handshake();
            if (access != null && !access.admits(opened.peer, opened.port.peerKey())) {
                throw opened.refusal(FabricErrno.EACCES, "is not in the access list " + access);
            }
            isProved = true;
            return opened;
        } finally {
            if (!isProved && opened != null) {
                opened.close();
            } else if (!isProved) {
                security.close();
                socket.close();
            }
        }
    }

    private void handshake() throws IOException {
        long beganNs = System.nanoTime();
        int result = port.secure();
        while (result != SecurePort.SECURED) {
            if (result > 0) {
                throw refusal(result, port.violation());
            } else if (result == SecurePort.TASK) {
                port.runTask();
                port.onTaskDone();
            } else if (System.nanoTime() - beganNs > HANDSHAKE_NS) {
                throw new InterruptedIOException("no handshake in time");
            } else {
                LockSupport.parkNanos(PAUSE_NS);
            }
            result = port.secure();
        }
    }

    private FabricException refusal(int errno, String why) {
        return new FabricException(errno, "peer " + peer.getHostAddress() + ' ' + why,
            "The connection to it, for the log of a stream, was closed. See docs/security.md.");
    }

    private void requireProved() {
        if (port.violation() != null) {
            throw refusal(port.violationErrno(), port.violation());
        }
    }

    @Override
    public int read(ByteBuffer to) {
        if (!to.hasRemaining()) {
            return 0;
        }
        long got = port.receive(BufferUtil.address(to) + to.position(), to.remaining());
        requireProved();
        to.position(to.position() + (int) Math.max(0, got));
        return got == 0 ? -1 : (int) Math.max(0, got);
    }

    @Override
    public int write(ByteBuffer from) {
        long sent = port.send(BufferUtil.address(from) + from.position(), from.remaining());
        requireProved();
        from.position(from.position() + (int) sent);
        return (int) sent;
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    @Override
    public void close() {
        if (isOpen) {
            isOpen = false;
            port.close();
            security.close();
        }
    }
}
