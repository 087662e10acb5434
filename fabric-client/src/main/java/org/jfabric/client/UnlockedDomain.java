package org.jfabric.client;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** A domain of an embedded driver whose objects have no locks. */
public interface UnlockedDomain {
    /**
     * Checks that its objects can get locks now.
     *
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} in a handler that one of its queues has called.
     */
    void requireNoHandler();

    /** Gives locks to all its objects, and to those that are opened later. No other thread is in a call of it. */
    void startLocking();
}
