package org.jfabric.driver.link.verbs;

import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;

/**
 * The engine's view of a connection. A message is one SEND without any header; 32 bits of remote CQ data are its
 * immediate data. Remote memory is accessed by {@link VerbsRemote}; a protocol above can pull payloads, too.
 *
 * <p>Owner: progress agent.
 */
final class VerbsChannel extends MessageChannel {
    private final VerbsConnection connection;
    private final VerbsLink link;
    private final ConnectionHandler connectionHandler;
    private final StreamHandler streams;
    private final VerbsRemote remote;
    /** Payloads that the peer may be reading. */
    private int exposed;

    VerbsChannel(VerbsConnection connection, VerbsLink link, ConnectionHandler connectionHandler) {
        super(link.limits(), connectionHandler.channelHandler());
        this.connection = connection;
        this.link = link;
        this.connectionHandler = connectionHandler;
        this.streams = handler().streamHandler();
        this.remote = new VerbsRemote(connection, link);
    }

    ConnectionHandler connectionHandler() {
        return connectionHandler;
    }

    /** The handler of messages that may have to wait for a buffer. */
    StreamHandler streams() {
        return streams;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        int result = connection.writer().send(operation);
        // the send ring may have requests to post
        link.activate(connection);
        return result;
    }

    /** For protocols above only in a domain of its own: others have no key of the card. */
    @Override
    public RemoteChannel remoteMemory() {
        return protocol() == null || connection.isOfOwner() ? remote : null;
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        if (length > source.lengthBytes()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        int result = connection.writer().pull(source, destRegion, destAddress, destPieces, length);
        // the send ring may have requests to post
        link.activate(connection);
        return result;
    }

    @Override
    public int postedReceives() {
        return connection.postedReceives();
    }

    /** The key is that of the whole region: the card checks no smaller piece. */
    @Override
    public int expose(TransmitOperation operation, RemotePayload target) {
        if (!link.settings().exposes()) {
            return -FabricErrno.EOPNOTSUPP;
        }
        target.begin(operation.id());
        PieceList pieces = operation.pieces;
        int count = pieces == null ? 1 : pieces.count();
        for (int i = 0; i < count; i++) {
            RegisteredRegion region = pieces == null ? operation.region : pieces.region(i);
            if (region == null) {
                return -FabricErrno.EOPNOTSUPP;
            }
            RegionKeys.Key key = connection.keys().of(region);
            if (key == null) {
                return connection.writer().refuse();
            }
            if (key.errno() != 0) {
                return -FabricErrno.EOPNOTSUPP;
            }
            target.add(Integer.toUnsignedLong(key.remote()), 0, pieces == null ? operation.address : pieces.address(i),
                pieces == null ? operation.length : pieces.length(i));
        }
        exposed++;
        return DONE;
    }

    /**
     * Only counts: the key is that of the region and is valid as long as the region is. A peer that has the key can
     * read the region until the application closes it.
     */
    @Override
    public void conceal(RemotePayload target) {
        exposed--;
    }

    /** Whether a payload was announced to the peer and the peer has not confirmed that it has read it. */
    boolean isExposing() {
        return exposed != 0;
    }

    @Override
    public int provErrno() {
        return connection.provErrno();
    }

    @Override
    public void quiesce() {
        connection.quiesce();
    }

    @Override
    public void close(int errno) {
        connection.close();
    }
}
