package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.scripted.Observer;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.ScriptedChannel;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.LentPlaceDescriptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random schedules of messages of every way into receive slabs with few cells: each is shown once and as it was sent,
 * whatever is given back, claimed and discarded when, untagged ones of each sender in the order of sending, and nothing
 * is left in the end. Some are lent: they are shown at their sender, which has them back when they are given back.
 */
class BufferedReceiveModelTest {
    private static final int MAX_LENGTH = 2048;
    private static final int SLOTS = 64;
    private static final int RECEIVE_AREA = SLOTS * MAX_LENGTH;
    /** Contexts of this test's own; those of a slab have no such bit. */
    private static final long OWN = 1L << 62;
    private static final int TAGS = 3;
    private static final int DISCARDED = -1;
    /** A claim into memory that is not registered. */
    private static final int NOWHERE = -2;

    /** What one run contains besides messages. */
    enum Mode {
        /** Nothing: all messages must be shown. */
        WHOLE,
        /** Hardly any slots of the driver's share. */
        FEW_SLOTS,
        /** Peers that die. */
        DEATHS
    }

    /** A message as it was posted; its id travels as remote CQ data. */
    private static final class Message {
        long id;
        int from;
        int to;
        int length;
        int slot;
        boolean tagged;
        long tag;
        boolean shown;
        boolean mayFail;
        boolean whole;
        boolean lent;
        /** It is shown at its sender. */
        boolean isHeld;
    }

    /** What an entry has handed out, or a claim is to bring. */
    private record Held(long context, long place, Message message, boolean more, int slot, boolean lent) {
    }

    /** One endpoint's side. */
    private static final class Side {
        final boolean[] sendSlots = new boolean[SLOTS];
        final boolean[] receiveSlots = new boolean[SLOTS];
        final List<Held> held = new ArrayList<>();
        final Map<Long, Held> claims = new HashMap<>();
        /** Contexts of posted tags, also of those that have ended: entries of matched ones do not tell them. */
        final List<Long> tags = new ArrayList<>();
        int tagsEnded;
        /** Number of the last untagged message by its sender. */
        final Map<Integer, Long> lastShown = new HashMap<>();
    }

    static final class Run implements Observer {
        final long seed;
        final Mode mode;
        final Script script;
        final Engines rig;
        final Random random;
        final List<Side> sides = new ArrayList<>();
        final Map<Long, Message> messages = new HashMap<>();
        long nextId = 1;
        int begins;
        int loans;
        long operations;

        Run(long seed, Mode mode) {
            this.seed = seed;
            this.mode = mode;
            script = new Script(seed).randomize();
            script.observer = this;
            random = script.random();
            rig = new Engines(script);
            rig.driverShare = mode == Mode.FEW_SLOTS ? 1 + random.nextInt(4) : 512;
            rig.mayOverrun = mode == Mode.WHOLE && random.nextInt(4) == 0;
            rig.eagerLimitBytes = 64 << random.nextInt(6);
            rig.slabCells = 1 + random.nextInt(8);
            rig.slabLimitBytes = random.nextInt(4) == 0 ? MAX_LENGTH : random.nextInt(MAX_LENGTH);
            rig.slabLeastBytes = random.nextInt(3) == 0 ? 0 : random.nextInt(256);
            rig.slabLentLimitBytes = random.nextInt(3) == 0 ? random.nextInt(2 * MAX_LENGTH) : 1 << 20;
            rig.rxSize = 4 + random.nextInt(30);
            rig.settings = new EngineSettings(
                1 << 17, 2048 << random.nextInt(4), 1 + random.nextInt(4), 1 + random.nextInt(4));
            int count = 2 + random.nextInt(2);
            for (int i = 0; i < count; i++) {
                rig.add("e" + i);
                sides.add(new Side());
            }
            rig.nodes.forEach(node -> rig.nodes.forEach(node::fiAddr));
        }

        String where() {
            return "seed " + seed + ", " + mode;
        }

        void run() {
            for (int i = 0; i < 500; i++) {
                int dice = random.nextInt(100);
                int at = random.nextInt(sides.size());
                if (dice < 30) {
                    send(at);
                } else if (dice < 40) {
                    post(at, random.nextInt(TAGS), random.nextInt(4) == 0 ? -1 : 0);
                } else if (dice < 43) {
                    cancel(at);
                } else if (dice < 58) {
                    use(at);
                } else if (dice < 59 && mode == Mode.DEATHS) {
                    kill();
                } else {
                    rig.step();
                }
                if (mode != Mode.FEW_SLOTS || random.nextInt(4) == 0) {
                    takeEntries();
                }
            }
            rest();
        }

        void send(int from) {
            Message message = new Message();
            message.slot = slot(sides.get(from).sendSlots);
            if (message.slot < 0) {
                return;
            }
            message.id = nextId++;
            message.from = from;
            message.to = random.nextInt(sides.size());
            message.length = random.nextInt(3) == 0 ? random.nextInt(MAX_LENGTH + 1) : random.nextInt(200);
            message.tagged = random.nextBoolean();
            message.tag = message.tagged ? random.nextInt(TAGS) : 0;
            message.lent = random.nextInt(3) == 0;
            Engines.Node node = rig.nodes.get(from);
            int offset = message.slot * MAX_LENGTH;
            node.fill(offset, message.length, (int) message.id);
            messages.put(message.id, message);
            int result = node.send(
                (message.tagged ? Engines.TAGGED : Engines.MSG) | Flags.REMOTE_CQ_DATA
                    | (message.lent ? Flags.LENT : 0), node.buf(offset),
                message.length, message.to, message.tag, message.id, OWN + message.id);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                sides.get(from).sendSlots[message.slot] = false;
                messages.remove(message.id);
            } else {
                operations++;
            }
        }

        boolean post(int at, long tag, long ignore) {
            long context = OWN + nextId++;
            // the buffer is not looked at
            int result = rig.nodes.get(at).receive(
                Engines.TAGGED, random.nextLong(), random.nextInt(100), -1, tag, ignore, context);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                return false;
            }
            operations++;
            sides.get(at).tags.add(context);
            return true;
        }

        void cancel(int at) {
            List<Long> contexts = sides.get(at).tags;
            if (!contexts.isEmpty()) {
                rig.nodes.get(at).endpoint.cancel(contexts.get(random.nextInt(contexts.size())));
            }
        }

        /** Ends one of the messages that an endpoint has been shown. */
        boolean use(int at) {
            Side side = sides.get(at);
            if (side.held.isEmpty()) {
                return false;
            }
            Held held = side.held.get(random.nextInt(side.held.size()));
            assertShown(at, held);
            if (!held.more && random.nextBoolean()) {
                held.message.isHeld = false;
                // twice does nothing
                rig.nodes.get(at).endpoint.giveBack(
                    new long[] {held.context, held.context, held.context ^ Long.MIN_VALUE}, 3);
                side.held.remove(held);
                return true;
            }
            int slot = slot(side.receiveSlots);
            if (slot < 0) {
                return false;
            }
            boolean discards = random.nextInt(3) == 0;
            long flags = (held.message.tagged ? Engines.TAGGED : Engines.MSG)
                | (discards ? Flags.DISCARD : Flags.CLAIM);
            long context = OWN + nextId++;
            boolean nowhere = !discards && random.nextInt(6) == 0;
            side.claims.put(context, new Held(held.context, discards ? DISCARDED : nowhere ? NOWHERE : held.place,
                held.message, held.more, slot, held.lent));
            side.held.remove(held);
            held.message.isHeld = false;
            Engines.Node node = rig.nodes.get(at);
            long to = nowhere ? node.buf(Engines.MEMORY - 1) : node.buf(RECEIVE_AREA + slot * MAX_LENGTH);
            int result = nowhere && random.nextBoolean()
                ? node.receiveAtNowhere(flags, held.context, context)
                : node.receive(flags, to, MAX_LENGTH, -1, held.context, 0, context);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                side.claims.remove(context);
                side.receiveSlots[slot] = false;
                side.held.add(held);
                held.message.isHeld = held.lent;
                return false;
            }
            operations++;
            return true;
        }

        void assertShown(int at, Held held) {
            int length = held.more ? Math.min(held.message.length, rig.slabLeastBytes) : held.message.length;
            long shown = rig.nodes.get(at).slab + held.place;
            if (held.lent) {
                if (held.message.mayFail) {
                    // its sender, that has lost it, may have another message there
                    return;
                }
                assertEquals(1, UnsafeApi.getLong(shown + LentPlaceDescriptor.NUMBER_OFFSET), where());
                assertEquals(1, UnsafeApi.getInt(shown + LentPlaceDescriptor.PATH_LENGTH_OFFSET), where());
                shown = rig.nodes.get(held.message.from).memory
                    + UnsafeApi.getLong(shown + LentPlaceDescriptor.OFFSET_OFFSET);
            }
            for (int i = 0; i < length; i++) {
                assertEquals(Engines.pattern((int) held.message.id, i),
                    UnsafeApi.getByte(shown + i), () -> held + ", " + where());
            }
        }

        void kill() {
            Engines.Node at = rig.nodes.get(random.nextInt(sides.size()));
            ScriptedChannel channel = at.channel(rig.nodes.get(random.nextInt(sides.size())));
            if (channel != null) {
                channel.kill(FabricErrno.ECONNRESET);
            }
        }

        int slot(boolean[] slots) {
            for (int i = 0; i < slots.length; i++) {
                if (!slots[i]) {
                    slots[i] = true;
                    return i;
                }
            }
            return -1;
        }

        @Override
        public void onArrival(String local, String remote, long flags, long tag, long data, boolean whole) {
            messages.get(data).whole = whole;
        }

        @Override
        public void onWhole(String local, String remote, long data) {
            messages.get(data).whole = true;
        }

        @Override
        public void onAborted(String local, String remote, long data) {
            messages.get(data).mayFail = true;
        }

        @Override
        public void onEnd(String local, String remote) {
            int near = local.charAt(local.length() - 1) - '0';
            int far = remote.charAt(remote.length() - 1) - '0';
            for (Message message : messages.values()) {
                // also those to the other end, which may have seen the end before they were sent
                message.mayFail |= (message.from == far || message.from == near) && !message.whole;
            }
        }

        int takeEntries() {
            int taken = 0;
            for (int at = 0; at < sides.size(); at++) {
                for (CompletionReader.Entry entry : rig.nodes.get(at).completions.takeAll()) {
                    taken++;
                    if ((entry.flags() & Flags.SEND) != 0) {
                        Message message = messages.get(entry.context() - OWN);
                        message.mayFail |= entry.errno() != 0;
                        assertTrue(message.mayFail || !message.isHeld,
                            () -> "ended before it was given back: " + entry + ", " + where());
                        sides.get(at).sendSlots[message.slot] = false;
                    } else if ((entry.context() & OWN) == 0) {
                        shown(at, entry);
                    } else if (sides.get(at).claims.containsKey(entry.context())) {
                        claimed(at, sides.get(at).claims.remove(entry.context()), entry);
                    } else {
                        sides.get(at).tagsEnded++;
                        assertTrue(sides.get(at).tags.contains(entry.context()), () -> entry + ", " + where());
                        assertTrue(entry.errno() == FabricErrno.ECANCELED || mode == Mode.DEATHS,
                            () -> entry + ", " + where());
                    }
                }
            }
            return taken;
        }

        void shown(int at, CompletionReader.Entry entry) {
            assertEquals(0, entry.errno(), () -> entry + ", " + where());
            Message message = messages.get(entry.data());
            assertNotNull(message, () -> entry + ", " + where());
            assertTrue(!message.shown, () -> "shown twice: " + entry + ", " + where());
            message.shown = true;
            if (!message.tagged) {
                long earlier = sides.get(at).lastShown.getOrDefault(message.from, 0L);
                assertTrue(earlier < message.id,
                    () -> "untagged message " + message.id + " was shown after " + earlier + ", " + where());
                sides.get(at).lastShown.put(message.from, message.id);
            }
            assertEquals(message.to, at, where());
            assertEquals(message.from, entry.source(), where());
            assertEquals(message.length, entry.length(), where());
            assertEquals(message.tag, entry.tag(), where());
            boolean lent = message.lent && (entry.flags() & Flags.LENT) != 0;
            boolean more = !lent && message.length > rig.slabLimitBytes;
            assertEquals(Flags.RECV | (message.tagged ? Flags.TAGGED : Flags.MSG) | Flags.REMOTE_CQ_DATA
                | (more ? Flags.MORE : 0) | (lent ? Flags.LENT : 0), entry.flags(), () -> entry + ", " + where());
            begins += more ? 1 : 0;
            loans += lent ? 1 : 0;
            message.isHeld = lent;
            sides.get(at).tagsEnded += message.tagged ? 1 : 0;
            Held held = new Held(entry.context(), entry.buf(), message, more, 0, lent);
            for (Held other : sides.get(at).held) {
                assertTrue(other.place != held.place, () -> held + " is where " + other + " is, " + where());
            }
            sides.get(at).held.add(held);
            assertShown(at, held);
            assertTrue(sides.get(at).held.size() <= rig.slabCells, where());
            long lentBytes = sides.get(at).held.stream()
                .filter(other -> other.lent && other.message.from == message.from && !other.message.mayFail)
                .mapToLong(other -> other.message.length).sum();
            assertTrue(lentBytes <= rig.slabLentLimitBytes, () -> lentBytes + " bytes are lent, " + where());
        }

        void claimed(int at, Held claim, CompletionReader.Entry entry) {
            Message message = claim.message;
            sides.get(at).receiveSlots[claim.slot] = false;
            if (claim.place == NOWHERE) {
                assertEquals(FabricErrno.EFAULT, entry.errno(), () -> entry + ", " + where());
                return;
            }
            if (entry.errno() != 0) {
                assertTrue(message.mayFail && (claim.more || claim.lent), () -> entry + ", " + where());
                return;
            }
            boolean discards = claim.place == DISCARDED;
            assertEquals(Flags.RECV | (message.tagged ? Flags.TAGGED : Flags.MSG) | Flags.REMOTE_CQ_DATA
                | (discards ? 0 : Flags.CLAIM), entry.flags(), () -> entry + ", " + where());
            assertEquals(message.length, entry.length(), where());
            assertEquals(message.id, entry.data(), where());
            if (!discards) {
                rig.nodes.get(at).assertFilled(
                    RECEIVE_AREA + claim.slot * MAX_LENGTH, message.length, (int) message.id);
            }
        }

        void cancelAll() {
            for (int at = 0; at < sides.size(); at++) {
                for (long context : sides.get(at).tags) {
                    rig.nodes.get(at).endpoint.cancel(context);
                }
            }
        }

        /** Ends all messages, posts tags until none waits, cancels the rest, and looks for anything lost or kept. */
        void rest() {
            cancelAll();
            for (int round = 0; round < 3000; round++) {
                rig.settle();
                int work = takeEntries();
                for (int at = 0; at < sides.size(); at++) {
                    work += use(at) ? 1 : 0;
                    if (rig.nodes.get(at).endpoint.receiver().unexpectedMessages() > 0) {
                        work++;
                        // claims need records too
                        if (rig.nodes.get(at).endpoint.receiver().outstanding() < rig.rxSize / 2) {
                            post(at, 0, -1);
                        }
                    }
                }
                if (work == 0) {
                    break;
                }
            }
            cancelAll();
            rig.settle();
            takeEntries();
            for (Message message : messages.values()) {
                assertTrue(message.shown || message.mayFail, () -> "message " + message.id + " of " + message.length
                    + " bytes was never shown, " + where());
            }
            for (int at = 0; at < sides.size(); at++) {
                assertEquals(0, sides.get(at).claims.size(), where());
                assertEquals(sides.get(at).tags.size(), sides.get(at).tagsEnded, where());
                if (!rig.mayOverrun) {
                    rig.nodes.get(at).assertAtRest();
                }
                assertEquals(List.of(), rig.nodes.get(at).errors, where());
            }
            rig.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void shouldShowEachMessageOnceWhenScheduleIsRandom(Mode mode) {
        int begins = 0;
        int loans = 0;
        for (long seed = 0; seed < 300; seed++) {
            Run run = new Run(seed, mode);
            run.run();
            begins += run.begins;
            loans += run.loans;
        }
        assertTrue(loans > 1000, "only " + loans + " messages were shown at their senders");
        assertTrue(begins > 1000, "only " + begins + " messages were longer than the limit");
    }
}
