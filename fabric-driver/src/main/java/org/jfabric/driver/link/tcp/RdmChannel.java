package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.support.CrossingPeer;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.info.SocketName;

/**
 * A channel between reliable-datagram endpoints.
 *
 * <p>Owner: progress agent.
 */
final class RdmChannel extends TcpChannel implements CrossingPeer {
    /** This side's attempt to connect is under way. */
    static final int DIALING = 0;
    /** The peer has rejected this side's request: the peer's own request may arrive, else this side tries again. */
    static final int AWAITING = 1;
    /** Messages can be exchanged. */
    static final int UP = 2;
    /** Closed or lost. */
    static final int CLOSED = 3;

    private final RdmEndpoint endpoint;
    private final SocketName remote;
    private final String remoteAddress;
    int state = DIALING;
    /** See {@link #process()}. */
    int process;
    /** Time at which the attempts end. */
    long deadlineNs;
    /** Time between two attempts. */
    long retryDelayNs = 5_000_000L;
    /** Time at which the next attempt begins. */
    long retryNs;
    /** Errno of an attempt that could not begin; reported in the next poll. */
    int failure;
    /** The peer's protocol if it is a different one, a {@link org.jfabric.info.ProtocolErrno}; 0 otherwise. */
    int otherProtocol;

    RdmChannel(
        RdmEndpoint endpoint, ChannelLimits limits, SocketName remote, String remoteAddress, ChannelHandler handler) {
        super(limits, handler);
        this.endpoint = endpoint;
        this.remote = remote;
        this.remoteAddress = remoteAddress;
    }

    @Override
    public SocketName remote() {
        return remote;
    }

    @Override
    public String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public boolean isUp() {
        return state == UP;
    }

    @Override
    public boolean isConnecting() {
        return state == DIALING;
    }

    @Override
    public int process() {
        return process;
    }

    @Override
    public MessageChannel messages() {
        return this;
    }

    @Override
    public void dropAttempt() {
        endpoint.dropAttempt(this);
    }

    @Override
    public void lose(int errno) {
        connection().end(errno);
    }

    @Override
    public void loseStalled() {
        connection().stalled();
    }

    @Override
    public int provErrno() {
        return otherProtocol;
    }

    @Override
    public void close(int errno) {
        if (state != CLOSED) {
            endpoint.closeChannel(this);
        }
    }
}
