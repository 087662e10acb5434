package org.jfabric.simulation.soak;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.simulation.model.ArrivalOrder;
import org.jfabric.simulation.model.NaiveMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Checks what one endpoint received since the last barrier against the rules of matching.
 *
 * <p>Drivers are asynchronous, so the time at which a message arrived is unknown. It is not needed: receives are
 * ordered by their posting, the messages of one sender by their sending, and matching prefers the older one on both
 * sides. So a given order of all arrivals has exactly one outcome, however posts and arrivals were interleaved (as in
 * stable marriage with common preferences). The outcome in turn restricts the order of arrivals: if a message passed an
 * older receive that accepts it, that receive had matched another message, or had been cancelled, before. These
 * relations, the order of each sender, and the steps in which events were observed must have no cycle; otherwise no
 * order of arrivals explains the outcome. If they have none, the {@link NaiveMatcher} runs with an order that satisfies
 * them and must write the same entries.
 */
final class MatchingCheck {
    /** Messages of one stream are received in the order in which they were sent. */
    private record Stream(int from, boolean tagged, long tag) {
    }

    private final SoakWorld world;
    private final SoakEndpoint endpoint;
    private final List<SoakMessage> messages = new ArrayList<>();
    /** Of messages, then cancelled receives, then buffers that ended because a message did not fit. */
    private final ArrivalOrder arrivals = new ArrivalOrder();
    /** Of the buffers that were posted successfully. */
    private final Map<SoakReceive, BufferOrder> buffers = new HashMap<>();
    private int firstEnd;

    MatchingCheck(SoakWorld world, SoakEndpoint endpoint) {
        this.world = world;
        this.endpoint = endpoint;
    }

    void run() {
        endpoint.inbound.stream().filter(message -> !message.isDropped()).forEach(messages::add);
        identify();
        collect();
        relate();
        endpoint.peeks.forEach(this::checkPeek);
        endpoint.claimEnds.forEach(this::checkClaimEnd);
        replay(arrivals.find(() -> "\nat e" + endpoint.index + "; all receives:\n  "
            + String.join("\n  ", endpoint.receives.stream().map(Object::toString).toList())));
    }

    /** Identifies messages that carry no id: those with the same sender and tag are received in order. */
    private void identify() {
        Map<Stream, Deque<SoakMessage>> sent = new HashMap<>();
        for (SoakMessage message : messages) {
            sent.computeIfAbsent(new Stream(message.from, message.tagged, message.tag), stream -> new ArrayDeque<>())
                .add(message);
        }
        for (SoakReceive receive : endpoint.receives) {
            for (SoakPart part : receive.parts) {
                SoakMessage expected = next(sent, receive, part.message, part.entry);
                if (part.message == null) {
                    world.multiReceives.identify(endpoint, receive, part, expected.id);
                }
                world.check(part.message == expected,
                    () -> "out of order: " + part + " in " + receive + ", expected " + expected);
            }
            if (receive.isBuffer) {
                world.multiReceives.giveBack(endpoint, receive);
            }
            if (!receive.hasMessage()) {
                continue;
            }
            SoakMessage expected = next(sent, receive, receive.message, receive.entry);
            if (receive.message == null) {
                world.assignMessage(receive, expected.id);
                if (!receive.isPeek()) {
                    world.verify(endpoint, receive, (int) receive.entry.length());
                }
            }
            world.check(receive.message == expected, () -> "out of order: " + receive + ", expected " + expected);
        }
        sent.values().forEach(queue -> world.check(queue.isEmpty(), () -> "not received: " + queue));
    }

    private SoakMessage next(
        Map<Stream, Deque<SoakMessage>> sent, SoakReceive receive, SoakMessage message, SoakEntry entry) {
        Stream stream = message != null ? new Stream(message.from, message.tagged, message.tag)
            : new Stream(endpoint.indexOf(entry.source()), (entry.flags() & Flags.TAGGED) != 0, entry.tag());
        Deque<SoakMessage> queue = sent.get(stream);
        world.check(queue != null && !queue.isEmpty(), () -> "more entries than messages, the last one of " + receive);
        return queue.poll();
    }

    private void collect() {
        messages.forEach(arrivals::add);
        for (SoakReceive receive : endpoint.cancels) {
            if (receive.mustFailWith == 0) {
                arrivals.add(receive);
            }
        }
        firstEnd = arrivals.events().size();
        for (SoakReceive receive : endpoint.receives) {
            if (receive.isBuffer && receive.mustFailWith == 0) {
                BufferOrder buffer = new BufferOrder(world, receive);
                buffers.put(receive, buffer);
                if (buffer.end != null) {
                    arrivals.add(buffer.end);
                }
            }
        }
    }

    private void relate() {
        Map<Integer, SoakMessage> lastOf = new HashMap<>();
        boolean mayWaitForSlots = endpoint.usesMultiReceive && !world.neverWaitsForSlots();
        for (SoakMessage message : messages) {
            // untagged messages may wait for slots while tagged ones of their sender arrive
            int sender = mayWaitForSlots && message.tagged ? ~message.from : message.from;
            SoakMessage last = lastOf.put(sender, message);
            if (last != null) {
                arrivals.before(last, message);
            }
            for (SoakReceive receive : endpoint.receives) {
                if (receive == message.receivedBy) {
                    break;
                }
                if (receive.mustFailWith != 0 || !receive.accepts(message)) {
                    continue;
                }
                if (receive.isBuffer) {
                    buffers.get(receive).pass(message);
                } else {
                    arrivals.before(receive.isCancelled() ? receive : receive.message, message);
                }
            }
        }
        buffers.values().forEach(buffer -> buffer.relate(arrivals::before, arrivals::perhapsBefore));
        SoakReceive lastCancel = null;
        for (int i = messages.size(); i < firstEnd; i++) {
            SoakReceive cancel = (SoakReceive) arrivals.events().get(i);
            if (lastCancel != null) {
                arrivals.before(lastCancel, cancel);
            }
            if (!cancel.isCancelled() && !cancel.isBuffer) {
                arrivals.before(cancel.message, cancel);
            }
            lastCancel = cancel;
        }
        relateByTime();
    }

    /** An event that was observed before a later operation was posted precedes it. */
    private void relateByTime() {
        for (Object early : arrivals.events()) {
            long seenBefore = seenBefore(early);
            for (Object late : arrivals.events().subList(0, firstEnd)) {
                long posted = late instanceof SoakMessage message
                    ? message.postedStep : ((SoakReceive) late).cancelStep;
                if (early != late && seenBefore <= posted) {
                    arrivals.before(early, late);
                }
            }
        }
    }

    private static long seenBefore(Object event) {
        if (event instanceof SoakMessage message) {
            return message.arrivedBefore;
        }
        if (event instanceof BufferOrder.End end) {
            return end.buffer().endedStep + 1;
        }
        SoakReceive cancel = (SoakReceive) event;
        // a cancel that came too late has no entry of its own
        return cancel.isCancelled() ? cancel.endedStep + 1 : SoakMessage.NEVER;
    }

    /**
     * A peek without claim or discard returns the oldest message of that sender that no earlier receive has matched. It
     * precedes the first such message of each other sender, which it would have returned otherwise.
     */
    private void checkPeek(SoakReceive peek) {
        Set<SoakMessage> taken = new HashSet<>();
        for (SoakReceive receive : endpoint.receives.subList(0, peek.position)) {
            taken.add(receive.message);
            receive.parts.forEach(part -> taken.add(part.message));
        }
        Map<Integer, SoakMessage> oldest = new HashMap<>();
        messages.stream().filter(message -> peek.accepts(message) && !taken.contains(message))
            .forEach(message -> oldest.putIfAbsent(message.from, message));
        if (peek.mustFailWith != 0) {
            assertEntry(peek, ended(peek, peek.mustFailWith));
            return;
        }
        SoakMessage seen = oldest.get(endpoint.indexOf(peek.entry.source()));
        world.check(seen != null, () -> "there was no message that this could find: " + peek);
        assertEntry(peek, received(peek, seen));
        for (SoakMessage other : oldest.values()) {
            if (other != seen) {
                arrivals.before(seen, other);
            }
        }
    }

    /** A claimed message is received or discarded by the call that names its claim. */
    private void checkClaimEnd(SoakReceive receive) {
        receive.message = receive.claim.message;
        assertEntry(receive, received(receive, receive.message));
        if (receive.slot != null) {
            world.verify(endpoint, receive, (int) receive.entry.length());
        }
    }

    /** Runs the naive matcher with this order and compares each entry. */
    private void replay(List<Object> order) {
        NaiveMatcher<SoakReceive, SoakMessage> matcher = new NaiveMatcher<>();
        for (SoakReceive receive : endpoint.receives) {
            if (receive.mustFailWith == 0) {
                matcher.post(receive);
            } else {
                assertEntry(receive, ended(receive, receive.mustFailWith));
            }
        }
        for (Object event : order) {
            if (event instanceof SoakMessage message) {
                SoakReceive receive = matcher.arrive(message);
                world.check(receive == message.receivedBy, () -> "the model matches " + message + " with " + receive);
                if (receive.isBuffer) {
                    assertPart(receive, message);
                } else {
                    assertEntry(receive, received(receive, message));
                }
            } else if (event instanceof SoakReceive) {
                SoakReceive receive = (SoakReceive) event;
                boolean cancelled = matcher.cancel(receive);
                world.check(cancelled == receive.isCancelled(),
                    () -> (cancelled ? "the model cancels " : "the model does not cancel ") + receive);
                if (cancelled) {
                    assertEntry(receive, ended(receive, FabricErrno.ECANCELED));
                }
            }
        }
        for (SoakReceive receive : endpoint.receives) {
            world.check(
                receive.replayed == receive.parts.size(), () -> "the model places fewer messages in " + receive);
            if (receive.isBuffer && receive.mustFailWith == 0 && !receive.isCancelled()) {
                assertEntry(receive, ended(receive, 0));
            }
        }
        world.check(matcher.posted().isEmpty() && matcher.unexpected().isEmpty(),
            () -> "unmatched in the model: " + matcher.posted() + matcher.unexpected());
    }

    private void assertEntry(SoakReceive receive, SoakEntry expected) {
        boolean silent = !receive.mustHaveEntry() && expected.errno() == 0;
        world.check(silent ? receive.entry == null : expected.equals(receive.entry),
            () -> "the model expects " + expected + " of " + receive);
    }

    private static SoakEntry ended(SoakReceive receive, int errno) {
        long flags = receive.isBuffer ? Flags.MULTI_RECV : Flags.RECV | (receive.tagged ? Flags.TAGGED : Flags.MSG);
        return new SoakEntry(receive.context, flags, 0, 0, 0, -1L, errno, 0, 0);
    }

    /** The next message of a buffer must be where the model places it. */
    private void assertPart(SoakReceive buffer, SoakMessage message) {
        world.check(buffer.replayed < buffer.parts.size(), () -> "the model places more messages in " + buffer);
        SoakPart part = buffer.parts.get(buffer.replayed++);
        world.check(part.message == message && part.offset == buffer.offset + message.place
            && part.length == message.placed,
            () -> "the model places " + message + " at " + message.place + ", not " + part + " in " + buffer);
        SoakEntry expected = received(buffer, message, message.placed, buffer.base + message.place);
        boolean silent = !buffer.wantsEntry && expected.errno() == 0;
        world.check(silent ? part.entry == null : expected.equals(part.entry),
            () -> "the model expects " + expected + " of " + part + " in " + buffer);
    }

    private SoakEntry received(SoakReceive receive, SoakMessage message) {
        boolean whole = receive.isPeek() && receive.slot == null;
        return received(
            receive, message, whole ? message.length : Math.min(message.length, receive.length), 0);
    }

    private SoakEntry received(SoakReceive receive, SoakMessage message, int placed, long buf) {
        return new SoakEntry(receive.context,
            Flags.RECV | message.kind() | (message.hasData ? Flags.REMOTE_CQ_DATA : 0), placed, message.data(),
            message.tag, endpoint.addresses[message.from], placed < message.length ? FabricErrno.ETRUNC : 0,
            message.length - placed, buf);
    }
}
