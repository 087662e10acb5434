package org.jfabric.simulation.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Relations between events at one receiver, of which each says that one event precedes another one, and an order of all
 * events that satisfies them. An outcome with which no order agrees breaks the rules of matching.
 */
public final class ArrivalOrder {
    private final List<Object> events = new ArrayList<>();
    private final Map<Object, Integer> numbers = new HashMap<>();
    private int[][] followers = new int[64][];
    private int[] followerCounts = new int[64];
    private int[] precedents = new int[64];

    /** Adds an event; every event of a relation must have been added before. */
    public void add(Object event) {
        int number = events.size();
        if (number == followers.length) {
            followers = Arrays.copyOf(followers, number * 2);
            followerCounts = Arrays.copyOf(followerCounts, number * 2);
            precedents = Arrays.copyOf(precedents, number * 2);
        }
        followers[number] = new int[8];
        events.add(event);
        numbers.put(event, number);
    }

    /** All events in the order in which they were added. */
    public List<Object> events() {
        return events;
    }

    /** Adds the relation that one event precedes another one. */
    public void before(Object early, Object late) {
        int from = numbers.get(early);
        int to = numbers.get(late);
        if (followerCounts[from] == followers[from].length) {
            followers[from] = Arrays.copyOf(followers[from], followerCounts[from] * 2);
        }
        followers[from][followerCounts[from]++] = to;
        precedents[to]++;
    }

    /** At least one of all events that are passed for the later one precedes it; it follows no others. */
    public void perhapsBefore(Object early, Object late) {
        before(early, late);
        precedents[numbers.get(late)] = 1;
    }

    /**
     * An order of all events that satisfies the relations.
     *
     * @param state for the failure if there is none.
     */
    public List<Object> find(Supplier<String> state) {
        List<Object> order = new ArrayList<>();
        Deque<Integer> ready = new ArrayDeque<>();
        int[] missing = precedents.clone();
        for (int i = 0; i < events.size(); i++) {
            if (missing[i] == 0) {
                ready.add(i);
            }
        }
        while (!ready.isEmpty()) {
            int next = ready.poll();
            order.add(events.get(next));
            for (int i = 0; i < followerCounts[next]; i++) {
                if (--missing[followers[next][i]] == 0) {
                    ready.add(followers[next][i]);
                }
            }
        }
        if (order.size() != events.size()) {
            throw new AssertionError("no order of arrivals explains what was received, because of the cycle:\n  "
                + String.join("\n  ", cycle(order)) + state.get());
        }
        return order;
    }

    /** Events of which each precedes the next one, and the last one the first. */
    private List<String> cycle(List<Object> explained) {
        Set<Object> left = new HashSet<>(events);
        explained.forEach(left::remove);
        Map<Object, Object> precedent = new HashMap<>();
        for (Object early : left) {
            int from = numbers.get(early);
            for (int i = 0; i < followerCounts[from]; i++) {
                precedent.put(events.get(followers[from][i]), early);
            }
        }
        List<Object> path = new ArrayList<>();
        // each of those that are left has a precedent among them
        for (Object next = left.iterator().next(); !path.contains(next); next = precedent.get(next)) {
            path.add(next);
        }
        return path.subList(path.indexOf(precedent.get(path.getLast())), path.size()).reversed().stream()
            .map(Object::toString).toList();
    }
}
