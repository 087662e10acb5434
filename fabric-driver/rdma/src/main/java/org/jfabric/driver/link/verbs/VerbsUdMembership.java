package org.jfabric.driver.link.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A port's membership in a multicast group, by the connection manager, as in {@code mckey} and other C programs. A
 * sender joins the group too, so that the subnet has a route to it.
 *
 * <p>Made and closed on the resource thread, which waits for the answer of the subnet manager.
 */
final class VerbsUdMembership {
    private static final int TIMEOUT_MS = 3000;
    private static final int POLL_MS = 10;

    private final RdmaCm cm;
    private final byte[] group;
    private long channel;
    private long id;
    private boolean isJoined;
    private byte[] route;
    private int queuePair;
    private int key;

    VerbsUdMembership(RdmaCm cm, byte[] group) {
        this.cm = cm;
        this.group = group;
    }

    /**
     * Joins a group.
     *
     * @throws FabricException if the group cannot be joined.
     */
    static VerbsUdMembership join(VerbsUdPort port, SocketName group) {
        InetAddress local = VerbsUdPlace.address(port.libraries(), port.place(), group.isIn6());
        if (local == null) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "port " + port.place().port() + " of "
                + port.place().device() + " has no " + (group.isIn6() ? "IPv6" : "IPv4") + " address as a GID",
                "Give its network interface an address of the group's family; ports of InfiniBand join no groups yet.");
        }
        VerbsUdMembership made = new VerbsUdMembership(port.libraries().cm(), group.toBytes());
        try {
            made.join(SocketName.of(new InetSocketAddress(local, 0)), group);
            return made;
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
    }

    private void join(SocketName local, SocketName name) {
        channel = VerbsUdPort.checked("rdma_create_event_channel", cm.createEventChannel());
        id = VerbsUdPort.checked("rdma_create_id", cm.createDatagramId(channel));
        VerbsUdPort.checked("rdma_bind_addr of " + local, cm.bind(id, local.toBytes()));
        VerbsUdPort.checked("rdma_join_multicast of " + name, cm.joinGroup(id, group));
        isJoined = true;
        RdmaCm.GroupEvent event = await();
        if (event == null || event.type() != VerbsConstants.CM_MULTICAST_JOIN || event.status() != 0) {
            int errno = event == null ? FabricErrno.ETIMEDOUT : event.status() < 0 ? -event.status() : FabricErrno.EIO;
            throw new FabricException(errno, "the group " + name + " cannot be joined from " + local + ": "
                + FabricErrno.name(errno), "Check that the network and its subnet manager support multicast groups.");
        }
        route = event.route();
        queuePair = event.queuePair();
        key = event.key();
    }

    private RdmaCm.GroupEvent await() {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS);
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(cm.eventChannelFd(channel), Epoll.EPOLLIN, 0);
            RdmaCm.GroupEvent event = cm.takeGroupEvent(channel);
            while (event == null && System.nanoTime() - end < 0) {
                epoll.poll(POLL_MS);
                event = cm.takeGroupEvent(channel);
            }
            return event;
        }
    }

    /** Address vector of the group, as the library stores it. */
    byte[] route() {
        return route;
    }

    /** Destination queue pair number of its datagrams. */
    int queuePair() {
        return queuePair;
    }

    int key() {
        return key;
    }

    /** Leaves the group; idempotent. */
    synchronized void close() {
        if (isJoined) {
            cm.leaveGroup(id, group);
            isJoined = false;
        }
        if (id > 0) {
            cm.destroyId(id);
            id = 0;
        }
        if (channel > 0) {
            cm.destroyEventChannel(channel);
            channel = 0;
        }
    }
}
