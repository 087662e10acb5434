package org.jfabric.driver.link.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.VerbsConfig;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * An identifier of the connection manager with an address of an RDMA device, by which an endpoint is reached and named.
 * The address is the requested one; else that of the interface that the option names; else the one with a route to the
 * destination; else the first that belongs to a device, IPv4 before IPv6.
 *
 * <p>It listens from the beginning, with an event channel of its own until the link takes it over. Any thread.
 */
final class VerbsAddress extends BoundAddress {
    /** Requests that the kernel queues at most. The handler of requests has a limit of its own. */
    private static final int BACKLOG = 1024;

    private final RdmaCm cm;
    private final SocketName name;
    private long channel;
    private long id;

    private VerbsAddress(RdmaCm cm, long channel, long id, SocketName name) {
        this.cm = cm;
        this.channel = channel;
        this.id = id;
        this.name = name;
    }

    /**
     * Binds an identifier.
     *
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if no device has such an address, or another bind error.
     */
    static VerbsAddress open(RdmaCm cm, Info wanted, DriverConfig config) {
        SocketName source = name(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return open(cm, source);
        }
        int port = source == null ? 0 : source.port();
        FabricException last = null;
        for (InetAddress candidate : candidates(name(wanted.destAddr()), config.get(VerbsConfig.INTERFACE))) {
            try {
                return open(cm, SocketName.of(new InetSocketAddress(candidate, port)));
            } catch (FabricException notThere) {
                last = notThere;
            }
        }
        throw new FabricException(FabricErrno.EADDRNOTAVAIL,
            "no RDMA device has an address here" + (last == null ? "" : ": " + last.getMessage()),
            "Give the device's network interface an address, or name one as source or in "
                + VerbsConfig.INTERFACE.name() + '.');
    }

    /**
     * Binds an identifier to the device that an info stands for, with any port.
     *
     * @throws FabricException {@code FI_EINVAL} if it names neither and there are several devices, or a bind error.
     */
    static VerbsAddress ofDevice(VerbsLibraries libraries, Info wanted, DriverConfig config) {
        SocketName source = name(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return open(libraries.cm(), source.withPort(0));
        }
        Ibverbs.DeviceList list = libraries.ibverbs().deviceList();
        int count = list == null ? 0 : list.devices().length;
        if (list != null) {
            libraries.ibverbs().freeDeviceList(list);
        }
        if (count > 1 && name(wanted.destAddr()) == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "the info of the domain names no address, and there are " + count + " RDMA devices",
                "Open the domain with a match whose source is an address of one device: its keys are good there only.");
        }
        return open(libraries.cm(), new Info().destAddr(wanted.destAddr()), config);
    }

    /** Binds to exactly that address; port 0 for any. */
    static VerbsAddress open(RdmaCm cm, SocketName wanted) {
        long channel = VerbsDevice.checked("rdma_create_event_channel", cm.createEventChannel());
        long id = cm.createId(channel);
        int result = id < 0 ? (int) id : cm.bind(id, wanted.toBytes());
        if (result == 0 && cm.context(id) == 0) {
            result = -FabricErrno.EADDRNOTAVAIL;
        }
        if (result == 0) {
            // a peer that has the address may connect before the endpoint listens: such requests wait in the kernel
            result = cm.listen(id, BACKLOG);
        }
        if (result < 0) {
            if (id > 0) {
                cm.destroyId(id);
            }
            cm.destroyEventChannel(channel);
            throw new FabricException(-result, "cannot bind " + wanted + ": " + FabricErrno.name(-result),
                "Name an address of an RDMA device of this host and a free port.");
        }
        return new VerbsAddress(cm, channel, id, SocketName.ofBytes(cm.localAddress(id)));
    }

    private static SocketName name(String text) {
        if (SocketName.isName(text)) {
            return SocketName.parse(text);
        }
        return text != null && HostNames.isHost(text) ? HostNames.resolve(text) : null;
    }

    private static List<InetAddress> candidates(SocketName destination, String option) {
        List<InetAddress> all = new ArrayList<>(LocalAddresses.candidates(
            VerbsConfig.ANY_INTERFACE.equals(option) ? null : option, destination));
        all.removeIf(InetAddress::isLoopbackAddress);
        return all;
    }

    SocketName name() {
        return name;
    }

    /** Context of the device, which stays open as long as this is bound. */
    long context() {
        return cm.context(id);
    }

    @Override
    public String address() {
        return name.toString();
    }

    /** Moves the identifier to the link's event channel and returns it; 0 if it is closed, or a negative errno. */
    synchronized long take(long linkChannel) {
        if (id == 0) {
            return 0;
        }
        int result = cm.migrate(id, linkChannel);
        if (result < 0) {
            return result;
        }
        cm.destroyEventChannel(channel);
        channel = 0;
        long taken = id;
        id = 0;
        return taken;
    }

    @Override
    public synchronized void close() {
        if (id != 0) {
            cm.destroyId(id);
            cm.destroyEventChannel(channel);
            id = 0;
        }
    }
}
