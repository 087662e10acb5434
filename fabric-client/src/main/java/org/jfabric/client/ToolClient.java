package org.jfabric.client;

import java.nio.file.Path;
import org.jfabric.codec.control.ControlMessage.Event;
import org.jfabric.info.FabricException;

/** Connects the clients of tools, which have no objects that events of a driver could concern. */
final class ToolClient implements ClientConductor.Listener {
    private ToolClient() {
    }

    /**
     * Connects to a driver of the user that {@link DriverUser#configured()} names.
     *
     * @return a started conductor, which the caller closes.
     * @throws FabricException as {@link DriverConnection#connect}.
     */
    static ClientConductor connect(Path directory, String name, long timeoutNs) {
        ClientConductor conductor = new ClientConductor(
            DriverConnection.connect(directory, DriverUser.configured(), timeoutNs, name, ClientThreads.SYSTEM),
            new DriverState(),
            new ToolClient(), timeoutNs, Long.MAX_VALUE);
        conductor.start();
        return conductor;
    }

    @Override
    public void onEvent(Event event) {
        // it has no objects
    }

    @Override
    public void onPaused(long pauseNs) {
        // it waits for nothing but answers
    }

    @Override
    public void onDriverGone(FabricException why) {
        // the next call throws it
    }
}
