package org.jfabric.driver.kit;

import org.jfabric.client.ClientConductor;
import org.jfabric.client.DriverEvent;
import org.jfabric.info.FabricException;

/** A listener of a client of which nothing is to be reported but what its subclass takes. */
public class NoEvents implements ClientConductor.Listener {
    @Override
    public void onPeerDown(DriverEvent.PeerDown event) {
        throw new AssertionError(event);
    }

    @Override
    public void onCompletionQueueOverrun(long cqId) {
        throw new AssertionError(cqId);
    }

    @Override
    public void onPaused(long pauseNs) {
        throw new AssertionError(pauseNs);
    }

    @Override
    public void onDriverDraining(boolean begins) {
        throw new AssertionError(begins);
    }

    @Override
    public void onDriverGone(FabricException why) {
        throw new AssertionError(why);
    }
}
