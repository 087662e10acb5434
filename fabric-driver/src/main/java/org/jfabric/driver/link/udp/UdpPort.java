package org.jfabric.driver.link.udp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.MessageVector;

import java.net.InetAddress;

/**
 * A bound UDP socket. Opened on the resource thread; owner afterwards: progress agent.
 */
abstract class UdpPort extends BoundAddress {
    private final SocketName name;
    private final InetAddress local;
    private final UdpConfig config;
    private boolean watched;
    private boolean armed;

    UdpPort(SocketName name, InetAddress local, UdpConfig config) {
        this.name = name;
        this.local = local;
        this.config = config;
    }

    /**
     * A socket of its own for each group, bound to the group's address: so it receives nothing else, and who receives
     * it knows by which socket a message came that it was sent to the group.
     */
    @Override
    public final BoundAddress join(SocketName group) {
        if (group.isIn6() || name.isIn6()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "joining " + group + " with " + name, "Use groups and endpoints of IPv4.");
        }
        UdpPort port = UdpLinkProvider.open(group, local, true, config);
        int result = port.joinGroup(group);
        if (result < 0) {
            port.close();
            throw new FabricException(-result, "the group " + group + " cannot be joined at " + local.getHostAddress(),
                "Bind the endpoint to an interface that has multicast, and see net.ipv4.igmp_max_memberships.");
        }
        return port;
    }

    final InetAddress local() {
        return local;
    }

    /** Has the driver woken when a datagram arrives; false if the system cannot tell. */
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

    /** Ends watching and closes. */
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

    /** Descriptor that becomes readable when a datagram arrives, or -1 if it is not known. */
    abstract int fd();

    /** Receives what is there, at most so many; the number of datagrams. */
    abstract int receive(MessageVector vector, int count);

    /** Sends datagrams; how many were taken, or why the first was not as a negative errno. */
    abstract int send(MessageVector vector, int count);

    /** Receives what is sent to a group; 0 or a negative errno. */
    abstract int joinGroup(SocketName group);
}
