package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The cells of a run, in groups of those that are compared with each other. */
final class Matrix {
    /** Longest message of a paced pass; the rate of longer ones would depend on bandwidth, not on latency. */
    private static final int LARGEST_PACED_BYTES = 4096;

    private Matrix() {
    }

    /**
     * The groups of a run.
     *
     * @param full       every pass of every contender with every size besides what the targets name.
     * @return the cells of each target, its own first, and those of the chart; then others by themselves.
     */
    static List<List<Cell>> groups(List<Contender> contenders, List<Target> targets, Set<Integer> sizes,
        boolean full) {
        List<String> order = contenders.stream().map(Contender::id).toList();
        Set<List<Cell>> groups = new LinkedHashSet<>();
        Set<Cell> compared = new HashSet<>();
        List<Cell> beside = new ArrayList<>();
        for (Target target : targets) {
            List<Cell> cells = target.cells();
            if (cells.size() > 1 && cells.stream().allMatch(cell -> isWanted(cell, order, sizes))) {
                groups.add(cells);
                compared.addAll(cells);
            }
            beside.addAll(cells);
        }
        for (List<Cell> cells : sideBySide(contenders, sizes)) {
            groups.add(cells);
            compared.addAll(cells);
        }
        beside.addAll(full ? every(contenders, sizes) : Targets.beside());
        beside.sort(Comparator.comparing(Cell::pass).thenComparing(Cell::sizeBytes)
            .thenComparing(cell -> order.indexOf(cell.system())));
        for (Cell cell : beside) {
            if (isWanted(cell, order, sizes) && compared.add(cell)) {
                groups.add(List.of(cell));
            }
        }
        return List.copyOf(groups);
    }

    /** The groups of the chart only. */
    static List<List<Cell>> sideBySide(List<Contender> contenders, Set<Integer> sizes) {
        List<String> order = contenders.stream().map(Contender::id).toList();
        return SideBySide.cells().stream()
            .map(all -> all.stream().filter(cell -> isWanted(cell, order, sizes)).toList())
            .filter(cells -> cells.size() > 1).toList();
    }

    private static boolean isWanted(Cell cell, List<String> order, Set<Integer> sizes) {
        return sizes.contains(cell.sizeBytes()) && order.contains(cell.system()) && cell.pass() != Pass.COLLECTED;
    }

    private static List<Cell> every(List<Contender> contenders, Set<Integer> sizes) {
        List<Cell> cells = new ArrayList<>();
        for (Contender contender : contenders) {
            for (Pass pass : List.of(Pass.EXCHANGE, Pass.STREAM, Pass.PACED, Pass.COLD, Pass.FRESH, Pass.PUT,
                Pass.PUT_STREAM, Pass.GET, Pass.FETCH_ADD, Pass.BURST, Pass.WRITE, Pass.RECORD, Pass.COMMIT,
                Pass.REPLAY)) {
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
