package org.jfabric.simulation.soak;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.simulation.model.NaiveMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Says whether what one endpoint received since the last barrier is what the rules allow.
 *
 * <p>Drivers are asynchronous, so that nobody knows when a message met the receives. It need not be known: receives are
 * ordered by their posting, the messages of one sender by their sending, and matching prefers the older one on both
 * sides. For a given order of all arrivals that leaves one outcome, however posting and arriving were mixed (as in
 * stable marriage with common preferences). So the outcome itself tells of the order of arrivals: where a message
 * passed an older receive that accepts it, that receive had taken another message, or was cancelled, before. The judge
 * collects these relations, with the order of each sender and what was seen before what was posted; if they form a
 * circle, no order of arrivals explains the outcome. Otherwise the {@link NaiveMatcher} is run with such an order, and
 * has to agree entry for entry.
 */
final class Judge {
    private record Way(int from, boolean tagged, long tag) {
    }

    private final SoakWorld world;
    private final SoakEndpoint endpoint;
    private final List<SoakMessage> messages = new ArrayList<>();
    /** Messages, then cancels of receives, then the ends of buffers by messages that did not fit. */
    private final List<Object> events = new ArrayList<>();
    private final Map<Object, Integer> numbers = new HashMap<>();
    private int firstEnd;
    private int[][] followers;
    private int[] followerCounts;
    private int[] precedents;

    Judge(SoakWorld world, SoakEndpoint endpoint) {
        this.world = world;
        this.endpoint = endpoint;
    }

    /** Of the buffers that have ended by the rules. */
    private final Map<SoakReceive, BufferJudge> buffers = new HashMap<>();

    void run() {
        endpoint.inbound.stream().filter(message -> !message.isDropped()).forEach(messages::add);
        identify();
        collect();
        relate();
        endpoint.looks.forEach(this::judgeLook);
        endpoint.settlements.forEach(this::judgeSettlement);
        replay(order());
    }

    /** Messages that are alike for matching are received in their order, so the entries tell which is which. */
    private void identify() {
        Map<Way, Deque<SoakMessage>> sent = new HashMap<>();
        for (SoakMessage message : messages) {
            sent.computeIfAbsent(new Way(message.from, message.tagged, message.tag), way -> new ArrayDeque<>())
                .add(message);
        }
        for (SoakReceive receive : endpoint.receives) {
            for (SoakPart part : receive.parts) {
                SoakMessage expected = next(sent, receive, part.message, part.entry);
                if (part.message == null) {
                    world.packing.identify(endpoint, receive, part, expected.id);
                }
                world.check(part.message == expected,
                    () -> "out of order: " + part + " in " + receive + ", but next is " + expected);
            }
            if (receive.isBuffer) {
                world.packing.giveBack(endpoint, receive);
            }
            if (!receive.tookMessage()) {
                continue;
            }
            SoakMessage expected = next(sent, receive, receive.message, receive.entry);
            if (receive.message == null) {
                world.take(receive, expected.id);
                if (!receive.isLook()) {
                    world.verify(endpoint, receive, (int) receive.entry.length());
                }
            }
            world.check(receive.message == expected, () -> "out of order: " + receive + ", but next is " + expected);
        }
        sent.values().forEach(queue -> world.check(queue.isEmpty(), () -> "lost: " + queue));
    }

    private SoakMessage next(
        Map<Way, Deque<SoakMessage>> sent, SoakReceive receive, SoakMessage message, SoakEntry entry) {
        Way way = message != null ? new Way(message.from, message.tagged, message.tag)
            : new Way(endpoint.indexOf(entry.source()), (entry.flags() & Flags.TAGGED) != 0, entry.tag());
        Deque<SoakMessage> queue = sent.get(way);
        world.check(queue != null && !queue.isEmpty(), () -> "no message was left for " + receive);
        return queue.poll();
    }

    private void collect() {
        events.addAll(messages);
        for (SoakReceive receive : endpoint.cancels) {
            if (receive.mustFailWith == 0) {
                events.add(receive);
            }
        }
        firstEnd = events.size();
        for (SoakReceive receive : endpoint.receives) {
            if (receive.isBuffer && receive.mustFailWith == 0) {
                BufferJudge buffer = new BufferJudge(world, receive);
                buffers.put(receive, buffer);
                if (buffer.end != null) {
                    events.add(buffer.end);
                }
            }
        }
        for (int i = 0; i < events.size(); i++) {
            numbers.put(events.get(i), i);
        }
        followers = new int[events.size()][8];
        followerCounts = new int[events.size()];
        precedents = new int[events.size()];
    }

    private void relate() {
        Map<Integer, SoakMessage> lastOf = new HashMap<>();
        boolean holdsBack = endpoint.packs && !world.neverHoldsBack();
        for (SoakMessage message : messages) {
            // untagged ones that wait for slots are passed by tagged ones, which meet other receives
            int sender = holdsBack && message.tagged ? ~message.from : message.from;
            SoakMessage last = lastOf.put(sender, message);
            if (last != null) {
                before(last, message);
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
                    before(receive.isCancelled() ? receive : receive.message, message);
                }
            }
        }
        buffers.values().forEach(buffer -> buffer.relate(this::before, this::perhapsBefore));
        SoakReceive lastCancel = null;
        for (int i = messages.size(); i < firstEnd; i++) {
            SoakReceive cancel = (SoakReceive) events.get(i);
            if (lastCancel != null) {
                before(lastCancel, cancel);
            }
            if (!cancel.isCancelled() && !cancel.isBuffer) {
                before(cancel.message, cancel);
            }
            lastCancel = cancel;
        }
        relateByTime();
    }

    /** What was seen in an earlier step than the one that something was posted in came before it. */
    private void relateByTime() {
        for (Object early : events) {
            long seenBefore = seenBefore(early);
            for (Object late : events.subList(0, firstEnd)) {
                long posted = late instanceof SoakMessage message
                    ? message.postedStep : ((SoakReceive) late).cancelStep;
                if (early != late && seenBefore <= posted) {
                    before(early, late);
                }
            }
        }
    }

    private static long seenBefore(Object event) {
        if (event instanceof SoakMessage message) {
            return message.arrivedBefore;
        }
        if (event instanceof BufferJudge.End end) {
            return end.buffer().endedStep + 1;
        }
        SoakReceive cancel = (SoakReceive) event;
        // nobody is told when a cancel came too late
        return cancel.isCancelled() ? cancel.endedStep + 1 : SoakMessage.NEVER;
    }

    private void before(Object early, Object late) {
        int from = numbers.get(early);
        int to = numbers.get(late);
        if (followerCounts[from] == followers[from].length) {
            followers[from] = Arrays.copyOf(followers[from], followerCounts[from] * 2);
        }
        followers[from][followerCounts[from]++] = to;
        precedents[to]++;
    }

    /** One of all that are named for the later event has to be there before it. */
    private void perhapsBefore(Object early, Object late) {
        before(early, late);
        precedents[numbers.get(late)] = 1;
    }

    /** An order of arrivals and cancels that explains the outcome. */
    private List<Object> order() {
        List<Object> order = new ArrayList<>();
        Deque<Integer> ready = new ArrayDeque<>();
        for (int i = 0; i < precedents.length; i++) {
            if (precedents[i] == 0) {
                ready.add(i);
            }
        }
        while (!ready.isEmpty()) {
            int next = ready.poll();
            order.add(events.get(next));
            for (int i = 0; i < followerCounts[next]; i++) {
                if (--precedents[followers[next][i]] == 0) {
                    ready.add(followers[next][i]);
                }
            }
        }
        world.check(order.size() == events.size(), () -> {
            List<Object> circle = new ArrayList<>(events);
            circle.removeAll(order);
            return "no order of arrivals at e" + endpoint.index + " explains what was received; among:\n  "
                + String.join("\n  ", circle.stream().map(Object::toString).toList()) + "\nall receives:\n  "
                + String.join("\n  ", endpoint.receives.stream().map(Object::toString).toList());
        });
        return order;
    }

    /**
     * A look that left its message: it saw one that nobody had taken who was posted before it, of its sender the oldest
     * one. What it did not see had not arrived, or was taken before.
     */
    private void judgeLook(SoakReceive look) {
        Set<SoakMessage> taken = new HashSet<>();
        for (SoakReceive receive : endpoint.receives.subList(0, look.position)) {
            taken.add(receive.message);
            receive.parts.forEach(part -> taken.add(part.message));
        }
        Map<Integer, SoakMessage> oldest = new HashMap<>();
        messages.stream().filter(message -> look.accepts(message) && !taken.contains(message))
            .forEach(message -> oldest.putIfAbsent(message.from, message));
        if (look.mustFailWith != 0) {
            assertEntry(look, ended(look, look.mustFailWith));
            return;
        }
        SoakMessage seen = oldest.get(endpoint.indexOf(look.entry.source()));
        world.check(seen != null, () -> "no message was there for " + look);
        assertEntry(look, received(look, seen));
        for (SoakMessage other : oldest.values()) {
            if (other != seen) {
                before(seen, other);
            }
        }
    }

    /** Who has reserved a message gets it, or drops it as a whole. */
    private void judgeSettlement(SoakReceive receive) {
        receive.message = receive.claim.message;
        assertEntry(receive, received(receive, receive.message));
        if (receive.slot != null) {
            world.verify(endpoint, receive, (int) receive.entry.length());
        }
    }

    /** Entry for entry, as the naive matcher would have written them. */
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
                world.check(receive == message.receivedBy, () -> "the model gives " + message + " to " + receive);
                if (receive.isBuffer) {
                    assertPart(receive, message);
                } else {
                    assertEntry(receive, received(receive, message));
                }
            } else if (event instanceof SoakReceive) {
                SoakReceive receive = (SoakReceive) event;
                boolean cancelled = matcher.cancel(receive);
                world.check(cancelled == receive.isCancelled(),
                    () -> "cancelled by the model " + cancelled + ": " + receive);
                if (cancelled) {
                    assertEntry(receive, ended(receive, FabricErrno.ECANCELED));
                }
            }
        }
        for (SoakReceive receive : endpoint.receives) {
            world.check(receive.judged == receive.parts.size(), () -> "the model places fewer messages in " + receive);
            if (receive.isBuffer && receive.mustFailWith == 0 && !receive.isCancelled()) {
                assertEntry(receive, ended(receive, 0));
            }
        }
        world.check(matcher.posted().isEmpty() && matcher.unexpected().isEmpty(),
            () -> "the model has left " + matcher.posted() + matcher.unexpected());
    }

    private void assertEntry(SoakReceive receive, SoakEntry expected) {
        boolean silent = !receive.mustEnd() && expected.errno() == 0;
        world.check(silent ? receive.entry == null : expected.equals(receive.entry),
            () -> "the model has " + expected + " for " + receive);
    }

    private static SoakEntry ended(SoakReceive receive, int errno) {
        long flags = receive.isBuffer ? Flags.MULTI_RECV : Flags.RECV | (receive.tagged ? Flags.TAGGED : Flags.MSG);
        return new SoakEntry(receive.context, flags, 0, 0, 0, -1L, errno, 0, 0);
    }

    /** The next message of a buffer: its place is the model's. */
    private void assertPart(SoakReceive buffer, SoakMessage message) {
        world.check(buffer.judged < buffer.parts.size(), () -> "the model places more messages in " + buffer);
        SoakPart part = buffer.parts.get(buffer.judged++);
        world.check(part.message == message && part.offset == buffer.offset + message.place
            && part.length == message.placed,
            () -> "the model has " + message + " at " + message.place + ", not " + part + " in " + buffer);
        SoakEntry expected = received(buffer, message, message.placed, buffer.base + message.place);
        boolean silent = !buffer.wantsEntry && expected.errno() == 0;
        world.check(silent ? part.entry == null : expected.equals(part.entry),
            () -> "the model has " + expected + " for " + part + " in " + buffer);
    }

    private SoakEntry received(SoakReceive receive, SoakMessage message) {
        boolean whole = receive.isLook() && receive.slot == null;
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
