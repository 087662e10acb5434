package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;

/**
 * Remote memory access over a TCP connection: a write is one message with its payload, a read is a request whose answer
 * carries the bytes. The peer takes the messages of a connection in their order, and holds back all later ones while a
 * write waits there. Acknowledgements, those of writes with {@code FI_COMMIT_COMPLETE} too, come in the same order.
 *
 * <p>Owner: progress agent.
 */
final class TcpRemote extends RemoteChannel {
    private final TcpChannel channel;

    TcpRemote(TcpChannel channel) {
        this.channel = channel;
    }

    @Override
    public boolean keepsOrder() {
        return true;
    }

    /** A write of any length is one message. */
    @Override
    public long pieceLimitBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public int write(TransmitOperation operation, long length, int grant) {
        int result = channel.connection().writer().send(operation);
        return result == Channel.DONE ? ENDED : result == Channel.PENDING ? Channel.DONE : result;
    }

    @Override
    public boolean takesRanges() {
        return true;
    }

    @Override
    public boolean carriesCommits() {
        return true;
    }

    /** The peer's write is on stable storage, or cannot be: the wire has no other answer to that than the end. */
    @Override
    public int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant) {
        if (errno == 0) {
            channel.connection().writer().settle(operation);
        } else {
            channel.connection().refused("has written what could not be put on stable storage", errno);
            channel.connection().onUse();
        }
        return Channel.DONE;
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        TcpConnection connection = channel.connection();
        if (!connection.writer().read(operation)) {
            return -FabricErrno.EAGAIN;
        }
        connection.reader().await(operation.id(), true, operation.address, operation.pieces, operation.length);
        return Channel.DONE;
    }
}
