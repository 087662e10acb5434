package org.jfabric.driver.link.verbs;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.info.SocketName;

/**
 * An identifier of the connection manager that belongs to a device. Any read of the device list may make the library
 * notice that a device was removed. The library then closes the device's context when no identifier uses it, whatever
 * else was made from it, and all other objects would be pointers into freed memory. The identifier also gets the event
 * of the removal when there is no listener and no connection; not every device has an asynchronous event for it.
 *
 * <p>If no identifier can be bound, for instance to an address of several devices, only the connections keep the
 * context open.
 */
final class DeviceAnchor {
    private static final long UNLISTED_NS = 1_000_000_000L;
    private static final long LOOK_NS = 1_000_000L;

    private final VerbsLink link;
    private final VerbsDevice device;
    private final RdmaCm cm;
    private final Ibverbs verbs;
    /** Pointer in the library's device list, while the device is present. */
    private final long listed;
    private final long channel;
    /** 0 or negative if there is none. */
    private final long id;
    /** Progress agent. */
    private boolean isTaking;

    /** Binds an identifier to an address of the device. Resource thread. */
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

    /** Watches for the removal of the device. Progress agent. */
    void watch() {
        if (channel > 0) {
            link.descriptors().add(cm.eventChannelFd(channel), this::look);
        }
    }

    /** Stops watching. Progress agent. */
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

    /** Returns 1 if the device was removed. Resource thread, as every call on an identifier. */
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
     * Frees the anchor, as the last step of freeing the device. Resource thread.
     *
     * @param isGone the device was removed; the kernel does not finish that while the context is open.
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
            cm.refreshDevices();
        }
    }

    /** The kernel reports the removal of a device before it takes the device out of the list. */
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
