package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the chart of the results shows: the same message in every system, all of them in each round. */
final class SideBySide {
    /** The systems in the order in which they are shown, with a short name for people. */
    static final Map<String, String> NAMES = new LinkedHashMap<>();

    private static final List<Integer> SIZES = List.of(Targets.SIZE, 1024, 4096);

    static {
        NAMES.put(Contenders.INVOKER, "JFabric, tagged message");
        NAMES.put(Contenders.STREAM, "JFabric, publication");
        NAMES.put(Contenders.AERON_IPC, "Aeron IPC");
        NAMES.put(UcxTool.POSIX.id(), "UCX");
        NAMES.put(LibfabricTool.SHM.id(), "libfabric shm");
        NAMES.put(Contenders.ICEORYX, "iceoryx");
    }

    private SideBySide() {
    }

    /**
     * Cells that were measured together.
     *
     * @param values medians and quartiles of the valid rounds, or if none is valid of all.
     */
    record Group(CellMetric metric, int sizeBytes, int rounds, int validRounds, Map<String, Quartiles> values) {
    }

    /** The cells of the chart, each list for the same rounds. iceoryx and libfabric have no stream. */
    static List<List<Cell>> cells() {
        List<List<Cell>> groups = new ArrayList<>();
        for (int size : SIZES) {
            groups.add(NAMES.keySet().stream().map(system -> new Cell(system, Pass.EXCHANGE, size)).toList());
        }
        groups.add(NAMES.keySet().stream().limit(4).map(system -> new Cell(system, Pass.STREAM, Targets.SIZE))
            .toList());
        return groups;
    }

    /** The groups of which a run has rounds, each with the systems that it has measured. */
    static List<Group> of(Results results) {
        List<Group> groups = new ArrayList<>();
        for (List<Cell> all : cells()) {
            List<Cell> cells = new ArrayList<>(all);
            cells.retainAll(results.cells());
            CellMetric metric = all.getFirst().pass() == Pass.STREAM ? CellMetric.MESSAGE_RATE
                : CellMetric.HALF_ROUND_TRIP;
            List<Results.Round> rounds = results.rounds(metric, cells);
            if (cells.size() > 1 && !rounds.isEmpty()) {
                List<Results.Round> counted = Results.counted(metric, rounds);
                Map<String, Quartiles> values = new LinkedHashMap<>();
                cells.forEach(cell -> values.put(cell.system(),
                    Quartiles.of(Results.values(counted, round -> round.value(cell, metric)))));
                groups.add(new Group(metric, all.getFirst().sizeBytes(), rounds.size(),
                    (int) rounds.stream().filter(round -> round.isValid(metric)).count(), values));
            }
        }
        return groups;
    }
}
