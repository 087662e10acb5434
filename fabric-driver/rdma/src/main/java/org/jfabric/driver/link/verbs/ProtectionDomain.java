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
    private final VerbsLink link;
    private final Ibverbs verbs;
    private final Object owner;
    private final int number;
    private final RegionKeys keys;
    private int users;
    /** Resource thread; 0 until the first use. */
    private long pointer;
    /** Made before a connection has it, by the resource thread; null if none shares receives. */
    private SharedReceiveQueue shared;

    /**
     * A domain that is allocated when it is first used.
     *
     * @param number of the device's domain, from 0.
     * @param owner as {@link org.jfabric.driver.link.LocalEndpoint#memoryDomain}.
     */
    ProtectionDomain(VerbsDevice device, VerbsLink link, int number, Object owner) {
        this.device = device;
        this.link = link;
        this.number = number;
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

    /** Makes the receives that its connections share, once; the domain is open. Resource thread. */
    void openReceives() {
        if (shared == null) {
            shared = new SharedReceiveQueue(link, this, VerbsLink.sharedNumber(number));
        }
    }

    /** The shared receives; null if no connection has needed them. */
    SharedReceiveQueue shared() {
        return shared;
    }

    /** Tells it from the device's others. */
    int number() {
        return number;
    }

    /** Resource thread. */
    long pointer() {
        return pointer;
    }

    /** Frees it and the registrations in it. Resource thread, the last task that concerns it. */
    void free() {
        if (shared != null) {
            shared.close();
            device.giveQueues(this);
        }
        keys.free();
        if (pointer != 0) {
            verbs.freeDomain(pointer);
            pointer = 0;
        }
    }
}
