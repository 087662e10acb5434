package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jfabric.driver.link.best.BestLinkProvider;
import org.jfabric.driver.link.shm.ShmLinkProvider;
import org.jfabric.driver.link.udp.UdpLinkProvider;

/**
 * Random operations on random fabrics under random faults, checked against a model: what {@code ./fabric simulate}
 * runs.
 */
final class Simulate {
    private static final long NS_PER_S = 1_000_000_000L;
    private static final double MOST_FAULTS = 8;
    private static final Duration SETTLING = Duration.ofSeconds(5);
    private static final Duration END_LIMIT = Duration.ofSeconds(300);

    /** Messages and accesses of all nodes, judged by a ledger; all kinds of faults. */
    static final String PLAIN = "plain";
    /** The operations of the soak, judged by its model; faults only delay them. */
    static final String SOAK = "soak";
    /** The plain traffic, of nodes and of further processes that are clients of their drivers. */
    static final String CLIENTS = "clients";
    /** A recorded group, whose writer and readers are killed, and whose disk fails. */
    static final String RECORDED = "recorded";
    /** Groups that other hosts read, over a network that loses, changes and reorders datagrams. */
    static final String STREAM = "stream";
    static final List<String> TRAFFICS = List.of(PLAIN, SOAK, CLIENTS, RECORDED, STREAM);
    /** The link with several links under one address: here loopback, shm and tcp. */
    static final String BEST = BestLinkProvider.NAME;
    /** One seed of so many is for that link. */
    private static final int SEEDS_PER_BEST = 7;
    private static final int NODES_WITH_TWO_DRIVERS = 5;
    /** Of the seeds one after the other. */
    private static final String[] TRAFFIC = {SOAK, PLAIN, CLIENTS, PLAIN, SOAK, PLAIN, CLIENTS, RECORDED};

    /**
     * What a seed chooses.
     *
     * @param remoteAccess whether nodes access each other's memory.
     * @param paceNs       mean time between operations of one node, 0 for none.
     * @param traffic      one of {@link #TRAFFICS}.
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
    }

    /**
     * What a run has done.
     *
     * @param restarts  how often nodes were started again.
     * @param refused   objects that could not be opened.
     * @param fallBacks how often a peer was found by another link than before, which is not its first one.
     * @param returns   how often a peer was found by its first link again.
     */
    record Result(
        long hash, long sent, long failed, long received, long accesses, long virtualNs, List<Throwable> errors,
        Map<Fault.Kind, Long> faults, long restarts, long refused, long fallBacks, long returns) {
        Result withPaths(long newFallBacks, long newReturns) {
            return new Result(hash, sent, failed, received, accesses, virtualNs, errors, faults, restarts, refused,
                newFallBacks, newReturns);
        }

        long operations() {
            return sent + received + accesses;
        }
    }

    /** Receives the events of all runs as lines; null for nothing. */
    private static Consumer<String> events;

    private Simulate() {
    }

    static void onEvent(Consumer<String> sink) {
        events = sink;
    }

    static Consumer<String> events() {
        return events;
    }

    /** Whether a kind of traffic runs over a link. */
    static boolean carries(String link, String traffic) {
        return RECORDED.equals(traffic) ? ShmLinkProvider.NAME.equals(link)
            : STREAM.equals(traffic) ? UdpLinkProvider.NAME.equals(link) : PLAIN.equals(traffic)
            || !UdpLinkProvider.NAME.equals(link) && !(BEST.equals(link) && SOAK.equals(traffic));
    }

    /** Chooses nodes, link, options and faults. A link does not carry all traffic: {@link #carries}. */
    static Plan plan(long seed, Duration duration, String wantedLink, String wantedTraffic) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x5DEECE66DL);
        String traffic = wantedTraffic != null ? wantedTraffic : TRAFFIC[Math.floorMod(seed, TRAFFIC.length)];
        int nodes = (CLIENTS.equals(traffic) ? 3 : 2) + random.nextInt(4);
        String[] links = {"tcp", "shm", "rxm", "udp", "tcp"};
        String link = links[random.nextInt(links.length)];
        // not drawn, so that the other seeds have the plans that they had without this link
        link = wantedLink != null ? wantedLink : RECORDED.equals(traffic) ? ShmLinkProvider.NAME
            : STREAM.equals(traffic) ? UdpLinkProvider.NAME
            : Math.floorMod(seed, SEEDS_PER_BEST) == 3 ? BEST : link;
        if (!carries(link, traffic)) {
            // of what was asked for nothing is replaced in silence
            link = wantedTraffic != null && wantedLink == null ? "tcp" : link;
            traffic = wantedTraffic != null && wantedLink == null ? traffic : PLAIN;
        }
        Map<String, String> options = new HashMap<>();
        options.put("jfabric.link.enabled",
            "loopback".equals(link) ? link : BEST.equals(link) ? "loopback,shm,tcp" : "loopback," + link);
        if ("loopback".equals(link) && PLAIN.equals(traffic)) {
            // others would not be reached
            nodes = 1;
        }
        options.put("jfabric.engine.eagerLimitBytes", Integer.toString(256 << random.nextInt(6)));
        int budget = 16 + random.nextInt(6);
        options.put("jfabric.engine.unexpectedBudgetBytes", Integer.toString(1 << budget));
        options.put("jfabric.engine.creditWindowBytes", Integer.toString(1 << 13 + random.nextInt(budget - 12)));
        // unused: an option that is gone was drawn here, and tests need seeds to keep the plans that they had
        random.nextInt();
        int ring = 16 + random.nextInt(4);
        options.put("jfabric.shm.ringLengthBytes", Integer.toString(1 << ring));
        options.put("jfabric.shm.segmentLengthBytes", Integer.toString(1 << 10 + random.nextInt(ring - 13)));
        Faults faults = new Faults();
        if (random.nextInt(4) != 0) {
            for (Fault.Kind kind : EnumSet.range(Fault.Kind.RESET, Fault.Kind.MEMORY)) {
                boolean isOfNetwork = kind == Fault.Kind.RESET || kind == Fault.Kind.CUT;
                double rate = MOST_FAULTS * random.nextDouble() * NS_PER_S / duration.toNanos();
                long longestNs = (long) Math.pow(10, 4 + 6 * random.nextDouble());
                if (random.nextBoolean() && !(isOfNetwork && "shm".equals(link))) {
                    faults.add(kind, rate, longestNs);
                }
            }
        }
        long paceNs = random.nextBoolean() ? 0 : (long) Math.pow(10, 3 + 4 * random.nextDouble());
        List<Fault> drawn = new ArrayList<>(faults.draw(seed, nodes, duration.toNanos()));
        if (BEST.equals(link) && !drawn.isEmpty()) {
            drawn.addAll(changesOfLink(seed, nodes, duration));
            drawn.sort(Comparator.comparingLong(Fault::timeNs));
        }
        Plan plan = new Plan(nodes, link, options, drawn, random.nextBoolean(), paceNs, traffic);
        // drawn last, so that the plans of other links are the same with and without them
        options.put("jfabric.udp.bufferBytes", Integer.toString(1 << 12 + random.nextInt(10)));
        options.put("jfabric.udp.batchSize", Integer.toString(1 << random.nextInt(6)));
        return switch (traffic) {
            case RECORDED -> plan.with(RecordedTraffic.faults(seed, nodes, duration));
            case STREAM -> plan.with(StreamTraffic.faults(seed, nodes, duration));
            case CLIENTS -> plan.with(random.nextBoolean() ? killsOfClients(plan) : faultsOfHosts(plan));
            default -> plan;
        };
    }

    /** Peers are lost, and while there is no room for files are connected by tcp. */
    private static List<Fault> changesOfLink(long seed, int nodes, Duration duration) {
        double rate = MOST_FAULTS * NS_PER_S / duration.toNanos();
        return new Faults().add(Fault.Kind.KILL, rate, duration.toNanos() / 32)
            .add(Fault.Kind.DISK, rate, duration.toNanos() / 4)
            .draw(seed ^ 0x62657374L, nodes, duration.toNanos());
    }

    /** Of a client only the process is stopped or killed; everything else happens to its host. */
    private static List<Fault> faultsOfHosts(Plan plan) {
        int drivers = plan.drivers();
        return plan.faults.stream().map(fault -> fault.kind() == Fault.Kind.KILL || fault.kind() == Fault.Kind.STOP
            ? fault : new Fault(fault.timeNs(), fault.kind(), fault.node() % drivers, fault.other() % drivers,
                fault.durationNs()))
            .filter(fault -> fault.kind() != Fault.Kind.CUT || fault.node() != fault.other()).toList();
    }

    private static List<Fault> killsOfClients(Plan plan) {
        int drivers = plan.drivers();
        return plan.faults.stream().map(fault -> new Fault(fault.timeNs(), Fault.Kind.KILL,
            drivers + fault.node() % (plan.nodes - drivers), fault.other(), fault.durationNs())).toList();
    }

    /**
     * Runs a simulation.
     *
     * @param link     null for a link that the seed chooses.
     * @throws SimulationFailure if something is wrong.
     */
    static Result run(long seed, Duration duration, String link) {
        return run(seed, duration, plan(seed, duration, link, null));
    }

    static Result run(long seed, Duration duration, Plan plan) {
        if (STREAM.equals(plan.traffic)) {
            return StreamTraffic.run(seed, duration, plan);
        }
        if (UdpLinkProvider.NAME.equals(plan.link)) {
            return DatagramTraffic.run(seed, duration, plan);
        }
        if (RECORDED.equals(plan.traffic)) {
            return RecordedTraffic.run(seed, duration, plan);
        }
        if (SOAK.equals(plan.traffic)) {
            return SoakTraffic.run(seed, duration, plan);
        }
        Ledger ledger = new Ledger(plan.nodes, plan.link);
        RandomTraffic[] programs = new RandomTraffic[plan.nodes];
        try (Simulation simulation = new Simulation(seed)) {
            for (int i = 0; i < plan.nodes; i++) {
                Function<Node, Program> program = node ->
                    programs[node.index()] = new RandomTraffic(node, ledger, plan.link, plan.remoteAccess, plan.paceNs);
                if (i < plan.drivers()) {
                    simulation.add("n" + i, plan.options, program);
                } else {
                    simulation.addClient("c" + i, simulation.nodes().get(i % plan.drivers()), program);
                }
            }
            simulation.onEvent(events);
            simulation.start();
            simulation.faults(plan.faults);
            simulation.run(duration);
            ledger.end();
            simulation.heal();
            end(simulation, programs, ledger, plan);
            runHealthy(simulation, duration, ledger);
            end(simulation, programs, ledger, plan);
            // a message whose sender awaits no confirmation may have arrived, and waits for a receive
            simulation.runUntil(() -> simulation.accounts().isEmpty(), END_LIMIT);
            simulation.check(true);
            if (plan.faults.isEmpty() && ledger.failed != 0) {
                throw simulation.failure(ledger.failed + " sends have failed without a fault", null);
            }
            return result(
                simulation, ledger.sent, ledger.failed, ledger.received, ledger.accesses, ledger.refused)
                .withPaths(ledger.fallBacks, ledger.returns);
        }
    }

    /** What a run has done, if its drivers have recorded no error without a cause. */
    static Result result(
        Simulation simulation, long sent, long failed, long received, long accesses, long refused) {
        return result(simulation, error -> false, sent, failed, received, accesses, refused);
    }

    /** The same if some errors need no cause. */
    static Result result(Simulation simulation, Predicate<String> isExpected, long sent, long failed, long received,
        long accesses, long refused) {
        List<Throwable> errors = new ArrayList<>();
        long restarts = 0;
        for (Node node : simulation.nodes()) {
            errors.addAll(node.errors());
            restarts += Math.max(0, node.life() - 1);
            for (Throwable error : node.errors()) {
                if (!isExpected.test(error.toString()) && !Causes.explain(
                    error, simulation.harm().of(node.index()), simulation.harm().counts().keySet())) {
                    throw simulation.failure(node + " has recorded an error without a cause: " + error, error);
                }
            }
        }
        return new Result(simulation.hash(), sent, failed, received, accesses, simulation.elapsedNs(), errors,
            simulation.harm().counts(), restarts, refused, 0, 0);
    }

    /** Waits until all operations have ended. */
    private static void end(Simulation simulation, RandomTraffic[] programs, Ledger ledger, Plan plan) {
        if (!simulation.runUntil(() -> isOver(simulation, programs, ledger, plan), END_LIMIT)) {
            List<Account.Message> unfinished = ledger.unfinished();
            List<Account.Message> missing = ledger.missing(!plan.faults.isEmpty());
            throw simulation.failure(unfinished.size() + " sends did not end: " + some(unfinished) + "; "
                + missing.size() + " messages did not arrive: " + some(missing) + "; " + simulation.accounts(),
                lastError(simulation));
        }
    }

    /** An error that a driver has recorded, which may say more; null if there is none. */
    private static Throwable lastError(Simulation simulation) {
        return simulation.nodes().stream().map(Node::errors).filter(all -> !all.isEmpty()).map(List::getLast)
            .findFirst().orElse(null);
    }

    /** After the faults everything works: once all ends of connections are noticed, no operation fails. */
    private static void runHealthy(Simulation simulation, Duration duration, Ledger ledger) {
        simulation.run(SETTLING);
        ledger.beginHealthy();
        simulation.run(duration.dividedBy(8));
        ledger.end();
    }

    private static List<Account.Message> some(List<Account.Message> messages) {
        return messages.subList(0, Math.min(5, messages.size()));
    }

    private static boolean isOver(Simulation simulation, RandomTraffic[] programs, Ledger ledger, Plan plan) {
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

    /** Drops faults from a plan as long as the run still fails. */
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
        StringJoiner numbers = new StringJoiner(",");
        // faults are in the order of their times, and two that are equal do the same
        needed.forEach(fault -> numbers.add(Integer.toString(plan.faults.indexOf(fault))));
        System.out.println("faults that are needed: --only " + numbers + ": " + needed);
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
}
