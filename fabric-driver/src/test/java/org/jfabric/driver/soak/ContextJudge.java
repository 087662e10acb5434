package org.jfabric.driver.soak;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jfabric.driver.model.NaiveMatcher;

/**
 * Says whether what the receives of one context took is what the rules allow, as {@link Judge} does for an endpoint.
 * When a message met the receives is unknown, also because messages to one of several endpoints wait until its queue
 * has a slot. Known are the order of posting, the order of the messages of each sender to each place, and what a
 * message that passed an older receive says: that one had another message before, or had ended. If no order of
 * arrivals satisfies all of that, or the {@link NaiveMatcher} gives another outcome for such an order, the rules are
 * broken.
 */
final class ContextJudge {
    /** The kind is 0 for both kinds of messages where these have one order. */
    private record Way(int sender, int senderContext, int to, int kind) {
    }

    private final boolean waitsForSlots;

    private final List<ContextReceive> receives;
    private final List<ContextScript.Sent> messages = new ArrayList<>();
    private final List<Object> events = new ArrayList<>();
    private final Map<Object, List<Object>> followers = new HashMap<>();
    private final Map<Object, Integer> precedents = new HashMap<>();
    private final Supplier<?> state;

    /**
     * All receives of the context in the order of posting; all have ended. Where messages wait for slots, tagged ones
     * may pass untagged ones, which meet other receives.
     */
    ContextJudge(List<ContextReceive> receives, boolean waitsForSlots, Supplier<?> state) {
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
        Map<Way, ContextScript.Sent> last = new HashMap<>();
        for (ContextScript.Sent message : messages) {
            ContextScript.Sent previous = last.put(new Way(
                message.from, message.context, message.to, waitsForSlots && message.tagged ? 1 : 0), message);
            if (previous != null) {
                before(previous, message);
            }
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
            List<Object> circle = new ArrayList<>(events);
            circle.removeAll(order);
            throw new AssertionError("no order of arrivals explains " + circle + state.get());
        }
        return order;
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
