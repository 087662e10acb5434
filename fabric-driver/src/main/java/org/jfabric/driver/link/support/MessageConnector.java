package org.jfabric.driver.link.support;

import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * Establishes connections that a protocol above the link can use: {@link #connect} and
 * {@link org.jfabric.driver.link.IncomingConnection#accept} return a {@link MessageChannel}.
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageConnector extends ConnectionManager {
    /** For the links that offer such connections. */
    protected MessageConnector() {
    }

    /**
     * Number of receives that the link keeps posted for the next connection alone; all of them are posted when the
     * connection is made. Each message of the peer consumes one, and {@link MessageChannelHandler#onReposted(int)}
     * reports when it is posted again. A protocol above can grant its peers credit by it. Returns the number of
     * receives; 0 if messages need no receive, or if the connection will share them with others.
     */
    public int postedReceives() {
        return 0;
    }

    @Override
    public abstract MessageChannel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler);
}
