package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The slices of one sitting, which are put together to rounds: a slice waits until there is one of each other cell that
 * was taken in the same state of the host. The host may have had another state between them. Owner: the rig's thread.
 */
final class Slices {
    private static final Cell HAND_OVER = new Cell(Contenders.HAND_OVER, Pass.EXCHANGE, Targets.SIZE);
    private static final Cell BARE_HAND_OVER = new Cell(Contenders.BARE_HAND_OVER, Pass.EXCHANGE, Targets.SIZE);

    private final Results results;
    private final Map<Cell, List<Slice>> waiting = new LinkedHashMap<>();

    /**
     * A slice that waits.
     *
     * @param around hand-overs before and after it.
     */
    private record Slice(SliceReading reading, HandOvers around) {
        boolean isValid() {
            return around.alike() && reading.hadCores();
        }

        /** Returns true if it is valid and its hand-overs are in the range from this one on. */
        boolean isWithin(double leastNs) {
            return isValid() && around.least().ns() >= leastNs
                && around.most().ns() <= HandOvers.MOST_CHANGE * leastNs;
        }
    }

    /**
     * No slices yet.
     *
     * @param results where the rounds are added.
     */
    Slices(List<Cell> cells, Results results) {
        this.results = results;
        cells.forEach(cell -> waiting.put(cell, new ArrayList<>()));
    }

    /**
     * Adds a slice.
     *
     * @param around hand-overs before and after it.
     * @return true if a valid round is complete with it.
     */
    boolean add(Cell cell, SliceReading reading, HandOvers around) {
        Slice added = new Slice(reading, around);
        waiting.get(cell).add(added);
        if (!added.isValid()) {
            return false;
        }
        List<Double> states = waiting.values().stream().flatMap(List::stream)
            .map(each -> each.around.least().ns()).filter(added::isWithin).toList();
        for (double leastNs : states) {
            Map<Cell, Slice> round = new LinkedHashMap<>();
            waiting.forEach((each, slices) -> (each.equals(cell) ? Stream.of(added) : slices.stream())
                .filter(slice -> slice.isWithin(leastNs)).findFirst().ifPresent(slice -> round.put(each, slice)));
            if (round.size() == waiting.size()) {
                take(round);
                return true;
            }
        }
        return false;
    }

    /** Adds rounds of what is left, which are not valid. */
    void end() {
        while (waiting.values().stream().noneMatch(List::isEmpty)) {
            Map<Cell, Slice> oldest = new LinkedHashMap<>();
            waiting.forEach((cell, slices) -> oldest.put(cell, slices.getFirst()));
            take(oldest);
        }
    }

    private void take(Map<Cell, Slice> round) {
        Map<Cell, SliceReading> readings = new LinkedHashMap<>();
        round.forEach((cell, slice) -> {
            waiting.get(cell).remove(slice);
            readings.put(cell, slice.reading);
        });
        HandOvers around = HandOvers.of(round.values().stream().map(Slice::around).toList());
        if (!Double.isNaN(around.meanNs())) {
            readings.put(HAND_OVER, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, around.meanNs()), null));
            readings.put(BARE_HAND_OVER, new SliceReading(
                Map.of(CellMetric.HALF_ROUND_TRIP, around.meanBareNs()), null));
        }
        results.add(around, readings);
    }
}
