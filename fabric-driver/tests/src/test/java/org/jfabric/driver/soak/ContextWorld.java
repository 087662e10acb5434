package org.jfabric.driver.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.LongFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.simulation.soak.SoakHistory;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/**
 * Random receives, cancels and late reads of contexts, while senders in other processes send and some of them are
 * killed. Every receive ends once; every message of a sender that lives is received once, where it was sent to, and
 * whole; of a sender that was killed none is received twice. At the end a {@link ContextCheck} for each context
 * compares what was matched with the naive model.
 */
final class ContextWorld implements AutoCloseable {
    static final int PLACES = 3;
    /** Room of the longest receive. */
    static final int SLOT = 1 << 19;

    private static final long ANY = -1L;
    private static final int SENDER_CONTEXTS = 2;
    private static final int[] ROOM = {64, 4000, SLOT};
    private static final int GUARD = 16;
    private static final byte UNTOUCHED = 0x5C;
    /** How a receive may end whose message, or whose only source, was lost with its sender. */
    private static final Set<Integer> LOST = Set.of(
        FabricErrno.ECONNRESET, FabricErrno.ECONNREFUSED, FabricErrno.ESHUTDOWN, FabricErrno.EIO,
        FabricErrno.EHOSTUNREACH, FabricErrno.ECONNABORTED);

    final long seed;
    int messages;
    int cancelled;
    int lost;
    int kills;
    private final Random random;
    private final Path senderDirectory;
    private final String link;
    private final int count;
    private final ContextTarget target;
    private final List<Sender> senders = new ArrayList<>();
    private final List<TestProcess> processes = new ArrayList<>();
    /** By context, in the order of posting. */
    private final List<List<ContextReceive>> receives = new ArrayList<>();
    private final List<Deque<Integer>> slots = new ArrayList<>();
    private final Map<Long, ContextReceive> open = new HashMap<>();
    private final Map<Long, ContextReceive> takenBy = new HashMap<>();
    private final SoakHistory history = new SoakHistory();
    private long nextContext = 1;

    /** A process that sends. */
    private static final class Sender {
        final int number;
        final ContextScript script;
        final TestProcess process;
        final long address;
        int received;
        boolean isKilled;
        /** Killed, or ended after it had sent everything. */
        boolean isGone;

        Sender(int number, ContextScript script, TestProcess process, long address) {
            this.number = number;
            this.script = script;
            this.process = process;
            this.address = address;
        }
    }

    ContextWorld(boolean isShared, String link, Path directory, Path senderDirectory, long seed, int count) {
        this.seed = seed;
        this.random = new Random(seed);
        this.link = link;
        this.senderDirectory = senderDirectory;
        this.count = count;
        target = isShared ? ContextTarget.shared(directory, link) : ContextTarget.scalable(directory, link);
        for (int i = 0; i < target.contexts.size(); i++) {
            receives.add(new ArrayList<>());
            Deque<Integer> free = new ArrayDeque<>();
            for (int slot = 0; slot < ContextTarget.RECEIVES; slot++) {
                free.add(i * (ContextTarget.RECEIVES + 1) + slot);
            }
            slots.add(free);
        }
    }

    static Info hints() {
        return new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
    }

    /** Starts so many senders, kills some of them after a while and starts others, until all have sent everything. */
    void run(int senderCount, int killCount) {
        List<TestProcess> starting = new ArrayList<>();
        List<Long> seeds = new ArrayList<>();
        for (int i = 0; i < senderCount; i++) {
            seeds.add(random.nextLong());
            starting.add(launch(i, seeds.get(i)));
        }
        for (int i = 0; i < senderCount; i++) {
            add(seeds.get(i), starting.get(i));
        }
        Deadline deadline = Deadline.in(120);
        int victim = random.nextInt(senderCount);
        int killAt = 1 + random.nextInt(count);
        while (kills < killCount) {
            deadline.check("the messages before a kill", this::state);
            step();
            Sender sender = senders.get(victim);
            if (sender.received >= killAt) {
                kill(sender);
                victim = senders.size();
                long scriptSeed = random.nextLong();
                add(scriptSeed, launch(victim, scriptSeed));
                killAt = 1 + random.nextInt(count);
            }
        }
        while (senders.stream().anyMatch(sender -> !sender.isKilled && sender.received < count)) {
            deadline.check("the last messages", this::state);
            step();
        }
        finish();
    }

    private TestProcess launch(int number, long scriptSeed) {
        List<String> args = new ArrayList<>(List.of(senderDirectory.toString(), link, Integer.toString(number),
            Long.toString(scriptSeed), Integer.toString(count), Integer.toString(senderContexts()),
            Integer.toString(target.isShared ? 0 : PLACES)));
        args.addAll(target.names);
        TestProcess process = TestJvm.start(ContextSenderMain.class, args.toArray(String[]::new));
        processes.add(process);
        return process;
    }

    private void add(long scriptSeed, TestProcess process) {
        int number = senders.size();
        senders.add(new Sender(number, new ContextScript(number, scriptSeed, senderContexts(), PLACES), process,
            target.peers.insert(process.hear("ready"))));
        process.say("go");
    }

    private int senderContexts() {
        return target.isShared ? 1 : SENDER_CONTEXTS;
    }

    private void kill(Sender sender) {
        history.add("kill of s" + sender.number + " after " + sender.received);
        sender.isKilled = true;
        sender.isGone = true;
        sender.process.kill();
        kills++;
    }

    private void step() {
        int kind = random.nextInt(100);
        if (kind < 45) {
            post(random.nextInt(target.contexts.size()));
        } else if (kind < 95) {
            int place = random.nextInt(PLACES);
            for (int i = random.nextInt(8); i > 0; i--) {
                read(place);
            }
        } else if (!open.isEmpty()) {
            long[] contexts = open.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
            cancel(open.get(contexts[random.nextInt(contexts.length)]));
        }
    }

    private void post(int at) {
        ContextReceive receive = take(at);
        if (receive == null) {
            return;
        }
        receive.tagged = random.nextInt(4) != 0;
        receive.tag = receive.tagged ? random.nextInt(ContextScript.TAGS) : 0;
        receive.ignore = receive.tagged && random.nextInt(3) == 0 ? -1L : 0;
        receive.length = ROOM[random.nextInt(10) == 0 ? random.nextInt(2) : 2];
        if (random.nextInt(6) == 0) {
            receive.source = random.nextInt(senders.size());
        }
        post(at, receive);
    }

    private ContextReceive take(int at) {
        Integer slot = slots.get(at).poll();
        return slot == null ? null : new ContextReceive(slot);
    }

    private void post(int at, ContextReceive receive) {
        receive.context = nextContext++;
        Endpoint context = target.contexts.get(at);
        long buf = target.memory.address(offset(receive));
        bytes(receive).setMemory(receive.length == SLOT ? SLOT - GUARD : receive.length, GUARD, UNTOUCHED);
        long source = receive.source < 0 ? ANY : senders.get(receive.source).address;
        int length = receive.length == SLOT ? SLOT - GUARD : receive.length;
        receive.length = length;
        int result = receive.tagged
            ? context.trecv(buf, length, source, receive.tag, receive.ignore, receive.context)
            : context.recv(buf, length, source, receive.context);
        if (result == -FabricErrno.EAGAIN) {
            // its slot in the receive queue is free when the driver has taken the cancelled ones out
            slots.get(at).add(receive.slot);
            return;
        }
        assertEquals(0, result, this::state);
        history.add(receive);
        receives.get(at).add(receive);
        open.put(receive.context, receive);
    }

    private static long offset(ContextReceive receive) {
        return (long) receive.slot * SLOT;
    }

    private UnsafeBuffer bytes(ContextReceive receive) {
        return target.memory.buffer(offset(receive), SLOT);
    }

    private void cancel(ContextReceive receive) {
        int at = target.isShared ? 0 : receive.slot / (ContextTarget.RECEIVES + 1);
        target.contexts.get(at).cancel(receive.context);
    }

    private boolean read(int place) {
        FabricNode.Entry entry = target.queues.get(place).poll();
        if (entry == null) {
            return false;
        }
        ContextReceive receive = open.remove(entry.context());
        assertNotNull(receive, () -> "a second entry " + entry + state());
        receive.entry = entry;
        int at = target.isShared ? 0 : receive.slot / (ContextTarget.RECEIVES + 1);
        slots.get(at).add(receive.slot);
        if (entry.data() == 0) {
            boolean isLost = receive.source >= 0 && senders.get(receive.source).isGone && LOST.contains(entry.err());
            assertTrue(entry.err() == FabricErrno.ECANCELED || isLost, () -> entry + " without a message" + state());
            cancelled++;
            return true;
        }
        Sender sender = senders.get(ContextScript.sender(entry.data()));
        ContextScript.Sent message = sender.script.message(ContextScript.number(entry.data()));
        receive.message = message;
        message.receivedBy = receive;
        assertNull(takenBy.put(message.id, receive), () -> "a second time " + message + " by " + receive + state());
        messages++;
        sender.received++;
        assertEquals(message.to, place, () -> message + " elsewhere, by " + receive + state());
        assertTrue(receive.accepts(message), () -> receive + " does not accept it" + state());
        assertEquals(message.tag, entry.tag(), this::state);
        assertEquals(Flags.RECV | (message.tagged ? Flags.TAGGED : Flags.MSG),
            entry.flags() & (Flags.RECV | Flags.TAGGED | Flags.MSG), this::state);
        if (entry.err() != 0 && entry.err() != FabricErrno.ETRUNC) {
            assertTrue(sender.isKilled && LOST.contains(entry.err()), () -> entry + " of " + message + state());
            lost++;
        } else {
            verify(receive, message, entry);
        }
        return true;
    }

    private void verify(ContextReceive receive, ContextScript.Sent message, FabricNode.Entry entry) {
        int placed = Math.min(message.length, receive.length);
        assertEquals(placed < message.length ? FabricErrno.ETRUNC : 0, entry.err(), this::state);
        assertEquals(placed, entry.len(), this::state);
        assertEquals(senders.get(message.from).address, entry.source(), this::state);
        UnsafeBuffer bytes = bytes(receive);
        LongFunction<String> where = i -> "byte " + i + " of " + message + " in " + receive + state();
        for (int i = 0; i < placed; i++) {
            if (ContextScript.at(message, i) != bytes.getByte(i)) {
                throw new AssertionError(where.apply(i));
            }
        }
        for (int i = 0; i < GUARD; i++) {
            int at = receive.length + i;
            assertEquals(UNTOUCHED, bytes.getByte(at), () -> where.apply(at));
        }
    }

    /** Ends the senders, takes what those that were killed have left, cancels the rest, and judges. */
    private void finish() {
        Deadline deadline = Deadline.usual();
        for (Sender sender : senders) {
            if (!sender.isKilled) {
                sender.process.hear("ended");
                assertTrue(sender.process.output().contains("ended 0"), () -> sender.process.output() + state());
                sender.isGone = true;
                sender.process.say("end");
                sender.process.ended();
                assertEquals(count, sender.received, this::state);
            }
        }
        for (int quiet = 0; quiet < 3; quiet++) {
            int before = messages;
            for (int at = 0; at < target.contexts.size(); at++) {
                for (boolean tagged : new boolean[] {true, false}) {
                    ContextReceive rest = take(at);
                    if (rest != null) {
                        rest.tagged = tagged;
                        rest.ignore = tagged ? -1L : 0;
                        rest.length = SLOT;
                        post(at, rest);
                    }
                }
            }
            target.awaitSteps();
            readAll();
            quiet = messages == before ? quiet : -1;
            if (slots.stream().anyMatch(Deque::isEmpty)) {
                cancelAll();
                target.awaitSteps();
                readAll();
            }
            deadline.check("the messages of killed senders", this::state);
        }
        while (!open.isEmpty()) {
            deadline.check("the cancelled receives", this::state);
            cancelAll();
            readAll();
        }
        for (int at = 0; at < target.contexts.size(); at++) {
            Endpoint context = target.contexts.get(at);
            Deadline.await("all room", () -> context.rxSizeLeft() == ContextTarget.RECEIVES, this::state);
            new ContextCheck(receives.get(at), target.isShared, this::state).run();
        }
        target.queues.forEach(queue -> assertNull(queue.poll(), this::state));
    }

    private void cancelAll() {
        List.copyOf(open.values()).forEach(this::cancel);
    }

    private void readAll() {
        for (int place = 0; place < PLACES; place++) {
            while (read(place)) {
                Thread.onSpinWait();
            }
        }
    }

    private String state() {
        StringBuilder text = new StringBuilder("; seed ").append(seed).append(", ").append(open.size())
            .append(" open, senders");
        for (Sender sender : senders) {
            text.append(" s").append(sender.number).append(sender.isKilled ? " killed, " : " ").append(sender.received);
        }
        return text.append("\n").append(history).toString();
    }

    @Override
    public void close() {
        processes.forEach(TestProcess::close);
        target.close();
    }
}
