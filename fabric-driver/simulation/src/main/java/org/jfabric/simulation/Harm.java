package org.jfabric.simulation;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Whom faults have harmed so far. A failure between two nodes that no fault has harmed has no cause. */
final class Harm {
    private static final int MOST_NODES = 1 << 16;

    /** Faults after which the connections of those that live are as they were. */
    private static final Set<Fault.Kind> KEEPING =
        EnumSet.of(Fault.Kind.KILL, Fault.Kind.STOP, Fault.Kind.DISK, Fault.Kind.CLOCK);

    private final Map<Integer, Set<Fault.Kind>> nodes = new HashMap<>();
    private final Map<Integer, Set<Fault.Kind>> pairs = new HashMap<>();
    private final Map<Fault.Kind, Long> counts = new EnumMap<>(Fault.Kind.class);

    /** A fault concerns all that a node does. */
    void node(int node, Fault.Kind kind) {
        nodes.computeIfAbsent(node, none -> EnumSet.noneOf(Fault.Kind.class)).add(kind);
    }

    /** A fault concerns what two nodes do with each other. */
    void pair(int a, int b, Fault.Kind kind) {
        pairs.computeIfAbsent(key(a, b), none -> EnumSet.noneOf(Fault.Kind.class)).add(kind);
        pairs.computeIfAbsent(key(b, a), none -> EnumSet.noneOf(Fault.Kind.class)).add(kind);
    }

    void count(Fault.Kind kind) {
        counts.merge(kind, 1L, Long::sum);
    }

    /** How many have occurred, by kind. */
    Map<Fault.Kind, Long> counts() {
        return counts;
    }

    /** Whether a fault can be the cause of a failure between two nodes. */
    boolean explains(int a, int b) {
        return nodes.containsKey(a) || nodes.containsKey(b) || pairs.containsKey(key(a, b));
    }

    /** Whether a connection between two nodes may have been lost while both went on. */
    boolean breaks(int a, int b) {
        return Stream.of(nodes.getOrDefault(a, Set.of()), nodes.getOrDefault(b, Set.of()),
            pairs.getOrDefault(key(a, b), Set.of())).anyMatch(kinds -> !KEEPING.containsAll(kinds));
    }

    /** Kinds of the faults that have harmed a node, or connections of it. */
    Set<Fault.Kind> of(int node) {
        Set<Fault.Kind> kinds = EnumSet.noneOf(Fault.Kind.class);
        kinds.addAll(nodes.getOrDefault(node, Set.of()));
        pairs.forEach((key, some) -> {
            if (key / MOST_NODES == node) {
                kinds.addAll(some);
            }
        });
        return kinds;
    }

    private static int key(int a, int b) {
        return a * MOST_NODES + b;
    }
}
