package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.kit.Requests;
import org.jfabric.driver.link.scripted.Observer;
import org.jfabric.driver.link.scripted.ScriptedChannel;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random schedules of sends, receives, peeks, cancels, deaths and changes of the address vector between some endpoints,
 * against a naive model of matching that sees messages in the order in which the link delivers them.
 */
class EngineModelTest {
    /** Of a plain message's tag; above them is its id. */
    private static final int TAG_BITS = 8;
    private static final long[] LEVELS = {0, 0, Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE,
        Flags.MATCH_COMPLETE};

    /** One schedule. */
    static final class Run extends EngineModel implements Observer {
        final Map<Long, Message> messages = new HashMap<>();
        final Map<String, Long> lastArrived = new HashMap<>();
        final boolean[][] disturbed;
        /** Short tagged messages and receives that take the short path, mostly in order. */
        final boolean plain;
        /** Ids of messages without data that are not whole yet, by their channel. */
        final Map<String, Long> streamed = new HashMap<>();
        long received;

        Run(long seed, EngineModel.Events events) {
            this(seed, events, false);
        }

        Run(long seed, EngineModel.Events events, boolean plain) {
            super(seed, events);
            this.plain = plain;
            script.observer = this;
            script.vectors = new Random(seed + 1).nextInt(4) != 0;
            rig.directed = random.nextBoolean();
            rig.eagerLimitBytes = random.nextInt(8) == 0 ? 0 : 64 << random.nextInt(6);
            rig.txSize = 2 + random.nextInt(30);
            rig.rxSize = 2 + random.nextInt(30);
            int window = 2048 << random.nextInt(4);
            int budget = random.nextBoolean() ? 1 << 17 : window * 2;
            if (plain) {
                // messages in pieces take the general path
                script.streamPercent = 0;
                rig.directed = false;
                rig.eagerLimitBytes = 1 << 12;
                rig.rxSize = 8 + random.nextInt(24);
                window = 1 << 14;
                budget = 1 << 17;
            }
            rig.settings = new EngineSettings(
                budget, window, 1 + random.nextInt(4), 1 + random.nextInt(4));
            if (events == Events.FAILURES) {
                script.pendingSendPercent = 30;
                script.failedSendPercent = 20;
                script.pullPendingPercent = 60;
                script.failedPullPercent = 20;
            }
            int count = 2 + random.nextInt(3);
            disturbed = new boolean[count][count];
            for (int i = 0; i < count; i++) {
                rig.add("e" + i);
                models.add(new Model());
            }
            for (Engines.Node node : rig.nodes) {
                rig.nodes.forEach(node::fiAddr);
            }
        }

        int index(String address) {
            return address.charAt(address.length() - 1) - '0';
        }

        void run() {
            int steps = plain ? 1600 : 400;
            for (int i = 0; i < steps; i++) {
                int dice = random.nextInt(100);
                if (dice < (plain ? 22 : 30)) {
                    send();
                } else if (dice < (plain ? 56 : 48)) {
                    receive();
                } else if (plain && dice < 62) {
                    // seldom something that a spill comes before
                    if (random.nextInt(50) == 0) {
                        cancel();
                    }
                } else if (dice < 57) {
                    look();
                } else if (dice < 58) {
                    changeStranger(random.nextInt(models.size()));
                } else if (dice < 62) {
                    cancel();
                } else if (dice < 63 && events == Events.DEATHS && (!plain || random.nextInt(8) == 0)) {
                    kill();
                } else {
                    rig.step();
                }
                takeEntries();
                int step = i;
                for (int k = 0; k < models.size(); k++) {
                    int node = k;
                    assertEquals(
                        models.get(k).matcher.unexpected().size(),
                        rig.nodes.get(k).endpoint.receiver().unexpectedMessages(),
                        () -> "messages of e" + node + " at event " + step + ", " + where());
                }
            }
            rest();
        }

        /** Mostly that of all receives, so that most messages come in their order. */
        private long tag() {
            return random.nextInt(100) == 0 ? 1 : 0;
        }

        private long data() {
            return plain ? 0 : Flags.REMOTE_CQ_DATA;
        }

        /** Messages that the oldest expected receive has taken. */
        long expected() {
            return rig.nodes.stream().mapToLong(node -> node.endpoint.receiver().expectedMessages()).sum();
        }

        /** Operations that were posted, or refused. */
        long operations() {
            return nextId - 1;
        }

        void send() {
            int from = random.nextInt(models.size());
            Model model = models.get(from);
            Message message = new Message();
            message.slot = slot(model.sendSlots);
            if (message.slot < 0) {
                return;
            }
            boolean inject = random.nextInt(4) == 0;
            message.id = nextId++;
            message.from = from;
            message.to = random.nextInt(models.size());
            if (message.to == model.stranger) {
                model.sendSlots[message.slot] = false;
                return;
            }
            message.tagged = plain || random.nextInt(4) != 0;
            message.tag = plain ? message.id << TAG_BITS | tag() : message.tagged ? random.nextInt(4) : 0;
            message.length = inject ? random.nextInt(Engines.INJECT_SIZE + 1)
                : plain && random.nextInt(100) != 0 ? random.nextInt(200) : length();
            Engines.Node node = rig.nodes.get(from);
            int offset = message.slot * MAX_LENGTH;
            if (!plain && !inject && random.nextInt(3) == 0) {
                message.pieces = ScatteredPieces.of(random, offset, message.length);
                message.pieces.fill(node, (int) message.id);
            } else {
                node.fill(offset, message.length, (int) message.id);
            }
            message.level = plain ? 0 : LEVELS[random.nextInt(LEVELS.length)];
            message.fenced = !plain && random.nextInt(8) == 0;
            long flags = (message.tagged ? Flags.TAGGED : Flags.MSG) | data() | message.level
                | (message.fenced ? Flags.FENCE : 0);
            // a link may deliver from inside the call
            messages.put(message.id, message);
            int result;
            if (inject) {
                result = node.endpoint.inject(
                    flags | Flags.COMPLETION, node.memory + offset, message.length, message.to, message.tag, message.id,
                    message.id);
                node.fill(offset, message.length, -1);
            } else if (message.pieces != null) {
                result = node.endpoint.post(Requests.message(WorkRequest.SEND, flags | Flags.COMPLETION,
                    message.pieces.requests(node), message.to, message.tag, message.id, message.id));
            } else {
                result = node.endpoint.send(
                    flags | Flags.COMPLETION, node.buf(offset), message.length, message.to, message.tag, message.id,
                    message.id);
            }
            if (result == 0) {
                node.posted++;
                model.sends.put(message.id, message);
            } else {
                assertEquals(-FabricErrno.EAGAIN, result);
                assertRefusable(model, message.to, rig.txSize - node.endpoint.outstandingSends());
                model.sendSlots[message.slot] = false;
                messages.remove(message.id);
            }
        }

        /** No operation is free, or a destination for which sends wait has more than are free. */
        private void assertRefusable(Model model, int destination, long free) {
            long same = model.sends.values().stream().filter(send -> send.to == destination).count();
            assertTrue(free == 0 || same > free, where());
        }

        void receive() {
            int at = random.nextInt(models.size());
            Receive receive = new Receive();
            receive.tagged = plain || random.nextInt(4) != 0;
            receive.tag = receive.tagged && !plain ? random.nextInt(4) : 0;
            receive.ignore = receive.tagged && random.nextInt(3) == 0 ? random.nextInt(4) : 0;
            receive.ignore |= plain ? -1L << TAG_BITS : 0;
            long source = plain ? -1 : source(at);
            receive.source = rig.directed ? (int) source : Receive.ANY_SOURCE;
            receive.length = plain && random.nextInt(50) != 0 ? MAX_LENGTH : length();
            post(at, receive, source);
        }

        /** Removes an address from a vector, or inserts the one that was removed. */
        void changeStranger(int at) {
            Model model = models.get(at);
            Engines.Node node = rig.nodes.get(at);
            takeEntries();
            if (model.stranger >= 0) {
                assertEquals(model.stranger, node.addresses.insert(rig.nodes.get(model.stranger).address), where());
                model.stranger = -1;
                return;
            }
            model.stranger = random.nextInt(models.size());
            assertEquals(0, node.addresses.remove(model.stranger), where());
            if (rig.directed) {
                for (Receive receive : List.copyOf(model.matcher.posted())) {
                    if (receive.source == model.stranger) {
                        receive.cancelled = model.matcher.cancel(receive);
                    }
                }
            }
        }

        boolean post(int at, Receive receive, long source) {
            Model model = models.get(at);
            receive.slot = slot(model.receiveSlots);
            if (receive.slot < 0) {
                return false;
            }
            Engines.Node node = rig.nodes.get(at);
            receive.context = nextId++;
            // the model takes its match first: the engine's call may take it further at once
            Message match = model.matcher.find(receive);
            long flags = (receive.tagged ? Flags.TAGGED : Flags.MSG) | Flags.COMPLETION;
            int offset = SEND_AREA + receive.slot * MAX_LENGTH;
            if (!plain && random.nextInt(3) == 0) {
                receive.pieces = ScatteredPieces.of(random, offset, receive.length);
            }
            int result = receive.pieces != null
                ? node.receiveVector(flags, receive.pieces, source, receive.tag, receive.ignore, receive.context)
                : node.receive(
                    flags, node.buf(offset), receive.length, source, receive.tag, receive.ignore, receive.context);
            if (result != 0) {
                assertFull(at, result);
                model.receiveSlots[receive.slot] = false;
                return false;
            }
            model.receives.put(receive.context, receive);
            receive.message = match;
            if (match == null) {
                model.matcher.post(receive);
            } else {
                match.matched = true;
                assertTrue(model.matcher.drop(match), where());
            }
            return true;
        }

        void cancel() {
            int at = random.nextInt(models.size());
            Model model = models.get(at);
            if (random.nextBoolean() && !model.receives.isEmpty()) {
                List<Long> contexts = new ArrayList<>(model.receives.keySet());
                Receive receive = model.receives.get(contexts.get(random.nextInt(contexts.size())));
                rig.nodes.get(at).endpoint.cancel(receive.context);
                receive.cancelled = model.matcher.cancel(receive) || receive.cancelled;
            } else if (!model.sends.isEmpty()) {
                List<Long> contexts = new ArrayList<>(model.sends.keySet());
                rig.nodes.get(at).endpoint.cancel(contexts.get(random.nextInt(contexts.size())));
            }
        }

        void kill() {
            int at = random.nextInt(models.size());
            int to = random.nextInt(models.size());
            ScriptedChannel channel = rig.nodes.get(at).channel(rig.nodes.get(to));
            if (channel != null) {
                channel.kill(FabricErrno.ECONNRESET);
                disturbed[at][to] = true;
                disturbed[to][at] = true;
            }
        }

        @Override
        public void onArrival(String local, String remote, long flags, long tag, long data, boolean whole) {
            if (plain) {
                streamed.put(remote + local, tag >>> TAG_BITS);
            }
            Message message = messages.get(plain ? tag >>> TAG_BITS : data);
            assertNotNull(message, where());
            assertTrue(!message.arrived, () -> "arrives twice, " + where());
            assertTrue(message.errno != FabricErrno.ECANCELED, () -> "was cancelled, " + where());
            assertEquals(message.from, index(remote), where());
            assertEquals(message.to, index(local), where());
            Long last = lastArrived.put(remote + local, message.id);
            assertTrue(last == null || last < message.id, () -> "out of order, " + where());
            if (message.fenced) {
                assertEarlierHaveEnded(message);
            }
            message.arrived = true;
            message.whole = whole;
            Receive receive = models.get(message.to).matcher.arrive(message);
            if (receive != null) {
                receive.message = message;
                message.matched = true;
            }
        }

        void assertEarlierHaveEnded(Message fenced) {
            takeEntries();
            for (Message send : models.get(fenced.from).sends.values()) {
                assertTrue(send.to != fenced.to || send.id >= fenced.id,
                    () -> fenced.id + " began before " + send.id + " had ended, " + where());
            }
        }

        @Override
        public void onWhole(String local, String remote, long data) {
            messages.get(plain ? streamed.get(remote + local) : data).whole = true;
        }

        @Override
        public void onAborted(String local, String remote, long data) {
            Message message = messages.get(plain ? streamed.get(remote + local) : data);
            message.mayFail = true;
            message.dropped |= models.get(message.to).matcher.drop(message);
        }

        @Override
        public void onEnd(String local, String remote) {
            Model model = models.get(index(local));
            int from = index(remote);
            for (Message message : messages.values()) {
                if (message.from == from && message.to == index(local) && !message.whole) {
                    message.mayFail = true;
                    message.dropped |= model.matcher.drop(message);
                }
            }
            for (Receive receive : List.copyOf(model.matcher.posted())) {
                if (receive.source == from) {
                    receive.failed = model.matcher.cancel(receive);
                }
            }
        }

        void takeEntries() {
            for (int i = 0; i < models.size(); i++) {
                for (CompletionReader.Entry entry : rig.nodes.get(i).completions.takeAll()) {
                    if ((entry.flags() & Flags.SEND) != 0) {
                        sent(models.get(i), entry);
                    } else {
                        received(rig.nodes.get(i), models.get(i), entry);
                    }
                }
            }
        }

        void sent(Model model, CompletionReader.Entry entry) {
            Message message = model.sends.remove(entry.context());
            assertNotNull(message, () -> "completed twice, " + where());
            message.ended = true;
            message.errno = entry.errno();
            model.sendSlots[message.slot] = false;
            if (entry.errno() == FabricErrno.ECANCELED) {
                assertTrue(!message.arrived, where());
            } else if (entry.errno() == 0) {
                reached(message, message.level);
                if (message.fenced && !disturbed[message.from][message.to]) {
                    for (Message earlier : messages.values()) {
                        if (earlier.id < message.id && earlier.from == message.from && earlier.to == message.to
                            && earlier.errno == 0) {
                            reached(earlier, message.level);
                        }
                    }
                }
            } else {
                assertTrue(events == Events.FAILURES || disturbed[message.from][message.to],
                    () -> "failed with " + entry + ", " + where());
            }
        }

        /** What the level promises holds: a receive has taken the message, or it is there as a whole. */
        void reached(Message message, long level) {
            if (events == Events.FAILURES) {
                return;
            }
            if (level == Flags.MATCH_COMPLETE) {
                assertTrue(message.matched, () -> "message " + message.id + " not matched, " + where());
            } else if (level == Flags.DELIVERY_COMPLETE) {
                assertTrue(message.whole || message.matched,
                    () -> "message " + message.id + " not delivered, " + where());
            }
        }

        void received(Engines.Node node, Model model, CompletionReader.Entry entry) {
            Look look = model.looks.remove(entry.context());
            if (look != null) {
                looked(node, model, look, entry);
                return;
            }
            Receive receive = model.receives.remove(entry.context());
            assertNotNull(receive, () -> "completed twice, " + where());
            receive.ended = true;
            model.receiveSlots[receive.slot] = false;
            if (receive.cancelled) {
                assertEquals(FabricErrno.ECANCELED, entry.errno(), where());
                return;
            }
            if (receive.failed) {
                assertEquals(FabricErrno.ECONNRESET, entry.errno(), where());
                return;
            }
            Message message = receive.message;
            assertNotNull(message, () -> "no message for " + entry + ", " + where());
            if (entry.errno() != 0 && entry.errno() != FabricErrno.ETRUNC) {
                assertTrue(events == Events.FAILURES || message.mayFail, () -> entry + ", " + where());
                return;
            }
            assertTrue(!message.received, where());
            message.received = true;
            received++;
            assertEquals(plain ? 0 : message.id, entry.data(), where());
            assertEquals(source(model, message), entry.source(), where());
            assertEquals(message.tagged ? message.tag : 0, entry.tag(), where());
            int placed = Math.min(message.length, receive.length);
            assertEquals(placed, entry.length(), where());
            assertEquals(message.length > receive.length ? FabricErrno.ETRUNC : 0, entry.errno(), where());
            assertEquals(message.length - placed, entry.olen(), where());
            long kind = message.tagged ? Flags.TAGGED : Flags.MSG;
            assertEquals(Flags.RECV | kind | data(), entry.flags(), where());
            if (receive.pieces != null) {
                receive.pieces.assertFilled(node, placed, (int) message.id);
            } else {
                node.assertFilled(SEND_AREA + receive.slot * MAX_LENGTH, placed, (int) message.id);
            }
        }

        /** Takes what is left and looks for anything that was lost or kept. */
        void rest() {
            for (int i = 0; i < models.size(); i++) {
                Model model = models.get(i);
                for (Receive receive : List.copyOf(model.matcher.posted())) {
                    rig.nodes.get(i).endpoint.cancel(receive.context);
                    receive.cancelled = model.matcher.cancel(receive);
                }
                for (long context : List.copyOf(model.claimed.keySet())) {
                    // one that finds all receives outstanding comes later
                    rig.settle();
                    takeEntries();
                    fetch(i, model.claimed.get(context).tagged, context, random.nextInt(4) == 0);
                }
                assertEquals(0, model.claimed.size(), where());
            }
            boolean more = true;
            for (int round = 0; more; round++) {
                assertTrue(round < 2000, () -> "messages are left, " + where());
                rig.settle();
                takeEntries();
                more = false;
                for (int i = 0; i < models.size(); i++) {
                    Model model = models.get(i);
                    assertEquals(
                        model.matcher.unexpected().size(),
                        rig.nodes.get(i).endpoint.receiver().unexpectedMessages(), where());
                    if (!model.matcher.unexpected().isEmpty()) {
                        more = true;
                        Receive receive = new Receive();
                        receive.tagged = model.matcher.unexpected().get(0).tagged;
                        receive.ignore = receive.tagged ? -1L : 0;
                        receive.source = Receive.ANY_SOURCE;
                        receive.length = MAX_LENGTH;
                        assertTrue(post(i, receive, -1), where());
                    }
                }
            }
            for (int i = 0; i < models.size(); i++) {
                assertEquals(0, models.get(i).sends.size(), () -> "sends never end, " + where());
                assertEquals(0, models.get(i).receives.size(), () -> "receives never end, " + where());
                assertEquals(0, models.get(i).looks.size(), () -> "peeks never end, " + where());
                rig.nodes.get(i).assertAtRest();
                assertEquals(List.of(), rig.nodes.get(i).errors, where());
                assertCredit(i);
            }
            for (Message message : messages.values()) {
                if (message.errno == 0 && events != Events.FAILURES && !disturbed[message.from][message.to]) {
                    assertTrue(message.received, () -> "message " + message.id + " was lost, " + where());
                }
            }
            rig.close();
        }

        void assertCredit(int i) {
            if (rig.settings.unexpectedBudgetBytes() < rig.settings.creditWindowBytes() * models.size() * 2) {
                return;
            }
            long reserved = 0;
            for (PeerSends peer : rig.nodes.get(i).endpoint.peers().all()) {
                if (peer.channel() != null) {
                    reserved += rig.settings.creditWindowBytes();
                    assertTrue(peer.peer().credit().leftBytes() * 2 > rig.settings.creditWindowBytes(),
                        () -> "credit " + peer.peer().credit().leftBytes() + ", " + where());
                }
            }
            assertEquals(
                rig.settings.unexpectedBudgetBytes() - reserved,
                rig.nodes.get(i).endpoint.receiver().scan().unreservedBytes(), where());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "DEATHS", "FAILURES"})
    void shouldAgreeWithNaiveModelWhenScheduleIsRandom(String events) {
        for (long seed = 0; seed < 300; seed++) {
            new Run(seed, EngineModel.Events.valueOf(events)).run();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "DEATHS"})
    void shouldAgreeWithNaiveModelOnTheShortPath(String events) {
        long expected = 0;
        long received = 0;
        for (long seed = 0; seed < 100; seed++) {
            Run run = new Run(seed, EngineModel.Events.valueOf(events), true);
            run.run();
            expected += run.expected();
            received += run.received;
        }
        long share = 100 * expected / received;
        assertTrue(share >= 30, share + " % of " + received + " messages took the short path");
    }

    @Test
    void shouldDoTheSameWhenSeedIsTheSame() {
        Run first = new Run(77, EngineModel.Events.DEATHS);
        Run second = new Run(77, EngineModel.Events.DEATHS);
        first.run();
        second.run();
        assertEquals(first.lastArrived, second.lastArrived);
        assertEquals(first.nextId, second.nextId);
        assertNull(first.messages.get(0L));
    }
}
