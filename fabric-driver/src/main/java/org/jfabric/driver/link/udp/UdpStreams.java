package org.jfabric.driver.link.udp;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

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
        return socket.inetAddress().isMulticastAddress() ? openTo(socket, networkInterface)
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
    public StreamSocket openTo(SocketName writer, String networkInterface) {
        Info wanted = new Info().destAddr(writer.toString()).addrFormat(writer.format());
        UdpPort port = bind(networkInterface != null
            ? LocalAddresses.choose(wanted, networkInterface, "the address of the stream")
            : LocalAddresses.choose(wanted, config.get(UdpConfig.INTERFACE), UdpConfig.INTERFACE.name()));
        UdpPort group = null;
        boolean opened = false;
        try {
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
}
