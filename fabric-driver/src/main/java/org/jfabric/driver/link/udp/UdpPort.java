package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A bound UDP socket. Opened on the resource thread; owner afterwards: progress agent.
 */
abstract class UdpPort extends BoundAddress {
    private final UdpNetwork network;
    private final SocketName name;
    private final InetAddress local;
    private final UdpConfig config;
    private boolean refusesGroups;
    private boolean watched;
    private boolean armed;

    UdpPort(UdpNetwork network, SocketName name, InetAddress local, UdpConfig config) {
        this.network = network;
        this.name = name;
        this.local = local;
        this.config = config;
    }

    /** Has {@link #join} refuse, because the datagrams of a group cannot be encrypted. */
    final UdpPort withoutGroups() {
        refusesGroups = true;
        return this;
    }

    /** Room asked of the kernel for datagrams that wait. */
    final int bufferBytes() {
        return config.bufferBytes();
    }

    /**
     * Opens a socket for the group, bound to the group's address: it receives nothing else, so that the messages of the
     * group can be distinguished from others.
     */
    @Override
    public final BoundAddress join(SocketName group) {
        if (refusesGroups) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "joining " + group + " over dtls",
                "Use link udp, whose messages are plain: a session has two ends, a group has many.");
        }
        if (group.isIn6() || name.isIn6()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "joining " + group + " with " + name, "Use groups and endpoints of IPv4.");
        }
        UdpPort port = network.open(group, local, true, config);
        int result = port.joinGroup(group);
        if (result < 0) {
            port.close();
            throw new FabricException(-result, "the group " + group + " cannot be joined at " + local.getHostAddress(),
                "Bind the endpoint to an interface with multicast, and check net.ipv4.igmp_max_memberships.");
        }
        return port;
    }

    final InetAddress local() {
        return local;
    }

    /** Makes the next datagram wake the driver; false if the system has no event for it. */
    final boolean arm(LinkServices services, Runnable onArrival) {
        if (armed) {
            return true;
        }
        int fd = fd();
        if (fd < 0) {
            return false;
        }
        armed = true;
        if (watched) {
            services.rearm(fd);
        } else {
            watched = true;
            services.watch(fd, readable -> {
                armed = false;
                onArrival.run();
            });
        }
        return true;
    }

    /** Stops watching the socket and closes it. */
    final void close(LinkServices services) {
        if (watched) {
            services.unwatch(fd());
        }
        close();
    }

    @Override
    public final String address() {
        return name.toString();
    }

    final SocketName name() {
        return name;
    }

    /** Descriptor that becomes readable when a datagram arrives, or -1 if there is none. */
    abstract int fd();

    /** Receives available datagrams up to a limit; their number. */
    abstract int receive(MessageVector vector, int count);

    /** Sends datagrams; the number that was taken, or a negative errno for the first. */
    abstract int send(MessageVector vector, int count);

    /** Has the system join the datagrams that arrive, if it can; they are then read as runs only. */
    abstract boolean join();

    /** Receives a run of joined datagrams into memory; its bytes, negative if there is none. */
    abstract int receive(DatagramRun run, long address, int length);

    /** Marks its packets; what the system refuses leaves them as they were. */
    abstract void mark(SocketClass marks);

    /** Joins a group; 0 or a negative errno. */
    abstract int joinGroup(SocketName group);
}
