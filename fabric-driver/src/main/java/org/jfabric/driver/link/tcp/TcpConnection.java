package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.TcpSocket;

import java.nio.channels.SelectableChannel;

/**
 * A socket and what is on its way through it.
 *
 * <pre>
 *   we begin:    CONNECTING --connected--> GREETING --request sent, response--> UP
 *   they begin:                            GREETING --request, response sent--> UP
 *                                          GREETING --request, the application decides--> HELD --response sent--> UP
 *   end:         UP --closed by the engine, something not yet written--> LINGERING --> CLOSED
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpConnection extends Watched {
    static final int CONNECTING = 0;
    /** Waits for the message that begins the connection, a request or the answer to ours. */
    static final int GREETING = 1;
    static final int UP = 2;
    static final int LINGERING = 3;
    static final int CLOSED = 4;
    /** A request waits for the application's answer. */
    static final int HELD = 5;

    private static final int READ_EVENTS = Epoll.EPOLLIN | Epoll.EPOLLRDHUP;

    private final TcpLink link;
    private final ConnectionOwner owner;
    private final SocketName peerName;
    private final boolean isIncoming;
    private final TcpInput input;
    private final TcpOutput output;
    private final TcpPort port;
    private int state;
    private boolean isBigEndian;
    private TcpChannel user;
    private ChannelHandler handler;
    private StreamHandler streams;
    private long deadlineNs;
    /** Why it is about to end: seen inside of a call of the engine, or in the middle of what was read. */
    private int failure;
    private String reason;
    /** What the system says of the connection, once what came before is read; 0 if nothing is wrong. */
    private int fault;
    /** The peer has closed its end while nothing was read of it. */
    private boolean hasLeft;
    /** Whether the peer still has its end is being found out; usually null. */
    private PeerProbe probe;
    /** Polls that found nothing, since the last that did. */
    int idlePolls;
    /** In the list of those that are read in each poll. */
    boolean isHot;

    /**
     * A connection that is in no list yet.
     *
     * @param peerName address of the socket's other end.
     */
    TcpConnection(TcpLink link, ConnectionOwner owner, SocketName peerName, TcpPort port, int state, long deadlineNs) {
        this.link = link;
        this.owner = owner;
        this.peerName = peerName;
        this.port = port;
        this.state = state;
        this.isIncoming = state != CONNECTING;
        this.deadlineNs = deadlineNs;
        this.input = new TcpInput(this, link.readPool(), link.vector());
        this.output = new TcpOutput(this, link.writePool(), link.vector(), link.copyLimitBytes(),
            link.writesCounter());
    }

    @Override
    int fd() {
        return port.fd();
    }

    @Override
    SelectableChannel channel() {
        return port.channel();
    }

    TcpPort port() {
        return port;
    }

    ConnectionOwner owner() {
        return owner;
    }

    SocketName peerName() {
        return peerName;
    }

    /** Whether the other side has begun it. */
    boolean isIncoming() {
        return isIncoming;
    }

    boolean isOpen() {
        return state != CLOSED;
    }

    boolean isUp() {
        return state == UP && failure == 0;
    }

    boolean isBigEndian() {
        return isBigEndian;
    }

    ChannelHandler handler() {
        return handler;
    }

    /** The handler's part for messages that come in pieces. */
    StreamHandler streams() {
        return streams;
    }

    /** A read of the peer's memory has ended; only protocols above the channel read. */
    void onPulled(long operation, int errno) {
        user.protocol().onPulled(operation, errno);
    }

    TcpInput input() {
        return input;
    }

    TcpOutput output() {
        return output;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    /** What the socket has to tell: while it connects whether it can be written. */
    int events() {
        return switch (state) {
            case CONNECTING -> Epoll.EPOLLOUT;
            case GREETING -> READ_EVENTS;
            case HELD -> Epoll.EPOLLRDHUP;
            default -> (input.isPaused() ? eventsOfEnd() : READ_EVENTS) | (output.isBlocked() ? Epoll.EPOLLOUT : 0);
        };
    }

    /** Nothing but the end, and that only once: it would be told again and again. */
    private int eventsOfEnd() {
        return hasLeft ? 0 : link.watched().eventsOfEnd();
    }

    void updateInterest() {
        link.watched().modify(this, events());
    }

    // ---- the way up ----

    /** Sends the request; false if the connection has ended. */
    boolean request(byte[] data) {
        state = GREETING;
        updateInterest();
        return write(new CmMessage(CmMessage.REQUEST, data));
    }

    /** Sends the answer to a request; false if the connection has ended. */
    boolean respond(byte[] data) {
        return write(new CmMessage(CmMessage.RESPONSE, data));
    }

    /** Sends a refusal and closes. */
    void reject(byte[] data) {
        output.writeWhole(new CmMessage(CmMessage.REJECT, data));
        release();
    }

    /** Answers connect data of another protocol with ours, by which the peer can recognise it, and ends. */
    void refuse(byte[] data, String what) {
        output.writeWhole(new CmMessage(CmMessage.REJECT, data));
        broken(what);
        end(FabricErrno.EIO);
    }

    private boolean write(CmMessage message) {
        if (output.writeWhole(message)) {
            return true;
        }
        lost(awaitsAnswer() ? FabricErrno.ECONNREFUSED : FabricErrno.ECONNABORTED);
        link.heat(this);
        return false;
    }

    /** Whether we have asked for it and nothing has come yet. */
    private boolean awaitsAnswer() {
        return state == GREETING && !isIncoming && !input.isInMessage();
    }

    /** The request is known and its answer will take long. */
    void hold() {
        state = HELD;
        link.settled(this);
        updateInterest();
    }

    /** Why it has ended already, 0 if it has not. */
    int failure() {
        return failure;
    }

    /** Messages flow from now on. */
    void up(CmMessage ofPeer, TcpChannel channel) {
        isBigEndian = ofPeer.isBigEndian();
        user = channel;
        handler = channel.handler();
        streams = handler.streamHandler();
        state = UP;
        link.settled(this);
        link.heat(this);
    }

    @Override
    void onEvents(int events) {
        switch (state) {
            case CONNECTING -> {
                int errno = port.connectError();
                if (errno == 0) {
                    owner.onConnected(this);
                } else {
                    end(errno);
                }
            }
            case GREETING -> greet();
            case HELD -> {
                lost(FabricErrno.ECONNABORTED);
                // nothing more is to be learnt, and the end would be told again and again
                link.watched().remove(this);
            }
            default -> {
                if ((events & Epoll.EPOLLOUT) != 0) {
                    output.onWritable();
                }
                if ((events & Epoll.EPOLLERR) != 0) {
                    noteFault();
                }
                if ((events & (Epoll.EPOLLERR | Epoll.EPOLLHUP)) != 0 && input.isPaused()) {
                    // what is not read yet went with the connection
                    lost(fault == 0 ? FabricErrno.ECONNRESET : fault);
                } else if ((events & Epoll.EPOLLRDHUP) != 0 && input.isPaused()) {
                    // what came before can still be read
                    hasLeft = true;
                    updateInterest();
                }
                link.heat(this);
            }
        }
    }

    private void greet() {
        CmMessage message = null;
        try {
            message = input.readCm();
        } catch (FabricException e) {
            broken(e.getMessage());
        }
        if (failure != 0) {
            end(failure);
        } else if (message != null) {
            owner.onCm(this, message);
        }
    }

    // ---- messages ----

    /** One step; 0 if there was nothing to do. */
    int poll(int limit) {
        int work = 0;
        if (state == UP) {
            if (failure == 0) {
                work = input.poll(limit);
            }
            if (failure == 0) {
                work += output.poll();
                updateInterest();
            }
        } else if (state == LINGERING) {
            work = linger();
        }
        if (failure != 0 && state != CLOSED) {
            end(failure);
            work++;
        }
        return work;
    }

    /** Whether a thread must not sleep: there is something to do that no event will tell of. */
    boolean hasWork() {
        return failure != 0 || output.hasWork() || state == UP && input.hasMore();
    }

    /**
     * Whether no event would tell that there is something to do: a paused one asks for a place again and again, one
     * that lingers has a deadline.
     */
    boolean mustBePolled() {
        return hasWork() || input.isPaused() || state == LINGERING;
    }

    /** Whether the peer has closed its end, and something of it still waits to be read. */
    boolean hasLeft() {
        return state == UP && hasLeft;
    }

    /** Whether the peer has begun something whose rest does not come. */
    boolean isStalled(long nowNs, long timeoutNs) {
        return state == UP && input.isStalled(nowNs, timeoutNs);
    }

    /** As {@link MessageChannel#probe()}. */
    int probe() {
        if (!isUp()) {
            return MessageChannel.OVER;
        }
        // the system's times of the connection are true ones, whatever the cycle's clock says
        long nowNs = System.nanoTime();
        if (probe == null) {
            probe = new PeerProbe(port, nowNs);
        }
        int verdict = probe.verdict(nowNs);
        if (verdict == MessageChannel.OVER && !input.isPaused() && !probe.isLate(nowNs)) {
            // what the peer had sent before its end is read first
            link.heat(this);
            return MessageChannel.ASKING;
        }
        if (verdict != MessageChannel.ASKING) {
            endProbe();
        }
        return verdict;
    }

    /** Back to what the options say of keepalive. */
    void endProbe() {
        if (probe != null) {
            probe = null;
            if (state != CLOSED) {
                link.keepAlive(port);
            }
        }
    }

    boolean awaitsPeer() {
        return output.awaitsAck() || input.awaitsAnswer();
    }

    /** The engine uses it: the answer will be looked for. */
    void onUse() {
        if (!isHot) {
            link.heat(this);
        }
    }

    /** Nothing came for long: gives memory back. */
    void relax() {
        input.relax();
        output.relax();
    }

    // ---- the end ----

    /** The peer has closed it, or the system has given it up. */
    void ended() {
        if (awaitsAnswer()) {
            // in order or by a reset, which one is a matter of what it had not read: nobody takes the request there
            lost(FabricErrno.ECONNREFUSED);
            return;
        }
        // in the middle of a message nobody ends in an orderly way; a read that was told of a reset has not said so
        boolean isBroken = input.isInMessage() || port.isReset();
        lost(fault != 0 ? fault : isBroken ? FabricErrno.ECONNRESET : owner.errnoOfEnd());
    }

    /** The system tells it once, and to reads only after all that had come before. */
    private void noteFault() {
        int errno = port.connectError();
        // this one says that we have written to a peer that had closed
        if (errno != 0 && errno != TcpSocket.EPIPE) {
            fault = errno;
        }
    }

    /** It is over, which is told in the next step and not inside of the caller's call. */
    void lost(int errno) {
        if (failure == 0) {
            failure = errno;
        }
    }

    /** The peer has begun something and does not go on with it. */
    void stalled() {
        link.counters().onStalled(new FabricException(FabricErrno.ETIMEDOUT, "peer " + peerName
            + " has begun a message and not sent the rest of it",
            "The connection to it was closed; all others go on. See "
                + TcpConfig.UNKNOWN_PEER_TIMEOUT_NS.name() + '.'));
        end(FabricErrno.ETIMEDOUT);
    }

    /** The peer breaks the protocol. */
    void broken(String what) {
        reason = what;
        lost(FabricErrno.EIO);
    }

    /** The engine has closed the channel: what it was told has been sent is sent. */
    void close() {
        if (state == UP && failure == 0 && !output.isClear() && !output.hasLongPayload()) {
            state = LINGERING;
            output.poll();
            if (!output.isClear()) {
                deadlineNs = link.lingerDeadlineNs();
                link.heat(this);
                return;
            }
        }
        release();
    }

    private int linger() {
        int work = output.poll();
        if (output.isClear() || link.nowNs() - deadlineNs > 0) {
            release();
            return 1;
        }
        updateInterest();
        return work;
    }

    /** Closes the socket and tells the owner. */
    void end(int errno) {
        if (state == CLOSED) {
            return;
        }
        boolean told = state != LINGERING;
        release();
        if (reason != null) {
            link.counters().onBroken(new FabricException(FabricErrno.EIO, "peer " + peerName + ' ' + reason,
                "The connection to it was closed; all others go on."));
        }
        if (told) {
            owner.onLost(this, errno);
        }
    }

    /** Closes the socket and tells nobody. */
    void release() {
        if (state == CLOSED) {
            return;
        }
        state = CLOSED;
        link.remove(this);
        port.close();
        input.close();
        output.close();
    }
}
