package org.jfabric.driver.link.verbs;

import org.jfabric.SocketName;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * A request for a connection that waits for its answer.
 *
 * <p>Owner: progress agent.
 */
final class VerbsIncoming extends IncomingConnection {
    private final VerbsConnections connections;
    private final long id;
    private final String remoteAddress;
    private final byte[] data;
    private boolean isGone;

    VerbsIncoming(VerbsConnections connections, RdmaCm cm, RdmaCm.CmEvent request) {
        this.connections = connections;
        this.id = request.id();
        this.remoteAddress = SocketName.ofBytes(cm.peerAddress(id)).toString();
        this.data = PrivateData.unwrap(request.data());
    }

    /** What happens to the identifier meanwhile: only the peer's giving up matters. */
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
        return connections.accept(id, isGone, cmData, handler);
    }

    @Override
    public void reject(byte[] cmData) {
        connections.reject(id, cmData);
    }
}
