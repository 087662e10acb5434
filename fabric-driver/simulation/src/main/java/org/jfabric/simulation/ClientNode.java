package org.jfabric.simulation;

import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * A process without a driver: its program is a client of the driver of another node, on the same host, by the driver's
 * socket and files. When that driver ends the process ends too, and is started again when the driver is back.
 */
final class ClientNode extends Node {
    private static final long CONNECT_TIMEOUT_NS = 1_000_000L;
    private static final long START_AGAIN_NS = 1_000_000L;

    private final Node host;
    private final Function<Node, Program> factory;
    private Fabric fabric;
    private ClientConductor conductor;
    private Program program;
    /** Life of the driver that it is attached to. */
    private int hostLife;
    /** Why the driver is gone, or null. */
    private FabricException gone;

    ClientNode(Simulation simulation, int index, String name, Node host, Function<Node, Program> factory,
        SplittableRandom random) {
        super(simulation, index, name, host.address(), Map.of(), factory, random);
        this.host = host;
        this.factory = factory;
    }

    @Override
    public Fabric fabric() {
        return fabric;
    }

    @Override
    public Fabric openFabric() {
        throw new FabricException(FabricErrno.EOPNOTSUPP, "a second client of the process " + name());
    }

    @Override
    public boolean isUp() {
        return program != null;
    }

    @Override
    boolean start() {
        if (!host.isUp()) {
            return false;
        }
        life++;
        hostLife = host.life();
        gone = null;
        FabricListener listener = new FabricListener() {
            @Override
            public void onDriverGone(FabricException why) {
                gone = why;
            }
        };
        try {
            FabricConfig config = new FabricConfig().directory(host.directory()).clientName(name()).driverUser("")
                .connectTimeoutNs(CONNECT_TIMEOUT_NS).commandTimeoutNs(COMMAND_TIMEOUT_NS).listener(listener);
            fabric = new Threads().connect(() -> Fabric.connect(config));
            program = factory.apply(this);
        } catch (FabricException failed) {
            if (!faults().explains(failed.errno())) {
                requireCause(failed);
            }
            end();
            return false;
        }
        simulation().note("attach", this, life, 0);
        return true;
    }

    Node host() {
        return host;
    }

    @Override
    Program program() {
        return program;
    }

    /** What is missing at its host. */
    @Override
    NodeFaults faults() {
        return host.faults();
    }

    /**
     * A driver whose process does not run does not answer in time, or takes no more connections; one whose memory has
     * failed ends its clients.
     */
    private void requireCause(FabricException failed) {
        boolean isLate = failed.errno() == FabricErrno.ETIMEDOUT || failed.errno() == FabricErrno.ENODEV;
        if (!(isLate && host.wasStopped()) && !hasLostMemory()) {
            throw failed;
        }
    }

    private boolean hasLostMemory() {
        return simulation().harm().of(host.index()).contains(Fault.Kind.MEMORY);
    }

    private void startLater() {
        simulation().after(Duration.ofNanos(START_AGAIN_NS), () -> {
            if (!isUp() && !start()) {
                startLater();
            }
        });
    }

    @Override
    int step(int order) {
        isInside = true;
        int work = step();
        isInside = false;
        return work;
    }

    private int step() {
        int work = conductor.poll() ? 1 : 0;
        if (gone == null) {
            try {
                work += program.run();
            } catch (FabricException failed) {
                requireCause(failed);
                simulation().note("hung", this, life, failed.errno());
                kill();
                startLater();
                return 1;
            }
        }
        if (gone != null) {
            boolean mayEnd = !host.isUp() || host.life() != hostLife || hasLostMemory();
            Account.require(mayEnd, "the driver has ended the client " + name() + ": "
                + gone.getMessage());
            simulation().note("gone", this, life, gone.errno());
            fabric.close(0);
            end();
            startLater();
            return 1;
        }
        return work;
    }

    @Override
    int cycleOnly() {
        return 0;
    }

    @Override
    boolean isRunning() {
        return isUp() && stoppedUntilNs() <= simulation().nanoTime();
    }

    @Override
    boolean hasTimers() {
        return false;
    }

    @Override
    void kill() {
        if (!isUp()) {
            return;
        }
        resume();
        conductor.abandon();
        end();
    }

    private void end() {
        if (fabric != null && program == null) {
            // the process has not come to its program
            conductor.abandon();
        }
        fabric = null;
        conductor = null;
        program = null;
    }

    @Override
    void close() {
        if (isUp()) {
            program.close();
            fabric.close(0);
            end();
        }
    }

    private final class Threads extends ClientThreads {
        @Override
        public long nanoTime() {
            return simulation().nanoTime();
        }

        @Override
        public boolean hasThreads() {
            return false;
        }

        @Override
        public void pause(long pauseNs) {
            simulation().pause();
        }

        @Override
        public void onAttached(ClientConductor attached) {
            conductor = attached;
        }
    }
}
