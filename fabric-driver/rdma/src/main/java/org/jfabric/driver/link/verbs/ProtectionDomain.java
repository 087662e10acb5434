package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.Ibverbs;

/**
 * A protection domain of a device: a key of one domain is good only for queue pairs of the same domain. All connections
 * whose peers access no memory share one. Those of each domain of an application with remote memory access have one of
 * their own, while it has connections or registered regions.
 *
 * <p>Owner: progress agent, except where a method says otherwise.
 */
final class ProtectionDomain {
    private final VerbsDevice device;
    private final Ibverbs verbs;
    private final Object owner;
    private final RegionKeys keys;
    private int users;
    /** Resource thread; 0 until the first use. */
    private long pointer;

    /**
     * A domain that is allocated when it is first used.
     *
     * @param owner as {@link org.jfabric.driver.link.LocalEndpoint#memoryDomain()}.
     */
    ProtectionDomain(VerbsDevice device, VerbsLink link, Object owner) {
        this.device = device;
        this.verbs = link.libraries().ibverbs();
        this.owner = owner;
        this.keys = new RegionKeys(
            verbs, link.services(), this, link.settings().exposes(), link::onKeyReady);
    }

    VerbsDevice device() {
        return device;
    }

    boolean isOf(Object other) {
        return owner == other;
    }

    RegionKeys keys() {
        return keys;
    }

    /** A connection uses it from now on, until {@link #give()}. */
    ProtectionDomain take() {
        users++;
        return this;
    }

    void give() {
        users--;
    }

    /** Whether neither a connection nor a region uses it. */
    boolean isUnused() {
        return users == 0 && keys.isEmpty();
    }

    /** Allocates it, once; the device is open. Resource thread. */
    long open() {
        if (pointer == 0) {
            pointer = VerbsDevice.checked("ibv_alloc_pd", verbs.allocateDomain(device.context()));
        }
        return pointer;
    }

    /** Resource thread. */
    long pointer() {
        return pointer;
    }

    /** Frees it and the registrations in it. Resource thread, the last task that concerns it. */
    void free() {
        keys.free();
        if (pointer != 0) {
            verbs.freeDomain(pointer);
            pointer = 0;
        }
    }
}
