package org.jfabric.driver.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Reason;

/** Checks whether this process can use an RDMA device. Stateless; any thread; slow. */
public final class VerbsDevices {
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String CAPABILITIES = "CapEff:";
    /** CAP_IPC_LOCK: the limit does not apply. */
    private static final long IPC_LOCK = 1L << 14;
    private static final String LOCKED_MEMORY = "Max locked memory";
    private static final String PORT_REMEDY =
        "Bring the port up (ip link set <device> up, opensm on InfiniBand, cable)";

    private VerbsDevices() {
    }

    /**
     * Searches for a device with an active port, and checks whether connections can be made.
     *
     * @param limit       of {@link #lockedMemoryLimitBytes()}.
     * @return conditions that fail; empty if a device can be used.
     */
    public static List<Reason> examine(VerbsLibraries libraries, long pinnedBytes, long limit) {
        List<Reason> reasons = new ArrayList<>();
        Ibverbs verbs = libraries.ibverbs();
        Ibverbs.DeviceList list = verbs.deviceList();
        if (list == null || list.devices().length == 0) {
            reasons.add(new Reason("RDMA devices", list == null ? "cannot be listed" : "none", "one or more",
                "Load the card's driver and ib_uverbs, or make a software device (rdma link add rxe0 type rxe netdev "
                    + "<device>)"));
        } else {
            ports(verbs, list, reasons);
        }
        if (list != null) {
            verbs.freeDeviceList(list);
        }
        if (reasons.isEmpty()) {
            try {
                VerbsSelfCheck.checkIdentifier(libraries.cm());
            } catch (VerbsUnavailableException e) {
                reasons.add(e.reason());
            }
        }
        if (limit < pinnedBytes) {
            reasons.add(new Reason("locked memory", limit + " bytes", pinnedBytes + " bytes for each connection",
                "Raise the limit (ulimit -l, LimitMEMLOCK), or take fewer or shorter receives (jfabric.verbs)"));
        }
        return reasons;
    }

    private static void ports(Ibverbs verbs, Ibverbs.DeviceList list, List<Reason> reasons) {
        List<Reason> failed = new ArrayList<>();
        for (long device : list.devices()) {
            String name = verbs.deviceName(device);
            long context = verbs.openDevice(device);
            if (context < 0) {
                failed.add(new Reason("device " + name, FabricErrno.name((int) -context), "opened",
                    "Let this user open /dev/infiniband/uverbs*"));
                continue;
            }
            try {
                VerbsSelfCheck.checkFunctions(context);
                verbs.dataPath(context);
                Ibverbs.DeviceAttributes attributes = verbs.queryDevice(context);
                for (int port = 1; port <= attributes.ports(); port++) {
                    Ibverbs.PortAttributes state = verbs.queryPort(context, port);
                    if (state != null && state.state() == VerbsConstants.PORT_ACTIVE) {
                        return;
                    }
                    failed.add(new Reason("device " + name + " port " + port,
                        state == null ? "no answer" : verbs.portStateText(state.state()), "PORT_ACTIVE", PORT_REMEDY));
                }
            } catch (VerbsUnavailableException e) {
                failed.add(e.reason());
            } finally {
                verbs.closeDevice(context);
            }
        }
        reasons.addAll(failed);
    }

    /**
     * The atomic capability that all devices have in common. Returns {@link VerbsConstants#ATOMIC_NONE} also without a
     * device, or if one cannot be opened.
     */
    public static int atomics(VerbsLibraries libraries) {
        Ibverbs verbs = libraries.ibverbs();
        Ibverbs.DeviceList list = verbs.deviceList();
        if (list == null) {
            return VerbsConstants.ATOMIC_NONE;
        }
        int all = list.devices().length == 0 ? VerbsConstants.ATOMIC_NONE : VerbsConstants.ATOMIC_GLOB;
        for (long device : list.devices()) {
            long context = verbs.openDevice(device);
            Ibverbs.DeviceAttributes attributes = context < 0 ? null : verbs.queryDevice(context);
            all = Math.min(all, attributes == null ? VerbsConstants.ATOMIC_NONE : attributes.atomics());
            if (context >= 0) {
                verbs.closeDevice(context);
            }
        }
        verbs.freeDeviceList(list);
        return all;
    }

    /** Largest amount of memory that this process may lock. Returns the bytes; {@link Long#MAX_VALUE} for no limit. */
    public static long lockedMemoryLimitBytes() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith(CAPABILITIES)
                    && (Long.parseUnsignedLong(line.substring(CAPABILITIES.length()).strip(), 16) & IPC_LOCK) != 0) {
                    return Long.MAX_VALUE;
                }
            }
            for (String line : Files.readAllLines(LIMITS)) {
                if (line.startsWith(LOCKED_MEMORY)) {
                    String soft = line.substring(LOCKED_MEMORY.length()).strip().split("\\s+")[0];
                    return "unlimited".equals(soft) ? Long.MAX_VALUE : Long.parseLong(soft);
                }
            }
        } catch (IOException | NumberFormatException unknown) {
            return Long.MAX_VALUE;
        }
        return Long.MAX_VALUE;
    }
}
