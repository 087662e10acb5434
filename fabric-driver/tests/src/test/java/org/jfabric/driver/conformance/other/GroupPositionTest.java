package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.MulticastGroup;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.JoinAttr;
import org.jfabric.info.LogPosition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Positions of the messages of a group, against a list: each reader gets each of them once, or an exact gap. */
@Tag("conformance")
@Timeout(120)
class GroupPositionTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int SLOT = 1024;
    private static final int SLOTS = 64;
    private static final int LONGEST = 480;

    /** A reader of the model, with its next position. */
    private static final class Reader {
        private final FabricNode node;
        private final CompletionError error = new CompletionError();
        private final boolean isTagged;
        private MulticastGroup group;
        private long next;
        private long posted;
        private long gaps;

        Reader(FabricNode node, boolean isTagged) {
            this.node = node;
            this.isTagged = isTagged;
        }

        void begin(MulticastGroup newGroup) {
            group = newGroup;
            next = group.start().position();
        }

        void post(int count) {
            for (int i = 0; i < count; i++) {
                long slot = posted++ % SLOTS;
                long at = node.memory.address(slot * SLOT);
                assertEquals(0, isTagged ? node.endpoint.trecv(at, SLOT, ANY, 0, -1L, slot)
                    : node.endpoint.recv(at, SLOT, ANY, slot));
            }
        }

        /** Reads what is there; every message must be the one of the list at its position. */
        int read(List<Integer> model, String seed) {
            int read = node.cq.poll(entry -> {
                assertEquals(next, entry.position(), seed);
                long number = node.memory.buffer().getInt((int) entry.opContext() * SLOT);
                assertEquals(model.get((int) next).longValue(), number, seed);
                assertEquals(length((int) number), entry.len(), seed);
                next++;
            }, 16);
            if (read != -FabricErrno.EAVAIL) {
                return Math.max(0, read);
            }
            assertEquals(1, node.cq.readErr(error, 0));
            assertEquals(FabricErrno.ENODATA, error.err(), () -> seed + ": " + error);
            assertEquals(Flags.RECV | Flags.MULTICAST, error.flags(), seed);
            assertEquals(2 * Long.BYTES, error.errDataSize(), seed);
            assertEquals(next, error.errData().getLong(0), seed);
            long last = error.errData().getLong(Long.BYTES);
            assertTrue(last >= next, seed);
            gaps += last + 1 - next;
            next = last + 1;
            // messages behind the gap may be there
            return read(model, seed);
        }
    }

    private static int length(int number) {
        return Integer.BYTES + number * 31 % (LONGEST - Integer.BYTES);
    }

    /** The writer of the model: what it has accepted, in order. */
    private static final class Writer {
        private final FabricNode node;
        private final long to;
        private final boolean isTagged;
        private final Random random;
        private final List<Integer> model = new ArrayList<>();
        private final SendClaim claim = new SendClaim();
        private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[LONGEST]);
        private int numbers;
        private int outstanding;

        Writer(FabricNode node, long to, boolean isTagged, Random random) {
            this.node = node;
            this.to = to;
            this.isTagged = isTagged;
            this.random = random;
        }

        void step() {
            while (node.poll() != null) {
                outstanding--;
            }
            if (outstanding > 30) {
                return;
            }
            int number = numbers++;
            int length = length(number);
            switch (random.nextInt(isTagged ? 5 : 3)) {
                case 0 -> {
                    int slot = number % SLOTS * SLOT;
                    node.memory.buffer().putInt(slot, number);
                    assertEquals(0, isTagged ? node.endpoint.tsend(node.memory.address(slot), length, to, number, 1)
                        : node.endpoint.send(node.memory.address(slot), length, to, 1));
                    model.add(number);
                    outstanding++;
                }
                case 1 -> {
                    // longer than an eighth of the ring
                    assertEquals(0, isTagged ? node.endpoint.tsend(node.memory.address(), 2000, to, number, 2)
                        : node.endpoint.send(node.memory.address(), 2000, to, 2));
                    outstanding++;
                }
                case 2 -> {
                    bytes.putInt(0, number);
                    int result = length > 64 ? -FabricErrno.EINVAL : isTagged
                        ? node.endpoint.tinject(bytes, 0, length, to, number)
                        : node.endpoint.inject(bytes, 0, length, to);
                    if (result == 0) {
                        model.add(number);
                    }
                }
                default -> claim(number, Math.min(length, 64));
            }
        }

        private void claim(int number, int length) {
            if (node.endpoint.tryClaim(length, claim) != 0) {
                return;
            }
            claim.buffer().putInt(0, number);
            if (length == length(number) && random.nextBoolean()) {
                assertEquals(0, claim.commit(length, to, number, 3));
                model.add(number);
                outstanding++;
            } else {
                claim.abort();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"ONE_DRIVER, false, false", "ONE_DRIVER, true, true", "DRIVERS, false, true", "DRIVERS, true, false",
        "DRIVERS, true, true"})
    void shouldGiveEachReaderEachPositionOnceOrAnExactGap(Place place, boolean isTagged, boolean isLossy) {
        long seed = ThreadLocalRandom.current().nextLong();
        String printed = "seed " + seed;
        Random random = new Random(seed);
        try (GroupRig rig = new GroupRig(place, 3, "jfabric.shm.groupRingLengthBytes=4k",
            "jfabric.engine.unexpectedBudgetBytes=64k", "jfabric.engine.creditWindowBytes=4k",
            "jfabric.engine.eagerLimitBytes=1k")) {
            MulticastGroup group = rig.writer.endpoint.join(
                GroupRig.GROUP + (isLossy ? "?lossy" : ""), 0, Flags.SEND);
            assertEquals(0, group.start().position());
            Writer writer = new Writer(rig.writer, group.fiAddr(), isTagged, random);
            List<Reader> readers = rig.readers.stream().map(node -> new Reader(node, isTagged)).toList();
            for (Reader reader : readers) {
                reader.begin(rig.read(reader.node));
                reader.post(SLOTS);
            }
            for (int step = 0; step < 4000; step++) {
                writer.step();
                Reader reader = readers.get(random.nextInt(random.nextInt(readers.size()) + 1));
                reader.post(reader.read(writer.model, printed));
                if (random.nextInt(200) == 0) {
                    rejoin(rig, reader, writer, printed);
                }
                if (random.nextInt(4) == 0) {
                    rig.pump();
                }
            }
            finish(rig, readers, writer, printed);
            assertTrue(writer.model.size() > 500, printed);
            assertTrue(isLossy || readers.stream().allMatch(reader -> reader.gaps == 0), printed);
        }
    }

    /** Leaves, and continues at its next position, unless the ring has it no more. */
    private static void rejoin(GroupRig rig, Reader reader, Writer writer, String seed) {
        reader.group.close();
        // what came before is still read
        for (int read = 1; read > 0;) {
            read = reader.read(writer.model, seed);
            reader.post(read);
        }
        LogPosition wanted = reader.group.start().at(reader.next);
        try {
            reader.begin(rig.read(reader.node, new JoinAttr().from(wanted)));
            assertEquals(wanted, reader.group.start(), seed);
        } catch (FabricException e) {
            assertEquals(FabricErrno.ENODATA, e.errno(), seed);
            assertTrue(e.getMessage().contains("was to be read from " + wanted), e.getMessage());
            reader.begin(rig.read(reader.node));
            assertTrue(reader.next > wanted.position(), seed);
        }
    }

    private static void finish(GroupRig rig, List<Reader> readers, Writer writer, String seed) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (readers.stream().anyMatch(reader -> reader.next < writer.model.size())) {
            for (Reader reader : readers) {
                reader.post(reader.read(writer.model, seed));
            }
            writer.node.poll();
            rig.pump();
            assertTrue(System.nanoTime() - deadline < 0, () -> seed + ": " + writer.model.size() + " messages, read "
                + readers.stream().map(reader -> reader.next).toList());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS", "THREADS"})
    void shouldRefuseAPositionThatIsNotThere(Place place) {
        try (GroupRig rig = new GroupRig(place, 1, "jfabric.shm.groupRingLengthBytes=4k")) {
            MulticastGroup group = rig.writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
            FabricNode node = rig.readers.getFirst();
            for (int i = 0; i < 200; i++) {
                assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 40, group.fiAddr(), i));
                rig.writer.await(i);
            }
            LogPosition start = group.start();
            // a record of one line each: the ring has 64, of which the part with the oldest ones may be left out
            String refused = refused(rig, node, FabricErrno.ENODATA, start.at(100));
            assertTrue(refused.matches(".*has the messages from 1(3[6-9]|40) in its ring, the next one is 200.*"),
                refused);
            refused(rig, node, FabricErrno.ENODATA, start.at(201));
            LogPosition other = new LogPosition(new UUID(1, 2), 1, 190);
            refused = refused(rig, node, FabricErrno.EINVAL, other);
            assertTrue(refused.contains(other.toString()) && refused.contains(start.logId() + " term 1"), refused);
            refused = refused(rig, node, FabricErrno.EINVAL, new LogPosition(start.logId(), 2, 190));
            assertTrue(refused.contains("term 2") && refused.contains("term 1"), refused);

            Reader reader = new Reader(node, false);
            reader.begin(rig.read(node, new JoinAttr().from(start.at(150))));
            assertEquals(150, reader.next);
            assertEquals(0, node.endpoint.recv(node.memory.address(), SLOT, ANY, 0));
            assertEquals(40, node.await(0).len());
            reader.group.close();

            // another opening is another log
            group.close();
            MulticastGroup again = rig.writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
            assertNotEquals(start.logId(), again.start().logId());
            refused(rig, node, FabricErrno.EINVAL, start.at(0));
        }
    }

    private static String refused(GroupRig rig, FabricNode node, int errno, LogPosition from) {
        FabricException refusal = assertThrows(
            FabricException.class, () -> rig.read(node, new JoinAttr().from(from)));
        assertEquals(errno, refusal.errno(), refusal.getMessage());
        return refusal.getMessage();
    }
}
