package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.scripted.Observer;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.driver.link.scripted.ScriptedChannel;
import org.jfabric.simulation.model.NaiveMatcher;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random schedules of untagged messages into multi-receive buffers and single receives, against a naive model that
 * packs messages in the order in which the link delivers them.
 */
class MultiReceiveModelTest {
    private static final int MAX_LENGTH = 2048;
    private static final int SLOTS = 64;
    private static final int RECEIVE_AREA = SLOTS * MAX_LENGTH;

    /** What one run contains besides sends and receives. */
    enum Mode {
        /** Cancelled receives. */
        CANCELS,
        /** Cancelled receives, and peers that die. */
        DEATHS,
        /** Hardly any slots of the driver's share, and a reader that is slow: nothing may be lost or change places. */
        FEW_SLOTS
    }

    /** A message as it was posted; its id travels as remote CQ data. */
    private static final class Message extends org.jfabric.simulation.model.Message {
        int slot;
        boolean whole;
        boolean mayFail;
    }

    /** A receive as it was posted. */
    private static final class Receive extends org.jfabric.simulation.model.Receive {
        int slot;
        int errno;
        final Deque<Message> messages = new ArrayDeque<>();
    }

    private static final class Model {
        final NaiveMatcher<Receive, Message> matcher = new NaiveMatcher<>();
        final Map<Long, Receive> receives = new HashMap<>();
        final boolean[] sendSlots = new boolean[SLOTS];
        final boolean[] receiveSlots = new boolean[SLOTS];

        void match(Message message) {
            Receive receive = matcher.arrive(message);
            if (receive != null) {
                receive.messages.add(message);
            }
        }

        void post(Receive receive) {
            receive.messages.addAll(matcher.postBuffer(receive));
        }
    }

    static final class Run implements Observer {
        final long seed;
        final Mode mode;
        final Script script;
        final Engines rig;
        final Random random;
        final List<Model> models = new ArrayList<>();
        final Map<Long, Message> messages = new HashMap<>();
        long nextId = 1;
        int packed;
        long operations;

        Run(long seed, Mode mode) {
            this.seed = seed;
            this.mode = mode;
            script = new Script(seed).randomize();
            script.observer = this;
            random = script.random();
            rig = new Engines(script);
            rig.caps = Flags.SOURCE | Flags.MULTI_RECV;
            // what is held back for a buffer of one peer lets another peer's message take a receive behind it: both
            // orders are right there, and the model knows one
            rig.directed = mode != Mode.FEW_SLOTS && random.nextBoolean();
            rig.driverShare = mode == Mode.FEW_SLOTS ? 1 + random.nextInt(4) : 512;
            rig.eagerLimitBytes = 64 << random.nextInt(6);
            rig.rxSize = 2 + random.nextInt(30);
            rig.settings = new EngineSettings(
                1 << 17, 2048 << random.nextInt(4), 1 + random.nextInt(4), 1 + random.nextInt(4));
            int count = 2 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                rig.add("e" + i);
                models.add(new Model());
            }
            rig.nodes.forEach(node -> rig.nodes.forEach(node::fiAddr));
        }

        String where() {
            return "seed " + seed + ", " + mode;
        }

        void run() {
            for (int i = 0; i < 400; i++) {
                int dice = random.nextInt(100);
                if (dice < 35) {
                    send();
                } else if (dice < 48) {
                    receive();
                } else if (dice < 51) {
                    cancel();
                } else if (dice < 52 && mode == Mode.DEATHS) {
                    kill();
                } else {
                    rig.step();
                }
                if (mode != Mode.FEW_SLOTS || random.nextInt(4) == 0) {
                    takeEntries();
                }
                if (mode != Mode.FEW_SLOTS) {
                    assertSameUnexpected();
                }
            }
            rest();
        }

        void assertSameUnexpected() {
            for (int k = 0; k < models.size(); k++) {
                assertEquals(models.get(k).matcher.unexpected().size(),
                    rig.nodes.get(k).endpoint.receiver().unexpectedMessages(), where());
            }
        }

        void send() {
            int from = random.nextInt(models.size());
            Message message = new Message();
            message.slot = slot(models.get(from).sendSlots);
            if (message.slot < 0) {
                return;
            }
            message.id = nextId++;
            message.from = from;
            message.length = random.nextInt(3) == 0 ? length() : random.nextInt(200);
            Engines.Node node = rig.nodes.get(from);
            int offset = message.slot * MAX_LENGTH;
            node.fill(offset, message.length, (int) message.id);
            messages.put(message.id, message);
            // the context tells the slot
            int result = node.send(Engines.MSG | Flags.REMOTE_CQ_DATA, node.buf(offset), message.length,
                random.nextInt(models.size()), 0, message.id, message.id);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                models.get(from).sendSlots[message.slot] = false;
                messages.remove(message.id);
            } else {
                operations++;
            }
        }

        void receive() {
            boolean directed = random.nextInt(4) == 0;
            post(random.nextInt(models.size()), random.nextInt(3) != 0, directed ? random.nextInt(models.size()) : -1,
                length(), random.nextInt(4) * 100);
        }

        boolean post(int at, boolean isBuffer, int source, int length, long minFree) {
            Model model = models.get(at);
            Receive receive = new Receive();
            receive.slot = slot(model.receiveSlots);
            if (receive.slot < 0) {
                return false;
            }
            receive.context = nextId++;
            receive.isBuffer = isBuffer;
            receive.source = rig.directed ? source : TagMatcher.ANY_SOURCE;
            receive.length = length;
            receive.minFree = minFree;
            Engines.Node node = rig.nodes.get(at);
            receive.base = node.buf(RECEIVE_AREA + receive.slot * MAX_LENGTH);
            int result = node.receive(
                Engines.MSG | (isBuffer ? Flags.MULTI_RECV : 0), receive.base, length, source, 0, minFree,
                receive.context);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result, where());
                model.receiveSlots[receive.slot] = false;
                return false;
            }
            operations++;
            model.receives.put(receive.context, receive);
            model.post(receive);
            return true;
        }

        void cancel() {
            int at = random.nextInt(models.size());
            Model model = models.get(at);
            if (mode == Mode.FEW_SLOTS || model.receives.isEmpty()) {
                return;
            }
            List<Long> contexts = new ArrayList<>(model.receives.keySet());
            Receive receive = model.receives.get(contexts.get(random.nextInt(contexts.size())));
            rig.nodes.get(at).endpoint.cancel(receive.context);
            if (model.matcher.cancel(receive)) {
                receive.errno = FabricErrno.ECANCELED;
            }
        }

        void kill() {
            Engines.Node at = rig.nodes.get(random.nextInt(models.size()));
            ScriptedChannel channel = at.channel(rig.nodes.get(random.nextInt(models.size())));
            if (channel != null) {
                channel.kill(FabricErrno.ECONNRESET);
            }
        }

        int length() {
            return random.nextInt(5) == 0 ? random.nextInt(65) : random.nextInt(MAX_LENGTH + 1);
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

        private Model model(String address) {
            return models.get(address.charAt(address.length() - 1) - '0');
        }

        @Override
        public void onArrival(String local, String remote, long flags, long tag, long data, boolean whole) {
            Message message = messages.get(data);
            message.whole = whole;
            model(local).match(message);
        }

        @Override
        public void onWhole(String local, String remote, long data) {
            messages.get(data).whole = true;
        }

        @Override
        public void onAborted(String local, String remote, long data) {
            messages.get(data).mayFail = true;
            model(local).matcher.drop(messages.get(data));
        }

        @Override
        public void onEnd(String local, String remote) {
            Model model = model(local);
            int from = models.indexOf(model(remote));
            for (Message message : messages.values()) {
                // also those to others: their own ends look at them only when they fail
                message.mayFail |= message.from == from && !message.whole;
            }
            List.copyOf(model.matcher.unexpected()).stream()
                .filter(message -> message.from == from && !message.whole).forEach(model.matcher::drop);
            List.copyOf(model.matcher.posted()).stream().filter(receive -> receive.source == from).forEach(receive -> {
                receive.errno = FabricErrno.ECONNRESET;
                model.matcher.cancel(receive);
            });
        }

        int takeEntries() {
            int taken = 0;
            for (int i = 0; i < models.size(); i++) {
                for (CompletionReader.Entry entry : rig.nodes.get(i).completions.takeAll()) {
                    taken++;
                    if ((entry.flags() & Flags.SEND) != 0) {
                        models.get(i).sendSlots[messages.get(entry.context()).slot] = false;
                    } else {
                        received(rig.nodes.get(i), models.get(i), entry);
                    }
                }
            }
            return taken;
        }

        void received(Engines.Node node, Model model, CompletionReader.Entry entry) {
            Receive receive = model.receives.get(entry.context());
            assertNotNull(receive, () -> "ended twice " + entry + ", " + where());
            boolean release = entry.flags() == Flags.MULTI_RECV;
            boolean ofReceive = release || receive.messages.isEmpty();
            if (!receive.isBuffer || release) {
                model.receives.remove(entry.context());
                model.receiveSlots[receive.slot] = false;
                assertTrue(!model.matcher.posted().contains(receive), () -> "ended early " + entry + ", " + where());
            }
            if (ofReceive) {
                assertEquals(receive.isBuffer, release, where());
                assertTrue(receive.messages.isEmpty(), () -> "released early " + entry + ", " + where());
                assertEquals(receive.errno, entry.errno(), where());
                return;
            }
            Message message = receive.messages.remove();
            if (entry.errno() != 0 && entry.errno() != FabricErrno.ETRUNC) {
                assertTrue(message.mayFail, () -> entry + ", " + where());
                return;
            }
            packed += receive.isBuffer && message.place != 0 ? 1 : 0;
            assertEquals(message.id, entry.data(), where());
            assertEquals(message.from, entry.source(), where());
            assertEquals(message.placed, entry.length(), where());
            assertEquals(message.length - message.placed, entry.olen(), where());
            assertEquals(receive.isBuffer ? receive.base + message.place : 0, entry.buf(), where());
            assertEquals(Flags.RECV | Flags.MSG | Flags.REMOTE_CQ_DATA, entry.flags(), where());
            node.assertFilled(
                RECEIVE_AREA + receive.slot * MAX_LENGTH + message.place, message.placed, (int) message.id);
        }

        /** Reads what is left, cancels what is posted, receives what waits, and looks for anything lost or kept. */
        void rest() {
            do {
                rig.settle();
                rig.steps(2);
            } while (takeEntries() != 0);
            assertSameUnexpected();
            for (int i = 0; i < models.size(); i++) {
                for (Receive receive : List.copyOf(models.get(i).matcher.posted())) {
                    rig.nodes.get(i).endpoint.cancel(receive.context);
                    receive.errno = FabricErrno.ECANCELED;
                    models.get(i).matcher.cancel(receive);
                }
            }
            for (int i = 0; i < models.size(); i++) {
                for (int round = 0; !models.get(i).matcher.unexpected().isEmpty(); round++) {
                    assertTrue(round < 2000, () -> "messages are left, " + where());
                    post(i, false, -1, MAX_LENGTH, 0);
                    rig.settle();
                    takeEntries();
                }
            }
            do {
                rig.settle();
            } while (takeEntries() != 0);
            for (int i = 0; i < models.size(); i++) {
                assertEquals(0, models.get(i).receives.size(), () -> "receives never end, " + where());
                rig.nodes.get(i).assertAtRest();
                assertEquals(List.of(), rig.nodes.get(i).errors, where());
            }
            rig.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void shouldPackLikeTheNaiveModelWhenScheduleIsRandom(Mode mode) {
        int packed = 0;
        for (long seed = 0; seed < 300; seed++) {
            Run run = new Run(seed, mode);
            run.run();
            packed += run.packed;
        }
        assertTrue(packed > 1000, "only " + packed + " messages shared a buffer");
    }
}
