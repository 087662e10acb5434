package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Accepts the connections of a listening socket.
 *
 * <p>Owner: progress agent.
 */
final class TcpAcceptor extends Watched {
    private static final int BATCH = 16;
    private static final long PAUSE_NS = 100_000_000L;

    /** Receives each connection. */
    interface Target {
        /**
         * A peer has connected; its request has not arrived yet.
         *
         * @param port connected socket, owned by the target from now on.
         * @param from address of the socket's other end.
         */
        void onAccepted(TcpPort port, SocketName from);
    }

    /** Connections that wait for the access list; more are refused. */
    private static final int MAX_WAITING = 256;

    private final TcpLink link;
    private final TcpListener listener;
    private final Target target;
    private final List<Waiting> waiting = new ArrayList<>();
    /** Those for which the list is being read. */
    private final List<Waiting> checked = new ArrayList<>();
    /** Time at which accepting resumes after descriptors had run out; 0 if it is not paused by that. */
    private long resumeNs;
    /** Accepting is paused because too many connections have to send their request. */
    private boolean isHeld;

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
            if (link.mustWaitToGreet()) {
                isHeld = true;
                link.watched().modify(this, 0);
                return;
            }
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
        } else if (link.access() == null) {
            admit(port, from);
        } else if (waiting.size() < MAX_WAITING) {
            waiting.add(new Waiting(port, from));
            check();
        } else {
            port.close();
            link.counters().onRefused();
        }
    }

    private void admit(TcpPort port, SocketName from) {
        link.makeRoomToGreet(from.inetAddress());
        target.onAccepted(link.secured(port, false), from);
    }

    /** Has the access list read again if it has changed, which may be slow, and then decides. */
    private void check() {
        if (checked.isEmpty() && !waiting.isEmpty()) {
            checked.addAll(waiting);
            waiting.clear();
            link.services().submit(new AccessTask());
        }
    }

    private void decide() {
        link.reportProblemsOfFiles();
        for (Waiting each : List.copyOf(checked)) {
            if (link.admits(each.from.inetAddress())) {
                admit(each.port, each.from);
            } else {
                each.port.close();
            }
        }
        checked.clear();
        check();
    }

    /** No connection is accepted any more; those that are not decided yet are closed. */
    void close() {
        waiting.forEach(each -> each.port.close());
        waiting.clear();
        checked.forEach(each -> each.port.close());
        checked.clear();
    }

    /** A connection that is not checked yet. */
    private record Waiting(TcpPort port, SocketName from) {
    }

    private final class AccessTask extends ResourceTask {
        @Override
        protected void execute() {
            link.access().refresh();
        }

        @Override
        protected void onDone() {
            decide();
        }

        @Override
        protected void onFailed(Throwable cause) {
            link.onError(cause);
            close();
        }
    }

    /** Pauses accepting, because the level-triggered event of the same connection would repeat in every poll. */
    private void pause(int errno) {
        resumeNs = link.readNs() + PAUSE_NS;
        link.watched().modify(this, 0);
        link.onError(new FabricException(errno, "a connection to " + name() + " was not accepted: "
            + FabricErrno.name(errno), "Raise the limit of open files (ulimit -n)."));
    }

    /** Whether accepting is to be resumed after a pause. */
    boolean isPaused() {
        return resumeNs != 0 || isHeld;
    }

    /** Resumes accepting after a pause. */
    void resume() {
        if (resumeNs != 0 && link.nowNs() - resumeNs > 0 || isHeld && !link.mustWaitToGreet()) {
            resumeNs = 0;
            isHeld = false;
            link.watched().modify(this, Epoll.EPOLLIN);
        }
    }
}
