package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.ScalableSide;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Contexts of two scalable endpoints under random sends, receives, late reads and closes: every message arrives at the
 * context that it names, once, in the order of its sender, with the source of the one address.
 */
@Tag("slow")
@Tag("link")
class ContextRandomTest {
    private static final long ANY = -1L;
    private static final int STEPS = Effort.rounds(4_000, 40_000);
    private static final int CONTEXTS = 3;
    private static final int SLOTS = 8;
    private static final int SLOT = 32_768;
    /** Beyond the eager limit. */
    private static final int LONG = 20_000;
    private static final int RECEIVED = FabricNode.MEMORY / 2;
    private static final int MOST_WAITING = 64;

    private record Sent(int from, int to, int length) {
    }

    /** Buffers of one context, by the context of the operation that uses each. */
    private static final class Buffers {
        final long offset;
        final ArrayDeque<Integer> free = new ArrayDeque<>();
        final Map<Long, Integer> used = new TreeMap<>();

        Buffers(long offset) {
            this.offset = offset;
            for (int i = 0; i < SLOTS; i++) {
                free.add(i);
            }
        }

        long take(long number) {
            int slot = free.removeFirst();
            used.put(number, slot);
            return at(slot);
        }

        long at(int slot) {
            return offset + (long) slot * SLOT;
        }

        long give(long number, Object why) {
            Integer slot = used.remove(number);
            assertNotNull(slot, () -> "a second entry of " + number + why);
            free.add(slot);
            return at(slot);
        }
    }

    /** One run. */
    private static final class World {
        final FabricPair pair;
        final ScalableSide a;
        final ScalableSide b;
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final Buffers[] sends = new Buffers[CONTEXTS];
        final Buffers[] receives = new Buffers[CONTEXTS];
        final Map<Long, Sent> waiting = new HashMap<>();
        /** The receive that took each message, by sender and receiver: long messages end later than short ones. */
        final List<TreeMap<Long, Long>> taken = new ArrayList<>();
        final long toB;
        final long fromA;
        long next = 1;

        World(FabricPair pair, ScalableSide a, ScalableSide b) {
            this.pair = pair;
            this.a = a;
            this.b = b;
            toB = a.av.insert(b.scalable.name());
            fromA = b.av.insert(a.scalable.name());
            for (int i = 0; i < CONTEXTS * CONTEXTS; i++) {
                taken.add(new TreeMap<>());
            }
            for (int i = 0; i < CONTEXTS; i++) {
                sends[i] = new Buffers((long) i * SLOTS * SLOT);
                receives[i] = new Buffers(RECEIVED + (long) i * SLOTS * SLOT);
            }
        }

        void step() {
            int kind = random.nextInt(100);
            int index = random.nextInt(CONTEXTS);
            if (kind < 35) {
                send(index, random.nextInt(CONTEXTS));
            } else if (kind < 65) {
                receive(index);
            } else if (kind < 80) {
                readSends(index);
            } else if (kind < 98) {
                readReceives(index);
            } else if (kind == 98 && random.nextInt(4) == 0) {
                replaceSender(index);
            } else if (kind == 99 && random.nextInt(8) == 0) {
                replaceReceiver(index);
            }
        }

        private void send(int from, int to) {
            if (sends[from].free.isEmpty() || waiting.size() >= MOST_WAITING) {
                return;
            }
            long message = next++;
            int length = random.nextInt(10) == 0 ? LONG : 8 + random.nextInt(100);
            long at = sends[from].take(message);
            pair.a.memory.buffer().putLong((int) at, message);
            long dest = to == 0 && random.nextBoolean() ? toB : FabricAddress.rxAddr(toB, to, ScalableSide.BITS);
            waiting.put(message, new Sent(from, to, length));
            assertEquals(0, a.tx.get(from).tsend(pair.a.memory.address(at), length, dest, 1, message), this::say);
        }

        private void receive(int index) {
            if (receives[index].free.isEmpty()) {
                return;
            }
            long number = next++;
            long at = receives[index].take(number);
            long from = random.nextInt(3) == 0 ? fromA : ANY;
            assertEquals(
                0, b.rx.get(index).trecv(pair.b.memory.address(at), SLOT, from, 1, 0, number), this::say);
        }

        private boolean readSends(int index) {
            FabricNode.Entry entry = a.poll(a.txCq.get(index));
            if (entry == null) {
                return false;
            }
            assertEquals(0, entry.err(), () -> entry + say());
            sends[index].give(entry.context(), say());
            return true;
        }

        private boolean readReceives(int index) {
            FabricNode.Entry entry = b.poll(b.rxCq.get(index));
            if (entry == null) {
                return false;
            }
            long at = receives[index].give(entry.context(), say());
            if (entry.err() == FabricErrno.ECANCELED || entry.err() == FabricErrno.ECONNRESET) {
                // directed, and no context of the peer was left
                return true;
            }
            assertEquals(0, entry.err(), () -> entry + say());
            long message = pair.b.memory.buffer().getLong((int) at);
            Sent made = waiting.remove(message);
            assertNotNull(made, () -> "message " + message + " once more or never sent" + say());
            assertEquals(index, made.to, () -> "message " + message + " at another context" + say());
            assertEquals(made.length, entry.len(), this::say);
            assertEquals(fromA, entry.source(), this::say);
            TreeMap<Long, Long> order = taken.get(made.from * CONTEXTS + index);
            Map.Entry<Long, Long> earlier = order.lowerEntry(message);
            Map.Entry<Long, Long> later = order.higherEntry(message);
            assertTrue((earlier == null || earlier.getValue() < entry.context())
                && (later == null || later.getValue() > entry.context()),
                () -> message + " by receive " + entry.context() + " between " + earlier + " and " + later + say());
            order.put(message, entry.context());
            return true;
        }

        /** When all that it has sent has arrived; directed receives may end. */
        private void replaceSender(int index) {
            settle();
            a.tx.get(index).close();
            a.tx.set(index, ScalableSide.enabled(a.scalable.txContext(index), a.txCq.get(index), Flags.TRANSMIT));
        }

        /** When nothing is on its way to it; its receives go with it. */
        private void replaceReceiver(int index) {
            settle();
            Endpoint old = b.rx.get(index);
            old.close();
            while (readReceives(index)) {
                pair.pump();
            }
            receives[index] = new Buffers(receives[index].offset);
            b.rx.set(index, ScalableSide.enabled(b.scalable.rxContext(index), b.rxCq.get(index), Flags.RECV));
            // a send that comes before the loss of the old one is known fails
            for (int i = 0; i < 3; i++) {
                pair.a.awaitStep();
                pair.b.awaitStep();
                pair.pump();
            }
        }

        /** Takes all that was sent. */
        void settle() {
            Deadline deadline = Deadline.usual();
            boolean done = false;
            while (!done) {
                deadline.check("the last messages", this::say);
                done = waiting.isEmpty();
                for (int i = 0; i < CONTEXTS; i++) {
                    receive(i);
                    readSends(i);
                    readReceives(i);
                    done &= sends[i].used.isEmpty();
                }
                pair.pump();
            }
        }

        private String say() {
            return "; seed " + seed + ", waiting " + waiting;
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldDeliverEachMessageOnceAtItsContext(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = new FabricPair(setup, ScalableSide.hints(), 512);
            ScalableSide a = new ScalableSide(pair, pair.a, CONTEXTS, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, CONTEXTS)) {
            World world = new World(pair, a, b);
            for (int i = 0; i < STEPS; i++) {
                world.step();
            }
            world.settle();
        }
    }
}
