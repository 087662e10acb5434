package org.jfabric.driver.link.support;

import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * Makes connections that a protocol above the link can use: {@link #connect} and
 * {@link org.jfabric.driver.link.IncomingConnection#accept} return a {@link MessageChannel}.
 *
 * <p>Owner: progress agent.
 */
public abstract class MessageConnections extends ConnectionManager {
    /** For the links that offer such connections. */
    protected MessageConnections() {
    }

    /**
     * Receives that the link keeps posted for each connection alone, all of them when it is made: each message of the
     * peer takes one, and {@link MessageHandler#onReposted(int)} tells when it is there again. A protocol above can
     * give its peers credit by it.
     *
     * @return a count, the same for all connections; 0 where messages need no receive, or connections share them.
     */
    public int postedReceives() {
        return 0;
    }

    @Override
    public abstract MessageChannel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler);
}
