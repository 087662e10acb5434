package org.jfabric.driver.kit;

import org.jfabric.client.ClientConductor;
import org.jfabric.codec.control.ControlMessage.Event;
import org.jfabric.info.FabricException;

/** A listener of a client of which nothing is to be reported but what its subclass takes. */
public class NoEvents implements ClientConductor.Listener {
    @Override
    public void onEvent(Event event) {
        throw new AssertionError(event);
    }

    @Override
    public void onPaused(long pauseNs) {
        throw new AssertionError(pauseNs);
    }

    @Override
    public void onDriverGone(FabricException why) {
        throw new AssertionError(why);
    }
}
