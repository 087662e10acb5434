package org.jfabric.driver.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jfabric.simulation.model.ArrivalOrder;
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
    /** Messages of one stream arrive in order. */
    private record Stream(int sender, int senderContext, int to) {
    }

    private final boolean waitsForSlots;

    private final List<ContextReceive> receives;
    private final List<ContextScript.Sent> messages = new ArrayList<>();
    private final ArrivalOrder arrivals = new ArrivalOrder();
    private final Supplier<String> state;

    /** All receives of the context in the order of posting; all have ended. */
    ContextCheck(List<ContextReceive> receives, boolean waitsForSlots, Supplier<String> state) {
        this.waitsForSlots = waitsForSlots;
        this.receives = receives;
        this.state = state;
    }

    void run() {
        for (ContextReceive receive : receives) {
            if (receive.message != null) {
                messages.add(receive.message);
                arrivals.add(receive.message);
            } else {
                arrivals.add(receive);
            }
        }
        messages.sort(Comparator.comparingLong(message -> message.id));
        relate();
        replay(arrivals.find(state));
    }

    private void relate() {
        Map<Stream, List<ContextScript.Sent>> streams = new HashMap<>();
        for (ContextScript.Sent message : messages) {
            List<ContextScript.Sent> earlier = streams.computeIfAbsent(
                new Stream(message.from, message.context, message.to), stream -> new ArrayList<>());
            if (waitsForSlots) {
                earlier.stream().filter(message.receivedBy::accepts).forEach(other -> arrivals.before(other, message));
            } else if (!earlier.isEmpty()) {
                arrivals.before(earlier.getLast(), message);
            }
            earlier.add(message);
            for (ContextReceive older : receives) {
                if (older == message.receivedBy) {
                    break;
                }
                if (older.accepts(message)) {
                    arrivals.before(older.message != null ? older.message : older, message);
                }
            }
        }
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
