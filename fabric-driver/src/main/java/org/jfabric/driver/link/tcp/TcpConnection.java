package org.jfabric.driver.link.tcp;

import java.nio.channels.SelectableChannel;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.PeerRate;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * A TCP connection: its socket, its state, and its reader and writer.
 *
 * <pre>
 *   outgoing:    CONNECTING --connected--> GREETING --request sent, response--> UP
 *   incoming:                              GREETING --request, response sent--> UP
 *                                          GREETING --request, the application decides--> HELD --response sent--> UP
 *   over TLS, both begin with a handshake: SECURING --both sides are known--> GREETING
 *   end:         UP --closed by the engine, something not yet written--> LINGERING --> CLOSED
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class TcpConnection extends Watched {
    static final int CONNECTING = 0;
    /** Waits for the message that begins the connection, a request or the response to this side's request. */
    static final int GREETING = 1;
    static final int UP = 2;
    static final int LINGERING = 3;
    static final int CLOSED = 4;
    /** A request waits for the application's answer. */
    static final int HELD = 5;
    /** The handshake of TLS is under way. */
    private static final int SECURING = 6;

    private static final int READ_EVENTS = Epoll.EPOLLIN | Epoll.EPOLLRDHUP;

    private final TcpLink link;
    private final ConnectionOwner owner;
    private final SocketName peerName;
    private final boolean isIncoming;
    private final TcpReader reader;
    private final TcpWriter writer;
    private final TcpPort port;
    /** The same port if it is encrypted, or null. */
    private final SecurePort tls;
    /** What is taken of the peer's host; null without a limit. */
    private final PeerRate rate;
    private boolean isHandshakeBlocked;
    private boolean isTimed;
    private int state;
    private boolean isBigEndian;
    private TcpChannel user;
    private ChannelHandler handler;
    private StreamHandler streams;
    private long deadlineNs;
    /**
     * Errno with which the connection is about to end; detected inside a call of the engine, or while messages were
     * processed.
     */
    private int failure;
    private String reason;
    /** The remote access because of which the connection is about to end. */
    private String refusal;
    /**
     * Error that the system has reported for the socket, to be used once all data before it is read; 0 if there is
     * none.
     */
    private int fault;
    /** The peer has closed its end while reading was paused. */
    private boolean hasLeft;
    /** The current probe of the peer; usually null. */
    private PeerProbe probe;
    /** Polls without work since the last poll with work. */
    int idlePolls;
    /** List of those that are polled, and the index in it; null while events alone are awaited. */
    PolledConnections polledIn;
    int polledAt;

    /**
     * A connection that is not in any list of the link yet.
     *
     * @param peerName address of the socket's other end.
     */
    TcpConnection(TcpLink link, ConnectionOwner owner, SocketName peerName, TcpPort port, int state, long deadlineNs) {
        this.link = link;
        this.owner = owner;
        this.peerName = peerName;
        this.port = port;
        this.rate = link.rates() == null ? null : link.rates().take(peerName.inetAddress(), link.nowNs());
        this.tls = port instanceof SecurePort secured ? secured : null;
        this.state = tls != null && state == GREETING ? SECURING : state;
        this.isIncoming = state != CONNECTING;
        this.deadlineNs = deadlineNs;
        this.reader = new TcpReader(this, link.readPool(), link.vector());
        this.writer = new TcpWriter(this, link.writePool(), link.vector(), link.copyLimitBytes(),
            link.writesCounter(), new ExposedMemory(link.services().environment().randomLong()));
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

    /**
     * Gives its messages times of arrival, before it is up. Of an encrypted connection records have arrived, not
     * messages.
     *
     * @param clock whose; null for no times.
     */
    void stamp(TimestampClock clock) {
        if (clock != null && tls == null && isOpen()) {
            isTimed = port.stamp(clock);
        }
    }

    ConnectionOwner owner() {
        return owner;
    }

    SocketName peerName() {
        return peerName;
    }

    /** Whether the peer has opened the connection. */
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

    /** The handler for messages that arrive in pieces. */
    StreamHandler streams() {
        return streams;
    }

    /** The handler of remote memory access; null if the user of the channel has none. */
    RemoteHandler remote() {
        return handler.remoteHandler();
    }

    /** A read of the peer's memory has ended; only protocols above the channel make such reads. */
    void onPulled(long operation, int errno) {
        user.protocol().onPulled(operation, errno);
    }

    TcpReader reader() {
        return reader;
    }

    TcpWriter writer() {
        return writer;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    /** The events to watch for, as in epoll. */
    int events() {
        return switch (state) {
            case CONNECTING -> Epoll.EPOLLOUT;
            case GREETING -> READ_EVENTS;
            case HELD -> Epoll.EPOLLRDHUP;
            case SECURING -> tls.isTasking() ? 0 : READ_EVENTS | (isHandshakeBlocked ? Epoll.EPOLLOUT : 0);
            default -> (isPaused() ? eventsOfEnd() : READ_EVENTS) | (writer.isBlocked() ? Epoll.EPOLLOUT : 0);
        };
    }

    /** Whether the socket is not read: the engine has no room, or the peer has sent more than it may. */
    boolean isPaused() {
        return reader.isPaused() || isOverRate();
    }

    private boolean isOverRate() {
        return rate != null && rate.isOver(link.nowNs());
    }

    /** Only the end of the stream, and only until it is reported, because a level-triggered event repeats. */
    private int eventsOfEnd() {
        return hasLeft ? 0 : link.watched().eventsOfEnd();
    }

    void updateInterest() {
        link.watched().modify(this, events());
    }

    // ---- establishment ----

    /** Begins the handshake of an incoming connection, once it is in the lists of the link. */
    void begin() {
        if (state == SECURING) {
            secure();
        }
    }

    private void secure() {
        if (tls.isTasking()) {
            return;
        }
        int result = tls.secure();
        isHandshakeBlocked = result == SecurePort.BLOCKED;
        if (result > 0) {
            end(result);
            return;
        }
        if (result == SecurePort.TASK) {
            link.tls().tasks().submit(new SecuringTask(this, tls));
        }
        if (result == SecurePort.SECURED) {
            if (link.access() != null && !link.admits(peerName.inetAddress(), tls.peerKey())) {
                end(FabricErrno.EACCES);
                return;
            }
            state = GREETING;
        }
        updateInterest();
        if (result == SecurePort.SECURED && isIncoming) {
            // the request may have arrived together with the end of the handshake
            greet();
        } else if (result == SecurePort.SECURED) {
            owner.onConnected(this);
        }
    }

    /** A slow step of the handshake has ended. */
    void onTaskDone(Throwable failure) {
        tls.onTaskDone();
        link.tls().tasks().onTaskDone();
        link.reportProblemsOfFiles();
        if (state != SECURING) {
            return;
        }
        if (failure != null) {
            link.onError(failure);
            end(FabricErrno.EIO);
        } else {
            secure();
        }
    }

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
        writer.writeWhole(new CmMessage(CmMessage.REJECT, data));
        release();
    }

    /**
     * Rejects connect data of another protocol with {@code data}, by which the peer can recognise this protocol, and
     * ends the connection.
     */
    void refuse(byte[] data, String what) {
        writer.writeWhole(new CmMessage(CmMessage.REJECT, data));
        broken(what);
        end(FabricErrno.EIO);
    }

    private boolean write(CmMessage message) {
        if (writer.writeWhole(message)) {
            return true;
        }
        lost(awaitsAnswer() ? FabricErrno.ECONNREFUSED : FabricErrno.ECONNABORTED);
        link.heat(this);
        return false;
    }

    /** Whether this side has sent its request and nothing has arrived yet. */
    private boolean awaitsAnswer() {
        return state == GREETING && !isIncoming && !reader.isInMessage();
    }

    /** Holds the connection until its request is answered, which may take long. */
    void hold() {
        state = HELD;
        link.settled(this);
        updateInterest();
    }

    /** The errno with which it is about to end, 0 if it is not. */
    int failure() {
        return failure;
    }

    /** Messages can be exchanged from now on. */
    void up(CmMessage ofPeer, TcpChannel channel) {
        isBigEndian = ofPeer.isBigEndian();
        user = channel;
        handler = isTimed ? new TimedHandler(channel.handler(), port) : channel.handler();
        streams = handler.streamHandler();
        state = UP;
        link.pin(this);
        link.settled(this);
        link.heat(this);
    }

    @Override
    void onEvents(int events) {
        switch (state) {
            case CONNECTING -> {
                int errno = port.connectError();
                if (errno != 0) {
                    end(errno);
                } else if (tls != null) {
                    state = SECURING;
                    secure();
                } else {
                    owner.onConnected(this);
                }
            }
            case SECURING -> secure();
            case GREETING -> greet();
            case HELD -> {
                lost(FabricErrno.ECONNABORTED);
                // no other event matters, and the level-triggered event of the end would repeat
                link.watched().remove(this);
            }
            default -> {
                if ((events & Epoll.EPOLLOUT) != 0) {
                    writer.onWritable();
                }
                if ((events & Epoll.EPOLLERR) != 0) {
                    noteFault();
                }
                int ends = Epoll.EPOLLHUP | (fault == 0 && writer.isHeld() ? 0 : Epoll.EPOLLERR);
                if ((events & ends) != 0 && isPaused()) {
                    // data that is not read yet is lost with the connection
                    lost(fault == 0 ? FabricErrno.ECONNRESET : fault);
                } else if ((events & Epoll.EPOLLRDHUP) != 0 && isPaused()) {
                    // data that arrived before can still be read
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
            message = reader.readCm();
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

    /** Makes one step; 0 if there was nothing to do. */
    int poll(int limit) {
        int work = 0;
        if (state == UP) {
            if (failure == 0) {
                work = rate == null ? reader.poll(limit) : pollAtRate(limit);
            }
            if (failure == 0) {
                work += writer.poll();
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

    private int pollAtRate(int limit) {
        if (isOverRate()) {
            return 0;
        }
        long bytes = reader.received();
        long messages = reader.processed();
        int work = reader.poll(limit);
        rate.charge(reader.received() - bytes, reader.processed() - messages, link.nowNs());
        return work;
    }

    /** Whether there is work for which no event will come, so that the thread must not sleep. */
    boolean hasWork() {
        return failure != 0 || writer.hasWork() || state == UP && !isPaused()
            && (reader.hasMore() || tls != null && tls.hasUnread());
    }

    /**
     * Whether the connection must stay in the list that is read in each poll: it has work, an answer waits, so that it
     * asks the engine for room in each poll, or it lingers until a deadline.
     */
    boolean mustBePolled() {
        return hasWork() || writer.awaitsReport() || state == LINGERING;
    }

    /** Whether the peer has closed its end, and data from it is still unread. */
    boolean hasLeft() {
        return state == UP && hasLeft;
    }

    /** Whether a deadline passes unless the connection is polled; a connection with work is polled anyway. */
    boolean hasTimer() {
        return state == LINGERING || writer.awaitsReport() || state == UP && isOverRate();
    }

    /** Whether the peer has begun a message or an answer and has not sent the rest yet. */
    boolean isMidMessage() {
        return state == UP && reader.isMidMessage();
    }

    /** Whether the peer has begun a message or an answer and does not send the rest. */
    boolean isStalled(long nowNs, long timeoutNs) {
        return state == UP && reader.isStalled(!isOverRate(), nowNs, timeoutNs);
    }

    /** As {@link MessageChannel#probe()}. */
    int probe() {
        if (!isUp()) {
            return MessageChannel.OVER;
        }
        // the system's times of the connection are real ones, so that the cycle's clock cannot be used
        long nowNs = link.readNs();
        if (probe == null) {
            probe = new PeerProbe(port, nowNs);
        }
        int verdict = probe.verdict(nowNs);
        if (verdict == MessageChannel.OVER && !isPaused() && !probe.isLate(nowNs)) {
            // data that the peer had sent before the end is read first
            link.heat(this);
            return MessageChannel.ASKING;
        }
        if (verdict != MessageChannel.ASKING) {
            endProbe();
        }
        return verdict;
    }

    /** Ends the probe and restores the configured keepalive. */
    void endProbe() {
        if (probe != null) {
            probe = null;
            if (state != CLOSED) {
                link.keepAlive(port);
            }
        }
    }

    boolean awaitsPeer() {
        return writer.awaitsAck() || reader.awaitsAnswer();
    }

    /** The engine uses the connection, so that an answer may follow: reads it in each poll. */
    void onUse() {
        if (polledIn == null) {
            link.heat(this);
        }
    }

    /** Gives memory back, after a time without work. */
    void relax() {
        reader.relax();
        writer.relax();
        if (tls != null) {
            tls.relax();
        }
    }

    // ---- end ----

    /** The stream has ended: the peer has closed it, or the system has reset it. */
    void ended() {
        if (tls != null && tls.violation() != null) {
            lost(tls.violationErrno());
            return;
        }
        if (awaitsAnswer()) {
            // no endpoint accepts requests there; the end is a reset instead of an orderly one if the peer's host had
            // unread data
            lost(FabricErrno.ECONNREFUSED);
            return;
        }
        // an end in the middle of a message is never orderly; the read does not report whether the end was a reset
        boolean isBroken = reader.isInMessage() || port.isReset();
        lost(fault != 0 ? fault : isBroken ? FabricErrno.ECONNRESET : owner.errnoOfEnd());
    }

    /** Keeps the socket's error. The system reports it once, and to reads only after all data before it. */
    private void noteFault() {
        int errno = port.connectError();
        // EPIPE only means that this side has written after the peer had closed
        if (errno != 0 && errno != TcpSocket.EPIPE) {
            fault = errno;
        }
    }

    /** The connection is lost; the next step reports it, so that no handler is called inside the caller's call. */
    void lost(int errno) {
        if (failure == 0) {
            failure = errno;
        }
    }

    /** The peer has begun a message and does not send the rest: ends the connection and counts it. */
    void stalled() {
        link.counters().onStalled(new FabricException(FabricErrno.ETIMEDOUT, "peer " + peerName
            + " has begun a message and not sent the rest of it",
            "The connection to it was closed; all others continue. See "
                + TcpConfig.UNKNOWN_PEER_TIMEOUT_NS.name() + '.'));
        end(FabricErrno.ETIMEDOUT);
    }

    /** The peer violates the protocol. */
    void broken(String what) {
        reason = what;
        lost(FabricErrno.EIO);
    }

    /** The peer accesses memory in a way that it may not: the wire has no other answer than the end. */
    void refused(String what, int errno) {
        if (failure == 0) {
            refusal = what + ": " + FabricErrno.name(errno);
        }
        lost(FabricErrno.EIO);
    }

    /** The engine has closed the channel. Messages that were reported as sent are still written. */
    void close() {
        writer.dropReads();
        if (state == UP && failure == 0 && !writer.isClear() && !writer.hasLongPayload()) {
            state = LINGERING;
            writer.poll();
            if (!writer.isClear()) {
                deadlineNs = link.lingerDeadlineNs();
                link.heat(this);
                return;
            }
        }
        release();
    }

    private int linger() {
        int work = writer.poll();
        if (writer.isClear() || link.attendedNs() - deadlineNs > 0) {
            release();
            return 1;
        }
        updateInterest();
        return work;
    }

    /** Closes the socket and reports the end to the owner. */
    void end(int errno) {
        if (state == CLOSED) {
            return;
        }
        boolean isReported = state != LINGERING;
        release();
        if (tls != null && tls.violation() != null) {
            link.counters().onInsecure(new FabricException(errno, "peer " + peerName + ' ' + tls.violation(),
                "The connection to it was closed; all others continue. See docs/security.md."));
        }
        if (reason != null) {
            link.counters().onBroken(new FabricException(FabricErrno.EIO, "peer " + peerName + ' ' + reason,
                "The connection to it was closed; all others continue."));
        }
        if (refusal != null) {
            link.counters().onAccessRefused(new FabricException(FabricErrno.EIO, "peer " + peerName + ' ' + refusal,
                "The connection to it was closed; all others continue. Give the peer the key of an open region, a range"
                    + " inside it and the right for its access."));
        }
        if (isReported) {
            owner.onLost(this, errno);
        }
    }

    /** Closes the socket without a report. */
    void release() {
        if (state == CLOSED) {
            return;
        }
        state = CLOSED;
        if (rate != null) {
            link.rates().give(peerName.inetAddress(), link.nowNs());
        }
        link.remove(this);
        if (writer.isHeld()) {
            // the engine gives the memory back now: nothing that is written there later may reach the peer
            port.abort();
        } else {
            port.close();
        }
        reader.close();
        writer.close();
    }
}
