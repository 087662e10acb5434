package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.ExposureHandler;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * The registrations of clients' regions in one protection domain: made on the resource thread when a region is first
 * used, kept while the region is open. Memory that is in no known region is registered for one transfer.
 *
 * <p>A registration retains its region, so that the pages stay mapped as long as the card can use them, and releases it
 * soon after the region was closed. A region that peers may access has another registration for that, made on request
 * and freed when the region is closed, whatever other operations still use the region.
 *
 * <p>Owner: progress agent; the registrations themselves belong to the resource thread. Its tasks run in order: when
 * the last one frees everything, no other is in progress.
 */
final class RegionKeys {
    /** A registration, made or in progress. */
    static final class Key {
        private final RegisteredRegion region;
        private final long address;
        private final long length;
        /** The owner of the transfer, if the registration is for one transfer. */
        private final Object owner;
        private boolean isGivenUp;
        private boolean isExposure;
        /** Resource thread. */
        private long registration;
        private boolean isReady;
        /** Why it could not be made, a positive errno; 0 if it was made. */
        private int errno;
        private int local;
        private int remote;

        private Key(RegisteredRegion region, long address, long length, Object owner) {
            this.owner = owner;
            this.region = region;
            this.address = address;
            this.length = length;
        }

        int local() {
            return local;
        }

        int remote() {
            return remote;
        }

        int errno() {
            return errno;
        }

        private boolean covers(long from, long bytes) {
            return from >= address && bytes <= length && from - address <= length - bytes;
        }
    }

    private final Ibverbs verbs;
    private final LinkServices services;
    private final ProtectionDomain domain;
    private final boolean exposes;
    private final Runnable onReady;
    private final Map<RegisteredRegion, Key> byRegion = new IdentityHashMap<>();
    private final List<Key> regions = new ArrayList<>();
    private final List<Key> temporary = new ArrayList<>();
    private final List<Key> exposed = new ArrayList<>();
    private boolean isClosed;

    /**
     * Starts without registrations.
     *
     * @param exposes peers may read the regions.
     * @param onReady runs when a registration is made or has failed.
     */
    RegionKeys(
        Ibverbs verbs, LinkServices services, ProtectionDomain domain, boolean exposes, Runnable onReady) {
        this.verbs = verbs;
        this.services = services;
        this.domain = domain;
        this.exposes = exposes;
        this.onReady = onReady;
    }

    /**
     * The registration of a region. Returns the registration, failed if {@link Key#errno()} is not 0; null while it is
     * being made.
     */
    Key of(RegisteredRegion region) {
        Key key = byRegion.get(region);
        if (key == null) {
            region.retain();
            key = new Key(region, region.address(), region.lengthBytes(), null);
            byRegion.put(region, key);
            regions.add(key);
            register(key, exposes ? VerbsConstants.ACCESS_REMOTE_READ : 0);
        }
        return answer(key);
    }

    /**
     * A registration that covers memory whose region is not known.
     *
     * @param owner   owner of the transfer, until {@link #giveUp}.
     * @return registration, failed if {@link Key#errno()} is not 0; null while one is being made for this memory, to be
     *     released by {@link #give}.
     */
    Key covering(Object owner, long address, long length) {
        for (int i = 0; i < regions.size(); i++) {
            Key key = regions.get(i);
            if (key.isReady && key.errno == 0 && !key.region.isClosed() && key.covers(address, length)) {
                return key;
            }
        }
        for (int i = 0; i < temporary.size(); i++) {
            Key key = temporary.get(i);
            if (key.owner == owner && !key.isGivenUp && key.address == address && key.length == length) {
                return answer(key);
            }
        }
        Key key = new Key(null, address, length, owner);
        temporary.add(key);
        register(key, 0);
        return null;
    }

    /** A transfer has ended: a registration for it alone is freed. */
    void give(Key key) {
        if (key.region == null && temporary.remove(key)) {
            deregister(key);
        }
    }

    /** Frees an owner's unused registrations: the memory at their addresses may soon have another use. */
    void giveUp(Object owner) {
        for (Key key : List.copyOf(temporary)) {
            if (key.owner == owner) {
                key.isGivenUp = true;
                if (key.isReady) {
                    give(key);
                }
            }
        }
    }

    private Key answer(Key key) {
        if (!key.isReady) {
            return null;
        }
        if (key.errno != 0) {
            // the next transfer may try again: limits can be raised
            forget(key);
        }
        return key;
    }

    private void forget(Key key) {
        temporary.remove(key);
        if (key.region != null && byRegion.remove(key.region) != null) {
            regions.remove(key);
            key.region.release();
        }
    }

    /** Frees the registrations of closed regions; their number. */
    int sweep() {
        int work = 0;
        for (int i = regions.size() - 1; i >= 0; i--) {
            Key key = regions.get(i);
            // 1 is our own use: no transfer is in progress
            if (key.isReady && key.region.isClosed() && key.region.useCount() == 1) {
                regions.remove(i);
                byRegion.remove(key.region);
                deregister(key);
                work++;
            }
        }
        return work;
    }

    /**
     * Registers a region for peers. The device may not be open yet.
     *
     * @param access {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both.
     * @param bound  address that keeps the device's context open meanwhile; closed by this call's task.
     */
    void expose(RegisteredRegion region, long access, VerbsAddress bound, ExposureHandler handler) {
        for (Key known : exposed) {
            if (known.region == region) {
                CmTask.submit(services, bound::close);
                handler.onFailed(new FabricException(
                    FabricErrno.EBUSY, "the region has a key of this card already", "Use that key."));
                return;
            }
        }
        region.retain();
        Key key = new Key(region, region.address(), region.lengthBytes(), null);
        key.isExposure = true;
        exposed.add(key);
        services.submit(new Exposure(key, access, bound, handler));
    }

    /** Whether there are none, not even in progress. */
    boolean isEmpty() {
        return regions.isEmpty() && temporary.isEmpty() && exposed.isEmpty();
    }

    /** Ends the access of peers to closed regions; their number. */
    int sweepExposed() {
        int work = 0;
        for (int i = exposed.size() - 1; i >= 0; i--) {
            Key key = exposed.get(i);
            if (key.isReady && key.region.isClosed()) {
                exposed.remove(i);
                deregister(key);
                work++;
            }
        }
        return work;
    }

    private void register(Key key, int access) {
        services.submit(new ResourceTask() {
            private long result;

            @Override
            protected void execute() {
                // with iWARP the peer answers a read by writing to this memory, which needs remote write access
                result = verbs.register(domain.open(), key.address, key.length,
                    access | VerbsConstants.ACCESS_LOCAL_WRITE
                        | (verbs.isIwarp(domain.device().context()) ? VerbsConstants.ACCESS_REMOTE_WRITE : 0));
                key.registration = Math.max(0, result);
            }

            @Override
            protected void onDone() {
                if (isClosed) {
                    return;
                }
                key.isReady = true;
                if (key.isGivenUp) {
                    give(key);
                    return;
                }
                if (result < 0) {
                    key.errno = (int) -result;
                    services.onError(new FabricException(key.errno,
                        key.length + " bytes could not be registered with " + domain.device().name() + ": "
                            + FabricErrno.name(key.errno),
                        "Raise the limit of locked memory (ulimit -l) if it is " + FabricErrno.name(
                            FabricErrno.ENOMEM) + "."));
                } else {
                    key.local = verbs.localKey(result);
                    key.remote = verbs.remoteKey(result);
                }
                onReady.run();
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
                if (!isClosed) {
                    key.isReady = true;
                    key.errno = FabricErrno.EIO;
                    onReady.run();
                }
            }
        });
    }

    private void deregister(Key key) {
        services.submit(new ResourceTask() {
            @Override
            protected void execute() {
                free(key);
            }

            @Override
            protected void onDone() {
                if (key.isExposure) {
                    key.region.concealed();
                }
                if (key.region != null) {
                    key.region.release();
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
                onDone();
            }
        });
    }

    /** The driver closes and no transfer is left: the regions are released. {@link #free} has to follow. */
    void close() {
        isClosed = true;
        for (Key key : regions) {
            key.region.release();
        }
        for (Key key : exposed) {
            if (key.isReady) {
                key.region.concealed();
            }
            key.region.release();
        }
    }

    /** Frees all registrations, including the latest. Resource thread, its last task for this device. */
    void free() {
        for (Key key : regions) {
            free(key);
        }
        for (Key key : temporary) {
            free(key);
        }
        for (Key key : exposed) {
            free(key);
        }
    }

    private void free(Key key) {
        if (key.registration != 0) {
            verbs.deregister(key.registration);
            key.registration = 0;
        }
    }

    /** Registers a region for peers, and opens the device if it is the first use. */
    private final class Exposure extends ResourceTask {
        private final Key key;
        private final long access;
        private final VerbsAddress bound;
        private final ExposureHandler handler;

        Exposure(Key key, long access, VerbsAddress bound, ExposureHandler handler) {
            this.key = key;
            this.access = access;
            this.bound = bound;
            this.handler = handler;
        }

        @Override
        protected void execute() {
            try {
                domain.device().open(bound.name());
                key.registration = VerbsDevice.checked("ibv_reg_mr of " + key.length + " bytes for peers",
                    verbs.register(domain.open(), key.address, key.length, rights()));
            } finally {
                bound.close();
            }
        }

        private int rights() {
            int rights = (access & Flags.REMOTE_READ) != 0 ? VerbsConstants.ACCESS_REMOTE_READ : 0;
            if ((access & Flags.REMOTE_WRITE) != 0) {
                // a card may write for a peer only where it may write for us
                rights |= VerbsConstants.ACCESS_LOCAL_WRITE | VerbsConstants.ACCESS_REMOTE_WRITE;
                boolean isAtomic = domain.device().attributes().atomics() != VerbsConstants.ATOMIC_NONE;
                // atomic operations show old values
                rights |= isAtomic && (access & Flags.REMOTE_READ) != 0 ? VerbsConstants.ACCESS_REMOTE_ATOMIC : 0;
            }
            return rights;
        }

        @Override
        protected void onDone() {
            if (isClosed) {
                handler.onFailed(new FabricException(FabricErrno.ENODEV, "the device is gone", "Try again."));
                return;
            }
            domain.device().watch();
            key.isReady = true;
            key.region.exposed();
            handler.onExposed(Integer.toUnsignedLong(verbs.remoteKey(key.registration)), key.address);
        }

        @Override
        protected void onFailed(Throwable cause) {
            if (!isClosed) {
                domain.device().watch();
                exposed.remove(key);
                key.region.release();
            }
            if (!(cause instanceof FabricException)) {
                services.onError(cause);
            }
            handler.onFailed(cause instanceof FabricException known ? known
                : new FabricException(
                    FabricErrno.EIO, "registering memory has failed: " + cause, "See the error log."));
        }
    }
}
