package org.jfabric.driver.stream.net;

import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * Where the sockets of a progress thread's streams come from. They are opened on the resource thread, and belong to the
 * progress thread then.
 */
public abstract class StreamSockets {
    /**
     * Opens the socket of a writer.
     *
     * @param socket           address of this host, or a multicast group.
     * @param networkInterface name or address of the one to the group; null for that of the driver's configuration.
     * @throws FabricException {@code FI_EADDRINUSE}, {@code FI_EADDRNOTAVAIL} or another errno.
     */
    public abstract StreamSocket open(SocketName socket, String networkInterface);

    /**
     * Opens the socket of a reader, on the interface that leads to a writer or its multicast group.
     *
     * @param networkInterface as above.
     * @param times            whose clock times of arrival are of; null for none.
     * @throws FabricException also {@code FI_ENODATA} without such times.
     */
    public abstract StreamSocket openTo(SocketName writer, String networkInterface, TimestampClock times);
}
