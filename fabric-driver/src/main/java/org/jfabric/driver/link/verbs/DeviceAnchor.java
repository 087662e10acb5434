package org.jfabric.driver.link.verbs;

import org.jfabric.SocketName;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * An identifier of the connection manager that is a device's own. Once the library has noticed that a device was taken
 * away, which any look at the list of devices may do, it closes the context when no identifier has it, whatever else
 * was made of it: everything else would be a pointer into freed memory. The identifier is also told that the device
 * goes where nobody else listens or is connected, and not every device has an asynchronous event for that.
 *
 * <p>Where none can be bound, as to an address of several devices, the connections keep the context open, and nothing
 * else does.
 */
final class DeviceAnchor {
    private static final long UNLISTED_NS = 1_000_000_000L;
    private static final long LOOK_NS = 1_000_000L;

    private final VerbsLink link;
    private final VerbsDevice device;
    private final RdmaCm cm;
    private final Ibverbs verbs;
    /** In the library's list of devices, while there is such a device. */
    private final long listed;
    private final long channel;
    /** Not above 0 if there is none. */
    private final long id;
    /** Progress agent. */
    private boolean isTaking;

    /** Binds one to an address of the device. Resource thread. */
    DeviceAnchor(VerbsLink link, VerbsDevice device, SocketName local) {
        this.link = link;
        this.device = device;
        this.cm = link.libraries().cm();
        this.verbs = link.libraries().ibverbs();
        this.listed = verbs.deviceOf(device.context());
        this.channel = cm.createEventChannel();
        this.id = channel > 0 ? bound(local) : 0;
    }

    private long bound(SocketName local) {
        long made = cm.createId(channel);
        if (made > 0 && (cm.bind(made, local.toBytes()) < 0 || cm.context(made) != device.context())) {
            cm.destroyId(made);
            return 0;
        }
        return made;
    }

    /** Whether the context stays open until {@link #free}. */
    boolean holds() {
        return id > 0;
    }

    /** Looks whether the device is taken away, from now on. Progress agent. */
    void watch() {
        if (channel > 0) {
            link.descriptors().add(cm.eventChannelFd(channel), this::look);
        }
    }

    /** Ends looking. Progress agent. */
    void unwatch() {
        if (channel > 0) {
            link.descriptors().remove(cm.eventChannelFd(channel));
        }
    }

    private void look() {
        if (!isTaking) {
            isTaking = true;
            CmTask.submit(link.services(), this::take, this::onTaken);
        }
    }

    /** 1 if the device is taken away. Resource thread, as all that concerns identifiers. */
    private int take() {
        int removed = 0;
        for (RdmaCm.CmEvent event = cm.takeEvent(channel); event != null; event = cm.takeEvent(channel)) {
            removed |= event.type() == VerbsConstants.CM_DEVICE_REMOVAL ? 1 : 0;
        }
        return removed;
    }

    private void onTaken(int removed) {
        isTaking = false;
        if (removed > 0 && !link.isClosed()) {
            link.onRemoval(device);
        }
    }

    /**
     * The last thing that is done with the device. Resource thread.
     *
     * @param isGone it was taken away, which the kernel does not end while the context is open.
     */
    void free(boolean isGone) {
        if (id > 0) {
            cm.destroyId(id);
        }
        if (channel > 0) {
            cm.destroyEventChannel(channel);
        }
        if (isGone) {
            awaitUnlisted();
            cm.lookAtDevices();
        }
    }

    /** The kernel tells that a device goes before it takes it out of the list. */
    private void awaitUnlisted() {
        long deadlineNs = System.nanoTime() + UNLISTED_NS;
        while (isListed() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    private boolean isListed() {
        Ibverbs.DeviceList list = verbs.deviceList();
        if (list == null) {
            return false;
        }
        try {
            return Arrays.stream(list.devices()).anyMatch(known -> known == listed);
        } finally {
            verbs.freeDeviceList(list);
        }
    }
}
