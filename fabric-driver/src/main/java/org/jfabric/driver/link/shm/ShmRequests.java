package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;

import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.jfabric.client.FieldReader;
import org.jfabric.codec.wire.ConnectAnswerDecoder;
import org.jfabric.codec.wire.ConnectAnswerEncoder;
import org.jfabric.codec.wire.ConnectDecoder;
import org.jfabric.codec.wire.ConnectEncoder;
import org.jfabric.codec.wire.WithdrawDecoder;
import org.jfabric.codec.wire.WithdrawEncoder;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Connection requests between the endpoints of this driver and those of another one, in both directions.
 *
 * <pre>
 *   CONNECT(source, data) ──────────────▶ ShmIncoming waits at its listener
 *   ◀── CONNECT_ANSWER(source, errno, data)   accepted: the peer's channel; refused: an errno
 *   WITHDRAW(source) ───────────────────▶ instead of waiting for the answer; a later acceptance is answered
 *                                         with CLOSE
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class ShmRequests {
    private final ShmConnection connection;
    private final ShmLink link;
    /** Requests that are not answered yet, by the peer's id of the channel. */
    private final Int2ObjectHashMap<ShmIncoming> incoming = new Int2ObjectHashMap<>();

    ShmRequests(ShmConnection connection, ShmLink link) {
        this.connection = connection;
        this.link = link;
    }

    // ---- requesting side ----

    Channel connect(LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
        ShmChannel channel = new ShmChannel(
            link.limits(), handler.channelHandler(), connection, endpoint, remoteAddress);
        channel.isConnection = true;
        connection.opening().add(channel);
        channel.connecting = new ShmConnecting(this, channel, handler, cmData, null);
        if (connection.state() == ShmConnection.UP) {
            begin(channel);
        }
        return channel;
    }

    /** The connection is up: sends the request in the next step. */
    void begin(ShmChannel channel) {
        connection.later(() -> sendConnect(channel));
    }

    private void sendConnect(ShmChannel channel) {
        ShmConnecting connecting = channel.connecting;
        if (connecting == null) {
            return;
        }
        byte[] key = channel.authKey();
        byte[] cmData = connecting.cmData();
        int length = WORD_LENGTH + ConnectEncoder.BLOCK_LENGTH + 4 * ConnectEncoder.cmDataHeaderLength()
            + channel.localAddress().length() + channel.remoteAddress().length() + key.length + cmData.length;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> sendConnect(channel));
            return;
        }
        int grant = channel.handler().onOpening();
        new ConnectEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .source(channel.localId).grant(grant & 0xFFFF_FFFFL).maxEager(link.limits().eagerLimitBytes())
            .shortChannel(channel.localShort).sourceName(channel.localAddress()).destName(channel.remoteAddress())
            .putAuthKey(key, 0, key.length).putCmData(cmData, 0, cmData.length);
        connection.commit(offset, length, ShmFrameReader.CONNECT);
        channel.announced = true;
    }

    private void onAnswer(int id, int grant, int source, int shortSource, int errno, byte[] cmData) {
        ShmChannel channel = connection.channels().find(id);
        ShmConnecting connecting = channel == null || !channel.announced ? null : channel.connecting;
        if (connecting == null || connecting.incoming() != null) {
            if (errno == 0) {
                // the request was withdrawn before the answer arrived
                connection.opening().sendClose(source, FabricErrno.ESHUTDOWN);
            }
        } else if (errno == 0) {
            connecting.made(source, shortSource, grant, cmData);
        } else if (errno == ShmOpening.MOVED && shortSource != connection.peerThread()) {
            link.move(channel, connection, shortSource);
        } else {
            connection.channels().forget(channel);
            connecting.failed(ShmConnection.positive(errno, FabricErrno.ECONNREFUSED), cmData);
        }
    }

    // ---- accepting side ----

    Channel accept(ShmIncoming request, LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler) {
        ShmChannel channel = new ShmChannel(
            link.limits(), handler.channelHandler(), connection, endpoint, request.remoteAddress());
        channel.isConnection = true;
        if (request.isGone()) {
            channel.connecting = new ShmConnecting(this, channel, handler, cmData, request);
            link.later(() -> abort(channel));
            return channel;
        }
        connection.opening().add(channel);
        channel.connecting = new ShmConnecting(this, channel, handler, cmData, request);
        connection.later(() -> sendAnswer(channel));
        return channel;
    }

    private void sendAnswer(ShmChannel channel) {
        ShmConnecting connecting = channel.connecting;
        if (connecting == null) {
            return;
        }
        ShmIncoming request = connecting.incoming();
        if (request.isGone()) {
            connection.channels().forget(channel);
            connecting.failed(FabricErrno.ECONNABORTED);
            return;
        }
        int grant = channel.announced ? connecting.grant() : connecting.grant(channel.handler().onOpening());
        channel.announced = true;
        if (trySendAnswer(
            request.source(), grant, channel.localId, channel.localShort, 0, connecting.cmData())) {
            incoming.remove(request.source());
            connecting.made(request.source(), request.shortSource(), request.grant(), ShmConnecting.NO_DATA);
        } else {
            connection.later(() -> sendAnswer(channel));
        }
    }

    private void abort(ShmChannel channel) {
        ShmConnecting connecting = channel.connecting;
        if (connecting != null) {
            channel.state = ShmChannel.CLOSED;
            connecting.failed(FabricErrno.ECONNABORTED);
        }
    }

    void reject(ShmIncoming request, byte[] cmData) {
        if (!request.isGone()) {
            incoming.remove(request.source());
            connection.later(() -> refuse(request.source(), FabricErrno.ECONNREFUSED, cmData));
        }
    }

    private void refuse(int source, int errno, byte[] cmData) {
        if (!trySendAnswer(source, 0, 0, ShmShortNumbers.NONE, errno, cmData)) {
            connection.later(() -> refuse(source, errno, cmData));
        }
    }

    private void redirect(int source, int thread) {
        if (!trySendAnswer(source, 0, 0, thread, ShmOpening.MOVED, ShmConnecting.NO_DATA)) {
            connection.later(() -> redirect(source, thread));
        }
    }

    private boolean trySendAnswer(
        int id, int grant, int source, int shortSource, int errno, byte[] cmData) {
        int length = WORD_LENGTH + ConnectAnswerEncoder.BLOCK_LENGTH + ConnectAnswerEncoder.cmDataHeaderLength()
            + cmData.length;
        int offset = connection.claim(length);
        if (offset < 0) {
            return false;
        }
        new ConnectAnswerEncoder().wrap(connection.ring(), offset + WORD_LENGTH)
            .channel(id).grant(grant & 0xFFFF_FFFFL).source(source).errno(errno)
            .maxEager(link.limits().eagerLimitBytes()).shortChannel(shortSource)
            .putCmData(cmData, 0, cmData.length);
        connection.commit(offset, length, ShmFrameReader.CONNECT_ANSWER);
        return true;
    }

    private boolean onConnect(
        int source, int shortSource, int grant, String sourceAddress, String destAddress, byte[] authKey,
        byte[] cmData) {
        if (incoming.containsKey(source)) {
            connection.broken("requested connection " + source + " twice");
            return false;
        }
        int refused = FabricErrno.ECONNREFUSED;
        int thread = link.otherThread(destAddress);
        if (thread >= 0) {
            redirect(source, thread);
            return true;
        }
        if (connection.peerName().equals(link.driverOf(sourceAddress)) && cmData.length <= link.cmDataBytes()) {
            ShmIncoming request = new ShmIncoming(this, source, shortSource, grant, sourceAddress, cmData);
            incoming.put(source, request);
            refused = link.offer(destAddress, authKey, request);
        }
        if (refused != 0) {
            incoming.remove(source);
            refuse(source, refused, ShmConnecting.NO_DATA);
        }
        return true;
    }

    private void onWithdraw(int source) {
        ShmIncoming request = incoming.remove(source);
        if (request != null) {
            request.gone();
        }
    }

    // ---- both sides ----

    /** A channel was closed before its connection was established. */
    void abandon(ShmConnecting connecting) {
        ShmChannel channel = connecting.channel();
        ShmIncoming request = connecting.incoming();
        if (request != null) {
            // an endpoint that accepts and closes before the answer is sent has refused
            reject(request, ShmConnecting.NO_DATA);
        } else if (channel.announced && connection.state() == ShmConnection.UP) {
            sendWithdraw(channel.localId);
        }
    }

    private void sendWithdraw(int source) {
        int length = WORD_LENGTH + WithdrawEncoder.BLOCK_LENGTH;
        int offset = connection.claim(length);
        if (offset < 0) {
            connection.later(() -> sendWithdraw(source));
            return;
        }
        new WithdrawEncoder().wrap(connection.ring(), offset + WORD_LENGTH).source(source).reserved(0);
        connection.commit(offset, length, ShmFrameReader.WITHDRAW);
    }

    /** The connection to the other driver has ended: no peer waits for an answer any more. */
    void onDown() {
        incoming.values().forEach(ShmIncoming::gone);
        incoming.clear();
    }

    // ---- frames ----

    /** Processes one of the three frames; false if the peer has violated the protocol and the connection was ended. */
    boolean onFrame(DirectBuffer ring, int type, int offset, int length) {
        int block = offset + WORD_LENGTH;
        int end = offset + length;
        boolean whole = switch (type) {
            case ShmFrameReader.CONNECT -> length >= WORD_LENGTH + ConnectDecoder.BLOCK_LENGTH;
            case ShmFrameReader.CONNECT_ANSWER -> length >= WORD_LENGTH + ConnectAnswerDecoder.BLOCK_LENGTH;
            default -> length >= WORD_LENGTH + WithdrawDecoder.BLOCK_LENGTH;
        };
        if (!whole) {
            return cutOff(type, length);
        }
        return switch (type) {
            case ShmFrameReader.CONNECT -> takeConnect(ring, block, end);
            case ShmFrameReader.CONNECT_ANSWER -> takeAnswer(ring, block, end);
            default -> {
                onWithdraw(new WithdrawDecoder().wrap(
                    ring, block, WithdrawDecoder.BLOCK_LENGTH, WithdrawDecoder.SCHEMA_VERSION).source());
                yield true;
            }
        };
    }

    private boolean takeConnect(DirectBuffer ring, int block, int end) {
        ConnectDecoder connect = new ConnectDecoder().wrap(
            ring, block, ConnectDecoder.BLOCK_LENGTH, ConnectDecoder.SCHEMA_VERSION);
        int source = connect.source();
        int shortSource = ShmFrameReader.shortNumber(connect.shortChannel());
        int grant = (int) connect.grant();
        FieldReader texts = new FieldReader(ring, block + ConnectDecoder.BLOCK_LENGTH, end);
        String sourceName;
        String destName;
        byte[] authKey;
        byte[] cmData;
        try {
            sourceName = texts.ascii();
            destName = texts.ascii();
            authKey = texts.bytes();
            cmData = texts.bytes();
        } catch (FabricException e) {
            return cutOff(ShmFrameReader.CONNECT, end - block);
        }
        return onConnect(source, shortSource, grant, sourceName, destName, authKey, cmData);
    }

    private boolean takeAnswer(DirectBuffer ring, int block, int end) {
        ConnectAnswerDecoder answer = new ConnectAnswerDecoder().wrap(
            ring, block, ConnectAnswerDecoder.BLOCK_LENGTH, ConnectAnswerDecoder.SCHEMA_VERSION);
        int id = answer.channel();
        int grant = (int) answer.grant();
        int source = answer.source();
        int shortSource = ShmFrameReader.shortNumber(answer.shortChannel());
        int errno = answer.errno();
        byte[] cmData;
        try {
            cmData = new FieldReader(ring, block + ConnectAnswerDecoder.BLOCK_LENGTH, end).bytes();
        } catch (FabricException e) {
            return cutOff(ShmFrameReader.CONNECT_ANSWER, end - block);
        }
        onAnswer(
            id, grant, source, shortSource, errno,
            cmData.length <= link.cmDataBytes() ? cmData : ShmConnecting.NO_DATA);
        return true;
    }

    private boolean cutOff(int type, int length) {
        connection.broken("sent a record of type " + type + " that does not fit into its " + length + " bytes");
        return false;
    }
}
