package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.SocketName;

/**
 * A connection request that waits for its answer.
 *
 * <p>Owner: progress agent.
 */
final class VerbsIncoming extends IncomingConnection {
    private final VerbsConnector connections;
    private final long id;
    private final String remoteAddress;
    private final byte[] data;
    private boolean isGone;

    VerbsIncoming(VerbsConnector connections, RdmaCm cm, RdmaCm.CmEvent request) {
        this.connections = connections;
        this.id = request.id();
        this.remoteAddress = SocketName.ofBytes(cm.peerAddress(id)).toString();
        this.data = PrivateData.unwrap(request.data());
    }

    /** Takes the identifier's events meanwhile: each of them means that the peer has given up. */
    CmTarget target() {
        return new CmTarget() {
            @Override
            void onEvent(RdmaCm.CmEvent event) {
                isGone |= event.type() != VerbsConstants.CM_CONNECT_REQUEST;
            }
        };
    }

    @Override
    public String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public byte[] cmData() {
        return data;
    }

    @Override
    public VerbsChannel accept(LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler) {
        return connections.accept(id, isGone, endpoint, cmData, handler);
    }

    @Override
    public void reject(byte[] cmData) {
        connections.reject(id, cmData);
    }
}
