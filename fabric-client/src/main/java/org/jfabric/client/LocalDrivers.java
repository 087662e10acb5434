package org.jfabric.client;

import org.jfabric.layout.OwnerId;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The drivers that run in this process, by which a client knows whether its driver can share Java objects with it,
 * however it is attached. Any thread.
 */
public final class LocalDrivers {
    private static final Set<OwnerId> OWNERS = ConcurrentHashMap.newKeySet();

    private LocalDrivers() {
    }

    public static void add(OwnerId owner) {
        OWNERS.add(owner);
    }

    public static void remove(OwnerId owner) {
        OWNERS.remove(owner);
    }

    /** Whether a driver runs in this process. */
    public static boolean contains(OwnerId owner) {
        return OWNERS.contains(owner);
    }
}
