package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.TcpSocket;

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
         * @param fd   connected; the target's from now on.
         * @param from address of the other end.
         */
        void onAccepted(int fd, SocketName from);
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
    void onEvents(int events) {
        for (int i = 0; i < BATCH && listener.fd() >= 0; i++) {
            int fd = TcpSocket.accept(listener.fd());
            if (fd == -FabricErrno.EMFILE || fd == -TcpSocket.ENFILE || fd == -TcpSocket.ENOBUFS
                || fd == -FabricErrno.ENOMEM) {
                pause(-fd);
                return;
            }
            if (fd == -FabricErrno.EAGAIN) {
                return;
            }
            if (fd >= 0) {
                take(fd);
            }
        }
    }

    private void take(int fd) {
        byte[] from = TcpSocket.peerName(fd);
        if (from == null) {
            Libc.close(fd);
        } else {
            SocketName name = SocketName.ofBytes(from);
            link.makeRoomToGreet(name.inetAddress());
            target.onAccepted(fd, name);
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
