package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The table of targets, and the cells that it takes. */
final class Targets {
    /** What the other columns of the table say is about this size. */
    static final int SIZE = 64;

    private static final int MIB = 1 << 20;

    /** What is counted once, behind the rounds. */
    static final Cell COLLECTED = new Cell(Contenders.INVOKER, Pass.COLLECTED, SIZE);
    /** Messages that it takes. */
    static final long COLLECTED_MESSAGES = 100_000_000;

    /** Of which it is looked where the time goes; other sizes have the same parts. */
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

    private Targets() {
    }

    /** All targets. */
    static List<Target> all() {
        List<Target> targets = new ArrayList<>();
        latencies(targets);
        streams(targets);
        sockets(targets);
        targets.add(new Target("p99 at 100,000 messages/s of 64 bytes against Aeron IPC", own(Pass.PACED, SIZE),
            Metric.PACED_P99, cell(Contenders.AERON_IPC, Pass.PACED, SIZE), 1.0, 0.7));
        targets.add(Target.ofValue("garbage collections in 100 million messages at full rate",
            COLLECTED, Metric.COLLECTIONS, 0, 0));
        targets.add(new Target("64 bytes through a DEDICATED daemon with 1,000 endpoints open, against one",
            cell(Contenders.AMONG_MANY, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), 1.5, 1.2));
        targets.add(Target.ofValue("first message of a cold endpoint of these 1,000, 99 % within so many cycles",
            cell(Contenders.AMONG_MANY, Pass.COLD, SIZE), Metric.COLD_CYCLES, COLD_CYCLES, COLD_CYCLES));
        targets.add(new Target("time of a streamed message with 100,000 receives posted in order, against 64",
            cell(Contenders.MANY_RECEIVES, Pass.STREAM, SIZE), Metric.STREAM_TIME, own(Pass.STREAM, SIZE),
            1.5, 1.2));
        targets.add(new Target("half round trip of 64 bytes in processes that use the other links too, against without",
            cell(Contenders.ALL_LINKS, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP, own(Pass.EXCHANGE, SIZE),
            1.05, 1.0));
        return targets;
    }

    private static void latencies(List<Target> targets) {
        for (int size : new int[] {64, 8}) {
            targets.add(new Target("half round trip of " + size + " bytes, INVOKER over shm, against UCX",
                own(Pass.EXCHANGE, size), Metric.HALF_ROUND_TRIP, cell(UcxTool.POSIX.id(), Pass.EXCHANGE, size),
                size == 8 ? 0.8 : 0.9, size == 8 ? 0.65 : 0.75));
        }
        targets.add(new Target("the same of 64 bytes against libfabric shm", own(Pass.EXCHANGE, SIZE),
            Metric.HALF_ROUND_TRIP, cell(LibfabricTool.SHM.id(), Pass.EXCHANGE, SIZE), 0.4, 0.32));
        targets.add(new Target("the same of 64 bytes against Aeron IPC", own(Pass.EXCHANGE, SIZE),
            Metric.HALF_ROUND_TRIP, cell(Contenders.AERON_IPC, Pass.EXCHANGE, SIZE), 0.35, 0.27));
        for (int size : new int[] {1024, 4096}) {
            targets.add(new Target("the same of " + size + " bytes against UCX", own(Pass.EXCHANGE, size),
                Metric.HALF_ROUND_TRIP, cell(UcxTool.POSIX.id(), Pass.EXCHANGE, size), 0.9, 0.65));
        }
        targets.add(new Target("64 bytes to oneself through a DEDICATED daemon, against Aeron IPC's half round trip",
            cell(Contenders.DEDICATED, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.AERON_IPC, Pass.EXCHANGE, SIZE), 1.0, 0.7));
    }

    private static void streams(List<Target> targets) {
        targets.add(new Target("message rate of 64 bytes against UCX tag_bw", own(Pass.STREAM, SIZE),
            Metric.MESSAGE_RATE, cell(UcxTool.POSIX.id(), Pass.STREAM, SIZE), 1.0, 1.25));
        targets.add(new Target("message rate of 64 bytes with zero-copy receive against Aeron IPC",
            cell(Contenders.ZERO_COPY, Pass.STREAM, SIZE), Metric.MESSAGE_RATE,
            cell(Contenders.AERON_IPC, Pass.STREAM, SIZE), 0.7, 1.0));
        for (int size : new int[] {65_536, MIB}) {
            Target.Reference ucx = new Target.Reference(cell(UcxTool.POSIX.id(), Pass.STREAM, size), 1);
            Target.Reference copy = new Target.Reference(cell(Contenders.COPY, Pass.STREAM, size), COPY_FACTOR);
            targets.add(new Target("bandwidth of " + size / 1024 + " KiB against the smaller of UCX and 0.9 x a copy",
                own(Pass.STREAM, size), Metric.BANDWIDTH, List.of(ucx, copy), 1.0, 1.0, ucx));
        }
    }

    /** Over the loopback interface. */
    private static void sockets(List<Target> targets) {
        Cell tcp = cell(Contenders.TCP, Pass.EXCHANGE, SIZE);
        targets.add(new Target("half round trip of 64 bytes over tcp against libfabric tcp", tcp,
            Metric.HALF_ROUND_TRIP, cell(LibfabricTool.TCP.id(), Pass.EXCHANGE, SIZE), 1.0, 1.0));
        targets.add(new Target("the same against UCX tcp", tcp, Metric.HALF_ROUND_TRIP,
            cell(UcxTool.TCP.id(), Pass.EXCHANGE, SIZE), 1.0, 1.0));
        targets.add(new Target("bandwidth of 1 MiB there and back over tcp against libfabric tcp",
            cell(Contenders.TCP, Pass.EXCHANGE, MIB), Metric.EXCHANGE_BANDWIDTH,
            cell(LibfabricTool.TCP.id(), Pass.EXCHANGE, MIB), 1.0, 1.0));
        targets.add(new Target("half round trip of 64 bytes in datagrams over udp against Aeron UDP",
            cell(Contenders.UDP, Pass.EXCHANGE, SIZE), Metric.HALF_ROUND_TRIP,
            cell(Contenders.AERON_UDP, Pass.EXCHANGE, SIZE), 1.0, 1.0));
    }

    /** The cells of a round that the table names, with the baselines that are reported beside them. */
    static List<Cell> cells() {
        Set<Cell> cells = new LinkedHashSet<>();
        for (Target target : all()) {
            if (target.own().pass() != Pass.COLLECTED) {
                cells.add(target.own());
            }
            for (Target.Reference reference : target.references()) {
                cells.add(reference.cell());
            }
        }
        cells.add(cell(Contenders.SHARED, Pass.EXCHANGE, SIZE));
        cells.add(cell(Contenders.TCP, Pass.STREAM, SIZE));
        cells.add(cell(UcxTool.TCP.id(), Pass.STREAM, SIZE));
        cells.add(cell(Contenders.HAND_OVER, Pass.EXCHANGE, SIZE));
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
