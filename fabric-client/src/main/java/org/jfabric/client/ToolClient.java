package org.jfabric.client;

import java.nio.file.Path;
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
    public void onPeerDown(DriverEvent.PeerDown event) {
        // it has no endpoints
    }

    @Override
    public void onCompletionQueueOverrun(long cqId) {
        // it has no queues
    }

    @Override
    public void onConnectionEvent(DriverEvent.OfConnection event) {
        // it has no endpoints
    }

    @Override
    public void onPaused(long pauseNs) {
        // it waits for nothing but answers
    }

    @Override
    public void onDriverDraining(boolean begins) {
        // it has nothing to send
    }

    @Override
    public void onDriverGone(FabricException why) {
        // the next call throws it
    }
}
