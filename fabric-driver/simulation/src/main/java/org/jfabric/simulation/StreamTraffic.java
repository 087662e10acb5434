package org.jfabric.simulation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.stream.Publication;

/**
 * Groups that other hosts read: one or two writers, each on a host of its own, which open them again when they were
 * closed or killed; readers on all hosts, in the process of the driver or in one that is its client.
 */
final class StreamTraffic implements Program {
    private static final int PORT = 4100;
    private static final int CLOSES = 2048;
    private static final int CLIENT_BYTES = 200;
    private static final int LONG_FACTOR = 2000;
    private static final Duration END_LIMIT = Duration.ofSeconds(120);

    private final Node node;
    /** Null without a group to write. */
    private final StreamLedger ledger;
    private final List<StreamSubscriber> readers;
    private final Settings settings;
    private final SplittableRandom random;
    private final Offers offers;
    private long openNs;
    private long nextNs;

    private StreamTraffic(Node node, StreamLedger ledger, List<StreamSubscriber> readers, Settings settings) {
        this.node = node;
        this.ledger = ledger;
        this.readers = readers;
        this.settings = settings;
        random = node.random();
        boolean isClient = node instanceof ClientNode;
        offers = new Offers(random, isClient ? CLIENT_BYTES : settings.mostBytes());
        if (ledger != null) {
            if (ledger.publication != null && !isClient) {
                // it was killed with its process, and so are its descriptors
                ledger.publication.close();
            }
            ledger.publication = null;
        }
    }

    /**
     * What the seed chooses.
     *
     * @param scale how much longer everything takes than the run was to: long runs have faults of several seconds.
     */
    record Settings(int hosts, boolean[] hasClient, long scale, long durationNs, int paths, boolean isMulticast,
        boolean isSealed, int ringBytes, long stallTimeoutNs, long paceNs, long pollNs, boolean hasFaults,
        SplittableRandom random) {
        static Settings of(long seed, int hosts, Duration duration) {
            SplittableRandom random = new SplittableRandom(seed ^ 0x73747265L);
            long scale = new long[] {LONG_FACTOR, 50, 10, 10}[random.nextInt(4)];
            long stallNs = random.nextInt(3) == 0 ? scale * (100_000 + random.nextLong(2_000_000)) : 0;
            long paceNs = scale == LONG_FACTOR || random.nextBoolean() ? scale * (1 + random.nextInt(20_000)) : 0;
            boolean[] hasClient = new boolean[hosts];
            for (int i = 0; i < hosts; i++) {
                hasClient[i] = random.nextInt(3) == 0;
            }
            return new Settings(hosts, hasClient, scale, scale * duration.toNanos(), 1 + random.nextInt(2),
                random.nextInt(3) == 0, random.nextInt(4) == 0, 1 << 13 + random.nextInt(4), stallNs, paceNs,
                Math.min(scale, 100) * (5_000L << random.nextInt(5)), random.nextInt(8) != 0, random);
        }

        /** The longest message of the ring. */
        private int mostBytes() {
            return ringBytes / 8 - 48;
        }

        long longestPauseNs() {
            return Math.min(4_000_000 * scale, 500_000_000);
        }

        long againNs() {
            return 200_000 * Math.min(scale, 100);
        }

        /** Whether a driver may record an error although no fault has occurred. */
        private boolean isExpected(String error) {
            boolean isOfStall = error.contains("it has held the group back") || error.contains("has not read for");
            return stallTimeoutNs > 0 && isOfStall
                || isSealed && hasFaults && error.contains("they were changed or repeated")
                // what was opened again has another log, and another port
                || error.contains("Two paths are two ways to one writer") || error.contains(" has a second writer, ")
                || error.contains(": joining at ") && error.contains("The log has another term, or is another one");
        }

        /** Hosts, and the clients of their drivers. */
        private int nodes() {
            int nodes = hosts;
            for (boolean has : hasClient) {
                nodes += has ? 1 : 0;
            }
            return nodes;
        }

        /** Where a writer sends, or where a host finds that. */
        private String network(int writer, int reader) {
            return String.join(";", IntStream.range(0, paths).mapToObj(path -> (isMulticast
                ? "239.1." + path + ".1" : host(path, writer)) + ':' + PORT
                + (isMulticast || reader >= 0 ? "@" + host(path, reader < 0 ? writer : reader) : "")).toList());
        }

        private static String host(int path, int index) {
            return "10." + path + ".0." + (index + 1);
        }

        String address(StreamLedger ledger, Node reader, int host) {
            return host == ledger.host ? ledger.address()
                : "stream://" + network(ledger.host, host) + "/g" + ledger.host;
        }
    }

    /** Others read while a node waits. */
    private static void whilePausing(Node node, Throwable[] wrong) {
        try {
            if (node.program() instanceof StreamTraffic traffic) {
                traffic.readers.forEach(StreamSubscriber::pollOnly);
            }
        } catch (RuntimeException | Error failed) {
            // who waits may catch what is thrown here
            wrong[0] = wrong[0] == null ? failed : wrong[0];
        }
    }

    @Override
    public int run() {
        int work = ledger == null || ledger.isClosing ? 0 : write();
        for (StreamSubscriber reader : readers) {
            work += reader.run();
        }
        return work;
    }

    private int write() {
        long nowNs = node.simulation().nanoTime();
        if (ledger.publication == null) {
            return openNs <= nowNs ? open() : 0;
        }
        if (!ledger.isActive || nextNs > nowNs) {
            int result = ledger.publication.poll();
            if (result != 0) {
                onFailed(result);
            }
            return 0;
        }
        if (settings.paceNs > 0) {
            nextNs = nowNs + random.nextLong(2 * settings.paceNs);
            node.wakeAt(nextNs);
        }
        int work = 0;
        for (int i = random.nextInt(6); i > 0 && ledger.publication != null; i--) {
            work += offer();
        }
        if (ledger.publication != null && random.nextInt(CLOSES) == 0) {
            close();
            openLater();
        }
        return work;
    }

    private int open() {
        try {
            ledger.isDirect = !(node instanceof ClientNode);
            ledger.isWatched = ledger.isDirect && !settings.isSealed;
            String lossy = ledger.policy == StreamLedger.Policy.LOSSY ? "?lossy" : "";
            Publication.Builder builder = Publication.on(node.fabric(), ledger.address() + lossy)
                .maxLength(settings.mostBytes()).onNetwork(settings.network(ledger.host, -1));
            if (ledger.policy == StreamLedger.Policy.QUORUM) {
                builder.quorum(ledger.quorum);
            } else if (ledger.policy == StreamLedger.Policy.REQUIRED) {
                builder.required(ledger.required.stream().map(index -> "n" + index).toArray(String[]::new));
            }
            ledger.publication = builder.open();
            node.simulation().note("writes", node, ledger.host, ledger.publication.position());
            ledger.onOpen(ledger.publication.next());
        } catch (FabricException failed) {
            node.simulation().note("not opened", node, failed.errno(), 0);
            ledger.refused++;
            requireCause(failed.errno(), failed);
            openLater();
        }
        return 1;
    }

    private void openLater() {
        openNs = node.simulation().nanoTime() + random.nextLong(settings.againNs());
        node.wakeAt(openNs);
    }

    private void requireCause(int errno, Throwable cause) {
        // the group of before is still being sent
        boolean isTaken = errno == FabricErrno.EBUSY || errno == FabricErrno.EADDRINUSE;
        boolean isDraining = isTaken && ledger.current() != null;
        if (!isDraining && !node.isKilled() && !node.faults().explains(errno)) {
            throw new AssertionError("the writer has failed with " + FabricErrno.name(errno), cause);
        }
    }

    private int offer() {
        long id = ledger.nextId();
        int result = offers.offer(ledger.publication, id);
        if (result == 0) {
            node.simulation().note("offered", node, id, ledger.publication.position());
            ledger.onAccepted(id, offers.length());
            Account.require(ledger.publication.position() == ledger.current().end(), "the publication is at "
                + ledger.publication.position() + " instead of " + ledger.current().end());
        } else if (result != -FabricErrno.EAGAIN) {
            onFailed(result);
        }
        return result == 0 ? 1 : 0;
    }

    private void onFailed(int result) {
        node.simulation().note("failed", node, -result, 0);
        requireCause(-result, null);
        ledger.publication.close();
        ledger.publication = null;
        openLater();
    }

    @Override
    public void close() {
        if (ledger != null && ledger.publication != null) {
            ledger.publication.close();
            ledger.onClosed();
        }
    }

    /** What goes wrong: kills, cuts, hosts that do not run, no room or descriptors, and jumps of clocks. */
    static List<Fault> faults(long seed, int hosts, Duration duration) {
        Settings settings = Settings.of(seed, hosts, duration);
        SplittableRandom random = new SplittableRandom(seed ^ 0x6661756CL);
        double perRun = 1e9 / settings.durationNs;
        long longestNs = settings.durationNs / (settings.scale == LONG_FACTOR ? 2 : 16);
        if (!settings.hasFaults) {
            return List.of();
        }
        int[] most = random.nextInt(4) == 0 ? new int[] {30, 4, 4, 4, 4} : new int[] {8, 8, 6, 2, 2};
        List<Fault> drawn = new Faults().add(Fault.Kind.KILL, perRun * random.nextInt(most[0]), longestNs)
            .add(Fault.Kind.CUT, perRun * random.nextInt(most[1]), longestNs)
            .add(Fault.Kind.STOP, perRun * random.nextInt(most[2]), longestNs)
            .add(Fault.Kind.DISK, perRun * random.nextInt(most[3]), longestNs)
            .add(Fault.Kind.DESCRIPTORS, perRun * random.nextInt(most[4]), longestNs)
            .add(Fault.Kind.CLOCK, perRun * random.nextInt(3), longestNs)
            .draw(seed, settings.nodes(), settings.durationNs);
        // of a client only the process is stopped or killed
        return drawn.stream().map(fault -> fault.kind() == Fault.Kind.KILL || fault.kind() == Fault.Kind.STOP ? fault
            : new Fault(fault.timeNs(), fault.kind(), fault.node() % hosts, fault.other() % hosts, fault.durationNs()))
            .toList();
    }

    static Simulate.Result run(long seed, Duration duration, Simulate.Plan plan) {
        Settings settings = Settings.of(seed, plan.nodes(), duration);
        SplittableRandom random = settings.random;
        try (Simulation simulation = new Simulation(seed)) {
            List<StreamLedger> ledgers = new ArrayList<>();
            for (int i = random.nextInt(2); i >= 0; i--) {
                ledgers.add(ledger(ledgers.size(), settings));
            }
            List<StreamSubscriber> all = new ArrayList<>();
            List<Function<Node, Program>> hosts = new ArrayList<>();
            List<Function<Node, Program>> clients = new ArrayList<>();
            Map<String, String> options = options(settings, plan.options(), simulation.base());
            for (int i = 0; i < plan.nodes(); i++) {
                boolean isByClient = settings.hasClient[i] && random.nextInt(3) == 0;
                StreamLedger written = i < ledgers.size() ? ledgers.get(i) : null;
                hosts.add(program(settings, isByClient ? null : written, i, 3, ledgers, all));
                clients.add(program(settings, isByClient ? written : null, i, 2, ledgers, all));
            }
            for (int i = 0; i < plan.nodes(); i++) {
                simulation.add("n" + i, options, hosts.get(i));
            }
            for (int i = 0; i < plan.nodes(); i++) {
                if (settings.hasClient[i]) {
                    simulation.addClient("c" + i, simulation.nodes().get(i), clients.get(i));
                }
            }
            simulation.onEvent(Simulate.events());
            simulation.datagrams().tap((from, to, bytes) -> ledgers.forEach(ledger ->
                ledger.onDatagram(index(from), index(to), bytes)));
            Throwable[] wrong = new Throwable[1];
            simulation.whilePausing(node -> whilePausing(node, wrong));
            simulation.start();
            if (settings.hasFaults) {
                mistreat(simulation, settings);
            }
            simulation.faults(plan.faults());
            simulation.run(Duration.ofNanos(settings.durationNs));
            end(simulation, ledgers, all);
            if (wrong[0] != null) {
                throw simulation.failure(wrong[0].getMessage(), wrong[0]);
            }
            simulation.whilePausing(null);
            return Simulate.result(simulation, settings::isExpected,
                ledgers.stream().mapToLong(each -> each.accepted).sum(), 0,
                ledgers.stream().mapToLong(each -> each.received).sum(),
                ledgers.stream().mapToLong(each -> each.inGaps).sum(),
                ledgers.stream().mapToLong(each -> each.refused).sum());
        }
    }

    private static int index(SocketName name) {
        return name.inetAddress().getAddress()[3] - 1;
    }

    private static StreamLedger ledger(int host, Settings settings) {
        SplittableRandom random = settings.random;
        StreamLedger.Policy[] all = StreamLedger.Policy.values();
        StreamLedger.Policy policy = all[random.nextInt(all.length)];
        List<Integer> others = IntStream.range(0, settings.hosts).filter(each -> each != host)
            .filter(each -> random.nextBoolean()).boxed().toList();
        return new StreamLedger(host, settings.hosts, settings.ringBytes,
            policy == StreamLedger.Policy.REQUIRED && others.isEmpty() ? StreamLedger.Policy.RELIABLE : policy,
            1 + random.nextInt(settings.hosts - 1), others);
    }

    private static Map<String, String> options(Settings settings, Map<String, String> given, Path folder) {
        SplittableRandom random = settings.random;
        Map<String, String> options = new HashMap<>(given);
        options.put("jfabric.link.enabled", "loopback,shm,udp");
        options.put("jfabric.shm.groupRingLengthBytes", Integer.toString(settings.ringBytes));
        options.put("jfabric.shm.groupStallTimeoutNs", Long.toString(settings.stallTimeoutNs));
        options.put("jfabric.udp.maxMessageBytes", Integer.toString(552 + random.nextInt(1000)));
        if (settings.isSealed) {
            Path file = folder.resolve("keys");
            try {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(
                    PosixFilePermissions.fromString("rw-------")));
                Files.writeString(file, "0123456789abcdef".repeat(4));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            options.put("jfabric.udp.streamKeyFile", file.toString());
        }
        return options;
    }

    /** A process on a host, with less than so many readers of each group. */
    private static Function<Node, Program> program(Settings settings, StreamLedger written, int host, int most,
        List<StreamLedger> ledgers, List<StreamSubscriber> all) {
        int[] counts = ledgers.stream().mapToInt(ledger -> settings.random.nextInt(most)).toArray();
        for (int i = 0; i < counts.length && most > 2; i++) {
            // whom a writer waits for; and someone reads the first group on another host
            boolean isNeeded = ledgers.get(i).host != host && ledgers.get(i).policy.ordinal() > 1;
            counts[i] = Math.max(counts[i], isNeeded || i == 0 && host == 1 ? 1 : 0);
        }
        List<StreamSubscriber> readers = new ArrayList<>();
        return node -> {
            boolean isFirst = readers.isEmpty();
            for (int i = 0; isFirst && i < counts.length; i++) {
                for (int k = 0; k < counts[i]; k++) {
                    readers.add(new StreamSubscriber(node, all.size(), ledgers.get(i), settings, host));
                    all.add(readers.getLast());
                }
            }
            return new StreamTraffic(node, written, readers, settings);
        };
    }

    /** Datagrams are lost, late, doubled and corrupted, and now and then one of two networks fails. */
    private static void mistreat(Simulation simulation, Settings settings) {
        SplittableRandom random = settings.random;
        simulation.datagramFaults(random.nextInt(2) * random.nextInt(random.nextBoolean() ? 20 : 300),
            random.nextInt(2) * random.nextInt(200), random.nextInt(2) * random.nextInt(200), Duration.ofMillis(5));
        simulation.datagrams().corrupt(random.nextInt(2) * random.nextInt(100), settings.isSealed);
        for (int i = settings.paths == 1 ? 0 : random.nextInt(6); i > 0; i--) {
            Node one = simulation.nodes().get(random.nextInt(settings.hosts));
            Node other = simulation.nodes().get(random.nextInt(settings.hosts));
            boolean isSecond = random.nextBoolean();
            String from = isSecond ? one.secondAddress() : one.address();
            String to = isSecond ? other.secondAddress() : other.address();
            long beginNs = random.nextLong(settings.durationNs);
            simulation.harm().count(Fault.Kind.CUT);
            simulation.after(Duration.ofNanos(beginNs), () -> simulation.network().cut(from, to));
            simulation.after(Duration.ofNanos(beginNs + random.nextLong(settings.durationNs / 2)),
                () -> simulation.network().heal(from, to));
        }
    }

    /** After the faults all readers see all; then the writers leave, and nothing is left of them. */
    private static void end(Simulation simulation, List<StreamLedger> ledgers, List<StreamSubscriber> readers) {
        ledgers.forEach(each -> each.isActive = false);
        simulation.heal();
        if (!simulation.runUntil(() -> ledgers.stream().allMatch(each -> each.publication != null)
            && readers.stream().allMatch(StreamSubscriber::isDone), END_LIMIT)) {
            throw simulation.failure("not all was read of " + ledgers + ": " + readers, null);
        }
        for (Node node : simulation.nodes()) {
            node.program().close();
        }
        ledgers.forEach(each -> each.isClosing = true);
        if (!simulation.runUntil(() -> readers.stream().noneMatch(StreamSubscriber::isOpen), END_LIMIT)) {
            throw simulation.failure("the end was not seen by " + readers, null);
        }
        if (!simulation.runUntil(() -> left(simulation).isEmpty(), END_LIMIT)) {
            throw simulation.failure("of streams that have ended there are still " + left(simulation), null);
        }
    }

    /** Sockets of streams. */
    private static List<String> left(Simulation simulation) {
        return simulation.nodes().stream().flatMap(node -> Stream.of(node.address(), node.secondAddress()))
            .distinct().filter(address -> simulation.datagrams().openSockets(address) > 0).toList();
    }
}
