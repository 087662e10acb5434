package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.TcpSocket;

import java.nio.channels.SelectableChannel;

/**
 * Takes what connects to a listening socket.
 *
 * <p>Owner: progress agent.
 */
final class TcpAcceptor extends Watched {
    private static final int BATCH = 16;
    private static final long PAUSE_NS = 100_000_000L;

    /** Told of each connection. */
    interface Target {
        /**
         * Somebody has connected, and has yet to say who it is.
         *
         * @param port connected; the target's from now on.
         * @param from address of the other end.
         */
        void onAccepted(TcpPort port, SocketName from);
    }

    private final TcpLink link;
    private final TcpListener listener;
    private final Target target;
    /** When to go on, after there were no descriptors; 0 while nothing is wrong. */
    private long resumeNs;

    TcpAcceptor(TcpLink link, TcpListener listener, Target target) {
        this.link = link;
        this.listener = listener;
        this.target = target;
    }

    SocketName name() {
        return listener.name();
    }

    @Override
    int fd() {
        return listener.fd();
    }

    @Override
    SelectableChannel channel() {
        return listener.channel();
    }

    @Override
    void onEvents(int events) {
        for (int i = 0; i < BATCH && listener.isOpen(); i++) {
            int result = listener.accept();
            if (result == -FabricErrno.EMFILE || result == -TcpSocket.ENFILE || result == -TcpSocket.ENOBUFS
                || result == -FabricErrno.ENOMEM) {
                pause(-result);
                return;
            }
            if (result == -FabricErrno.EAGAIN) {
                return;
            }
            if (result == 0) {
                take(listener.accepted(), listener.acceptedFrom());
            }
        }
    }

    private void take(TcpPort port, SocketName from) {
        if (from == null) {
            port.close();
        } else {
            link.makeRoomToGreet(from.inetAddress());
            target.onAccepted(port, from);
        }
    }

    /** The system would tell of the same connection again and again. */
    private void pause(int errno) {
        resumeNs = System.nanoTime() + PAUSE_NS;
        link.watched().modify(this, 0);
        link.onError(new FabricException(errno, "a connection to " + name() + " was not accepted: "
            + FabricErrno.name(errno), "Raise the limit of open files (ulimit -n)."));
    }

    /** Goes on after a pause. */
    void resume() {
        if (resumeNs != 0 && link.nowNs() - resumeNs > 0) {
            resumeNs = 0;
            link.watched().modify(this, Epoll.EPOLLIN);
        }
    }
}
