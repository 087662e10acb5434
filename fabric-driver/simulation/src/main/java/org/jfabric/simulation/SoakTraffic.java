package org.jfabric.simulation;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.jfabric.Fabric;
import org.jfabric.simulation.soak.SoakDrivers;
import org.jfabric.simulation.soak.SoakWorld;

/**
 * The soak in a simulation: the drivers of its world are nodes, and virtual time passes between its operations. The
 * applications are not programs of the nodes, because the world runs them all.
 *
 * <p>Its model knows no operation that fails because of a connection, so that faults only delay what happens: nodes
 * that do not run, and short cuts of the network.
 */
final class SoakTraffic extends SoakDrivers {
    private static final long LONGEST_FAULT_NS = 100_000_000L;
    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final int OPERATIONS = 1000;
    private static final int MOST_STEPS = 6;
    private static final int SHORT_PAUSE_BITS = 14;
    private static final int LONGEST_PAUSE_BITS = 24;
    private static final long PUMPS_PER_BIT = 256;

    private final Simulation simulation;
    private final SplittableRandom steps;
    /** Since the last operation. */
    private long pumps;

    private SoakTraffic(Simulation simulation, Simulate.Plan plan, Random random) {
        super(plan.link(), true, random);
        this.simulation = simulation;
        steps = new SplittableRandom(~simulation.seed());
        Map<String, String> all = new HashMap<>(options);
        all.put("jfabric.link.enabled", "loopback".equals(link) ? link : "loopback," + link);
        for (int i = 0; i < count(); i++) {
            simulation.add("n" + i, all, node -> () -> 0);
        }
        simulation.start();
        simulation.faults(plan.faults().stream().filter(this::onlyDelays).map(SoakTraffic::shorten).toList());
    }

    private boolean onlyDelays(Fault fault) {
        return (fault.kind() == Fault.Kind.CUT || fault.kind() == Fault.Kind.STOP) && fault.node() < count()
            && fault.other() < count();
    }

    private static Fault shorten(Fault fault) {
        return new Fault(fault.timeNs(), fault.kind(), fault.node(), fault.other(),
            Math.min(fault.durationNs(), LONGEST_FAULT_NS));
    }

    static Simulate.Result run(long seed, Duration duration, Simulate.Plan plan) {
        try (Simulation simulation = new Simulation(seed)) {
            try (SoakWorld world = new SoakWorld(seed, random -> new SoakTraffic(simulation, plan, random))) {
                while (simulation.elapsedNs() < duration.toNanos()) {
                    world.run(world.operations + OPERATIONS);
                }
                simulation.note("soaked", null, world.entriesHash, world.operations);
                return Simulate.result(
                    simulation, world.operations, 0, 0, world.accessed, world.refused);
            }
        }
    }

    @Override
    protected Fabric open(int driver) {
        return simulation.nodes().get(driver).openFabric();
    }

    @Override
    protected void pump() {
        pumps++;
        pass(1L << Math.min(LONGEST_PAUSE_BITS, SHORT_PAUSE_BITS + pumps / PUMPS_PER_BIT));
    }

    @Override
    protected void onStep() {
        pumps = 0;
        for (int i = steps.nextInt(MOST_STEPS); i > 0; i--) {
            pass(1L << SHORT_PAUSE_BITS);
        }
    }

    /** Makes a step; if all nodes are idle not more than some time passes, because the applications are not. */
    private void pass(long mostNs) {
        simulation.nodes().getFirst().wakeAt(simulation.nanoTime() + 1 + steps.nextLong(mostNs));
        simulation.step();
    }

    @Override
    protected long nanoTime() {
        return simulation.nanoTime();
    }

    @Override
    protected long patienceNs() {
        return PATIENCE.toNanos();
    }

    @Override
    protected AssertionError failure(String text, Throwable cause) {
        return simulation.failure(text, cause);
    }

    @Override
    protected String state() {
        StringBuilder text = new StringBuilder();
        options.forEach((option, value) -> text.append("  ").append(option).append('=').append(value).append('\n'));
        errors().forEach(error -> text.append("  ").append(error).append('\n'));
        simulation.accounts().forEach(each -> text.append("  ").append(each).append('\n'));
        return text.toString();
    }

    @Override
    protected List<String> errors() {
        return simulation.nodes().stream().flatMap(node -> node.errors().stream().map(error -> node + ": " + error))
            .toList();
    }

    @Override
    protected String replay(long seed) {
        return "--seed " + seed + " --traffic soak --link " + link;
    }

    @Override
    public void close() {
        // the simulation closes its nodes
    }
}
