package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The table of targets, and the cells that it takes. */
final class Targets {
    /** Message size in bytes that the other columns of the table refer to. */
    static final int SIZE = 64;

    private static final int MIB = 1 << 20;
    private static final List<Integer> LENT_SIZES = List.of(65_536, MIB, 4 * MIB);
    /** Of a datagram in a burst. */
    private static final int DATAGRAM = 1024;

    /** The cell that is counted once, after the rounds. */
    static final Cell COLLECTED = new Cell(Contenders.INVOKER, Pass.COLLECTED, SIZE);
    /** Messages that it takes. */
    static final long COLLECTED_MESSAGES = 100_000_000;

    /** Cells that are profiled; other sizes consist of the same parts. */
    static final List<Cell> PROFILED = List.of(
        own(Pass.EXCHANGE, SIZE),
        cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE),
        cell(Contenders.AMONG_MANY, Pass.EXCHANGE, SIZE),
        cell(Contenders.TCP, Pass.EXCHANGE, SIZE),
        cell(Contenders.UDP, Pass.EXCHANGE, SIZE),
        own(Pass.STREAM, SIZE),
        cell(Contenders.ZERO_COPY, Pass.STREAM, SIZE),
        cell(Contenders.MANY_RECEIVES, Pass.STREAM, SIZE));

    private static final double COPY_FACTOR = 0.9;
    private static final double COLD_CYCLES = 64;
    private static final double FRESH_GOAL = 3;
    /** Name that stands for a system that this run does not have. */
    private static final String ABSENT = "absent";

    private final Ucx ucx;
    private final List<Target> targets = new ArrayList<>();

    /**
     * Assigns the systems with UCX to the versions.
     *
     * @param older the one before 1.22, such as Debian's.
     * @param newer the one of 1.22 or later.
     */
    record Ucx(String older, String newer) {
        /** The first minor version of UCX 1 that counts as newer. */
        private static final int NEWER = 22;

        /** The usual systems: Debian's on the path and a newer one in {@code UCX_HOME}. */
        static final Ucx USUAL = new Ucx(UcxTool.POSIX.id(), UcxTool.POSIX_HOME.id());

        /**
         * Assigns them by the versions.
         *
         * @param environment of a run; a version that is not in it is the usual one.
         */
        static Ucx of(Map<String, String> environment) {
            String older = ABSENT;
            String newer = ABSENT;
            for (String id : List.of(USUAL.newer, USUAL.older)) {
                String version = environment.getOrDefault(
                    Machine.VERSION + id, id.equals(USUAL.newer) ? "1." + NEWER : "1.0");
                if (isNewer(version)) {
                    // if both are newer, the one in the variable's folder counts
                    newer = newer.equals(ABSENT) ? id : newer;
                } else if (Character.isDigit(version.charAt(0))) {
                    older = id;
                }
            }
            return new Ucx(older, newer);
        }

        /** The older one, or the only one. */
        String any() {
            return older.equals(ABSENT) ? newer : older;
        }

        private static boolean isNewer(String version) {
            String[] numbers = version.split("[^0-9]+");
            if (numbers.length < 2 || numbers[0].isEmpty()) {
                return false;
            }
            int major = Integer.parseInt(numbers[0]);
            return major > 1 || major == 1 && Integer.parseInt(numbers[1]) >= NEWER;
        }
    }

    private Targets(Ucx ucx) {
        this.ucx = ucx;
    }

    /** All targets, of the usual systems. */
    static List<Target> all() {
        return all(Ucx.USUAL);
    }

    /**
     * All targets.
     *
     * @param ucx the systems with UCX.
     */
    static List<Target> all(Ucx ucx) {
        Targets made = new Targets(ucx);
        made.latencies();
        made.lent();
        made.streams();
        made.remoteAccess();
        made.ofTheProcess();
        made.sockets();
        made.asBefore();
        made.againstTheBaseline();
        return List.copyOf(made.targets);
    }

    private void latencies() {
        targets.add(Target.ofValue("half round trip of 64 bytes, INVOKER over shm, in hand-overs of a cache line",
            own(Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, 1.5));
        againstUcx("the same", SIZE, 0.75, 0.6);
        againstUcx("half round trip of 8 bytes", 8, 0.65, 0.55);
        againstUcx("half round trip of 1 KiB", 1024, 0.75, 0.65);
        againstUcx("half round trip of 4 KiB", 4096, 0.75, 0.65);
        targets.add(new Target("half round trip of 64 bytes against Aeron IPC", own(Pass.EXCHANGE, SIZE),
            Metric.HALF_ROUND_TRIP, cell(Contenders.AERON_IPC, Pass.EXCHANGE, SIZE), 1.25, 1.0));
        targets.add(Target.ofValue("64 bytes to oneself through a DEDICATED daemon, in hand-overs of a cache line",
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP_IN_HAND_OVERS, 2.7, 2.3));
    }

    /** The time of a message does not depend on its length. */
    private void lent() {
        for (int size : LENT_SIZES) {
            targets.add(new Target("half round trip of " + size / 1024 + " KiB that are lent, against 64 bytes",
                cell(Contenders.LENT, Pass.EXCHANGE, size), Metric.HALF_ROUND_TRIP,
                own(Pass.EXCHANGE, SIZE), 2.0, Double.NaN));
        }
    }

    private void againstUcx(String what, int sizeBytes, double must, double goal) {
        targets.add(new Target(what + " against UCX before 1.22", own(Pass.EXCHANGE, sizeBytes),
            Metric.HALF_ROUND_TRIP, cell(ucx.older, Pass.EXCHANGE, sizeBytes), must, goal));
        targets.add(new Target(what + " against UCX 1.22 or newer", own(Pass.EXCHANGE, sizeBytes),
            Metric.HALF_ROUND_TRIP, cell(ucx.newer, Pass.EXCHANGE, sizeBytes), 1.1, 0.95));
    }

    private void streams() {
        targets.add(new Target("message rate of 64 bytes against UCX before 1.22", own(Pass.STREAM, SIZE),
            Metric.MESSAGE_RATE, cell(ucx.older, Pass.STREAM, SIZE), 1.1, 1.4));
        targets.add(new Target("message rate of 64 bytes against UCX 1.22 or newer", own(Pass.STREAM, SIZE),
            Metric.MESSAGE_RATE, cell(ucx.newer, Pass.STREAM, SIZE), 0.95, 1.2));
        targets.add(new Target("message rate of 64 bytes with zero-copy receive against Aeron IPC",
            cell(Contenders.ZERO_COPY, Pass.STREAM, SIZE), Metric.MESSAGE_RATE,
            cell(Contenders.AERON_IPC, Pass.STREAM, SIZE), 0.7, 1.0));
    }

    /** Remote memory access; UCX reads and changes the memory of the peer process itself, in the caller's thread. */
    private void remoteAccess() {
        for (int size : new int[] {8, SIZE}) {
            targets.add(Target.ofValue("half round trip of writes of " + size
                + " bytes into polled memory, in hand-overs of a cache line",
                cell(Contenders.REMOTE, Pass.PUT, size), Metric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, Double.NaN));
        }
        targets.add(Target.ofValue("fetch-and-add, in hand-overs of a cache line",
            cell(Contenders.REMOTE, Pass.FETCH_ADD, Long.BYTES), Metric.OPERATION_TIME_IN_HAND_OVERS, 3,
            Double.NaN));
        targets.add(new Target("read of 8 bytes against UCX", cell(Contenders.REMOTE, Pass.GET, Long.BYTES),
            Metric.OPERATION_TIME, cell(ucx.any(), Pass.GET, Long.BYTES), 1.5, Double.NaN));
        targets.add(new Target("bandwidth of writes of 1 MiB against UCX",
            cell(Contenders.REMOTE, Pass.PUT_STREAM, MIB), Metric.BANDWIDTH,
            cell(ucx.any(), Pass.PUT_STREAM, MIB), 1.0, Double.NaN));
    }

    /** Costs of other objects and code in the same process or on a message's way. */
    private void ofTheProcess() {
        targets.add(new Target("half round trip of 64 bytes in processes that used the other links, against fresh ones",
            cell(Contenders.ALL_LINKS, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            List.of(new Target.Reference(own(Pass.EXCHANGE, SIZE), 1)), 1.03, Double.NaN, null, 0.97));
        targets.add(new Target("half round trip of 64 bytes through two SHARED daemons, tcp against shm",
            cell(Contenders.SHARED_TCP, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.SHARED_SHM, Pass.EXCHANGE, SIZE), 2.0, 1.5));
    }

    /** Over the loopback interface, and over a cable. */
    private void sockets() {
        targets.add(new Target("half round trip of 64 bytes over tcp against two loops over sockets",
            cell(Contenders.TCP, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_TCP, Pass.EXCHANGE, SIZE), 1.1, 1.05));
        targets.add(new Target("half round trip of 64 bytes over udp against two loops over sockets",
            cell(Contenders.UDP, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP, Pass.EXCHANGE, SIZE), 1.1, 1.05));
        targets.add(new Target("half round trip of 64 bytes by packet sockets against two loops over udp sockets",
            cell(Contenders.PACKET, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP, Pass.EXCHANGE, SIZE), 0.6, 0.6));
        targets.add(new Target("the same over a cable between two hosts' namespaces",
            cell(Contenders.PACKET_CABLE, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP_CABLE, Pass.EXCHANGE, SIZE), 0.6, 0.6));
        targets.add(new Target("bandwidth of bursts of 64 KiB over udp against batches too short to be joined",
            cell(Contenders.UDP, Pass.STREAM, DATAGRAM), Metric.BANDWIDTH,
            cell(Contenders.UDP_SMALL_BATCHES, Pass.STREAM, DATAGRAM), 5, Double.NaN));
        targets.add(new Target("bandwidth of 1 MiB there and back over tcp against libfabric",
            cell(Contenders.TCP, Pass.EXCHANGE, MIB), Metric.EXCHANGE_BANDWIDTH,
            cell(LibfabricTool.TCP.id(), Pass.EXCHANGE, MIB), 1.2, Double.NaN));
    }

    /** Targets that were met before and must stay met. */
    private void asBefore() {
        for (int size : new int[] {65_536, MIB}) {
            Target.Reference other = new Target.Reference(cell(ucx.any(), Pass.STREAM, size), 1);
            Target.Reference copy = new Target.Reference(cell(Contenders.COPY, Pass.STREAM, size), COPY_FACTOR);
            targets.add(new Target("bandwidth of " + size / 1024 + " KiB against the smaller of UCX and 0.9 x a copy",
                own(Pass.STREAM, size), Metric.BANDWIDTH, List.of(other, copy), 1.0, 1.0, other));
        }
        targets.add(new Target("p99 at 100,000 messages/s of 64 bytes against Aeron IPC", own(Pass.PACED, SIZE),
            Metric.PACED_P99, cell(Contenders.AERON_IPC, Pass.PACED, SIZE), 1.0, 0.7));
        targets.add(Target.ofValue("garbage collections in 100 million messages at full rate",
            COLLECTED, Metric.COLLECTIONS, 0, 0));
        targets.add(new Target("64 bytes through a DEDICATED daemon with 1,000 endpoints open, against one",
            cell(Contenders.AMONG_MANY, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), 1.5, 1.2));
        targets.add(new Target("64 bytes over one of 1,000 tcp connections with a shared receive context, against one",
            cell(Contenders.GATEWAY, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.CONNECTION, Pass.EXCHANGE, SIZE), 1.2, 1.1));
        targets.add(Target.ofValue("first message of a cold endpoint of these 1,000, 99 % within so many cycles",
            cell(Contenders.AMONG_MANY, Pass.COLD, SIZE), Metric.COLD_CYCLES, COLD_CYCLES, COLD_CYCLES));
        targets.add(new Target("time of a streamed message with 100,000 receives posted in order, against 64",
            cell(Contenders.MANY_RECEIVES, Pass.STREAM, SIZE), Metric.STREAM_TIME, own(Pass.STREAM, SIZE),
            1.5, 1.2));
    }

    /** Against an older build of JFabric, which {@code --baseline-jar} names; and the fresh JVM. */
    private void againstTheBaseline() {
        targets.add(new Target("64 bytes with 128 receives posted over 4 tags and two peers, after a cancel and a peek,"
            + " against the older build", cell(Contenders.POSTED, Pass.EXCHANGE, SIZE),
            Metric.HALF_ROUND_TRIP, cell(Contenders.POSTED_BASELINE, Pass.EXCHANGE, SIZE), 1.0, 0.8));
        targets.add(new Target("a message of 64 bytes over shm in one thread, against the older build",
            cell(Contenders.ONE_THREAD, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.ONE_THREAD_BASELINE, Pass.EXCHANGE, SIZE), 0.7, 0.55));
        targets.add(Target.ofValue("messages 900 to 1,100 of a fresh JVM at 1,000 a second, against the steady state",
            cell(Contenders.FRESH, Pass.FRESH, SIZE), Metric.FRESH_OVER_STEADY, Target.SHOWN, FRESH_GOAL));
    }

    /** The cells of a round that the usual table names, with the baselines that are reported beside them. */
    static List<Cell> cells() {
        return cells(all());
    }

    /**
     * The cells of a round that a table names, with those that are reported beside them.
     *
     * @param targets of the table.
     */
    static List<Cell> cells(List<Target> targets) {
        Set<Cell> cells = new LinkedHashSet<>();
        for (Target target : targets) {
            cells.addAll(target.cells());
        }
        cells.remove(COLLECTED);
        for (String beside : List.of(Contenders.SHARED, LibfabricTool.SHM.id(), LibfabricTool.TCP.id(),
            UcxTool.TCP.id(), Contenders.AERON_UDP, Contenders.BASELINE, Contenders.HAND_OVER)) {
            cells.add(cell(beside, Pass.EXCHANGE, SIZE));
        }
        for (int size : LENT_SIZES) {
            for (String beside : List.of(Contenders.LENT_READ, Contenders.ICEORYX, Contenders.INVOKER,
                UcxTool.POSIX.id())) {
                cells.add(cell(beside, Pass.EXCHANGE, size));
            }
        }
        cells.add(cell(Contenders.ICEORYX, Pass.EXCHANGE, SIZE));
        for (String ucx : List.of(UcxTool.POSIX.id(), UcxTool.POSIX_HOME.id())) {
            cells.add(cell(ucx, Pass.PUT, Long.BYTES));
            cells.add(cell(ucx, Pass.PUT, SIZE));
            cells.add(cell(ucx, Pass.FETCH_ADD, Long.BYTES));
        }
        cells.add(cell(Contenders.TCP, Pass.STREAM, SIZE));
        cells.add(cell(UcxTool.TCP.id(), Pass.STREAM, SIZE));
        cells.add(cell(Contenders.HAND_OVER, Pass.PACED, SIZE));
        return List.copyOf(cells);
    }

    private static Cell own(Pass pass, int sizeBytes) {
        return cell(Contenders.INVOKER, pass, sizeBytes);
    }

    private static Cell cell(String system, Pass pass, int sizeBytes) {
        return new Cell(system, pass, sizeBytes);
    }
}
