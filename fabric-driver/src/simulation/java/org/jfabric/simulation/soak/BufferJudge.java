package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a multi-receive buffer tells of the order of arrivals. Its messages came in their order. Those that it would
 * accept and that went past it came later: behind the last one if that filled it, behind its cancel, or else behind one
 * that was too long for the rest of it. Which one that was is not known if such messages of several senders passed;
 * then it is any of them, so the {@link End} of the buffer is possible as soon as one has come.
 */
final class BufferJudge {
    /** A buffer was ended by a message that did not fit: an event that waits for any of several others. */
    record End(SoakReceive buffer) {
    }

    /** Notes that one event came before another one. */
    interface Relation {
        void before(Object early, Object late);
    }

    private final SoakWorld world;
    final SoakReceive buffer;
    final End end;
    /** By sender, the first one that went past. */
    private final Map<Integer, SoakMessage> passing = new HashMap<>();

    BufferJudge(SoakWorld world, SoakReceive buffer) {
        this.world = world;
        this.buffer = buffer;
        boolean ends = !buffer.isCancelled() && !isFull();
        world.check(!ends || !buffer.parts.isEmpty(), () -> "released although nothing is in it: " + buffer);
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

    /** A message that it accepts went to a younger receive; called in the order of each sender. */
    void pass(SoakMessage message) {
        passing.putIfAbsent(message.from, message);
    }

    /**
     * Tells all relations.
     *
     * @param possible takes those of which one has to hold, for {@link #end}.
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
        world.check(!tooLong.isEmpty(), () -> "released although " + (buffer.length - used())
            + " bytes are free and no message was too long: " + buffer);
        if (buffer.cancelRequested) {
            before.before(end, buffer);
        }
    }
}
