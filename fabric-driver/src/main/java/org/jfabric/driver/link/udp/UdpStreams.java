package org.jfabric.driver.link.udp;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.Timestamps;
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/** Sockets of streams over UDP. Any thread. */
final class UdpStreams extends StreamSockets {
    private final LinkServices services;
    private final DriverConfig config;
    private final UdpNetwork network;

    UdpStreams(LinkServices services, DriverConfig config, UdpNetwork network) {
        this.services = services;
        this.config = config;
        this.network = network;
    }

    @Override
    public StreamSocket open(SocketName socket, String networkInterface) {
        return socket.inetAddress().isMulticastAddress() ? openTo(socket, networkInterface, null)
            : new UdpStreamSocket(bind(socket), null, services, config);
    }

    private UdpPort bind(SocketName local) {
        try {
            return network.open(local, local.inetAddress(), false, config);
        } catch (NativeCallException e) {
            throw new FabricException(e.errno(), "the address " + local + " of a stream cannot be bound: "
                + e.getMessage(), "Name a port that is free, and an address of this host.", e);
        }
    }

    @Override
    public StreamSocket openTo(SocketName writer, String networkInterface, TimestampClock times) {
        Info wanted = new Info().destAddr(writer.toString()).addrFormat(writer.format()).caps(caps(times));
        SocketName local = networkInterface != null
            ? LocalAddresses.choose(wanted, networkInterface, "the address of the stream")
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name());
        requireTimes(wanted, local);
        UdpPort port = bind(local);
        UdpPort group = null;
        boolean opened = false;
        try {
            Timestamps.check(port.stamp(times, null), port.name());
            group = writer.inetAddress().isMulticastAddress() ? port.openGroup(writer) : null;
            opened = true;
        } catch (NativeCallException e) {
            throw new FabricException(e.errno(), "the group " + writer + " of a stream cannot be bound: "
                + e.getMessage(), "Name another port, or another interface.", e);
        } finally {
            if (!opened) {
                port.close();
            }
        }
        return new UdpStreamSocket(port, group, services, config);
    }

    private static long caps(TimestampClock times) {
        return times == null ? 0 : times == TimestampClock.CARD ? Timestamps.CAPS : Flags.TIMESTAMP;
    }

    /** Refuses times that sockets, or the card of the address, do not have. */
    private void requireTimes(Info wanted, SocketName local) {
        wanted.txAttr().caps(Flags.SEND);
        List<Reason> reasons = new ArrayList<>(
            Timestamps.obstacles(wanted, config.get(UdpConfig.SOCKETS), UdpConfig.SOCKETS));
        reasons.addAll(Timestamps.obstacles(wanted, local.inetAddress()));
        if (!reasons.isEmpty()) {
            throw new FabricException(FabricErrno.ENODATA, "times of arrival of a stream: seen is "
                + reasons.getFirst().seen() + ", needed " + reasons.getFirst().needed(),
                reasons.getFirst().remedy() + '.');
        }
    }
}
