package org.jfabric.driver.stream;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import org.jfabric.info.FabricException;

/** Encrypts the connections by which hosts read logs, with the keys of a link. Any thread. */
@FunctionalInterface
public interface ReplaySecurity {
    /**
     * Has both ends of a connection prove themselves. Slow: for a resource thread, or one of the connection.
     *
     * @param socket   connected; closed by this if it throws.
     * @param isClient whether it was opened here.
     * @return for one thread at a time and direct buffers; does not block, and throws {@link FabricException} where the
     *     peer has refused this driver or sends what it has not sealed.
     * @throws FabricException if the peer is not trusted or not admitted.
     * @throws IOException     if the connection has failed, or the peer says nothing.
     */
    ByteChannel secure(SocketChannel socket, boolean isClient) throws IOException;
}
