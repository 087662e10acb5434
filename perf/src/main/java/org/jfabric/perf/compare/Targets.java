package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The table of targets, and the cells that it takes. */
final class Targets {
    /** Message size in bytes that the other columns of the table refer to. */
    static final int SIZE = 64;

    private static final int MIB = 1 << 20;
    private static final List<Integer> LENT_SIZES = List.of(65_536, MIB, 4 * MIB);
    private static final int DATAGRAM = 1024;
    private static final int LONG_DATAGRAM = 1_400;
    private static final int MANY_DATAGRAMS = 65_536;

    /** The cell that is counted once, after the rounds. */
    static final Cell COLLECTED = new Cell(Contenders.INVOKER, Pass.COLLECTED, SIZE);
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
    private static final double REPLAY_MUST = 1e6;
    private static final double REPLAY_GOAL = 5e6;
    private static final double COLD_CYCLES = 64;
    private static final double FRESH_GOAL = 3;
    /** Systems that are reported beside those of the targets, with one message at a time of 64 bytes. */
    private static final List<String> BESIDE = List.of(Contenders.SHARED, LibfabricTool.SHM.id(),
        LibfabricTool.TCP.id(), UcxTool.TCP.id(), Contenders.AERON_UDP, Contenders.BASELINE, Contenders.ICEORYX,
        Contenders.first(10), Contenders.last(10), Contenders.CLIENTS, Contenders.group(1), Contenders.group(10),
        Contenders.group(100));

    /** Why UCX is no peer here, or null. */
    private final String ucxUnfit;
    private final List<Target> targets = new ArrayList<>();

    private Targets(String ucxUnfit) {
        this.ucxUnfit = ucxUnfit;
    }

    /**
     * All targets.
     *
     * @param environment of a run, by which UCX is a peer or none.
     */
    static List<Target> all(Map<String, String> environment) {
        Targets made = new Targets(UcxTool.unfit(environment.get(Machine.VERSION + UcxTool.POSIX.id())));
        made.latencies();
        made.lent();
        made.streams();
        made.peers();
        made.remoteAccess();
        made.ofTheProcess();
        made.sockets();
        made.asBefore();
        made.againstTheBaseline();
        made.groups();
        made.hosts();
        made.recording();
        return List.copyOf(made.targets);
    }

    private void latencies() {
        targets.add(Target.ofValue("half round trip of 64 bytes, INVOKER over shm, in hand-overs of a cache line",
            own(Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.8, 1.5));
        againstUcx("half round trip of 64 bytes", own(Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP, 1.1, 0.95);
        againstUcx("half round trip of 8 bytes", own(Pass.EXCHANGE, 8), CellMetric.HALF_ROUND_TRIP, 1.25, 1.1);
        againstUcx("half round trip of 1 KiB", own(Pass.EXCHANGE, 1024), CellMetric.HALF_ROUND_TRIP, 1.1, 0.95);
        againstUcx("half round trip of 4 KiB", own(Pass.EXCHANGE, 4096), CellMetric.HALF_ROUND_TRIP, 1.1, 0.95);
        targets.add(new Target("half round trip of 64 bytes against Aeron IPC", own(Pass.EXCHANGE, SIZE),
            CellMetric.HALF_ROUND_TRIP, cell(Contenders.AERON_IPC, Pass.EXCHANGE, SIZE), 1.15, 1.0));
        targets.add(Target.ofValue("64 bytes to oneself through a DEDICATED daemon, in hand-overs of a cache line",
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, 2.8, 2.5));
    }

    /** The time of a message does not depend on its length. */
    private void lent() {
        for (int size : LENT_SIZES) {
            targets.add(new Target("half round trip of " + size / 1024 + " KiB that are lent, against 64 bytes",
                cell(Contenders.LENT, Pass.EXCHANGE, size), CellMetric.HALF_ROUND_TRIP,
                own(Pass.EXCHANGE, SIZE), 2.0, Double.NaN));
        }
    }

    private void againstUcx(String what, Cell own, CellMetric metric, double must, double goal) {
        targets.add(new Target(what + " against UCX", own, metric, List.of(ucx(own)), must, goal, null));
    }

    /** The same cell of UCX. */
    private Target.Reference ucx(Cell own) {
        return new Target.Reference(cell(UcxTool.POSIX.id(), own.pass(), own.sizeBytes()), 1, ucxUnfit);
    }

    private void streams() {
        againstUcx("message rate of 64 bytes", own(Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE, 0.95, 1.2);
        targets.add(new Target("message rate of 64 bytes with zero-copy receive against Aeron IPC",
            cell(Contenders.ZERO_COPY, Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE,
            cell(Contenders.AERON_IPC, Pass.STREAM, SIZE), 0.9, 1.1));
    }

    /** Several peers in one thread, which has all instructions of a message and no hand-over. */
    private void peers() {
        for (int count : new int[] {2, 8}) {
            inOneThread("one sender to " + count + " receivers in turn against as many pairs",
                Contenders.turn(count), Contenders.pairs(count), 1.1, 1.05);
        }
        inOneThread("one sender to 64 receivers in turn against as many pairs",
            Contenders.turn(64), Contenders.pairs(64), 1.2, Double.NaN);
        inOneThread("64 bytes with one message of 48 KiB in 256, against 64 bytes alone",
            Contenders.MIXED, Contenders.ONE_THREAD, 1.08, Double.NaN);
        inOneThread("the first of 100 connected senders, the others idle, against one connected",
            Contenders.first(100), Contenders.first(1), 1.2, 1.05);
        inOneThread("the last of 100 connected senders against the first",
            Contenders.last(100), Contenders.first(100), 1.1, Double.NaN);
    }

    private void inOneThread(String what, String own, String other, double must, double goal) {
        targets.add(new Target(what, cell(own, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(other, Pass.EXCHANGE, SIZE), must, goal));
    }

    /** Remote memory access; UCX reads and changes the memory of the peer process itself, in the caller's thread. */
    private void remoteAccess() {
        for (int size : new int[] {8, SIZE}) {
            targets.add(Target.ofValue("half round trip of writes of " + size
                + " bytes into polled memory, in hand-overs of a cache line",
                cell(Contenders.REMOTE, Pass.PUT, size), CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, Double.NaN));
        }
        targets.add(Target.ofValue("fetch-and-add, in hand-overs of a cache line",
            cell(Contenders.REMOTE, Pass.FETCH_ADD, Long.BYTES), CellMetric.OPERATION_TIME_IN_HAND_OVERS, 3,
            Double.NaN));
        againstUcx("read of 8 bytes", cell(Contenders.REMOTE, Pass.GET, Long.BYTES), CellMetric.OPERATION_TIME, 1.5,
            Double.NaN);
        againstUcx("bandwidth of writes of 1 MiB", cell(Contenders.REMOTE, Pass.PUT_STREAM, MIB), CellMetric.BANDWIDTH,
            1.0, Double.NaN);
    }

    /** Costs of other objects and code in the same process or on a message's way. */
    private void ofTheProcess() {
        targets.add(new Target("half round trip of 64 bytes in processes that used the other links, against fresh ones",
            cell(Contenders.ALL_LINKS, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            List.of(new Target.Reference(own(Pass.EXCHANGE, SIZE), 1)), 1.03, Double.NaN, null, 0.97));
        targets.add(new Target("half round trip of 64 bytes through two SHARED daemons, tcp against shm",
            cell(Contenders.SHARED_TCP, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.SHARED_SHM, Pass.EXCHANGE, SIZE), 2.0, 1.5));
    }

    /** Over the loopback interface, and over a cable. */
    private void sockets() {
        targets.add(new Target("half round trip of 64 bytes over tcp against two loops over sockets",
            cell(Contenders.TCP, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_TCP, Pass.EXCHANGE, SIZE), 1.1, 1.05));
        targets.add(new Target("half round trip of 64 bytes over udp against two loops over sockets",
            cell(Contenders.UDP, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP, Pass.EXCHANGE, SIZE), 1.1, 1.05));
        targets.add(new Target("half round trip of 64 bytes by packet sockets against two loops over udp sockets",
            cell(Contenders.PACKET, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP, Pass.EXCHANGE, SIZE), 0.6, 0.6));
        targets.add(new Target("the same over a cable between two hosts' namespaces",
            cell(Contenders.PACKET_CABLE, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.BARE_UDP_CABLE, Pass.EXCHANGE, SIZE), 0.6, 0.6));
        targets.add(new Target("bandwidth of bursts of 64 KiB over udp against batches too short to be joined",
            cell(Contenders.UDP, Pass.STREAM, DATAGRAM), CellMetric.BANDWIDTH,
            cell(Contenders.UDP_SMALL_BATCHES, Pass.STREAM, DATAGRAM), 5, Double.NaN));
        targets.add(new Target("bandwidth of 1 MiB there and back over tcp against libfabric",
            cell(Contenders.TCP, Pass.EXCHANGE, MIB), CellMetric.EXCHANGE_BANDWIDTH,
            cell(LibfabricTool.TCP.id(), Pass.EXCHANGE, MIB), 1.2, Double.NaN));
    }

    /** Targets that were met before and must stay met. */
    private void asBefore() {
        for (int size : new int[] {65_536, MIB}) {
            Target.Reference other = ucx(own(Pass.STREAM, size));
            Target.Reference copy = new Target.Reference(cell(Contenders.COPY, Pass.STREAM, size), COPY_FACTOR);
            targets.add(new Target("bandwidth of " + size / 1024 + " KiB against the smaller of UCX and 0.9 x a copy",
                own(Pass.STREAM, size), CellMetric.BANDWIDTH, List.of(other, copy), 1.0, 1.0, other));
        }
        targets.add(new Target("p99 at 100,000 messages/s of 64 bytes against Aeron IPC", own(Pass.PACED, SIZE),
            CellMetric.PACED_P99, cell(Contenders.AERON_IPC, Pass.PACED, SIZE), 1.0, 0.7));
        targets.add(Target.ofValue("garbage collections in 100 million messages at full rate",
            COLLECTED, CellMetric.COLLECTIONS, 0, 0));
        targets.add(new Target("64 bytes through a DEDICATED daemon with 1,000 endpoints open, against one",
            cell(Contenders.AMONG_MANY, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), 1.5, 1.2));
        targets.add(new Target("64 bytes over one of 1,000 tcp connections with a shared receive context, against one",
            cell(Contenders.GATEWAY, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.CONNECTION, Pass.EXCHANGE, SIZE), 1.2, 1.1));
        targets.add(Target.ofValue("first message of a cold endpoint of these 1,000, 99 % within so many cycles",
            cell(Contenders.AMONG_MANY, Pass.COLD, SIZE), CellMetric.COLD_CYCLES, COLD_CYCLES, COLD_CYCLES));
        targets.add(new Target("time of a streamed message with 100,000 receives posted in order, against 64",
            cell(Contenders.MANY_RECEIVES, Pass.STREAM, SIZE), CellMetric.STREAM_TIME, own(Pass.STREAM, SIZE),
            1.5, 1.2));
    }

    /** Against an older build of JFabric, which {@code --baseline-jar} names; and the fresh JVM. */
    private void againstTheBaseline() {
        targets.add(new Target("64 bytes with 128 receives posted over 4 tags and two peers, after a cancel and a peek,"
            + " against the older build", cell(Contenders.POSTED, Pass.EXCHANGE, SIZE),
            CellMetric.HALF_ROUND_TRIP, cell(Contenders.POSTED_BASELINE, Pass.EXCHANGE, SIZE), 1.0, 0.8));
        targets.add(new Target("a message of 64 bytes over shm in one thread, against the older build",
            cell(Contenders.ONE_THREAD, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.ONE_THREAD_BASELINE, Pass.EXCHANGE, SIZE), 0.7, 0.55));
        targets.add(Target.ofValue("messages 900 to 1,100 of a fresh JVM at 1,000 a second, against the steady state",
            cell(Contenders.FRESH, Pass.FRESH, SIZE), CellMetric.FRESH_OVER_STEADY, Target.SHOWN, FRESH_GOAL));
    }

    /** A publication and its readers. */
    private void groups() {
        Cell one = cell(Contenders.STREAM, Pass.BURST, SIZE);
        for (int readers : new int[] {10, 100}) {
            targets.add(new Target("time of a written message of 64 bytes with " + readers
                + " subscriptions in the other process, against one", cell(Contenders.stream(readers), Pass.BURST,
                SIZE), CellMetric.WRITE_TIME, one, Target.SHOWN, readers > 10 ? 1.5 : Double.NaN));
        }
        targets.add(new Target("half round trip of 64 bytes, publication and subscription, against Aeron IPC",
            cell(Contenders.STREAM, Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
            cell(Contenders.AERON_IPC, Pass.EXCHANGE, SIZE), 1.1, 0.9));
        targets.add(new Target("message rate of 64 bytes to 1 subscription against Aeron IPC",
            cell(Contenders.STREAM, Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE,
            cell(Contenders.AERON_IPC, Pass.STREAM, SIZE), 0.9, 1.2));
        targets.add(new Target("message rate of 64 bytes to 3 subscriptions against Aeron IPC",
            cell(Contenders.stream(3), Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE,
            cell(Contenders.aeronReaders(3), Pass.STREAM, SIZE), 0.9, 1.2));
        targets.add(new Target("p99 of writes at 100,000 messages/s of 64 bytes, recorded against not recorded",
            cell(Contenders.STREAM_RECORDED, Pass.WRITE, SIZE), CellMetric.WRITE_P99, List.of(
                new Target.Reference(cell(Contenders.STREAM_UNBOUND, Pass.WRITE, SIZE), 1),
                Target.Reference.control(cell(Contenders.STREAM_CONTROL, Pass.WRITE, SIZE))), 1.2, 1.05, null));
        targets.add(Target.ofValue("read of 64 bytes of a table of newest values, ns",
            cell(Contenders.TABLE, Pass.GET, SIZE), CellMetric.OPERATION_TIME, 20, Double.NaN));
    }

    /** A publication and its readers on other hosts. */
    private void hosts() {
        for (String[] pair : new String[][] {{Contenders.HOSTS, Contenders.AERON_UDP, ""},
            {Contenders.HOSTS_CABLE, Contenders.AERON_UDP_CABLE, ", over a cable"}}) {
            targets.add(new Target("half round trip of 64 bytes, publication and subscription on two hosts"
                + pair[2] + ", against Aeron UDP", cell(pair[0], Pass.EXCHANGE, SIZE), CellMetric.HALF_ROUND_TRIP,
                cell(pair[1], Pass.EXCHANGE, SIZE), 1.0, 0.7));
            targets.add(new Target("message rate of 64 bytes to 1 host" + pair[2] + ", against Aeron UDP",
                cell(pair[0], Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE, cell(pair[1], Pass.STREAM, SIZE), 1.0, 1.5));
            for (int size : new int[] {LONG_DATAGRAM, MANY_DATAGRAMS}) {
                targets.add(new Target("MB/s with messages of " + size + " bytes to 1 host" + pair[2]
                    + ", against Aeron UDP", cell(pair[0], Pass.STREAM, size), CellMetric.BANDWIDTH,
                    cell(pair[1], Pass.STREAM, size), 1.0, 1.3));
            }
        }
        targets.add(new Target("message rate of 64 bytes to 3 hosts, against Aeron UDP",
            cell(Contenders.HOSTS_3, Pass.STREAM, SIZE), CellMetric.MESSAGE_RATE,
            cell(Contenders.AERON_HOSTS_3, Pass.STREAM, SIZE), 1.0, 1.5));
    }

    /** Logs on one file system, each with the same bytes. */
    private void recording() {
        Cell recorded = cell(Contenders.RECORDING, Pass.RECORD, SIZE);
        Cell longer = cell(Contenders.RECORDING, Pass.RECORD, DATAGRAM);
        Cell replayed = cell(Contenders.RECORDING, Pass.REPLAY, SIZE);
        for (String other : List.of(Contenders.ARCHIVE, Contenders.CHRONICLE)) {
            String name = other.equals(Contenders.ARCHIVE) ? "Aeron Archive" : "Chronicle Queue";
            targets.add(new Target("recorded messages/s of 64 bytes, page cache, against " + name, recorded,
                CellMetric.MESSAGE_RATE, cell(other, Pass.RECORD, SIZE), 1.0, 1.5));
            targets.add(new Target("recorded MB/s of 1 KiB, page cache, against " + name, longer,
                CellMetric.BANDWIDTH, cell(other, Pass.RECORD, DATAGRAM), 1.0, 1.5));
            targets.add(new Target("replayed messages/s of 64 bytes, page cache, against " + name, replayed,
                CellMetric.MESSAGE_RATE, cell(other, Pass.REPLAY, SIZE),
                other.equals(Contenders.ARCHIVE) ? 1.0 : 0, Double.NaN));
        }
        targets.add(Target.ofValue("replayed messages/s of 64 bytes, page cache", replayed, CellMetric.MESSAGE_RATE,
            REPLAY_MUST, REPLAY_GOAL));
        for (String other : List.of(Contenders.BARE_FILE, Contenders.CHRONICLE)) {
            targets.add(new Target("time of a synced message of 64 bytes against " + (other.equals(Contenders.CHRONICLE)
                ? "Chronicle Queue with a sync for each" : "a write and a fdatasync for each"),
                cell(Contenders.RECORDING, Pass.COMMIT, SIZE), CellMetric.STREAM_TIME, cell(other, Pass.COMMIT, SIZE),
                Target.SHOWN, 0.2));
        }
    }

    /** The cells that are reported beside those of the targets. */
    static List<Cell> beside() {
        List<Cell> cells = new ArrayList<>();
        BESIDE.forEach(system -> cells.add(cell(system, Pass.EXCHANGE, SIZE)));
        for (int size : LENT_SIZES) {
            for (String system : List.of(Contenders.LENT_READ, Contenders.ICEORYX, Contenders.INVOKER,
                UcxTool.POSIX.id())) {
                cells.add(cell(system, Pass.EXCHANGE, size));
            }
        }
        cells.add(cell(UcxTool.POSIX.id(), Pass.PUT, Long.BYTES));
        cells.add(cell(UcxTool.POSIX.id(), Pass.PUT, SIZE));
        cells.add(cell(UcxTool.POSIX.id(), Pass.FETCH_ADD, Long.BYTES));
        cells.add(cell(Contenders.TCP, Pass.STREAM, SIZE));
        cells.add(cell(UcxTool.TCP.id(), Pass.STREAM, SIZE));
        cells.add(cell(Contenders.HAND_OVER, Pass.PACED, SIZE));
        return cells;
    }

    private static Cell own(Pass pass, int sizeBytes) {
        return cell(Contenders.INVOKER, pass, sizeBytes);
    }

    private static Cell cell(String system, Pass pass, int sizeBytes) {
        return new Cell(system, pass, sizeBytes);
    }
}
