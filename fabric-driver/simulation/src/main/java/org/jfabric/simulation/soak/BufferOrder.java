package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The relations between arrivals that follow from a multi-receive buffer. Its messages arrived in their order in the
 * buffer. Messages that it accepts and that matched younger receives arrived later: after the message that filled it,
 * after its cancel, or after a message that was too long for the rest of it. If such messages of several senders were
 * too long, any of them may have ended the buffer, so its {@link End} is possible as soon as one of them has arrived.
 */
final class BufferOrder {
    /** The end of a buffer by a message that did not fit: an event after at least one of several others. */
    record End(SoakReceive buffer) {
    }

    /** Adds the relation that one event precedes another one. */
    interface Relation {
        void before(Object early, Object late);
    }

    private final SoakWorld world;
    final SoakReceive buffer;
    final End end;
    /** The first message of each sender that passed the buffer. */
    private final Map<Integer, SoakMessage> passing = new HashMap<>();

    BufferOrder(SoakWorld world, SoakReceive buffer) {
        this.world = world;
        this.buffer = buffer;
        boolean ends = !buffer.isCancelled() && !isFull();
        world.check(!ends || !buffer.parts.isEmpty(), () -> "released empty: " + buffer);
        this.end = ends ? new End(buffer) : null;
    }

    private int used() {
        if (buffer.parts.isEmpty()) {
            return 0;
        }
        SoakPart last = buffer.parts.getLast();
        return buffer.usedAfter(last.offset - buffer.offset, last.length);
    }

    private boolean isFull() {
        return !buffer.parts.isEmpty() && buffer.length - used() < buffer.minFree;
    }

    /** A message that it accepts has matched a younger receive; called in the order of each sender. */
    void pass(SoakMessage message) {
        passing.putIfAbsent(message.from, message);
    }

    /**
     * Adds all relations.
     *
     * @param possible takes those to {@link #end} of which at least one holds.
     */
    void relate(Relation before, Relation possible) {
        Object last = null;
        for (SoakPart part : buffer.parts) {
            if (last != null) {
                before.before(last, part.message);
            }
            last = part.message;
        }
        if (buffer.isCancelled()) {
            if (last != null) {
                before.before(last, buffer);
            }
            passing.values().forEach(message -> before.before(buffer, message));
            return;
        }
        for (SoakMessage message : passing.values()) {
            before.before(last, message);
        }
        if (end == null) {
            if (buffer.cancelRequested) {
                before.before(last, buffer);
            }
            return;
        }
        List<SoakMessage> tooLong = new ArrayList<>();
        for (SoakMessage message : passing.values()) {
            if (message.length > buffer.length - used()) {
                tooLong.add(message);
                possible.before(message, end);
            } else {
                before.before(end, message);
            }
        }
        world.check(!tooLong.isEmpty(), () -> "released with " + (buffer.length - used())
            + " bytes free, and no message was too long: " + buffer);
        if (buffer.cancelRequested) {
            before.before(end, buffer);
        }
    }
}
