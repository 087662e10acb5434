package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.jfabric.codec.wire.CloseEncoder;
import org.jfabric.codec.wire.OpenAckEncoder;
import org.jfabric.codec.wire.OpenEncoder;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;

/**
 * Opens and closes the channels of one connection: the frames {@code Open}, {@code OpenAck} and {@code Close}. A frame
 * that the ring has no room for is sent in a later step.
 *
 * <p>Owner: progress agent.
 */
final class ShmOpening {
    /** Errno (EREMCHG) of an answer that names another progress thread in place of the short number. */
    static final int MOVED = 78;

    private final ShmConnection connection;
    private final ShmLink link;
    private final ShmChannels channels;
    private final ShmShortNumbers shortNumbers;

    ShmOpening(ShmConnection connection, ShmLink link, ShmChannels channels, ShmShortNumbers shortNumbers) {
        this.connection = connection;
        this.link = link;
        this.channels = channels;
        this.shortNumbers = shortNumbers;
    }

    /** The channel between two endpoints: a new one, or one that the peer has opened. */
    ShmChannel open(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        ShmChannel known = channels.of(handler);
        if (known != null) {
            return known;
        }
        ShmChannel channel = add(endpoint, remoteAddress, handler);
        if (connection.state() == ShmConnection.UP) {
            sendOpen(channel);
        }
        return channel;
    }

    private ShmChannel add(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        ShmChannel channel = new ShmChannel(link.limits(), handler, connection, endpoint, remoteAddress);
        add(channel);
        return channel;
    }

    void add(ShmChannel channel) {
        channels.add(channel);
        connection.serve(channel);
    }

    /** Opens a channel here that was taken from another connection to the same driver. */
    void adopt(ShmChannel channel) {
        channel.move(connection);
        add(channel);
        if (connection.state() == ShmConnection.UP) {
            announce(channel);
        }
    }

    void close(ShmChannel channel, int errno) {
        boolean isPeerUp = channel.state == ShmChannel.UP && connection.state() == ShmConnection.UP;
        channels.forget(channel);
        if (isPeerUp) {
            sendClose(channel.remoteId, errno, channel.localShort);
        } else if (channel.connecting != null) {
            channel.connecting.abandon();
        }
    }

    void onOpen(
        int source, int shortSource, int grant, String sourceAddress, String destAddress, byte[] authKey) {
        LocalEndpoint endpoint = link.endpoint(destAddress);
        if (endpoint == null || !connection.peerName().equals(link.driverOf(sourceAddress))) {
            refuseOrRedirect(source, destAddress);
            return;
        }
        if (!endpoint.admits(authKey)) {
            refuse(source, FabricErrno.EKEYREJECTED);
            return;
        }
        ChannelHandler handler = endpoint.handlerFor(sourceAddress);
        ShmChannel channel = channels.of(handler);
        if (channel != null && channel.state == ShmChannel.UP) {
            // the remote endpoint was opened again under the same name
            channels.forget(channel);
            handler.onDown(FabricErrno.ECONNRESET);
            channel = null;
        }
        if (channel != null && channel.announced) {
            // both sides have sent OPEN: each takes the other's OPEN as the answer
            begin(channel, source, shortSource, grant);
            return;
        }
        // this side's OPEN, if it was pending, did not fit into the ring yet, or was sent to another thread of the
        // peer: the answer replaces it
        ShmChannel accepted = channel != null ? channel : addOrTake(endpoint, sourceAddress, handler);
        accepted.announced = true;
        accepted.remote(source, shortSource);
        int ourGrant = handler.onOpening();
        accepted.frameHandler().onGrant(grant);
        if (trySendOpenAck(source, ourGrant, accepted)) {
            accepted.state = ShmChannel.UP;
            handler.onUp(accepted);
        } else {
            connection.later(() -> ackAndBegin(accepted, source, ourGrant));
        }
    }

    void onOpenAck(int id, int grant, int source, int shortSource, int errno) {
        ShmChannel channel = channels.find(id);
        boolean known = channel != null && !channel.isConnection;
        if (errno == 0 && !(known && channel.state == ShmChannel.OPENING)) {
            sendClose(source, FabricErrno.ECONNRESET);
            return;
        }
        if (!known) {
            return;
        }
        if (errno == MOVED && channel.state == ShmChannel.OPENING && shortSource != connection.peerThread()) {
            link.move(channel, connection, shortSource);
            return;
        }
        if (errno != 0) {
            // the channel may be up already: it took the peer's OPEN as the answer, but the peer's endpoint was closed
            // before the peer read this side's OPEN
            channels.forget(channel);
            channel.handler().onDown(ShmConnection.positive(errno, FabricErrno.ECONNREFUSED));
            return;
        }
        begin(channel, source, shortSource, grant);
    }

    void onClose(int id, int errno) {
        ShmChannel channel = channels.up(id);
        if (channel != null) {
            channels.forget(channel);
            shortNumbers.closedByPeer(channel);
            channel.handler().onDown(ShmConnection.positive(errno, FabricErrno.ECONNRESET));
        }
    }

    void announce(ShmChannel channel) {
        if (channel.connecting != null) {
            connection.requests().begin(channel);
        } else {
            sendOpen(channel);
        }
    }

    private static void begin(ShmChannel channel, int remoteId, int remoteShort, int grant) {
        channel.remote(remoteId, remoteShort);
        channel.state = ShmChannel.UP;
        channel.frameHandler().onGrant(grant);
        channel.handler().onUp(channel);
    }

    private void sendOpen(ShmChannel channel) {
        int length = WORD_LENGTH + OpenEncoder.BLOCK_LENGTH + 3 * OpenEncoder.sourceNameHeaderLength()
            + channel.localAddress().length() + channel.remoteAddress().length() + channel.authKey().length;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> {
                if (channel.state == ShmChannel.OPENING && !channel.announced) {
                    sendOpen(channel);
                }
            });
            return;
        }
        int grant = channel.handler().onOpening();
        new OpenEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .source(channel.localId).grant(grant & 0xFFFF_FFFFL)
            .maxEager(channel.limits().eagerLimitBytes()).shortChannel(channel.localShort).epoch(channels.uses())
            .sourceName(channel.localAddress()).destName(channel.remoteAddress())
            .putAuthKey(channel.authKey(), 0, channel.authKey().length);
        connection.commit(offset, length, ShmFrameReader.OPEN);
        channel.announced = true;
    }

    private void ackAndBegin(ShmChannel channel, int source, int grant) {
        if (channel.state != ShmChannel.OPENING) {
            return;
        }
        if (trySendOpenAck(source, grant, channel)) {
            channel.state = ShmChannel.UP;
            channel.handler().onUp(channel);
        } else {
            connection.later(() -> ackAndBegin(channel, source, grant));
        }
    }

    private ShmChannel addOrTake(LocalEndpoint endpoint, String sourceAddress, ChannelHandler handler) {
        ShmChannel waiting = link.takeWaiting(handler, connection);
        if (waiting == null) {
            return add(endpoint, sourceAddress, handler);
        }
        waiting.move(connection);
        add(waiting);
        return waiting;
    }

    private void refuse(int id, int errno) {
        answer(id, ShmShortNumbers.NONE, errno);
    }

    private void refuseOrRedirect(int id, String destAddress) {
        int thread = link.otherThread(destAddress);
        if (thread < 0) {
            refuse(id, FabricErrno.ECONNREFUSED);
        } else {
            answer(id, thread, MOVED);
        }
    }

    private void answer(int id, int shortNumber, int errno) {
        if (!trySendOpenAck(id, 0, 0, shortNumber, errno)) {
            connection.later(() -> answer(id, shortNumber, errno));
        }
    }

    private boolean trySendOpenAck(int id, int grant, ShmChannel channel) {
        return trySendOpenAck(id, grant, channel.localId, channel.localShort, 0);
    }

    private boolean trySendOpenAck(int id, int grant, int source, int shortSource, int errno) {
        int length = WORD_LENGTH + OpenAckEncoder.BLOCK_LENGTH;
        int offset = connection.claim(length);
        if (offset < 0) {
            return false;
        }
        new OpenAckEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .channel(id).grant(grant & 0xFFFF_FFFFL).source(source).errno(errno)
            .maxEager(link.limits().eagerLimitBytes()).shortChannel(shortSource);
        connection.commit(offset, length, ShmFrameReader.OPEN_ACK);
        return true;
    }

    /** Closes a channel of the peer that has no counterpart here. */
    void sendClose(int id, int errno) {
        sendClose(id, errno, ShmShortNumbers.NONE);
    }

    private void sendClose(int id, int errno, int localShort) {
        int length = WORD_LENGTH + CloseEncoder.BLOCK_LENGTH;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> sendClose(id, errno, localShort));
            return;
        }
        new CloseEncoder().wrap(connection.ring(), offset + WORD_LENGTH).channel(id).errno(errno);
        connection.commit(offset, length, ShmFrameReader.CLOSE);
        shortNumbers.closedByUs(localShort, connection.position());
        link.wake(connection);
    }
}
