package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.IoVec;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Groups of one writer and several readers on one host. */
@Tag("conformance")
@Timeout(120)
class GroupTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final String LOST = "shm: messages of lossy groups lost by their readers";
    private static final String SMALL_RING = "jfabric.shm.groupRingLengthBytes=4k";
    private static final int SLOT = 8192;

    private static MulticastGroup write(GroupRig rig) {
        return rig.writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
    }

    private static void post(FabricNode node, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, node.endpoint.recv(node.memory.address((long) i * SLOT), SLOT, ANY, i));
        }
    }

    private static void send(GroupRig rig, MulticastGroup group, int length, int seed) {
        rig.writer.fill((long) seed % 256 * SLOT, length, seed);
        assertEquals(0, rig.writer.endpoint.send(
            rig.writer.memory.address((long) seed % 256 * SLOT), length, group.fiAddr(), seed));
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldGiveEveryReaderEveryMessage(Place place) {
        try (GroupRig rig = new GroupRig(place, 3)) {
            MulticastGroup group = write(rig);
            assertEquals(GroupRig.GROUP, group.address());
            long source = rig.readers.getFirst().av.insert(rig.writer.endpoint.name());
            rig.readers.forEach(rig::read);
            long to = group.fiAddr();
            for (FabricNode reader : rig.readers) {
                post(reader, 4);
                assertEquals(0, reader.endpoint.trecv(reader.memory.address(4L * SLOT), SLOT, ANY, 7, 0, 4));
            }
            rig.writer.fill(0, 3000, 1);
            UnsafeBuffer injected = new UnsafeBuffer(FabricNode.pattern(2, 0, 64));
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 3000, to, 1));
            assertEquals(0, rig.writer.endpoint.inject(injected, 0, 64, to));
            assertEquals(0, rig.writer.endpoint.messages().sendmsg(
                rig.writer.memory.address(), 0, 0x1234567890L, to, 3,
                Flags.REMOTE_CQ_DATA | Flags.MULTICAST | Flags.COMPLETION));
            assertEquals(0, rig.writer.endpoint.messages().sendv(new IoVec().add(rig.writer.memory.address(), 10)
                .add(rig.writer.memory.address(10), 2000), to, 4));
            assertEquals(0, rig.writer.endpoint.tsend(rig.writer.memory.address(), 5, to, 7, 5));
            assertEquals(Flags.SEND | Flags.MSG, rig.writer.await(1).flags());
            assertEquals(Flags.SEND | Flags.MSG | Flags.MULTICAST, rig.writer.await(3).flags());
            rig.writer.await(4);
            assertEquals(Flags.SEND | Flags.TAGGED, rig.writer.await(5).flags());
            for (FabricNode reader : rig.readers) {
                long expected = reader == rig.readers.getFirst() ? source : FabricAddress.ADDR_NOTAVAIL;
                FabricNode.Entry first = reader.await(0);
                assertEquals(Flags.RECV | Flags.MSG | Flags.MULTICAST, first.flags());
                assertEquals(3000, first.len());
                assertEquals(expected, first.source());
                reader.assertFilled(0, 3000, 1);
                assertEquals(64, reader.await(1).len());
                reader.assertFilled(SLOT, 64, 2);
                FabricNode.Entry third = reader.await(2);
                assertEquals(0x1234567890L, third.data());
                assertEquals(Flags.RECV | Flags.MSG | Flags.MULTICAST | Flags.REMOTE_CQ_DATA, third.flags());
                assertEquals(0, third.len());
                assertEquals(2010, reader.await(3).len());
                reader.assertFilled(3L * SLOT, 2010, 1);
                FabricNode.Entry fifth = reader.await(4);
                assertEquals(Flags.RECV | Flags.TAGGED | Flags.MULTICAST, fifth.flags());
                assertEquals(7, fifth.tag());
                assertEquals(5, fifth.len());
                assertEquals(expected, fifth.source());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS"})
    void shouldWaitForTheSlowestReader(Place place) {
        // little is stored, so that the ring is the greater part of what may wait
        try (GroupRig rig = new GroupRig(place, 3, SMALL_RING, "jfabric.engine.unexpectedBudgetBytes=64k",
            "jfabric.engine.creditWindowBytes=4k", "jfabric.engine.eagerLimitBytes=1k")) {
            MulticastGroup group = write(rig);
            rig.readers.forEach(rig::read);
            // as many as may be outstanding
            int count = 250;
            post(rig.readers.get(0), count);
            post(rig.readers.get(2), count);
            for (int i = 0; i < count; i++) {
                send(rig, group, 340 + i % 96, i);
            }
            // both fast readers get as many as the slow one lets the writer write
            int written = 0;
            for (int rounds = 0; rounds < 300; rounds++) {
                written += rig.writer.poll() == null ? 0 : 1;
                rig.pump();
                Thread.yield();
            }
            assertTrue(written > 8 && written < 220, written + " of " + count + " messages were written");
            post(rig.readers.get(1), count);
            for (int i = written; i < count; i++) {
                rig.writer.await(i);
            }
            for (FabricNode reader : rig.readers) {
                for (int i = 0; i < count; i++) {
                    assertEquals(340 + i % 96, reader.await(i).len());
                    reader.assertFilled((long) i * SLOT, 340 + i % 96, i);
                }
                assertNull(reader.poll());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS"})
    void shouldCountWhatASlowReaderOfALossyGroupLoses(Place place) {
        try (GroupRig rig = new GroupRig(place, 2, SMALL_RING, "jfabric.engine.unexpectedBudgetBytes=64k",
            "jfabric.engine.creditWindowBytes=4k", "jfabric.engine.eagerLimitBytes=1k")) {
            MulticastGroup group = rig.writer.endpoint.join(GroupRig.GROUP + "?lossy", 0, Flags.SEND);
            assertEquals(GroupRig.GROUP, group.address());
            rig.readers.forEach(rig::read);
            int count = 1000;
            for (int i = 0; i < count; i++) {
                rig.writer.memory.buffer().putInt(0, i);
                assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 100, group.fiAddr(), i));
                rig.writer.await(i);
            }
            List<Integer> lost = new ArrayList<>();
            for (FabricNode reader : rig.readers) {
                int received = 0;
                long missing = 0;
                int last = -1;
                while (last != count - 1) {
                    assertEquals(0, reader.endpoint.recv(reader.memory.address(), SLOT, ANY, 9));
                    FabricNode.Entry entry = reader.await();
                    int before = last;
                    if (entry.isGap()) {
                        // messages that were stored before have no receives yet, so that they come behind it
                        missing += entry.lost().last() - entry.lost().first() + 1;
                        entry = reader.await();
                    }
                    assertEquals(9, entry.context());
                    assertEquals(100, entry.len());
                    int number = reader.memory.buffer().getInt(0);
                    assertTrue(number > before, number + " after " + before);
                    last = number;
                    received++;
                }
                assertEquals(count - received, missing);
                lost.add(count - received);
            }
            assertTrue(lost.get(0) > 0 && lost.get(1) > 0, "lost " + lost);
            long counted = 0;
            for (String driver : rig.drivers()) {
                try (DriverView view = new DriverView(rig.directory(driver))) {
                    counted += view.counters().getOrDefault(LOST, 0L);
                }
            }
            assertEquals(lost.get(0) + lost.get(1), counted);
        }
    }

    /** Writer and reader run at the same time, and the ring holds a few messages only. */
    @Test
    void shouldNeverDeliverWhatIsBeingOverwritten() throws InterruptedException {
        int length = 400;
        int count = 100_000;
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1, SMALL_RING)) {
            long to = rig.writer.endpoint.join(GroupRig.GROUP + "?lossy", 0, Flags.SEND).fiAddr();
            FabricNode reader = rig.readers.getFirst();
            rig.read(reader);
            // from here on each driver makes progress in its own application's thread only
            rig.stop("alpha");
            rig.stop("reader-0");
            AtomicLong written = new AtomicLong();
            Thread writer = new Thread(() -> writeNumbers(rig.writer, to, length, count, written), "writer");
            Random random = new Random(7);
            writer.start();
            // enough receives, so that no message is stored
            post(reader, 100);
            int received = 0;
            long last = -1;
            while (last != count - 1) {
                // often about a ring behind, where the next message is about to be overwritten
                long until = Math.min(count, last + random.nextInt(12));
                while (written.get() < until) {
                    Thread.onSpinWait();
                }
                FabricNode.Entry entry = reader.await();
                while (entry != null) {
                    if (entry.isGap()) {
                        assertEquals(last + 1, entry.lost().first());
                        last = entry.lost().last();
                        entry = reader.poll();
                        continue;
                    }
                    assertEquals(length, entry.len());
                    int slot = (int) entry.context() * SLOT;
                    long number = reader.memory.buffer().getLong(slot);
                    assertEquals(last + 1, number);
                    for (int at = 0; at < length; at += Long.BYTES) {
                        assertEquals(number, reader.memory.buffer().getLong(slot + at), "in " + number + " at " + at);
                    }
                    last = number;
                    received++;
                    assertEquals(0, reader.endpoint.recv(reader.memory.address(slot), SLOT, ANY, entry.context()));
                    entry = reader.poll();
                }
            }
            writer.join();
            try (DriverView view = new DriverView(rig.directory("reader-0"))) {
                assertEquals(count - received, view.counters().getOrDefault(LOST, 0L));
            }
        }
    }

    private static void writeNumbers(FabricNode node, long to, int length, int count, AtomicLong written) {
        UnsafeBuffer memory = node.memory.buffer();
        for (int i = 0; i < count; i++) {
            for (int at = 0; at < length; at += Long.BYTES) {
                memory.putLong(at, i);
            }
            assertEquals(0, node.endpoint.send(node.memory.address(), length, to, i));
            node.await(i);
            written.lazySet(i + 1);
        }
    }

    private static int refused(Runnable join) {
        return assertThrows(FabricException.class, join::run).errno();
    }

    @Test
    void shouldRefuseWhatAGroupCannotDo() {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1)) {
            FabricNode writer = rig.writer;
            FabricNode reader = rig.readers.getFirst();
            FabricNode second = rig.node("alpha", GroupRig.hints());
            assertEquals(FabricErrno.ECONNREFUSED, refused(() -> rig.read(reader)), "no writer");
            assertEquals(FabricErrno.ECONNREFUSED, refused(() -> rig.read(second)), "no writer");
            MulticastGroup group = write(rig);
            assertEquals(FabricErrno.EBUSY, refused(() -> second.endpoint.join(GroupRig.GROUP, 0, 0)));
            assertEquals(FabricErrno.EALREADY, refused(() -> write(rig)));
            assertEquals(FabricErrno.EINVAL, refused(() -> reader.endpoint.join(GroupRig.GROUP, 0, Flags.SEND)));
            assertEquals(FabricErrno.EINVAL,
                refused(() -> reader.endpoint.join(GroupRig.GROUP + "?lossy", 0, Flags.RECV)));
            assertEquals(FabricErrno.EINVAL,
                refused(() -> writer.endpoint.join("jfabric://alpha/other?fast", 0, Flags.SEND)));
            assertEquals(FabricErrno.EINVAL, refused(() -> writer.endpoint.join("alpha", 0, Flags.SEND)));
            assertEquals(FabricErrno.EBADFLAGS,
                refused(() -> writer.endpoint.join("jfabric://alpha/other", 0, Flags.TAGGED)));
            assertEquals(FabricErrno.EADDRINUSE,
                refused(() -> writer.endpoint.join(second.endpoint.name(), 0, Flags.SEND)));
            assertEquals(FabricErrno.EHOSTUNREACH,
                refused(() -> reader.endpoint.join("jfabric://absent/quotes", 0, Flags.RECV)));
            FabricNode without = rig.node("alpha", new Info().caps(Flags.MSG));
            assertEquals(FabricErrno.EOPNOTSUPP,
                refused(() -> without.endpoint.join(GroupRig.GROUP, 0, Flags.RECV)));
            Info keyed = GroupRig.hints();
            keyed.epAttr().authKey(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
            FabricNode other = rig.node("alpha", keyed);
            assertEquals(FabricErrno.EKEYREJECTED,
                refused(() -> other.endpoint.join(GroupRig.GROUP, 0, Flags.RECV)));
            MulticastGroup read = rig.read(reader);
            assertEquals(FabricErrno.EALREADY, refused(() -> rig.read(reader)));

            long buf = writer.memory.address();
            int longest = (1 << 20) / 8 - 32;
            assertEquals(0, writer.endpoint.send(buf, longest, group.fiAddr(), 1));
            writer.await(1);
            assertFails(FabricErrno.EMSGSIZE, writer, writer.endpoint.send(buf, longest + 1, group.fiAddr(), 2));
            assertFails(FabricErrno.EBADFLAGS, writer, writer.endpoint.messages().sendmsg(
                buf, 8, 0, group.fiAddr(), 3, Flags.DELIVERY_COMPLETE | Flags.COMPLETION));
            assertFails(FabricErrno.EBADFLAGS, writer, writer.endpoint.messages().sendmsg(
                buf, 8, 0, group.fiAddr(), 3, Flags.MATCH_COMPLETE | Flags.COMPLETION));
            long toReader = writer.av.insert(reader.endpoint.name());
            assertFails(FabricErrno.EINVAL, writer, writer.endpoint.messages().sendmsg(
                buf, 8, 0, toReader, 4, Flags.MULTICAST | Flags.COMPLETION));
            assertFails(FabricErrno.EOPNOTSUPP, reader,
                reader.endpoint.send(reader.memory.address(), 8, read.fiAddr(), 5));
            group.close();
            assertFails(FabricErrno.ENOTCONN, writer, writer.endpoint.send(buf, 8, group.fiAddr(), 6));
            // and again: the number is the same
            assertEquals(group.fiAddr(), write(rig).fiAddr());
            assertEquals(0, writer.endpoint.send(buf, 8, group.fiAddr(), 7));
            writer.await(7);
        }
    }

    private static void assertFails(int errno, FabricNode node, int posted) {
        assertEquals(0, posted);
        assertEquals(errno, node.await().err());
    }

    @Test
    void shouldGiveAWriterItsOwnMessagesIfItReadsToo() {
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            MulticastGroup group = rig.writer.endpoint.join(GroupRig.GROUP, 0, 0);
            rig.read(rig.readers.getFirst());
            post(rig.writer, 1);
            post(rig.readers.getFirst(), 1);
            assertEquals(0, rig.writer.endpoint.inject(
                new UnsafeBuffer(FabricNode.pattern(3, 0, 40)), 0, 40, group.fiAddr()));
            assertEquals(40, rig.writer.await(0).len());
            rig.writer.assertFilled(0, 40, 3);
            assertEquals(40, rig.readers.getFirst().await(0).len());
        }
    }

    /** The first reader is on another progress thread than the writer, the second one on the same. */
    @Test
    void shouldHaveOneWriterOnAllProgressThreads() {
        try (GroupRig rig = new GroupRig(Place.THREADS, 2)) {
            FabricNode far = rig.readers.get(0);
            FabricNode near = rig.readers.get(1);
            MulticastGroup group = write(rig);
            assertEquals(FabricErrno.EBUSY, refused(() -> far.endpoint.join(GroupRig.GROUP, 0, Flags.SEND)));
            assertEquals(FabricErrno.EBUSY, refused(() -> near.endpoint.join(GroupRig.GROUP, 0, Flags.SEND)));
            assertEquals(FabricErrno.EADDRINUSE,
                refused(() -> far.endpoint.join(rig.writer.endpoint.name(), 0, Flags.SEND)));
            rig.readers.forEach(rig::read);
            assertEquals(FabricErrno.EALREADY, refused(() -> rig.read(far)));
            rig.readers.forEach(reader -> post(reader, 2));
            // addresses have the same number on each thread, those of groups and the ones behind them
            long writer = far.av.insert(rig.writer.endpoint.name());
            assertEquals(writer, near.av.insert(rig.writer.endpoint.name()));
            send(rig, group, 60, 0);
            rig.writer.await(0);
            for (FabricNode reader : rig.readers) {
                FabricNode.Entry entry = reader.await(0);
                assertEquals(60, entry.len());
                assertEquals(writer, entry.source());
            }
            group.close();
            for (FabricNode reader : rig.readers) {
                rig.awaitLost(reader, FabricErrno.ESHUTDOWN, rig.writer.endpoint.name());
            }
            assertEquals(FabricErrno.ECONNREFUSED, refused(() -> rig.read(near)));
            MulticastGroup moved = far.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
            rig.read(near);
            far.fill(0, 61, 1);
            assertEquals(0, far.endpoint.send(far.memory.address(), 61, moved.fiAddr(), 9));
            assertEquals(61, near.await(1).len());
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS", "THREADS"})
    void shouldBeginWhereAReaderJoinsAndEndWhereItLeaves(Place place) {
        try (GroupRig rig = new GroupRig(place, 2)) {
            MulticastGroup group = write(rig);
            FabricNode early = rig.readers.get(0);
            FabricNode late = rig.readers.get(1);
            MulticastGroup membership = rig.read(early);
            post(early, 10);
            post(late, 10);
            for (int i = 0; i < 3; i++) {
                send(rig, group, 50, i);
                rig.writer.await(i);
            }
            for (int i = 0; i < 3; i++) {
                early.await(i);
            }
            rig.read(late);
            // that the writer is known later is not too late
            long source = late.av.insert(rig.writer.endpoint.name());
            send(rig, group, 51, 3);
            FabricNode.Entry first = late.await(0);
            assertEquals(51, first.len());
            assertEquals(source, first.source());
            assertEquals(51, early.await(3).len());
            membership.close();
            rig.pump();
            rig.pump();
            send(rig, group, 52, 4);
            assertEquals(52, late.await(1).len());
            early.assertQuiet(20);
            rig.read(early);
            send(rig, group, 53, 5);
            assertEquals(53, late.await(2).len());
            assertEquals(53, early.await(4).len());
            early.assertFilled(4L * SLOT, 53, 5);
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS", "THREADS"})
    void shouldKeepOrderAndContentsOfRandomMessages(Place place) {
        long seed = ThreadLocalRandom.current().nextLong();
        Random random = new Random(seed);
        try (GroupRig rig = new GroupRig(place, 3, "jfabric.shm.groupRingLengthBytes=8k")) {
            MulticastGroup group = write(rig);
            rig.readers.forEach(rig::read);
            int count = 3000;
            int sent = 0;
            int written = 0;
            int[] posted = new int[3];
            int[] received = new int[3];
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            while (received[0] < count || received[1] < count || received[2] < count) {
                assertTrue(System.nanoTime() - deadline < 0, "seed " + seed + ": sent " + sent + ", written " + written
                    + ", received " + List.of(received[0], received[1], received[2]));
                for (int i = random.nextInt(20); i > 0 && sent < count && sent - written < 100; i--) {
                    send(rig, group, length(seed, sent), sent++);
                }
                for (FabricNode.Entry entry = rig.writer.poll(); entry != null; entry = rig.writer.poll()) {
                    assertEquals(0, entry.err(), "seed " + seed);
                    assertEquals(written++, entry.context(), "seed " + seed);
                }
                for (int r = 0; r < 3; r++) {
                    FabricNode reader = rig.readers.get(r);
                    for (int i = random.nextInt(10 * (r + 1)); i > 0 && posted[r] - received[r] < 100; i--) {
                        assertEquals(0, reader.endpoint.recv(
                            reader.memory.address((long) posted[r] % 128 * SLOT), SLOT, ANY, posted[r]++));
                    }
                    FabricNode.Entry entry = random.nextInt(3) == 0 ? null : reader.poll();
                    while (entry != null) {
                        int number = received[r]++;
                        assertEquals(number, entry.context(), "seed " + seed);
                        assertEquals(length(seed, number), entry.len(), "seed " + seed);
                        reader.assertFilled((long) number % 128 * SLOT, (int) entry.len(), number);
                        entry = reader.poll();
                    }
                }
                rig.pump();
            }
        }
    }

    private static int length(long seed, int number) {
        return new Random(seed + number).nextInt(8 << 10 >> 3) * 31 % 960;
    }
}
