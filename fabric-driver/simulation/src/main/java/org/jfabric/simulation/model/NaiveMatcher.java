package org.jfabric.simulation.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The matching of one endpoint as the pages describe it, with two lists and nothing else: the oldest receive that
 * accepts takes a message that arrives, the oldest message that is accepted goes to a receive that is posted. A receive
 * that is a buffer takes many, one behind the other.
 *
 * @param <R> receives.
 * @param <M> messages.
 */
public final class NaiveMatcher<R extends Receive, M extends Message> {
    private final List<R> posted = new ArrayList<>();
    private final List<M> unexpected = new ArrayList<>();

    /** The message that a receive would take if it were posted now, or null. */
    public M find(R receive) {
        for (M message : unexpected) {
            if (receive.accepts(message)) {
                return message;
            }
        }
        return null;
    }

    /** Posts a receive; the message that it takes out of those that wait, or null. */
    public M post(R receive) {
        M message = find(receive);
        if (message == null) {
            posted.add(receive);
        } else {
            unexpected.remove(message);
            receive.take(message);
        }
        return message;
    }

    /** Posts a receive that may take many; the messages that go there out of those that wait, the oldest first. */
    public List<M> postBuffer(R buffer) {
        posted.add(buffer);
        List<M> taken = new ArrayList<>();
        for (M message : List.copyOf(unexpected)) {
            if (offer(message) != null) {
                unexpected.remove(message);
                taken.add(message);
            }
        }
        return taken;
    }

    /** A message arrives; the receive that takes it, or null if it has to wait. */
    public R arrive(M message) {
        R receive = offer(message);
        if (receive == null) {
            unexpected.add(message);
        }
        return receive;
    }

    /** The oldest receive in which it fits; buffers that it would have to go to and does not fit in end. */
    private R offer(M message) {
        for (int i = 0; i < posted.size(); ) {
            R receive = posted.get(i);
            if (!receive.accepts(message)) {
                i++;
                continue;
            }
            boolean fits = receive.fits(message);
            if (fits) {
                receive.take(message);
            }
            if (!fits || receive.isFull()) {
                posted.remove(i);
            }
            if (fits) {
                return receive;
            }
        }
        return null;
    }

    /** Takes a receive back; false if it has a message. */
    public boolean cancel(R receive) {
        return posted.remove(receive);
    }

    /** Takes a message back; false if it is matched. */
    public boolean drop(M message) {
        return unexpected.remove(message);
    }

    /** Receives that wait, the oldest first. */
    public List<R> posted() {
        return Collections.unmodifiableList(posted);
    }

    /** Messages that wait, the oldest first. */
    public List<M> unexpected() {
        return Collections.unmodifiableList(unexpected);
    }
}
