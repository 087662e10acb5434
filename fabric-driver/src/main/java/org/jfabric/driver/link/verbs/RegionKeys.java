package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * The registrations of clients' regions with one device: made on the resource thread when a region is first used, kept
 * while the region is open. Memory that is in no known region is registered for one transfer.
 *
 * <p>A region is held by its registration, so that its pages stay mapped as long as the card knows them, and let go of
 * soon after it was closed.
 *
 * <p>Owner: progress agent; what was registered belongs to the resource thread, whose tasks run in order: when the last
 * one gives everything back, none is under way any more.
 */
final class RegionKeys {
    /** A registration, made or on its way. */
    static final class Key {
        private final RegisteredRegion region;
        private final long address;
        private final long length;
        /** Whose transfers it is for, if it is for one transfer. */
        private final Object owner;
        private boolean isGivenUp;
        /** Resource thread. */
        private long registration;
        private boolean isReady;
        /** Why it could not be made; positive, 0 if it was. */
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
    private final VerbsDevice device;
    private final boolean exposes;
    private final Runnable onReady;
    private final Map<RegisteredRegion, Key> byRegion = new IdentityHashMap<>();
    private final List<Key> regions = new ArrayList<>();
    private final List<Key> temporary = new ArrayList<>();
    private boolean isClosed;

    /**
     * No registrations.
     *
     * @param exposes peers may read the regions.
     * @param onReady told when one is made, or was found to be impossible.
     */
    RegionKeys(Ibverbs verbs, LinkServices services, VerbsDevice device, boolean exposes, Runnable onReady) {
        this.verbs = verbs;
        this.services = services;
        this.device = device;
        this.exposes = exposes;
        this.onReady = onReady;
    }

    /**
     * The registration of a region.
     *
     * @return it, perhaps with {@link Key#errno()}; null if it is being made.
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
     * @param owner   for whose transfer, until {@link #giveUp}.
     * @param address native.
     * @param length  in bytes.
     * @return it, perhaps with {@link Key#errno()}; null if one is being made for this memory, to be given back by
     *     {@link #give}.
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

    /** A transfer has ended: what was registered for it alone is given back. */
    void give(Key key) {
        if (key.region == null && temporary.remove(key)) {
            deregister(key);
        }
    }

    /** What an owner has asked for and not used will not be used: memory can be another's at that address soon. */
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
            // the next one may try again: limits can be raised
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

    /** Gives back what belongs to closed regions; registrations given back. */
    int sweep() {
        int work = 0;
        for (int i = regions.size() - 1; i >= 0; i--) {
            Key key = regions.get(i);
            // 1 is our own use: no transfer is under way
            if (key.isReady && key.region.isClosed() && key.region.useCount() == 1) {
                regions.remove(i);
                byRegion.remove(key.region);
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
                // what a peer is asked for it writes by itself where the protocol is iWARP
                result = verbs.register(device.domain(), key.address, key.length,
                    access | VerbsConstants.ACCESS_LOCAL_WRITE
                        | (verbs.isIwarp(device.context()) ? VerbsConstants.ACCESS_REMOTE_WRITE : 0));
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
                        key.length + " bytes could not be registered with " + device.name() + ": "
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

    /** The driver ends, and no transfer is left: the regions are let go of. {@link #free} has to follow. */
    void close() {
        isClosed = true;
        for (Key key : regions) {
            key.region.release();
        }
    }

    /** Gives everything back, also what was asked for last. Resource thread, its last task for this device. */
    void free() {
        for (Key key : regions) {
            free(key);
        }
        for (Key key : temporary) {
            free(key);
        }
    }

    private void free(Key key) {
        if (key.registration != 0) {
            verbs.deregister(key.registration);
            key.registration = 0;
        }
    }
}
