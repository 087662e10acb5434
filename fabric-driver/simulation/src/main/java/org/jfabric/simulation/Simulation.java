package org.jfabric.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jfabric.client.DefaultDirectory;
import org.jfabric.driver.link.tcp.SimulatedNetwork;
import org.jfabric.driver.link.udp.SimulatedDatagrams;
import org.jfabric.info.SocketName;

/**
 * Nodes on one network, run by the calling thread in virtual time. The seed determines everything: the order in which
 * nodes run, how long each step takes, how long bytes take and in which pieces they arrive.
 *
 * <pre>{@code
 * try (Simulation simulation = new Simulation(seed)) {
 *     simulation.add("a", "tcp", MyServer::new);
 *     simulation.add("b", "tcp", MyClient::new);
 *     simulation.start();
 *     simulation.faults(new Faults().add(Fault.Kind.KILL, 0.1, 2_000_000_000L).draw(seed, 2, 60_000_000_000L));
 *     simulation.run(Duration.ofMinutes(1));
 * }
 * }</pre>
 *
 * <p>Files are real, in a directory of their own under {@code /dev/shm} that {@link #close()} removes. Owner: one
 * thread.
 */
public final class Simulation implements AutoCloseable {
    /** Begin of the names of the directories. */
    static final String PREFIX = "jfabric-simulation-";

    private static final long START_NS = 1_000_000_000_000L;
    private static final long STEP_NS = 100;
    private static final int STEP_SPREAD_NS = 900;
    private static final long PAUSE_SPREAD_NS = 20_000;
    /** Steps without work of each node after which time passes faster. */
    private static final int IDLE_ROUNDS = 4;
    private static final long TIMER_STEP_NS = 10_000_000;
    private static final long LONGEST_STEP_NS = 1_000_000_000;
    private static final int ORDERS = 5;
    private static final int STEPS_BETWEEN_CHECKS = 64;
    private static final long START_AGAIN_NS = 1_000_000;
    private static final int SHOWN = 60;

    private record Timer(long timeNs, long number, Runnable action) {
    }

    private final long seed;
    private final SplittableRandom random;
    private final Path base;
    private final EventLog log = new EventLog();
    private final SimulatedNetwork network;
    private final SimulatedDatagrams datagrams;
    private final List<Node> nodes = new ArrayList<>();
    private final Deque<Fault> faults = new ArrayDeque<>();
    private final Harm harm = new Harm();
    private final PriorityQueue<Timer> timers =
        new PriorityQueue<>(Comparator.comparingLong(Timer::timeNs).thenComparingLong(Timer::number));
    private long timersMade;
    private long nowNs = START_NS;
    private long steps;
    private int idleSteps;
    private boolean failed;
    /** Receives what happens to datagrams, or null. */
    private SimulatedDatagrams.Log datagramLog;
    /** Called for the nodes that run while another one waits in a control call; null for nothing. */
    private Consumer<Node> whilePausing;

    /** A simulation without nodes. */
    public Simulation(long seed) {
        this.seed = seed;
        random = new SplittableRandom(seed);
        network = new SimulatedNetwork(this::nanoTime, random.split(), (kind, from, to, amount) ->
            log.add(nowNs, kind, from, from.hashCode() * 31L + to.hashCode(), amount, 0));
        datagrams = new SimulatedDatagrams(
            this::nanoTime, new SplittableRandom(~seed), network::isCut, this::onDatagram);
        network.callFaults((host, call) -> nodeAt(host).faults().errno(call));
        try {
            base = Files.createTempDirectory(Path.of("/dev/shm"), PREFIX);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Adds a node.
     *
     * @param program made whenever the node starts.
     * @return the node, which starts with {@link #start()}.
     */
    public Node add(String name, String links, Function<Node, Program> program) {
        return add(name, Map.of("jfabric.link.enabled", links), program);
    }

    /**
     * Adds a node.
     *
     * @param program made whenever the node starts.
     * @return the node, which starts with {@link #start()}.
     */
    public Node add(String name, Map<String, String> options, Function<Node, Program> program) {
        Node node = new Node(this, nodes.size(), name, "10.0.0." + (nodes.size() + 1), new HashMap<>(options), program,
            random.split());
        nodes.add(node);
        return node;
    }

    /**
     * Adds a process that is a client of the driver of a node, on the same host; faults stop and kill it apart from the
     * driver. When the driver ends, the process ends, and starts again with the next one.
     *
     * @param host    node with the driver, added before.
     * @param program made whenever the process starts; it must not wait for completions.
     * @return the node, which starts with {@link #start()}.
     */
    public Node addClient(String name, Node host, Function<Node, Program> program) {
        Node node = new ClientNode(this, nodes.size(), name, host, program, random.split());
        nodes.add(node);
        return node;
    }

    /** Starts all nodes, in the order in which they were added. */
    public void start() {
        nodes.forEach(node -> guarded(node::start));
    }

    public void faults(List<Fault> newFaults) {
        faults.clear();
        faults.addAll(newFaults);
    }

    /**
     * Runs for a time.
     *
     * @throws SimulationFailure if a program or driver fails.
     */
    public void run(Duration duration) {
        long endNs = nowNs + duration.toNanos();
        runUntil(() -> nowNs >= endNs, duration.plusSeconds(1));
    }

    /**
     * Runs until a condition holds.
     *
     * @param condition checked after each step.
     * @return false if the time was over first.
     * @throws SimulationFailure if a program or driver fails.
     */
    public boolean runUntil(BooleanSupplier condition, Duration limit) {
        long endNs = nowNs + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (nowNs >= endNs) {
                return false;
            }
            step();
        }
        return true;
    }

    /**
     * Runs one node for a moment, or lets time pass.
     *
     * @throws SimulationFailure if a program or driver fails.
     */
    public void step() {
        steps++;
        fire();
        Node node = nodes.get(random.nextInt(nodes.size()));
        if (!node.isRunning()) {
            idleSteps++;
            passTime();
            return;
        }
        if (steps % STEPS_BETWEEN_CHECKS == 0) {
            check(false);
        }
        int order = random.nextInt(ORDERS);
        int[] work = new int[1];
        guarded(() -> work[0] = node.step(order));
        endIfKilled(node);
        nowNs += STEP_NS + random.nextInt(STEP_SPREAD_NS);
        if (work[0] != 0) {
            idleSteps = 0;
            log.add(nowNs, "step", node, node.index(), work[0], 0);
        } else {
            idleSteps++;
            passTime();
        }
    }

    /**
     * Checks the accounts of all drivers: credit, reserved memory and operations.
     *
     * @param isAtRest whether all operations have ended and all messages were received, so that all is given back.
     * @throws SimulationFailure if something is wrong.
     */
    void check(boolean isAtRest) {
        for (Node node : nodes) {
            List<String> wrong = node.check(isAtRest);
            if (!wrong.isEmpty()) {
                throw failure("the accounts of " + node + " are wrong: " + wrong, null);
            }
        }
    }

    /** What is not at rest, for failures. */
    List<String> accounts() {
        return nodes.stream().flatMap(node -> node.check(true).stream()).toList();
    }

    private void passTime() {
        if (idleSteps < IDLE_ROUNDS * nodes.size() || network.hasEvents(this::runs)
            || datagrams.hasEvents(this::runs)) {
            return;
        }
        idleSteps = 0;
        check(false);
        long next = Math.min(nowNs + LONGEST_STEP_NS, Math.min(network.nextEventNs(), datagrams.nextEventNs()));
        for (Node node : nodes) {
            if (node.hasTimers()) {
                next = Math.min(next, nowNs + TIMER_STEP_NS);
            }
            if (node.wakeNs() > nowNs) {
                next = Math.min(next, node.wakeNs());
            }
            if (node.stoppedUntilNs() > nowNs) {
                next = Math.min(next, node.stoppedUntilNs());
            }
        }
        if (!timers.isEmpty()) {
            next = Math.min(next, timers.peek().timeNs);
        }
        if (!faults.isEmpty()) {
            next = Math.min(next, START_NS + faults.peek().timeNs());
        }
        nowNs = Math.max(nowNs, next);
    }

    private boolean runs(String host) {
        return nodeAt(host).isRunning();
    }

    private Node nodeAt(String host) {
        for (Node node : nodes) {
            if (node.address().equals(host) || node.secondAddress().equals(host)) {
                return node;
            }
        }
        throw new IllegalArgumentException("no node has the address " + host);
    }

    private void fire() {
        while (!faults.isEmpty() && START_NS + faults.peek().timeNs() <= nowNs) {
            Fault fault = faults.poll();
            log.add(nowNs, fault.kind().name(), fault, fault.kind().ordinal(), fault.node(), fault.durationNs());
            guarded(() -> inject(fault));
        }
        while (!timers.isEmpty() && timers.peek().timeNs <= nowNs) {
            guarded(timers.poll().action);
        }
    }

    private void inject(Fault fault) {
        Node node = nodes.get(fault.node());
        if (fault.kind() != Fault.Kind.KILL || node.isUp()) {
            harm.count(fault.kind());
        }
        switch (fault.kind()) {
            case RESET -> {
                String[] hosts = network.resetAny();
                if (hosts != null) {
                    harmPairs(hosts[0], hosts[1], fault.kind());
                }
            }
            case CUT -> {
                Node other = nodes.get(fault.other());
                harmPairs(node.address(), other.address(), fault.kind());
                network.cut(node.address(), other.address());
                network.cut(node.secondAddress(), other.secondAddress());
                at(nowNs + fault.durationNs(), () -> {
                    network.heal(node.address(), other.address());
                    network.heal(node.secondAddress(), other.secondAddress());
                    note("heal", node, other.index(), 0);
                });
            }
            case KILL -> {
                if (node.isUp()) {
                    kill(node, fault.durationNs());
                }
            }
            case STOP -> {
                harmNode(node, fault.kind());
                node.stop(nowNs + fault.durationNs());
            }
            default -> {
                harmNode(node, fault.kind());
                node.faults().begin(fault);
            }
        }
    }

    /** A fault of a node concerns the clients of its driver, too. */
    private void harmNode(Node node, Fault.Kind kind) {
        for (Node each : nodes) {
            if (each == node || each instanceof ClientNode client && client.host() == node) {
                harm.node(each.index(), kind);
            }
        }
    }

    /** A fault concerns all that run on two hosts. */
    private void harmPairs(String a, String b, Fault.Kind kind) {
        for (Node one : nodes) {
            for (Node other : nodes) {
                if (one.address().equals(a) && other.address().equals(b)) {
                    harm.pair(one.index(), other.index(), kind);
                }
            }
        }
    }

    /** Starts a node that is not up; again and again while it cannot start for lack of something. */
    private void startAt(long timeNs, Node node) {
        at(timeNs, () -> {
            if (!node.isUp() && !node.start()) {
                startAt(nowNs + START_AGAIN_NS, node);
            }
        });
    }

    /** Whom faults have harmed so far. */
    Harm harm() {
        return harm;
    }

    private void at(long timeNs, Runnable action) {
        timers.add(new Timer(timeNs, timersMade++, action));
    }

    /** Calls something later. */
    public void after(Duration delay, Runnable action) {
        at(nowNs + delay.toNanos(), action);
    }

    /**
     * Sets how often datagrams of the link udp are mistreated from now on, until {@link #heal()}. Those between
     * separated hosts are lost, and those for which a receiving socket has no room.
     *
     * @param lostPerMille    of 1,000 datagrams so many are lost.
     * @param doubledPerMille so many arrive more than once.
     * @param latePerMille    so many arrive behind later ones.
     * @param latest          how late at most.
     */
    public void datagramFaults(int lostPerMille, int doubledPerMille, int latePerMille, Duration latest) {
        datagrams.faults(lostPerMille, doubledPerMille, latePerMille, latest.toNanos());
    }

    /** Ends all faults: connections are healed, killed nodes start, stopped ones run. No further faults come. */
    public void heal() {
        faults.clear();
        datagrams.faults(0, 0, 0, 0);
        datagrams.corrupt(0, false);
        for (Node node : nodes) {
            node.resume();
            node.faults().end();
            for (Node other : nodes) {
                network.heal(node.address(), other.address());
                network.heal(node.secondAddress(), other.secondAddress());
            }
            if (!node.isUp()) {
                guarded(node::start);
            }
        }
        note("healed", null, 0, 0);
    }

    /** A node waits in a control call: time passes, and the drivers of the others run. */
    void pause() {
        nowNs += STEP_NS + random.nextLong(PAUSE_SPREAD_NS);
        for (Node node : nodes) {
            node.cycleOnly();
            if (whilePausing != null && node.isRunning() && !node.isInside()) {
                node.inside(() -> whilePausing.accept(node));
            }
            if (!node.isInside()) {
                endIfKilled(node);
            }
        }
    }

    /** Does something for each node that runs while another one waits in a control call; it must not wait itself. */
    void whilePausing(Consumer<Node> action) {
        whilePausing = action;
    }

    /** Ends a process that was killed in the middle of a call, and starts it again. */
    private void endIfKilled(Node node) {
        if (node.isKilled()) {
            note("killed", node, node.life(), 0);
            harm.count(Fault.Kind.KILL);
            kill(node, START_AGAIN_NS);
        }
    }

    private void kill(Node node, long pauseNs) {
        harmNode(node, Fault.Kind.KILL);
        node.kill();
        startAt(nowNs + pauseNs, node);
    }

    private void guarded(Runnable action) {
        try {
            action.run();
        } catch (SimulationFailure already) {
            throw already;
        } catch (RuntimeException | Error cause) {
            throw failure(cause.toString(), cause);
        }
    }

    /**
     * Makes a failure with the seed and the last events, for checks of the caller.
     *
     * @param cause  or null.
     */
    public SimulationFailure failure(String reason, Throwable cause) {
        failed = true;
        return new SimulationFailure(seed, nowNs - START_NS, "seed " + seed + ", step " + steps + ", "
            + "%.9f s: %s%nLast events:%n%s%nSockets:%n%s".formatted((nowNs - START_NS) / 1e9, reason,
                String.join(System.lineSeparator(), log.tail(SHOWN)),
                String.join(System.lineSeparator(), network.describe()) + System.lineSeparator()
                    + String.join(System.lineSeparator(), datagrams.describe())), cause);
    }

    /**
     * Adds an event to the log: it becomes part of the hash.
     *
     * @param node   that it concerns, or null.
     * @param first  any number.
     * @param second any number.
     */
    public void note(String kind, Node node, long first, long second) {
        log.add(nowNs, kind, node, node == null ? -1 : node.index(), first, second);
    }

    /** Passes each event on as it occurs. */
    public void onEvent(Consumer<String> sink) {
        log.sink(sink);
    }

    /** The virtual clock. Returns the nanoseconds since any moment. */
    public long nanoTime() {
        return nowNs;
    }

    /** Virtual time since the begin. Returns the nanoseconds. */
    public long elapsedNs() {
        return nowNs - START_NS;
    }

    /** Hash of all events so far: the same for two runs in which the same happened. Returns the 64 bits. */
    public long hash() {
        return log.hash();
    }

    /** Number of steps so far. */
    public long steps() {
        return steps;
    }

    /** Number of events so far. */
    public long events() {
        return log.count();
    }

    public long seed() {
        return seed;
    }

    public List<Node> nodes() {
        return nodes;
    }

    SimulatedNetwork network() {
        return network;
    }

    SimulatedDatagrams datagrams() {
        return datagrams;
    }

    /** Passes on what happens to datagrams. */
    void onDatagrams(SimulatedDatagrams.Log sink) {
        datagramLog = sink;
    }

    private void onDatagram(String kind, SocketName from, SocketName to, long firstWord) {
        log.add(nowNs, kind, from, from.hashCode() * 31L + to.hashCode(), firstWord, 0);
        if (datagramLog != null) {
            datagramLog.note(kind, from, to, firstWord);
        }
    }

    Path base() {
        return base;
    }

    /**
     * Closes all nodes, then checks that they have left nothing, and removes the files.
     *
     * @throws SimulationFailure if a node has left sockets or files, and nothing had failed before.
     */
    @Override
    public void close() {
        try {
            if (failed) {
                nodes.forEach(Simulation::killQuietly);
                return;
            }
            for (Node node : nodes.reversed()) {
                guarded(node::close);
            }
            for (Node node : nodes) {
                int sockets = network.openSockets(node.address()) + datagrams.openSockets(node.address())
                    + datagrams.openSockets(node.secondAddress());
                List<String> files = filesOf(node);
                if (sockets != 0 || !files.isEmpty()) {
                    throw failure(node + " has left " + sockets + " sockets and the files " + files, null);
                }
            }
        } finally {
            nodes.forEach(node -> node.faults().end());
            NodeFaults.exit(null);
            remove(base);
        }
    }

    /** Files that should be gone: of a driver that was killed, its error logs stay. */
    private static List<String> filesOf(Node node) {
        String[] names = node.directory().toFile().list();
        return names == null ? List.of() : Stream.of(names).sorted()
            .filter(name -> !name.startsWith("errors-") && !name.equals(DefaultDirectory.MARKER_NAME)).toList();
    }

    private static void killQuietly(Node node) {
        try {
            node.kill();
        } catch (RuntimeException | Error ex) {
            // the first failure says more
            return;
        }
    }

    private static void remove(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
