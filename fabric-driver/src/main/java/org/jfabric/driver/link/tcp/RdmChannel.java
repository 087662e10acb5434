package org.jfabric.driver.link.tcp;

import org.jfabric.SocketName;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;

/**
 * A channel between reliable-datagram endpoints.
 *
 * <p>Owner: progress agent.
 */
final class RdmChannel extends TcpChannel {
    /** Our own attempt to connect is under way. */
    static final int DIALING = 0;
    /** The peer has rejected ours: its own may come, else ours is tried again. */
    static final int AWAITING = 1;
    /** Messages flow. */
    static final int UP = 2;
    /** Gone. */
    static final int CLOSED = 3;

    private final RdmEndpoint endpoint;
    private final SocketName remote;
    private final String remoteAddress;
    int state = DIALING;
    /** The peer's number for this life of its endpoint; 0 while it is not known. */
    int processId;
    /** When the attempts end. */
    long deadlineNs;
    /** Time between two attempts. */
    long retryDelayNs = 5_000_000L;
    /** When the next one begins. */
    long retryNs;
    /** Counted among the endpoint's strangers. */
    boolean isStranger;
    /** Why it could not even begin; told in the next poll. */
    int failure;
    /** The other protocol that the peer speaks, a {@link org.jfabric.ProtocolErrno}; 0 if it speaks ours. */
    int otherProtocol;

    RdmChannel(
        RdmEndpoint endpoint, ChannelLimits limits, SocketName remote, String remoteAddress, ChannelHandler handler) {
        super(limits, handler);
        this.endpoint = endpoint;
        this.remote = remote;
        this.remoteAddress = remoteAddress;
    }

    SocketName remote() {
        return remote;
    }

    String remoteAddress() {
        return remoteAddress;
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
