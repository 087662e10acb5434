package org.jfabric.driver.link.tcp;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.support.HandshakeTasks;
import org.jfabric.info.FabricException;

/**
 * What the encrypted connections of a link have in common.
 *
 * <p>Owner: progress agent.
 */
public interface StreamSecurity extends AutoCloseable {
    /** Makes it for a link that is about to be opened. */
    @FunctionalInterface
    interface Maker {
        /**
         * Reads the keys.
         *
         * @param access the peers that are admitted, null for all with a trusted key.
         */
        StreamSecurity make(LinkServices services, DriverConfig config, AccessList access);
    }

    /** The port of a connection over a socket that is or becomes connected. */
    SecurePort secured(TcpPort socket, boolean isClient);

    /** The same keys for a connection of another thread, with buffers of its own. Any thread. */
    StreamSecurity another();

    /** The slow steps of handshakes. */
    HandshakeTasks tasks();

    /** The reason why changed files are not in use. Returns null if there is none, or it was returned before. */
    FabricException takeProblem();

    @Override
    void close();
}
