package org.jfabric.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.FullDisk;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.Publication;

/**
 * A recorded group: node 0 writes it, and opens it again when it was closed, killed, or has failed; all nodes read it.
 */
final class RecordedTraffic implements Program {
    static final String GROUP = "jfabric://n0/quotes";
    private static final int SEGMENT = 1 << 20;
    private static final int CLOSES = 2048;
    private static final long AGAIN_NS = 100_000;
    private static final Duration END_LIMIT = Duration.ofSeconds(300);

    private final Node node;
    private final RecordedLedger ledger;
    private final List<RecordedReader> readers;
    private final SplittableRandom random;
    private final Offers offers;
    private final int mostBytes;
    private final long paceNs;
    private long openNs;
    private long nextNs;

    private RecordedTraffic(
        Node node, RecordedLedger ledger, List<RecordedReader> readers, int mostBytes, long paceNs) {
        this.node = node;
        this.ledger = ledger;
        this.readers = readers;
        this.mostBytes = mostBytes;
        this.paceNs = paceNs;
        random = node.random();
        offers = new Offers(random, mostBytes);
        if (node.index() == 0 && ledger.publication != null) {
            // it was killed with its process, and so are its descriptors
            ledger.publication.close();
            ledger.publication = null;
        }
    }

    @Override
    public int run() {
        int work = node.index() == 0 ? write() : 0;
        for (RecordedReader reader : readers) {
            work += reader.run();
        }
        return work;
    }

    private int write() {
        long nowNs = node.simulation().nanoTime();
        if (ledger.isClosing) {
            return 0;
        }
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
        if (paceNs > 0) {
            nextNs = nowNs + random.nextLong(2 * paceNs);
            node.wakeAt(nextNs);
        }
        int work = 0;
        for (int i = random.nextInt(6); i > 0 && ledger.publication != null; i--) {
            work += offer();
        }
        if (ledger.publication != null && random.nextInt(256) == 0) {
            ledger.onWritten(ledger.publication.written());
        }
        if (ledger.publication != null && random.nextInt(CLOSES) == 0) {
            close();
            openNs = nowNs + random.nextLong(AGAIN_NS);
        }
        return work;
    }

    private int open() {
        try {
            ledger.publication = Publication.on(node.fabric(), GROUP).maxLength(mostBytes)
                .recordIn(ledger.folder, ledger.options).open();
            node.simulation().note("writes", node, ledger.publication.next().term(), ledger.publication.position());
            ledger.hasBeenFull |= ledger.options.whenFull() == FullDisk.GAP
                && node.simulation().harm().of(0).contains(Fault.Kind.DISK);
            int life = node.life();
            ledger.isWriterAlive = () -> node.isUp() && node.life() == life;
            ledger.onOpen(ledger.publication.next());
        } catch (FabricException failed) {
            node.simulation().note("not opened", node, failed.errno(), 0);
            ledger.refused++;
            requireCause(failed.errno(), failed);
            openNs = node.simulation().nanoTime() + random.nextLong(AGAIN_NS);
            node.wakeAt(openNs);
        }
        return 1;
    }

    private void requireCause(int errno, Throwable cause) {
        boolean hasFailed = (errno == FabricErrno.EIO || errno == FabricErrno.ECONNREFUSED)
            && node.simulation().harm().of(0).contains(Fault.Kind.LOG);
        if (!hasFailed && !node.isKilled() && !node.faults().explains(errno)) {
            throw new AssertionError("the writer has failed with " + FabricErrno.name(errno), cause);
        }
    }

    private int offer() {
        long id = ledger.offering();
        int result = offers.offer(ledger.publication, id);
        ledger.onOffered(result == 0);
        if (result == 0) {
            node.simulation().note("offered", node, id, ledger.publication.position());
            Account.require(ledger.publication.position() == ledger.end(), "the publication is at "
                + ledger.publication.position() + " instead of " + ledger.end());
        } else if (result != -FabricErrno.EAGAIN) {
            onFailed(result);
        }
        return result == 0 ? 1 : 0;
    }

    private void onFailed(int result) {
        node.simulation().note("failed", node, -result, 0);
        requireCause(-result, null);
        ledger.onBroken();
        ledger.publication.close();
        ledger.publication = null;
        openNs = node.simulation().nanoTime() + random.nextLong(AGAIN_NS);
    }

    @Override
    public void close() {
        if (ledger.publication != null) {
            ledger.onClosed();
            ledger.publication.close();
            ledger.publication = null;
        }
    }

    /** What the seed chooses. */
    private static LogOptions options(SplittableRandom random) {
        Visibility[] all = Visibility.values();
        LogOptions options = new LogOptions().segmentLengthBytes(SEGMENT).visibility(all[random.nextInt(all.length)])
            .whenFull(random.nextBoolean() ? FullDisk.WAIT : FullDisk.GAP);
        if (random.nextBoolean()) {
            options.retainBytes((2L + random.nextInt(3)) * SEGMENT);
        }
        return random.nextInt(4) == 0 ? options.retainNs(1 + random.nextLong(20_000_000)) : options;
    }

    /** What goes wrong: mostly kills, half of them of the writer. */
    static List<Fault> faults(long seed, int nodes, Duration duration) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x7265636FL);
        double perRun = 1e9 / duration.toNanos();
        long longestNs = duration.toNanos() / 16;
        Faults of = new Faults();
        if (random.nextInt(8) != 0) {
            of.add(Fault.Kind.KILL, perRun * random.nextInt(12), longestNs)
                .add(Fault.Kind.TORN, perRun * random.nextInt(12), longestNs)
                .add(Fault.Kind.STOP, perRun * random.nextInt(4), longestNs)
                .add(Fault.Kind.DISK, perRun * random.nextInt(4), 2 * longestNs)
                .add(Fault.Kind.LOG, perRun * random.nextInt(3), longestNs)
                .add(Fault.Kind.CLOCK, perRun * random.nextInt(3), longestNs);
        }
        List<Fault> faults = new ArrayList<>();
        for (Fault each : of.draw(seed, nodes, duration.toNanos())) {
            boolean isOfWriter = each.kind() != Fault.Kind.KILL && each.kind() != Fault.Kind.STOP
                || random.nextBoolean();
            faults.add(isOfWriter ? new Fault(each.timeNs(), each.kind(), 0, each.other(), each.durationNs()) : each);
        }
        return faults;
    }

    static Simulate.Result run(long seed, Duration duration, Simulate.Plan plan) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x67726F75L);
        int ring = 1 << 13 + random.nextInt(4);
        try (Simulation simulation = new Simulation(seed)) {
            Map<String, String> options = new HashMap<>(plan.options());
            options.put("jfabric.shm.groupRingLengthBytes", Integer.toString(ring));
            RecordedLedger ledger = new RecordedLedger(simulation.base().resolve("log"), options(random));
            List<RecordedReader> all = new ArrayList<>();
            int most = ring / 8 - 48;
            long paceNs = random.nextBoolean() ? 0 : random.nextInt(20_000);
            for (int i = 0; i < plan.nodes(); i++) {
                List<RecordedReader> readers = new ArrayList<>();
                int count = (i == 0 ? 0 : 1) + random.nextInt(2);
                simulation.add("n" + i, options, node -> {
                    while (readers.size() < count) {
                        readers.add(new RecordedReader(node, all.size(), ledger));
                        all.add(readers.getLast());
                    }
                    return new RecordedTraffic(node, ledger, readers, most, paceNs);
                });
            }
            simulation.onEvent(Simulate.events());
            simulation.start();
            simulation.faults(plan.faults());
            simulation.run(duration);
            end(simulation, ledger, all);
            return Simulate.result(simulation, ledger.accepted, ledger.lostWithTerms, ledger.received, ledger.inGaps,
                ledger.refused);
        }
    }

    /** After the faults all readers see all; then the writer leaves, and its log is whole. */
    private static void end(Simulation simulation, RecordedLedger ledger, List<RecordedReader> readers) {
        ledger.isActive = false;
        simulation.heal();
        // a writer that was killed says what the log has when it opens it again
        if (!simulation.runUntil(() -> ledger.publication != null
            && readers.stream().allMatch(RecordedReader::isDone), END_LIMIT)) {
            throw simulation.failure("of " + ledger.end() + " messages not all were read: " + readers + "; "
                + simulation.accounts(), null);
        }
        for (Node node : simulation.nodes()) {
            node.program().close();
        }
        ledger.isClosing = true;
        if (!simulation.runUntil(() -> readers.stream().noneMatch(RecordedReader::isOpen), END_LIMIT)) {
            throw simulation.failure("the end was not seen by " + readers, null);
        }
        try {
            ledger.checkLog();
        } catch (AssertionError | RuntimeException wrong) {
            throw simulation.failure(wrong.getMessage(), wrong);
        }
    }
}
