package org.jfabric.simulation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.SimulatedDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricException;
import org.jfabric.layout.OwnerId;

/**
 * A process, which can be killed and started again: on a host of its own a program with an embedded driver, or a
 * program that is a client of the driver of another node.
 */
public class Node {
    /** How long control calls wait. */
    static final long COMMAND_TIMEOUT_NS = 10_000_000_000L;

    private final Simulation simulation;
    private final int index;
    private final String name;
    private final String address;
    private final Map<String, String> options;
    private final Function<Node, Program> factory;
    private final SplittableRandom random;
    private final List<Throwable> errors = new ArrayList<>();
    private final Surroundings surroundings = new Surroundings();
    private final NodeFaults faults;
    private SimulatedDriver driver;
    private Fabric fabric;
    /** Those of further clients. */
    private final List<Fabric> further = new ArrayList<>();
    private Program program;
    /** How often it was started. */
    int life;
    private long stoppedUntilNs;
    private boolean wasStopped;
    private long wakeNs;
    /** Its driver or program is being run. */
    boolean isInside;

    Node(Simulation simulation, int index, String name, String address, Map<String, String> options,
        Function<Node, Program> factory, SplittableRandom random) {
        this.simulation = simulation;
        this.index = index;
        this.name = name;
        this.address = address;
        this.options = options;
        this.factory = factory;
        this.random = random;
        this.faults = new NodeFaults(simulation, simulation.seed() * 31 + index);
    }

    public String name() {
        return name;
    }

    /** Its number, from 0, in the order of the nodes. */
    public int index() {
        return index;
    }

    /** The address of its host. Returns an IPv4 address without port. */
    public String address() {
        return address;
    }

    /** Its address in a second network, which streams with two paths use. */
    String secondAddress() {
        return second(address);
    }

    /** The address in the second network of a host that has one in the first. */
    static String second(String first) {
        return first.replace("10.0.", "10.1.");
    }

    /** The fabric on its driver, open while the node runs. */
    public Fabric fabric() {
        return fabric;
    }

    /**
     * Opens a further fabric on its driver, for a client beside the one of {@link #fabric()}, open while the node runs,
     * unless the caller closes it.
     */
    public Fabric openFabric() {
        Fabric opened = driver.fabric(new FabricConfig().commandTimeoutNs(COMMAND_TIMEOUT_NS));
        further.add(opened);
        return opened;
    }

    /** The simulation. Returns the same object always. */
    public Simulation simulation() {
        return simulation;
    }

    /** Random numbers of the program. */
    public SplittableRandom random() {
        return random;
    }

    /** How often it was started. Returns 1 in its first life. */
    public int life() {
        return life;
    }

    /** Whether its process exists; it may be stopped. */
    public boolean isUp() {
        return driver != null;
    }

    /** Errors that its driver has recorded, in all its lives. Returns the oldest first. */
    public List<Throwable> errors() {
        return errors;
    }

    /**
     * Has time pass no further than to a moment at which the program wants to run, if all nodes are idle.
     *
     * @param timeNs of the clock of the simulation; a later call replaces it.
     */
    public void wakeAt(long timeNs) {
        wakeNs = timeNs;
    }

    long wakeNs() {
        return isUp() ? wakeNs : 0;
    }

    Path directory() {
        return simulation.base().resolve(name);
    }

    /** What is wrong with it now. */
    NodeFaults faults() {
        return faults;
    }

    /** Starts its process; false if it has ended at once, because something is missing that it needs. */
    boolean start() {
        life++;
        faults.disk().revive();
        DriverConfig.Builder builder = DriverConfig.builder().directory(directory())
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.tcp.interface", address)
            .set("jfabric.udp.interface", address).set("jfabric.log.recordEvents", "0");
        options.forEach(builder::set);
        isInside = true;
        try {
            driver = SimulatedDriver.launch(
                builder.build(), surroundings, simulation.network(), simulation.datagrams());
            fabric = driver.fabric(new FabricConfig().commandTimeoutNs(COMMAND_TIMEOUT_NS));
            program = factory.apply(this);
        } catch (FabricException missing) {
            if (!faults.explains(missing.errno())) {
                throw missing;
            }
            simulation.note("no start", this, life, missing.errno());
            close();
            return false;
        } finally {
            isInside = false;
        }
        simulation.note("start", this, life, 0);
        return true;
    }

    Program program() {
        return program;
    }

    /** Makes one step; returns the work done. */
    int step(int order) {
        isInside = true;
        NodeFaults before = faults.enter();
        int work = 0;
        try {
            work = order == 0 ? driver.cycle() : 0;
            if (order < 3 && driver != null) {
                work += program.run();
            }
            if (order > 0 && driver != null) {
                work += driver.cycle();
            }
        } catch (RuntimeException | Error failed) {
            if (!isKilled()) {
                throw failed;
            }
        }
        NodeFaults.exit(before);
        isInside = false;
        return work;
    }

    /** Whether its process was killed in the middle of a call, and has yet to be ended. */
    boolean isKilled() {
        return driver != null && faults().disk().isDead();
    }

    /** Runs its driver while another node waits in a control call. */
    int cycleOnly() {
        if (!isRunning() || isInside) {
            return 0;
        }
        NodeFaults before = faults.enter();
        int work = 0;
        try {
            work = driver.cycle();
        } catch (RuntimeException | Error failed) {
            if (!isKilled()) {
                throw failed;
            }
        }
        NodeFaults.exit(before);
        return work;
    }

    /** Does something as its process. */
    void inside(Runnable action) {
        isInside = true;
        NodeFaults before = faults().enter();
        action.run();
        NodeFaults.exit(before);
        isInside = false;
    }

    /** Whether its driver or program is being run, and waits perhaps for others. */
    boolean isInside() {
        return isInside;
    }

    boolean isRunning() {
        return driver != null && stoppedUntilNs <= simulation.nanoTime();
    }

    /** Checks the accounts of its driver; empty if nothing is wrong. */
    List<String> check(boolean isAtRest) {
        return driver == null ? List.of() : driver.check(isAtRest);
    }

    boolean hasTimers() {
        return driver != null && driver.hasTimers();
    }

    void stop(long untilNs) {
        stoppedUntilNs = Math.max(stoppedUntilNs, untilNs);
        wasStopped |= untilNs > simulation.nanoTime();
    }

    /** Ends all stops. */
    void resume() {
        stoppedUntilNs = 0;
    }

    /** Whether a fault has kept it from running. */
    boolean wasStopped() {
        return wasStopped;
    }

    /** When it runs again, if it is stopped. */
    long stoppedUntilNs() {
        return stoppedUntilNs;
    }

    void kill() {
        if (driver == null) {
            return;
        }
        faults.disk().die();
        SimulatedDriver killed = driver;
        Fabric lost = fabric;
        driver = null;
        fabric = null;
        program = null;
        resume();
        simulation.network().kill(address);
        simulation.datagrams().kill(address);
        simulation.datagrams().kill(secondAddress());
        killed.kill();
        faults.disk().closeLeft();
        if (lost != null) {
            // what the application had mapped goes with its process
            lost.close(0);
        }
        further.forEach(each -> each.close(0));
        further.clear();
    }

    void close() {
        if (driver == null) {
            return;
        }
        SimulatedDriver closed = driver;
        isInside = true;
        if (program != null) {
            program.close();
        }
        if (fabric != null) {
            fabric.close(0);
        }
        further.forEach(each -> each.close(0));
        further.clear();
        closed.close();
        isInside = false;
        driver = null;
        fabric = null;
        program = null;
    }

    private final class Surroundings extends Environment {
        @Override
        public long nanoTime() {
            return simulation.nanoTime();
        }

        @Override
        public long currentTimeMillis() {
            return simulation.nanoTime() / 1_000_000 + faults.clockJumpMs();
        }

        @Override
        public MappedFile createFile(int directoryFd, String fileName, long lengthBytes, long reservedBytes) {
            faults.checkCreate(fileName, lengthBytes);
            return super.createFile(directoryFd, fileName, lengthBytes, reservedBytes);
        }

        @Override
        public MappedFile openFile(int directoryFd, String fileName, long minLengthBytes) {
            faults.checkOpen(fileName);
            return super.openFile(directoryFd, fileName, minLengthBytes);
        }

        @Override
        public LogDisk logDisk() {
            return faults.disk();
        }

        @Override
        public boolean isKilled() {
            return faults.disk().isDead();
        }

        @Override
        public OwnerId ownerId() {
            return new OwnerId(random.nextLong(), random.nextLong());
        }

        @Override
        public long randomLong() {
            return random.nextLong();
        }

        @Override
        public long secretLong() {
            return random.nextLong();
        }

        @Override
        public boolean hasThreads() {
            return false;
        }

        @Override
        public void pause() {
            // its own driver is run by the call that waits, which may come from outside of the program
            boolean wasInside = isInside;
            isInside = true;
            simulation.pause();
            isInside = wasInside;
        }

        @Override
        public void onError(Throwable error) {
            if (faults.disk().isDead()) {
                return;
            }
            errors.add(error);
            simulation.note("error", Node.this, 0, 0);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
