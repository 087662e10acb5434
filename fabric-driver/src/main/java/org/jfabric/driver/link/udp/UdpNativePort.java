package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.ffi.BusyPoll;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.SocketClass;
import org.jfabric.ffi.SocketLibrary;
import org.jfabric.ffi.SocketTimes;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.SocketName;

/** A socket that sends and receives many datagrams with one system call. Owner: as {@link UdpPort}. */
final class UdpNativePort extends UdpPort {
    private int fd;
    /** Made with the first burst. */
    private UdpRuns runs;
    /** A library in front of the C library may send a run as one long datagram: libvma passes over what says how. */
    private boolean mayRun = SocketLibrary.path() == null;

    private UdpNativePort(UdpNetwork network, int fd, SocketName name, InetAddress local, DriverConfig config) {
        super(network, name, local, config);
        this.fd = fd;
    }

    /** As {@link UdpNetwork#open}. */
    static UdpNativePort open(
        UdpNetwork network, SocketName wanted, InetAddress local, boolean shared, DriverConfig config) {
        int fd = UdpSocket.open(wanted.toBytes(), shared);
        if (fd < 0) {
            throw new NativeCallException("bind", -fd,
                "the address is " + wanted + "; name another, or one of an interface that is up");
        }
        return of(network, fd, wanted, local, config);
    }

    private static UdpNativePort of(
        UdpNetwork network, int fd, SocketName wanted, InetAddress local, DriverConfig config) {
        boolean open = false;
        try {
            UdpSocket.buffers(fd, config.get(UdpConfig.BUFFER_BYTES), config.get(UdpConfig.BUFFER_BYTES));
            if (config.get(UdpConfig.BUSY_POLL_MICROS) > 0) {
                // without the privilege the socket is not polled, which the verdict says
                BusyPoll.set(fd, config.get(UdpConfig.BUSY_POLL_MICROS));
            }
            if (wanted.isIn6()) {
                UdpSocket.multicastInterface(fd, interfaceIndex(local));
            } else if (!local.isAnyLocalAddress()) {
                UdpSocket.multicastInterface(fd, local.getAddress());
            }
            UdpNativePort port = new UdpNativePort(
                network, fd, SocketName.ofBytes(UdpSocket.name(fd)), local, config);
            open = true;
            return port;
        } finally {
            if (!open) {
                SocketLibrary.close(fd);
            }
        }
    }

    @Override
    protected UdpPort openConnected(SocketName peer) {
        int connected = UdpSocket.openConnected(fd, peer.toBytes());
        UdpNativePort port = connected < 0 ? null : of(network(), connected, name(), local(), config());
        if (port != null && port.stamp(arrivals(), null) < 0) {
            port.close();
            return null;
        }
        return port;
    }

    @Override
    protected int[] descriptors() {
        return new int[] {fd};
    }

    @Override
    protected int receive(MessageVector vector, int count) {
        return UdpSocket.receive(fd, vector, count);
    }

    @Override
    protected int enableTimes(boolean ofCard, boolean hasArrivals, boolean hasDepartures) {
        // a run has one time
        mayRun &= !hasDepartures;
        return SocketTimes.enable(fd, ofCard, hasArrivals, hasDepartures);
    }

    @Override
    protected int receiveTimed(MessageVector vector, int count) {
        return UdpSocket.receiveTimed(fd, vector, count);
    }

    @Override
    protected int receiveDepartures(MessageVector vector, int count) {
        return UdpSocket.receiveDepartures(fd, vector, count);
    }

    @Override
    public int send(MessageVector vector, int count) {
        if (count >= UdpRuns.SHORTEST && mayRun) {
            runs = runs == null ? new UdpRuns() : runs;
            int sent = runs.send(fd, vector, count);
            if (sent != 0) {
                return sent;
            }
        }
        return UdpSocket.send(fd, vector, count);
    }

    @Override
    protected boolean join() {
        return DatagramRun.join(fd) == 0;
    }

    @Override
    protected int receive(DatagramRun run, long address, int length) {
        return run.receive(fd, address, length);
    }

    @Override
    protected void mark(SocketClass marks) {
        marks.apply(fd, name().isIn6());
    }

    @Override
    protected int joinGroup(SocketName group) {
        byte[] address = group.inetAddress().getAddress();
        return group.isIn6() ? UdpSocket.join(fd, address, interfaceIndex(local()))
            : UdpSocket.join(fd, address, local().getAddress());
    }

    @Override
    public void close() {
        int open = fd;
        fd = -1;
        if (open >= 0) {
            SocketLibrary.close(open);
        }
    }
}
