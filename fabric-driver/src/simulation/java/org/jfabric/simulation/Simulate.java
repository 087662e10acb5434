package org.jfabric.simulation;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jfabric.driver.link.udp.UdpLinkProvider;

/**
 * Random operations on random fabrics under random faults, checked against a model: what {@code ./fabric simulate}
 * runs.
 */
public final class Simulate {
    private static final long NS_PER_S = 1_000_000_000L;
    private static final double MOST_FAULTS = 8;
    private static final Duration END_LIMIT = Duration.ofSeconds(300);

    /** Messages and accesses of all nodes, judged by a ledger; all kinds of faults. */
    static final String PLAIN = "plain";
    /** The operations of the soak, judged by its model; faults only delay them. */
    static final String SOAK = "soak";
    /** The plain traffic, of nodes and of further processes that are clients of their drivers. */
    static final String CLIENTS = "clients";
    private static final int NODES_WITH_TWO_DRIVERS = 5;
    /** Of the seeds one after the other. */
    private static final String[] TRAFFIC = {SOAK, PLAIN, CLIENTS, PLAIN};

    /**
     * What a seed chooses.
     *
     * @param nodes        number of nodes.
     * @param link         of all nodes.
     * @param options      of all drivers.
     * @param faults       in the order of their times.
     * @param remoteAccess whether nodes access each other's memory.
     * @param paceNs       mean time between operations of one node, 0 for none.
     * @param traffic      {@link #PLAIN}, {@link #SOAK} or {@link #CLIENTS}.
     */
    record Plan(int nodes, String link, Map<String, String> options, List<Fault> faults, boolean remoteAccess,
        long paceNs, String traffic) {
        /** The same with other faults. */
        Plan with(List<Fault> others) {
            return new Plan(nodes, link, options, others, remoteAccess, paceNs, traffic);
        }

        /** Nodes that have drivers, which are the first; the others are clients. */
        int drivers() {
            return !CLIENTS.equals(traffic) ? nodes : "loopback".equals(link) || nodes < NODES_WITH_TWO_DRIVERS ? 1 : 2;
        }

        /** Whether no fault harms more than one client. */
        boolean harmsOnlyClients() {
            return faults.stream().allMatch(fault -> fault.kind() == Fault.Kind.KILL && fault.node() >= drivers());
        }
    }

    /**
     * What a run has done.
     *
     * @param hash      of all events.
     * @param sent      messages.
     * @param failed    messages that ended with an error.
     * @param received  messages.
     * @param accesses  remote accesses.
     * @param virtualNs length of the run in virtual time.
     * @param errors    errors that drivers have recorded.
     */
    public record Result(
        long hash, long sent, long failed, long received, long accesses, long virtualNs, List<Throwable> errors) {
    }

    private Simulate() {
    }

    /** Chooses nodes, link, options and faults. */
    static Plan plan(long seed, Duration duration, String wantedLink, String wantedTraffic) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x5DEECE66DL);
        String traffic = wantedTraffic != null ? wantedTraffic : TRAFFIC[Math.floorMod(seed, TRAFFIC.length)];
        int nodes = (CLIENTS.equals(traffic) ? 3 : 2) + random.nextInt(4);
        String[] links = {"tcp", "shm", "rxm", "udp", "tcp"};
        String link = links[random.nextInt(links.length)];
        link = wantedLink == null ? link : wantedLink;
        traffic = UdpLinkProvider.NAME.equals(link) ? PLAIN : traffic;
        Map<String, String> options = new HashMap<>();
        options.put("jfabric.link.enabled", "loopback".equals(link) ? link : "loopback," + link);
        if ("loopback".equals(link) && PLAIN.equals(traffic)) {
            // others would not be reached
            nodes = 1;
        }
        options.put("jfabric.engine.eagerLimitBytes", Integer.toString(256 << random.nextInt(6)));
        int budget = 16 + random.nextInt(6);
        options.put("jfabric.engine.unexpectedBudgetBytes", Integer.toString(1 << budget));
        options.put("jfabric.engine.creditWindowBytes", Integer.toString(1 << 13 + random.nextInt(budget - 12)));
        options.put("jfabric.udp.bufferBytes", Integer.toString(1 << 12 + random.nextInt(10)));
        options.put("jfabric.udp.batchSize", Integer.toString(1 << random.nextInt(6)));
        options.put("jfabric.engine.straightPath", random.nextInt(4) == 0 ? "OFF" : "ON");
        int ring = 16 + random.nextInt(4);
        options.put("jfabric.shm.ringLengthBytes", Integer.toString(1 << ring));
        options.put("jfabric.shm.segmentLengthBytes", Integer.toString(1 << 10 + random.nextInt(ring - 13)));
        Faults faults = new Faults();
        if (random.nextInt(4) != 0) {
            for (Fault.Kind kind : Fault.Kind.values()) {
                boolean isOfNetwork = kind == Fault.Kind.RESET || kind == Fault.Kind.CUT;
                double rate = MOST_FAULTS * random.nextDouble() * NS_PER_S / duration.toNanos();
                long longestNs = (long) Math.pow(10, 4 + 6 * random.nextDouble());
                if (random.nextBoolean() && !(isOfNetwork && "shm".equals(link))) {
                    faults.add(kind, rate, longestNs);
                }
            }
        }
        long paceNs = random.nextBoolean() ? 0 : (long) Math.pow(10, 3 + 4 * random.nextDouble());
        Plan plan = new Plan(
            nodes, link, options, faults.draw(seed, nodes, duration.toNanos()), random.nextBoolean(), paceNs, traffic);
        return CLIENTS.equals(traffic) && random.nextBoolean() ? plan.with(killsOfClients(plan)) : plan;
    }

    /** All faults become kills of clients. */
    private static List<Fault> killsOfClients(Plan plan) {
        int drivers = plan.drivers();
        return plan.faults.stream().map(fault -> new Fault(fault.timeNs(), Fault.Kind.KILL,
            drivers + fault.node() % (plan.nodes - drivers), fault.other(), fault.durationNs())).toList();
    }

    /**
     * Runs a simulation.
     *
     * @param seed     determines everything.
     * @param duration of virtual time in which operations are posted.
     * @param link     null for a link that the seed chooses.
     * @return what it has done.
     * @throws SimulationFailure if something is wrong.
     */
    public static Result run(long seed, Duration duration, String link) {
        return run(seed, duration, plan(seed, duration, link, null));
    }

    static Result run(long seed, Duration duration, Plan plan) {
        if (UdpLinkProvider.NAME.equals(plan.link)) {
            return DatagramTraffic.run(seed, duration, plan);
        }
        if (SOAK.equals(plan.traffic)) {
            return SoakTraffic.run(seed, duration, plan);
        }
        Ledger ledger = new Ledger(plan.nodes);
        Traffic[] programs = new Traffic[plan.nodes];
        List<Throwable> errors = new ArrayList<>();
        Result result;
        try (Simulation simulation = new Simulation(seed)) {
            for (int i = 0; i < plan.nodes; i++) {
                Function<Node, Program> program = node ->
                    programs[node.index()] = new Traffic(node, ledger, plan.link, plan.remoteAccess, plan.paceNs);
                if (i < plan.drivers()) {
                    simulation.add("n" + i, plan.options, program);
                } else {
                    simulation.addClient("c" + i, simulation.nodes().get(i % plan.drivers()), program);
                }
            }
            if (plan.harmsOnlyClients()) {
                // those who do not deal with a killed client must not notice
                ledger.mayFail(message -> wasKilled(simulation, message.from) || wasKilled(simulation, message.to));
            }
            simulation.start();
            simulation.faults(plan.faults);
            simulation.run(duration);
            ledger.end();
            simulation.heal();
            boolean ended = simulation.runUntil(() -> isOver(simulation, programs, ledger, plan), END_LIMIT);
            if (!ended) {
                List<Ledger.Message> unfinished = ledger.unfinished();
                List<Ledger.Message> missing = ledger.missing(!plan.faults.isEmpty());
                throw simulation.failure(unfinished.size() + " sends did not end: " + some(unfinished) + "; "
                    + missing.size() + " messages did not arrive: " + some(missing), null);
            }
            if (plan.faults.isEmpty() && ledger.failed != 0) {
                throw simulation.failure(ledger.failed + " sends have failed without a fault", null);
            }
            simulation.nodes().forEach(node -> errors.addAll(node.errors()));
            if (plan.faults.isEmpty() && !errors.isEmpty()) {
                throw simulation.failure("a driver has recorded an error without a cause", errors.getFirst());
            }
            result = new Result(simulation.hash(), ledger.sent, ledger.failed, ledger.received, ledger.accesses,
                simulation.elapsedNs(), errors);
        }
        return result;
    }

    private static boolean wasKilled(Simulation simulation, int index) {
        Node node = simulation.nodes().get(index);
        return node.life() > 1 || !node.isUp();
    }

    private static List<Ledger.Message> some(List<Ledger.Message> messages) {
        return messages.subList(0, Math.min(5, messages.size()));
    }

    private static boolean isOver(Simulation simulation, Traffic[] programs, Ledger ledger, Plan plan) {
        if ((simulation.steps() & 63) != 0) {
            return false;
        }
        for (Node node : simulation.nodes()) {
            if (node.isUp() && programs[node.index()].isBusy()) {
                return false;
            }
        }
        return ledger.pending() == 0 && ledger.missing(!plan.faults.isEmpty()).isEmpty();
    }

    /**
     * Drops faults from a plan as long as the run still fails.
     *
     * @param failure of the run with all faults.
     */
    static SimulationFailure shrink(long seed, Duration duration, Plan plan, SimulationFailure failure) {
        SimulationFailure least = failure;
        List<Fault> needed = new ArrayList<>(plan.faults);
        // what comes behind the failure has nothing to do with it
        needed.removeIf(fault -> fault.timeNs() > failure.timeNs());
        for (int part = Math.max(1, needed.size() / 2); part > 0; part /= 2) {
            for (int i = 0; i + part <= needed.size();) {
                List<Fault> fewer = new ArrayList<>(needed);
                fewer.subList(i, i + part).clear();
                SimulationFailure again = fails(seed, duration, plan.with(fewer));
                if (again == null) {
                    i += part;
                } else {
                    needed = fewer;
                    least = again;
                }
            }
        }
        System.out.println("faults that are needed: " + needed);
        return least;
    }

    private static SimulationFailure fails(long seed, Duration duration, Plan plan) {
        try {
            run(seed, duration, plan);
            return null;
        } catch (SimulationFailure failure) {
            return failure;
        }
    }

    private static long cpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** What the command line asks for. */
    private record Options(
        long seed, long seeds, Duration duration, String link, String traffic, boolean shrinks) {
        private static final List<String> VALUES =
            List.of("--seed", "--seeds", "--seconds", "--minutes", "--link", "--traffic");

        static Options of(String[] args) {
            Map<String, String> values = new HashMap<>();
            boolean shrinks = false;
            for (int i = 0; i < args.length; i++) {
                if (args[i].equals("--shrink")) {
                    shrinks = true;
                } else if (VALUES.contains(args[i]) && i + 1 < args.length) {
                    values.put(args[i], args[++i]);
                } else {
                    throw new IllegalArgumentException(args[i]);
                }
            }
            double seconds = values.containsKey("--minutes") ? 60 * Double.parseDouble(values.get("--minutes"))
                : Double.parseDouble(values.getOrDefault("--seconds", "0.1"));
            return new Options(Long.parseLong(values.getOrDefault("--seed", "1")),
                Long.parseLong(values.getOrDefault("--seeds", "1")),
                Duration.ofNanos((long) (seconds * NS_PER_S)), values.get("--link"), values.get("--traffic"), shrinks);
        }
    }

    /**
     * Runs seeds and prints a line for each, or its failure. Exit status 0 if none fails, 1 if one fails, 2 for wrong
     * arguments.
     *
     * @param args {@code --seed S --seeds N --seconds V --minutes V --link L --traffic T --shrink}.
     */
    public static void main(String[] args) {
        Options options;
        try {
            options = Options.of(args);
        } catch (IllegalArgumentException wrong) {
            System.err.println("unknown or incomplete: " + wrong.getMessage());
            System.err.println("usage: simulate [--seed S] [--seeds N] [--seconds V | --minutes V]"
                + " [--link tcp|rxm|shm|udp|loopback]"
                + " [--traffic plain|soak|clients] [--shrink]");
            System.exit(2);
            return;
        }
        int bad = 0;
        for (long seed = options.seed; seed < options.seed + options.seeds; seed++) {
            bad += show(seed, options) ? 0 : 1;
        }
        System.exit(bad == 0 ? 0 : 1);
    }

    private static boolean show(long seed, Options options) {
        Plan plan = plan(seed, options.duration, options.link, options.traffic);
        long startNs = cpuNs();
        try {
            Result result = run(seed, options.duration, plan);
            double tookS = (cpuNs() - startNs) / 1e9;
            System.out.printf("seed %d: %d nodes, %s, %d faults, hash %016x, %d sent, %d failed, %d received,"
                + " %d accesses, %d errors recorded, %.3f s in %.3f s of the processor, %.0f operations/s%n", seed,
                plan.nodes, plan.link + " " + plan.traffic, plan.faults.size(), result.hash, result.sent, result.failed, result.received,
                result.accesses, result.errors.size(), result.virtualNs / 1e9, tookS,
                (result.sent + result.received + result.accesses) / tookS);
            return true;
        } catch (SimulationFailure failure) {
            System.out.println("seed " + seed + " FAILED with " + plan);
            SimulationFailure shown = options.shrinks ? shrink(seed, options.duration, plan, failure) : failure;
            shown.printStackTrace(System.out);
            System.out.printf("repeat it with --seed %d --seconds %s%s%n", seed, options.duration.toNanos() / 1e9,
                (options.link == null ? "" : " --link " + options.link)
                    + (options.traffic == null ? "" : " --traffic " + options.traffic));
            return false;
        }
    }
}
