package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** The cells of a run, in the order of a round: cells that are compared with each other are adjacent. */
final class Matrix {
    /** Longest message of a paced pass; the rate of longer ones would depend on bandwidth, not on latency. */
    private static final int LARGEST_PACED_BYTES = 4096;

    private Matrix() {
    }

    /**
     * The cells of a run.
     *
     * @param contenders that can be run.
     * @param targets    of the run.
     * @param sizes      in bytes.
     * @param full       every pass of every contender with every size, else what the table of targets names.
     */
    static List<Cell> cells(List<Contender> contenders, List<Target> targets, Set<Integer> sizes, boolean full) {
        List<Cell> wanted = full ? every(contenders, sizes) : Targets.cells(targets);
        List<String> order = contenders.stream().map(Contender::id).toList();
        List<Cell> cells = new ArrayList<>();
        for (Cell cell : wanted) {
            if (sizes.contains(cell.sizeBytes()) && order.contains(cell.system())) {
                cells.add(cell);
            }
        }
        cells.sort(Comparator.comparing(Cell::pass).thenComparing(Cell::sizeBytes)
            .thenComparing(cell -> order.indexOf(cell.system())));
        return cells;
    }

    private static List<Cell> every(List<Contender> contenders, Set<Integer> sizes) {
        List<Cell> cells = new ArrayList<>();
        for (Contender contender : contenders) {
            for (Pass pass : List.of(Pass.EXCHANGE, Pass.STREAM, Pass.PACED, Pass.COLD, Pass.FRESH, Pass.PUT,
                Pass.PUT_STREAM, Pass.GET, Pass.FETCH_ADD)) {
                for (int size : sizes) {
                    if (contender.can(pass, size) && (pass != Pass.PACED || size <= LARGEST_PACED_BYTES)
                        && (pass != Pass.FETCH_ADD || size == Long.BYTES)) {
                        cells.add(new Cell(contender.id(), pass, size));
                    }
                }
            }
        }
        return cells;
    }
}
