package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.TcpSocket;

import java.util.concurrent.ThreadLocalRandom;

/**
 * A socket that listens: what an endpoint is reached by, and named after.
 *
 * <p>Made on the resource thread; owner then: progress agent.
 */
final class TcpListener extends BoundAddress {
    private final SocketName name;
    private final int processId;
    private int fd;

    private TcpListener(int fd, SocketName name) {
        this.fd = fd;
        this.name = name;
        // another one after a restart, which is what peers look at
        this.processId = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    }

    /**
     * Listens.
     *
     * @param wanted  address, not the wildcard; port 0 for any.
     * @param backlog connections that the system keeps.
     * @throws FabricException why not.
     */
    static TcpListener open(SocketName wanted, int backlog) {
        int fd = TcpSocket.listen(wanted.toBytes(), backlog);
        if (fd < 0) {
            throw new FabricException(-fd, "cannot listen at " + wanted + ": " + FabricErrno.name(-fd),
                "Name an address of this host and a free port in srcAddr or in jfabric.tcp.interface.");
        }
        return new TcpListener(fd, SocketName.ofBytes(TcpSocket.localName(fd)));
    }

    SocketName name() {
        return name;
    }

    int processId() {
        return processId;
    }

    int fd() {
        return fd;
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Libc.close(fd);
            fd = -1;
        }
    }
}
