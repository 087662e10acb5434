package org.jfabric.driver.link.verbs;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsDataPath;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsSelfCheck;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * The objects that an endpoint has of a device: a context of its own, so that it gets the device's events, a protection
 * domain, and a queue pair whose number is part of the endpoint's name.
 *
 * <p>Made on the resource thread. After that the queue pair belongs to the progress agent. The calls here that make and
 * free objects are for the resource thread. They exclude each other and {@link #close()}, which a closing driver may
 * call at any time.
 */
final class VerbsUdPort extends BoundAddress {
    /** Q_Key of all endpoints, the same as in libfabric's verbs provider. */
    static final int KEY = 0x1111_1111;

    private static final VerbsUdMembership NO_GROUP = new VerbsUdMembership(null, new byte[0]);

    private final VerbsLibraries libraries;
    private final VerbsUdSettings settings;
    private final VerbsUdPlace place;
    private long context;
    private long domain;
    private long channel;
    private VerbsDataPath path;
    private VerbsUdQueuePair queuePair;
    private IbUdName name;
    private boolean isClosed;
    /** Address handles, each with the membership that it needs. */
    private final Map<Long, VerbsUdMembership> handles = new HashMap<>();
    /** Queue pairs of groups, with the memberships that are the groups' own. */
    private final Map<VerbsUdQueuePair, VerbsUdMembership> groups = new IdentityHashMap<>();

    private VerbsUdPort(VerbsLibraries libraries, VerbsUdSettings settings, VerbsUdPlace place) {
        this.libraries = libraries;
        this.settings = settings;
        this.place = place;
    }

    /**
     * Opens a port.
     *
     * @throws FabricException {@code FI_EADDRNOTAVAIL} if no device has such an address, or the errno of a failed call.
     */
    static VerbsUdPort open(VerbsLibraries libraries, Info wanted, DriverConfig config) {
        VerbsUdPlace place = VerbsUdPlace.choose(libraries, wanted, config);
        VerbsUdPort port = new VerbsUdPort(libraries, VerbsUdSettings.of(config), place);
        try {
            port.make();
            return port;
        } catch (RuntimeException | Error e) {
            port.close();
            throw e;
        }
    }

    private void make() {
        Ibverbs verbs = libraries.ibverbs();
        context = openDevice(verbs);
        path = verbs.dataPath(context);
        domain = checked("ibv_alloc_pd", verbs.allocateDomain(context));
        channel = checked("ibv_create_comp_channel", verbs.createChannel(context));
        queuePair = VerbsUdQueuePair.open(this);
        name = place.name(verbs.queuePairNumber(queuePair.pointer()));
    }

    private long openDevice(Ibverbs verbs) {
        Ibverbs.DeviceList list = verbs.deviceList();
        try {
            for (long device : list == null ? new long[0] : list.devices()) {
                if (verbs.deviceName(device).equals(place.device())) {
                    return checked("ibv_open_device", verbs.openDevice(device));
                }
            }
        } finally {
            if (list != null) {
                verbs.freeDeviceList(list);
            }
        }
        throw new FabricException(FabricErrno.ENODEV, "the device " + place.device() + " is gone",
            "See ./fabric info --why.");
    }

    static long checked(String call, long result) {
        if (result < 0) {
            int errno = (int) -result;
            throw new FabricException(errno, call + ": " + FabricErrno.name(errno),
                errno == FabricErrno.ENOMEM ? "Raise the limit of locked memory (ulimit -l)."
                    : "See the kernel's messages.");
        }
        return result;
    }

    @Override
    public String address() {
        return name.toString();
    }

    @Override
    public BoundAddress join(SocketName group) {
        return VerbsUdGroup.open(this, group);
    }

    /**
     * Makes an address handle.
     *
     * @param joined membership in the destination group, which the port owns from now on; or null.
     * @return handle, or a negative errno if it cannot be made or the port is closed.
     */
    synchronized long createHandle(byte[] route, VerbsUdMembership joined) {
        long handle = isClosed ? -FabricErrno.ENODEV : libraries.ibverbs().createAddressHandle(domain, route);
        if (handle > 0) {
            VerbsSelfCheck.checkAddressHandle(context, domain, handle);
            handles.put(handle, joined == null ? NO_GROUP : joined);
        } else if (joined != null) {
            joined.close();
        }
        return handle;
    }

    /** Destroys an address handle, if the port is still open. */
    synchronized void destroyHandle(long handle) {
        VerbsUdMembership joined = handles.remove(handle);
        if (joined != null) {
            libraries.ibverbs().destroyAddressHandle(handle);
            joined.close();
        }
    }

    /** Resumes the sends of the queue pair; 0 or a negative errno. */
    synchronized int resumeSends() {
        return isClosed ? -FabricErrno.ENODEV : libraries.ibverbs().resumeSends(queuePair.pointer());
    }

    /** Makes a queue pair for a group's datagrams. */
    synchronized VerbsUdQueuePair openGroup(VerbsUdMembership membership) {
        if (isClosed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the endpoint " + name + " is closed");
        }
        VerbsUdQueuePair made = VerbsUdQueuePair.ofGroup(this, membership.key());
        int result = libraries.ibverbs().attachGroup(made.pointer(), membership.route());
        if (result < 0) {
            made.close();
            throw new FabricException(-result, "ibv_attach_mcast: " + FabricErrno.name(-result),
                "See how many groups the device takes (ibv_devinfo -v, max_mcast_grp and max_mcast_qp_attach).");
        }
        groups.put(made, membership);
        return made;
    }

    /** Closes such a queue pair, if the port is still open. */
    synchronized void closeGroup(VerbsUdQueuePair group) {
        VerbsUdMembership membership = groups.remove(group);
        if (membership != null) {
            libraries.ibverbs().detachGroup(group.pointer(), membership.route());
            group.close();
        }
    }

    VerbsLibraries libraries() {
        return libraries;
    }

    VerbsUdSettings settings() {
        return settings;
    }

    VerbsUdPlace place() {
        return place;
    }

    long context() {
        return context;
    }

    long domain() {
        return domain;
    }

    /** Completion channel of its completion queues. */
    long channel() {
        return channel;
    }

    VerbsDataPath path() {
        return path;
    }

    VerbsUdQueuePair queuePair() {
        return queuePair;
    }

    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        Ibverbs verbs = libraries.ibverbs();
        List.copyOf(groups.keySet()).forEach(this::closeGroup);
        if (queuePair != null) {
            queuePair.close();
        }
        List.copyOf(handles.keySet()).forEach(this::destroyHandle);
        if (channel > 0) {
            verbs.destroyChannel(channel);
        }
        if (domain > 0) {
            verbs.freeDomain(domain);
        }
        if (context > 0) {
            verbs.closeDevice(context);
        }
    }
}
