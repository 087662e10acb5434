package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;

/**
 * A channel over a TCP connection of its own. The wire has no frames for credit, announcements and segments: messages
 * of every length are sent as a whole, and those for which the peer has no room wait in TCP's windows. The wire has
 * reads and writes of remote memory, which a protocol above the channel uses for its own announcements too.
 *
 * <p>Owner: progress agent.
 */
abstract class TcpChannel extends MessageChannel {
    private final TcpRemote remote = new TcpRemote(this);
    private TcpConnection connection;

    TcpChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    /** The connection, up or being established; null while there is none. */
    final TcpConnection connection() {
        return connection;
    }

    final void connection(TcpConnection newConnection) {
        connection = newConnection;
    }

    @Override
    public final int send(TransmitOperation operation, int grant) {
        return connection.writer().send(operation);
    }

    @Override
    public final RemoteChannel remoteMemory() {
        return remote;
    }

    @Override
    public final int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        if (source.count() > TcpHeader.MAX_DESCRIPTORS || length > source.lengthBytes()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (!connection.writer().request(source, length)) {
            return -FabricErrno.EAGAIN;
        }
        connection.reader().await(source.operation(), false, destAddress, destPieces, length);
        return PENDING;
    }

    @Override
    public final int expose(TransmitOperation operation, RemotePayload target) {
        connection.writer().exposed().expose(operation, target);
        return DONE;
    }

    @Override
    public final void conceal(RemotePayload target) {
        if (connection != null) {
            connection.writer().conceal(target);
        }
    }

    @Override
    public final boolean isPaused() {
        return connection != null && connection.reader().isPaused();
    }

    @Override
    public final boolean hasLeft() {
        return connection != null && connection.hasLeft();
    }

    @Override
    public final boolean isMidMessage() {
        return connection != null && connection.isMidMessage();
    }

    @Override
    public final boolean isStalled(long nowNs, long timeoutNs) {
        return connection != null && connection.isStalled(nowNs, timeoutNs);
    }

    @Override
    public final int probe() {
        return connection == null ? OVER : connection.probe();
    }

    @Override
    public final void endProbe() {
        if (connection != null) {
            connection.endProbe();
        }
    }

    @Override
    public final boolean awaitsPeer() {
        return connection != null && connection.awaitsPeer();
    }
}
