package org.jfabric.driver.soak;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jfabric.simulation.model.NaiveMatcher;

/**
 * Checks what the receives of one context matched, as {@code MatchingCheck} does for an endpoint. The time at which a
 * message arrived is unknown. Known are the order of posting, the order of the messages of each sender to each place,
 * and that an older receive that a message passed had matched another one, or had ended, before. An order of arrivals
 * must satisfy all of that, and the {@link NaiveMatcher} must have the same outcome with it.
 *
 * <p>A message that waits until the queue of its endpoint has a slot arrives when it gets one. A later message to the
 * same endpoint can arrive before it, if it matches a receive that does not accept the earlier one. So of two messages
 * of one sender the earlier one arrives first for certain only if the receive of the later one accepts it too.
 */
final class ContextCheck {
    private record Way(int sender, int senderContext, int to) {
    }

    private final boolean waitsForSlots;

    private final List<ContextReceive> receives;
    private final List<ContextScript.Sent> messages = new ArrayList<>();
    private final List<Object> events = new ArrayList<>();
    private final Map<Object, List<Object>> followers = new HashMap<>();
    private final Map<Object, Integer> precedents = new HashMap<>();
    private final Supplier<?> state;

    /** All receives of the context in the order of posting; all have ended. */
    ContextCheck(List<ContextReceive> receives, boolean waitsForSlots, Supplier<?> state) {
        this.waitsForSlots = waitsForSlots;
        this.receives = receives;
        this.state = state;
    }

    void run() {
        for (ContextReceive receive : receives) {
            if (receive.message != null) {
                messages.add(receive.message);
                events.add(receive.message);
            } else {
                events.add(receive);
            }
        }
        messages.sort(Comparator.comparingLong(message -> message.id));
        events.forEach(event -> precedents.put(event, 0));
        relate();
        replay(order());
    }

    private void relate() {
        Map<Way, List<ContextScript.Sent>> ways = new HashMap<>();
        for (ContextScript.Sent message : messages) {
            List<ContextScript.Sent> earlier = ways.computeIfAbsent(
                new Way(message.from, message.context, message.to), way -> new ArrayList<>());
            if (waitsForSlots) {
                earlier.stream().filter(message.receivedBy::accepts).forEach(other -> before(other, message));
            } else if (!earlier.isEmpty()) {
                before(earlier.getLast(), message);
            }
            earlier.add(message);
            for (ContextReceive older : receives) {
                if (older == message.receivedBy) {
                    break;
                }
                if (older.accepts(message)) {
                    before(older.message != null ? older.message : older, message);
                }
            }
        }
    }

    private void before(Object early, Object late) {
        followers.computeIfAbsent(early, any -> new ArrayList<>()).add(late);
        precedents.merge(late, 1, Integer::sum);
    }

    private List<Object> order() {
        List<Object> order = new ArrayList<>();
        Deque<Object> ready = new ArrayDeque<>();
        events.stream().filter(event -> precedents.get(event) == 0).forEach(ready::add);
        while (!ready.isEmpty()) {
            Object next = ready.poll();
            order.add(next);
            for (Object follower : followers.getOrDefault(next, List.of())) {
                if (precedents.merge(follower, -1, Integer::sum) == 0) {
                    ready.add(follower);
                }
            }
        }
        if (order.size() != events.size()) {
            throw new AssertionError(
                "no order of arrivals explains a circle:\n  " + String.join("\n  ", circle(order)) + state.get());
        }
        return order;
    }

    /** Events of which each has to be before the next one, and the last one before the first. */
    private List<String> circle(List<Object> explained) {
        Set<Object> left = new HashSet<>(events);
        explained.forEach(left::remove);
        Map<Object, Object> precedent = new HashMap<>();
        left.forEach(early -> followers.getOrDefault(early, List.of()).stream().filter(left::contains)
            .forEach(late -> precedent.put(late, early)));
        List<Object> path = new ArrayList<>();
        // each of those that are left and lie on a circle, or behind one, has a precedent among them
        for (Object next = left.iterator().next(); !path.contains(next); next = precedent.get(next)) {
            path.add(next);
        }
        return path.subList(path.indexOf(precedent.get(path.getLast())), path.size()).reversed().stream()
            .map(event -> event instanceof ContextScript.Sent sent ? sent + " by " + sent.receivedBy.context
                + " (source s" + sent.receivedBy.source + ", tag " + sent.receivedBy.tag + ", ignore "
                + sent.receivedBy.ignore + ')' : event.toString()).toList();
    }

    private void replay(List<Object> order) {
        NaiveMatcher<ContextReceive, ContextScript.Sent> matcher = new NaiveMatcher<>();
        receives.forEach(matcher::post);
        for (Object event : order) {
            if (event instanceof ContextScript.Sent message) {
                ContextReceive taker = matcher.arrive(message);
                if (taker != message.receivedBy) {
                    throw new AssertionError(
                        "the model gives " + message + " to " + taker + ", not " + message.receivedBy + state.get());
                }
            } else if (!matcher.cancel((ContextReceive) event)) {
                throw new AssertionError("the model has a message for " + event + state.get());
            }
        }
    }
}
