package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * A shared receive context under random posts, sends, cancels, closes and late reads: every receive ends once, every
 * message has one receive that accepts it, its entry is in the queue of the endpoint that it was sent to, and messages
 * with the same tag keep their order.
 */
@Tag("slow")
@Tag("link")
class SharedContextRandomTest {
    private static final long ANY = -1L;
    private static final int STEPS = Effort.rounds(3_000, 30_000);
    private static final int RECEIVES = 24;
    private static final int SLOT = 4096;
    private static final int TAGS = 3;
    private static final int PLACES = 64;

    private record Posted(long tag, long ignore) {
    }

    private record Sent(User to, long tag, int length) {
    }

    /** An endpoint of the context, with a queue that may be read late. */
    private static final class User {
        final Endpoint endpoint;
        final QueueReader queue;
        final long address;
        /** The last message by tag. */
        final long[] last = new long[TAGS];

        User(FabricPair pair, Info info, Endpoint context) {
            endpoint = pair.a.domain.openEndpoint(info);
            queue = QueueReader.open(pair, pair.a.domain, 16);
            endpoint.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.bind(context, 0);
            endpoint.enable();
            address = pair.b.av.insert(endpoint.name());
        }
    }

    /** One run. */
    private static final class World {
        final FabricPair pair;
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final Endpoint context;
        final Info info;
        final List<User> users = new ArrayList<>();
        final Map<Long, Posted> posted = new HashMap<>();
        final Map<Long, Sent> sent = new HashMap<>();
        final List<Integer> slots = new ArrayList<>();
        /** Where sends are under way from. */
        final BitSet places = new BitSet();
        long nextContext = RECEIVES;
        long nextMessage = 1;
        int sendsUnderWay;

        World(FabricPair pair) {
            this.pair = pair;
            context = pair.a.domain.openSharedReceiveContext(new RxAttr().size(RECEIVES), 0);
            info = pair.a.info.copy();
            info.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            info.rxAttr().size(RECEIVES);
            for (int i = 0; i < RECEIVES; i++) {
                slots.add(i);
            }
            for (int i = 0; i < 3; i++) {
                users.add(new User(pair, info, context));
            }
        }

        void step() {
            int kind = random.nextInt(100);
            if (kind < 35) {
                post();
            } else if (kind < 70) {
                send();
            } else if (kind < 90) {
                User user = users.get(random.nextInt(users.size()));
                for (int i = random.nextInt(8); i > 0; i--) {
                    read(user);
                }
            } else if (kind < 96) {
                readSends();
            } else if (kind < 99) {
                cancel();
            } else if (random.nextInt(4) == 0) {
                replace();
            }
        }

        private void post() {
            if (slots.isEmpty()) {
                return;
            }
            int slot = slots.removeLast();
            long number = nextContext * RECEIVES + slot;
            nextContext++;
            Posted receive = new Posted(random.nextInt(TAGS), random.nextInt(4) == 0 ? -1L : 0);
            posted.put(number, receive);
            assertEquals(0, context.trecv(pair.a.memory.address((long) slot * SLOT), SLOT, ANY, receive.tag,
                receive.ignore, number), this::say);
        }

        private void send() {
            if (sendsUnderWay > 16 || sent.size() > 100) {
                readSends();
                return;
            }
            User user = users.get(random.nextInt(users.size()));
            long message = nextMessage++;
            Sent made = new Sent(user, random.nextInt(TAGS), 8 + random.nextInt(random.nextInt(8) == 0 ? 4000 : 50));
            // of a place that is free: a send to an endpoint whose queue is full takes long
            int place = places.nextClearBit(0);
            pair.b.memory.buffer().putLong(place * SLOT, message);
            int result = pair.b.endpoint.tsend(
                pair.b.memory.address((long) place * SLOT), made.length, user.address, made.tag,
                message * PLACES + place);
            if (result == 0) {
                sent.put(message, made);
                places.set(place);
                sendsUnderWay++;
            } else {
                assertEquals(-FabricErrno.EAGAIN, result, this::say);
            }
        }

        private void readSends() {
            for (FabricNode.Entry entry = pair.b.poll(); entry != null; entry = pair.b.poll()) {
                sendsUnderWay--;
                places.clear((int) (entry.context() % PLACES));
                // a send to an endpoint that was closed may fail
                Sent made = sent.get(entry.context() / PLACES);
                assertTrue(entry.err() == 0 || made == null || !made.to.endpoint.isOpen(), this::say);
            }
        }

        private boolean read(User user) {
            FabricNode.Entry entry = user.queue.poll();
            if (entry == null) {
                return false;
            }
            Posted receive = posted.remove(entry.context());
            assertNotNull(receive, () -> "a second entry of " + entry + say());
            int slot = (int) (entry.context() % RECEIVES);
            slots.add(slot);
            if (entry.err() == FabricErrno.ECANCELED) {
                return true;
            }
            assertEquals(0, entry.err(), this::say);
            long message = pair.a.memory.buffer().getLong(slot * SLOT);
            Sent made = sent.remove(message);
            assertNotNull(made, () -> "message " + message + " once more or never sent" + say());
            assertEquals(user, made.to, () -> "message " + message + " in another queue" + say());
            assertEquals(made.tag, entry.tag(), this::say);
            assertEquals(made.length, entry.len(), this::say);
            assertTrue(((made.tag ^ receive.tag) & ~receive.ignore) == 0, this::say);
            int tag = (int) made.tag;
            assertTrue(user.last[tag] < message, () -> message + " after " + user.last[tag] + say());
            user.last[tag] = message;
            return true;
        }

        private void cancel() {
            if (!posted.isEmpty()) {
                long[] numbers = posted.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
                context.cancel(numbers[random.nextInt(numbers.length)]);
            }
        }

        /** Closes an endpoint when all that was sent to it has ended at its sender, and opens another one. */
        private void replace() {
            User user = users.get(random.nextInt(users.size()));
            settle();
            user.endpoint.close();
            // a message that came meanwhile has used a receive
            while (read(user)) {
                pair.pump();
            }
            user.queue.cq().close();
            // what waited at it is gone with it
            sent.values().removeIf(made -> made.to == user);
            users.remove(user);
            users.add(new User(pair, info, context));
        }

        private void settle() {
            Deadline deadline = Deadline.usual();
            while (sendsUnderWay != 0) {
                deadline.check("the ends of sends", this::say);
                readSends();
                users.forEach(this::read);
                pair.pump();
            }
        }

        /** Receives for all that waits, and nothing is left. */
        void finish() {
            Deadline deadline = Deadline.usual();
            while (!sent.isEmpty() || sendsUnderWay != 0) {
                deadline.check("the last messages", this::say);
                if (!slots.isEmpty()) {
                    int slot = slots.removeLast();
                    long number = nextContext * RECEIVES + slot;
                    nextContext++;
                    posted.put(number, new Posted(0, -1L));
                    assertEquals(0, context.trecv(
                        pair.a.memory.address((long) slot * SLOT), SLOT, ANY, 0, -1L, number), this::say);
                } else if (posted.values().stream().noneMatch(receive -> receive.ignore == -1L)) {
                    cancel();
                }
                readSends();
                users.forEach(this::read);
                pair.pump();
            }
            posted.keySet().stream().mapToLong(Long::longValue).sorted().forEach(context::cancel);
            while (!posted.isEmpty()) {
                deadline.check("the cancelled receives", this::say);
                users.forEach(this::read);
                pair.pump();
            }
            assertEquals(RECEIVES, context.rxSizeLeft(), this::say);
            users.forEach(user -> assertNull(user.queue.poll(), this::say));
        }

        private String say() {
            return "; seed " + seed + ", receives " + posted + ", sent " + sent.keySet() + ", sends under way "
                + sendsUnderWay + ", left " + context.rxSizeLeft();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndEveryReceiveAndEveryMessageOnce(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            World world = new World(pair);
            int steps = setup.daemon ? STEPS / 3 : STEPS;
            for (int i = 0; i < steps; i++) {
                world.step();
            }
            world.finish();
        }
    }
}
