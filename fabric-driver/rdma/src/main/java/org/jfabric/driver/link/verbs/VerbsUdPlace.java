package org.jfabric.driver.link.verbs;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.VerbsConfig;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * The place of an endpoint: one GID of an active port of a device. It is the requested GID, given as such or by the IP
 * address that it maps; else that of the interface which the option names; else one of the destination's kind; else the
 * one with the index that an option gives, of the first active port that has it; else the first.
 *
 * @param port     from 1.
 * @param gid      16 bytes.
 * @param pkey     of the default partition, network byte order.
 */
record VerbsUdPlace(
    String device, int port, int gidIndex, byte[] gid, Ibverbs.PortAttributes state, short pkey) {
    private static final int MAPPED = 1;
    private static final int LINK_LOCAL = 2;
    private static final int OTHER = 3;

    /** Longest datagram. */
    int packetBytes() {
        return (int) Math.min(state.packetBytes(), state.maxMessageBytes());
    }

    IbUdName name(int queuePair) {
        return IbUdName.of(gid, queuePair, state.lid(), pkey, state.managerLevel());
    }

    /** Whether two GIDs are of the same kind: a packet has both, in a header of one family. */
    static boolean isAlike(byte[] first, byte[] second) {
        return kind(first) == kind(second);
    }

    private static int kind(byte[] gid) {
        return Arrays.equals(gid, 0, 12, mapped(new byte[4]), 0, 12) ? MAPPED
            : gid[0] == (byte) 0xfe && (gid[1] & 0xc0) == 0x80 ? LINK_LOCAL : OTHER;
    }

    /** The GID of an IP address on Ethernet. */
    static byte[] mapped(byte[] address) {
        if (address.length == IbUdName.GID_LENGTH) {
            return address;
        }
        byte[] gid = new byte[IbUdName.GID_LENGTH];
        gid[10] = -1;
        gid[11] = -1;
        System.arraycopy(address, 0, gid, 12, address.length);
        return gid;
    }

    /**
     * Chooses a place.
     *
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if there is none.
     */
    static VerbsUdPlace choose(VerbsLibraries libraries, Info wanted, DriverConfig config) {
        List<VerbsUdPlace> all = all(libraries.ibverbs());
        if (all.isEmpty()) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "no port of an RDMA device is active and has a GID",
                "See ./fabric info --why.");
        }
        if (IbUdName.isName(wanted.srcAddr())) {
            IbUdName source = IbUdName.parse(wanted.srcAddr());
            if (source.queuePair() != 0) {
                throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                    "the source names queue pair " + Integer.toHexString(source.queuePair()),
                    "Write 0 there: the card gives the numbers.");
            }
            return first(all, place -> Arrays.equals(place.gid, source.gid()), wanted.srcAddr());
        }
        SocketName source = socket(wanted.srcAddr());
        if (source != null && !source.inetAddress().isAnyLocalAddress()) {
            return of(libraries.cm(), libraries.ibverbs(), all, source.inetAddress(), config);
        }
        String networkInterface = config.get(VerbsConfig.INTERFACE);
        if (!VerbsConfig.ANY_INTERFACE.equals(networkInterface)) {
            InetAddress address = LocalAddresses.choose(
                new Info(), networkInterface, VerbsConfig.INTERFACE.name()).inetAddress();
            return of(libraries.cm(), libraries.ibverbs(), all, address, config);
        }
        if (IbUdName.isName(wanted.destAddr())) {
            byte[] destination = IbUdName.parse(wanted.destAddr()).gid();
            for (VerbsUdPlace place : all) {
                if (isAlike(place.gid, destination)) {
                    return place;
                }
            }
        }
        int gidIndex = config.get(VerbsConfig.GID_INDEX);
        return all.stream().filter(place -> place.gidIndex == gidIndex).findFirst().orElse(all.getFirst());
    }

    private static SocketName socket(String text) {
        if (SocketName.isName(text)) {
            return SocketName.parse(text);
        }
        return text != null && HostNames.isHost(text) ? HostNames.resolve(text) : null;
    }

    private static VerbsUdPlace first(List<VerbsUdPlace> all, Predicate<VerbsUdPlace> wanted, String what) {
        return all.stream().filter(wanted).findFirst().orElseThrow(() -> new FabricException(
            FabricErrno.EADDRNOTAVAIL, "no active port of an RDMA device has " + what + "; there are " + all.stream()
                .map(place -> place.device + " port " + place.port + " " + place.name(0)).toList(),
            "Name one of these, or an IP address of the device's interface."));
    }

    /** Chooses by IP address: on Ethernet it is a GID, elsewhere the connection manager finds its device. */
    private static VerbsUdPlace of(
        RdmaCm cm, Ibverbs verbs, List<VerbsUdPlace> all, InetAddress address, DriverConfig config) {
        byte[] gid = mapped(address.getAddress());
        for (VerbsUdPlace place : all) {
            if (Arrays.equals(place.gid, gid)) {
                return place;
            }
        }
        long channel = VerbsUdPort.checked("rdma_create_event_channel", cm.createEventChannel());
        long id = cm.createDatagramId(channel);
        try {
            boolean isBound = id > 0 && cm.bind(id, SocketName.of(new InetSocketAddress(address, 0)).toBytes()) == 0
                && cm.context(id) != 0;
            String device = isBound ? verbs.deviceName(verbs.deviceOf(cm.context(id))) : "";
            int port = isBound ? cm.port(id) : 0;
            return first(all, place -> place.device.equals(device) && place.port == port
                && place.gidIndex == config.get(VerbsConfig.GID_INDEX), address.getHostAddress());
        } finally {
            if (id > 0) {
                cm.destroyId(id);
            }
            cm.destroyEventChannel(channel);
        }
    }

    /** All GIDs of active ports. */
    private static List<VerbsUdPlace> all(Ibverbs verbs) {
        List<VerbsUdPlace> all = new ArrayList<>();
        Ibverbs.DeviceList list = verbs.deviceList();
        if (list == null) {
            return all;
        }
        try {
            for (long device : list.devices()) {
                long context = verbs.openDevice(device);
                if (context > 0) {
                    ports(verbs, context, verbs.deviceName(device), all);
                    verbs.closeDevice(context);
                }
            }
        } finally {
            verbs.freeDeviceList(list);
        }
        return all;
    }

    private static void ports(Ibverbs verbs, long context, String device, List<VerbsUdPlace> all) {
        Ibverbs.DeviceAttributes attributes = verbs.queryDevice(context);
        for (int port = 1; attributes != null && port <= attributes.ports(); port++) {
            Ibverbs.PortAttributes state = verbs.queryPort(context, port);
            if (state != null && state.state() == VerbsConstants.PORT_ACTIVE) {
                short pkey = verbs.partitionKey(context, port);
                for (int index = 0; index < state.gids(); index++) {
                    byte[] gid = verbs.gid(context, port, index);
                    if (gid != null && !Arrays.equals(gid, new byte[gid.length])) {
                        all.add(new VerbsUdPlace(device, port, index, gid, state, pkey));
                    }
                }
            }
        }
    }

    /** The IP address of this port that groups of a family are joined from; null if none is known. */
    static InetAddress address(VerbsLibraries libraries, VerbsUdPlace here, boolean isIn6) {
        if (here.state.linkLayer() != VerbsConstants.LINK_LAYER_ETHERNET) {
            return null;
        }
        byte[] found = null;
        for (VerbsUdPlace place : all(libraries.ibverbs())) {
            boolean isThisPort = place.device.equals(here.device) && place.port == here.port;
            boolean isFamily = (kind(place.gid) == MAPPED) != isIn6 && (!isIn6 || kind(place.gid) == OTHER);
            // preferably the endpoint's own GID, by which receivers recognise it
            if (isThisPort && isFamily && (found == null || Arrays.equals(place.gid, here.gid))) {
                found = place.gid;
            }
        }
        try {
            return found == null ? null
                : InetAddress.getByAddress(isIn6 ? found : Arrays.copyOfRange(found, 12, found.length));
        } catch (UnknownHostException ex) {
            throw new IllegalStateException("a GID of " + found.length + " bytes", ex);
        }
    }
}
