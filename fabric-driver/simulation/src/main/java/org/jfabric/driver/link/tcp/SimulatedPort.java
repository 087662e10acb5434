package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/** One end of a simulated connection; behaves as a socket of Linux. */
final class SimulatedPort extends TcpPort {
    private static final long NS_PER_S = 1_000_000_000L;
    private static final long NS_PER_MS = 1_000_000L;
    private static final int WHOLE_BYTES = 1024;
    /** Time after which Linux gives up to repeat bytes that are not acknowledged. */
    private static final long REPEAT_LIMIT_NS = 924 * NS_PER_S;

    private final SimulatedNetwork network;
    private final int fd;
    private final SocketName local;
    private final SocketName remote;
    /** What arrives here. */
    final SimulatedPipe in;
    /** The other end; null while connecting, and after that end is forgotten. */
    SimulatedPort peer;
    /** When the answer to the connect arrives; {@link SimulatedPipe#NEVER} while the network is cut. */
    long answerNs;
    /** Errno of that answer, 0 for success. */
    int answer;
    boolean isConnecting;
    /** When a reset or the loss of the peer is noticed; {@link SimulatedPipe#NEVER} for none. */
    long faultNs = SimulatedPipe.NEVER;
    private int faultErrno;
    /** The fault was noticed. */
    private boolean isOver;
    /** Error that is not reported yet. */
    private int error;
    private boolean closed;
    /** Since when the network is cut, -1 if it is not. */
    private long cutNs = -1;
    private int idleSeconds;
    private int intervalSeconds;
    private int probes;
    private long userTimeoutNs;

    SimulatedPort(SimulatedNetwork network, int fd, SocketName local, SocketName remote) {
        this.network = network;
        this.fd = fd;
        this.local = local;
        this.remote = remote;
        this.in = new SimulatedPipe(network.windowBytes(), network.nowNs());
    }

    SocketName remote() {
        return remote;
    }

    boolean isClosed() {
        return closed;
    }

    /** The connection ends with an error at a time. */
    void fault(int errno, long timeNs) {
        // one that is held back while the network is cut is noticed afterwards
        if (!isOver && (timeNs < faultNs || faultErrno == 0)) {
            faultNs = timeNs;
            faultErrno = errno;
        }
    }

    /** Lets happen what is due. */
    void update(long nowNs) {
        in.update(nowNs);
        if (cutNs >= 0 && faultNs == SimulatedPipe.NEVER) {
            long lossNs = lossNs();
            if (lossNs <= nowNs) {
                fault(FabricErrno.ETIMEDOUT, nowNs);
            }
        }
        if (cutNs < 0 && faultErrno == 0 && peer != null && peer.closed && !in.isEnded() && idleSeconds > 0) {
            // the host of an end that is closed answers probes with a reset
            fault(FabricErrno.ECONNRESET, Math.max(nowNs, in.heardNs() + idleSeconds * NS_PER_S));
        }
        if (!isOver && faultNs <= nowNs) {
            isOver = true;
            // a peer that had closed before answers with a reset, which Linux reports so
            error = faultErrno == FabricErrno.ECONNRESET && in.hasEnd(nowNs) ? TcpSocket.EPIPE : faultErrno;
            network.note("fault", this, error);
        }
    }

    /** When this end notices that the peer's host does not answer. */
    private long lossNs() {
        if (peer != null && (peer.in.isOnItsWay() || in.isEnded())) {
            return cutNs + (userTimeoutNs > 0 ? userTimeoutNs : REPEAT_LIMIT_NS);
        }
        return idleSeconds == 0 ? SimulatedPipe.NEVER
            : cutNs + (idleSeconds + (long) intervalSeconds * probes) * NS_PER_S;
    }

    /** The network between both hosts is cut. */
    void cut(long nowNs) {
        cutNs = cutNs < 0 ? nowNs : cutNs;
        in.hold();
        if (answerNs > nowNs) {
            answerNs = SimulatedPipe.NEVER;
        }
        if (faultNs > nowNs) {
            faultNs = SimulatedPipe.NEVER;
        }
    }

    void heal(long nowNs) {
        cutNs = -1;
        in.release(nowNs + network.latencyNs());
        if (peer != null && answerNs == SimulatedPipe.NEVER) {
            answerNs = nowNs + network.latencyNs();
        }
        if (faultErrno != 0 && !isOver) {
            faultNs = nowNs + network.latencyNs();
        }
    }

    boolean isCut() {
        return cutNs >= 0;
    }

    /** Events that have occurred, as in epoll. */
    int events(long nowNs) {
        update(nowNs);
        if (isConnecting) {
            return answerNs > nowNs ? 0 : answer == 0 ? Epoll.EPOLLOUT
                : Epoll.EPOLLOUT | Epoll.EPOLLIN | Epoll.EPOLLERR | Epoll.EPOLLHUP;
        }
        int events = in.arrived() > 0 ? Epoll.EPOLLIN : 0;
        if (in.hasEnd(nowNs)) {
            events |= Epoll.EPOLLIN | Epoll.EPOLLRDHUP;
        }
        if (isOver) {
            events |= Epoll.EPOLLIN | Epoll.EPOLLRDHUP | Epoll.EPOLLHUP | Epoll.EPOLLOUT;
        }
        if (error != 0) {
            events |= Epoll.EPOLLERR;
        }
        if (peer != null && 3 * peer.in.room() >= peer.in.capacity()) {
            events |= Epoll.EPOLLOUT;
        }
        return events;
    }

    /** Time of the next event, {@link SimulatedPipe#NEVER} for none. */
    long nextNs(long nowNs) {
        long next = Math.min(in.nextNs(nowNs), isOver || faultNs <= nowNs ? SimulatedPipe.NEVER : faultNs);
        if (answerNs > nowNs) {
            next = Math.min(next, answerNs);
        }
        return cutNs < 0 || isOver ? next : Math.min(next, lossNs());
    }

    @Override
    public int fd() {
        return closed ? -1 : fd;
    }

    @Override
    public SelectableChannel channel() {
        return null;
    }

    @Override
    public int connectError() {
        if (isConnecting) {
            if (answerNs > network.nowNs()) {
                return FabricErrno.EINPROGRESS;
            }
            isConnecting = answer != 0;
            return answer;
        }
        int taken = error;
        error = 0;
        return taken;
    }

    @Override
    public boolean isReset() {
        return isOver;
    }

    @Override
    public SocketName localName() {
        return closed ? null : local;
    }

    SocketName name() {
        return local;
    }

    @Override
    public long send(long address, long length) {
        long sent = sendRange(address, length);
        return sent < 0 ? FAILED : sent;
    }

    private long sendRange(long address, long length) {
        long nowNs = network.nowNs();
        update(nowNs);
        if (isOver || closed) {
            return -TcpSocket.EPIPE;
        }
        if (isConnecting || peer == null) {
            return -FabricErrno.EAGAIN;
        }
        int errno = network.failure(local, SimulatedNetwork.Call.SEND);
        if (errno != 0) {
            return -errno;
        }
        if (peer.closed) {
            // the peer's host answers with a reset
            fault(FabricErrno.ECONNRESET, isCut() ? SimulatedPipe.NEVER : nowNs + 2 * network.latencyNs());
            return length;
        }
        int room = (int) Math.min(length, peer.in.room());
        if (room == 0) {
            return -FabricErrno.EAGAIN;
        }
        // a system that has room takes a short message whole
        int count = room == length && length <= WHOLE_BYTES ? room : network.piece(room);
        long timeNs = isCut() ? SimulatedPipe.NEVER : peer.in.notBefore(nowNs + network.latencyNs());
        peer.in.add(address, count, timeNs);
        network.note("send", this, count);
        return count;
    }

    @Override
    public long receive(long address, long length) {
        long received = receiveRange(address, length);
        return received < 0 ? FAILED : received;
    }

    private long receiveRange(long address, long length) {
        long nowNs = network.nowNs();
        update(nowNs);
        int available = (int) Math.min(length, in.arrived());
        int errno = available > 0 ? network.failure(local, SimulatedNetwork.Call.RECEIVE) : 0;
        if (errno != 0) {
            return -errno;
        }
        if (available > 0) {
            int count = network.piece(available);
            in.take(address, count);
            network.note("receive", this, count);
            return count;
        }
        if (error != 0) {
            int taken = error;
            error = 0;
            return -taken;
        }
        return isOver || in.isAtEnd(nowNs) ? 0 : -FabricErrno.EAGAIN;
    }

    @Override
    public long sendVector(IoVector vector) {
        long sent = 0;
        for (int i = 0; i < vector.count(); i++) {
            long length = vector.lengthBytes(i);
            long count = sendRange(vector.address(i), length);
            if (count < 0) {
                return sent > 0 ? sent : count;
            }
            sent += count;
            if (count < length) {
                return sent;
            }
        }
        return sent;
    }

    @Override
    public long receiveVector(IoVector vector) {
        long received = receiveError(vector);
        return received < 0 ? FAILED : received;
    }

    @Override
    public long receiveError(IoVector vector) {
        long received = 0;
        for (int i = 0; i < vector.count(); i++) {
            long length = vector.lengthBytes(i);
            if (received > 0 && in.arrived() == 0) {
                return received;
            }
            long count = receiveRange(vector.address(i), length);
            if (count < 0) {
                return received > 0 ? received : count;
            }
            received += count;
            if (count < length) {
                return received;
            }
        }
        return received;
    }

    @Override
    public TcpSocket.Health health() {
        long nowNs = network.nowNs();
        update(nowNs);
        if (closed) {
            return null;
        }
        long heardNs = in.heardNs();
        long stepNs = Math.max(1, intervalSeconds) * NS_PER_S;
        long untilNs = isCut() ? cutNs : nowNs;
        if (idleSeconds > 0 && untilNs > heardNs) {
            heardNs += (untilNs - heardNs) / stepNs * stepNs;
        }
        long unanswered = isCut() ? Math.max(0, (nowNs - heardNs) / stepNs - 1) : 0;
        return new TcpSocket.Health(!isOver && !in.hasEnd(nowNs), (int) Math.min(unanswered, probes),
            (nowNs - heardNs) / NS_PER_MS);
    }

    @Override
    public void keepAlive(int newIdleSeconds, int newIntervalSeconds, int newProbes) {
        idleSeconds = newIdleSeconds;
        intervalSeconds = newIntervalSeconds;
        probes = newProbes;
    }

    @Override
    public void userTimeout(int milliseconds) {
        userTimeoutNs = milliseconds * NS_PER_MS;
    }

    @Override
    public void mark(SocketClass marks) {
        // packets are not marked
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        long nowNs = network.nowNs();
        in.update(nowNs);
        boolean hasUnread = in.arrived() > 0 || in.isOnItsWay();
        in.clear();
        network.forget(this);
        if (peer == null || peer.closed || isOver) {
            return;
        }
        long timeNs = isCut() ? SimulatedPipe.NEVER : peer.in.notBefore(nowNs + network.latencyNs());
        peer.in.end(timeNs);
        if (hasUnread) {
            peer.fault(FabricErrno.ECONNRESET, timeNs == SimulatedPipe.NEVER ? timeNs : timeNs + network.latencyNs());
        }
        network.note("close", this, hasUnread ? 1 : 0);
    }

    @Override
    public String toString() {
        long nowNs = network.nowNs();
        return local + " to " + remote + (isConnecting ? " connecting" : "") + (closed ? " closed" : "")
            + (isOver ? " over" : "") + (isCut() ? " cut" : "") + (in.hasEnd(nowNs) ? " ended" : "") + (peer == null
            ? " without peer" : peer.closed ? " with a closed peer" : "") + (answerNs > nowNs ? " unanswered" : "")
            + ", " + in.arrived() + " bytes unread, room " + in.room();
    }
}
