package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
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
import org.jfabric.test.Deadline;
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

    private static MulticastGroup read(FabricNode reader) {
        return reader.endpoint.join(GroupRig.GROUP, 0, Flags.RECV);
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
            rig.readers.forEach(GroupTest::read);
            long to = group.fiAddr();
            for (FabricNode reader : rig.readers) {
                post(reader, 4);
                assertEquals(0, reader.endpoint.trecv(reader.memory.address(4L * SLOT), SLOT, ANY, 7, 0, 4));
            }
            rig.writer.fill(0, 3000, 1);
            UnsafeBuffer injected = new UnsafeBuffer(FabricNode.pattern(2, 0, 64));
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 3000, to, 1));
            assertEquals(0, rig.writer.endpoint.inject(injected, 0, 64, to));
            assertEquals(0, rig.writer.endpoint.sendmsg(
                rig.writer.memory.address(), 0, to, 0x1234567890L, 3,
                Flags.REMOTE_CQ_DATA | Flags.MULTICAST | Flags.COMPLETION));
            assertEquals(0, rig.writer.endpoint.sendv(new IoVec().add(rig.writer.memory.address(), 10)
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
    @EnumSource(Place.class)
    void shouldWaitForTheSlowestReader(Place place) {
        // nothing is stored, so that the ring is the only buffer
        try (GroupRig rig = new GroupRig(place, 3, SMALL_RING, "jfabric.engine.unexpectedBudgetBytes=64k",
            "jfabric.engine.creditWindowBytes=4k", "jfabric.engine.eagerLimitBytes=1k")) {
            MulticastGroup group = write(rig);
            rig.readers.forEach(GroupTest::read);
            int count = 200;
            post(rig.readers.get(0), count);
            post(rig.readers.get(2), count);
            for (int i = 0; i < count; i++) {
                send(rig, group, 100 + i, i);
            }
            // both fast readers get as many as the slow one lets the writer write
            int written = 0;
            for (int rounds = 0; rounds < 300; rounds++) {
                written += rig.writer.poll() == null ? 0 : 1;
                rig.pump();
                Thread.yield();
            }
            assertTrue(written > 4 && written < 100, written + " of " + count + " messages were written");
            post(rig.readers.get(1), count);
            for (int i = written; i < count; i++) {
                rig.writer.await(i);
            }
            for (FabricNode reader : rig.readers) {
                for (int i = 0; i < count; i++) {
                    assertEquals(100 + i, reader.await(i).len());
                    reader.assertFilled((long) i * SLOT, 100 + i, i);
                }
                assertNull(reader.poll());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldCountWhatASlowReaderOfALossyGroupLoses(Place place) {
        try (GroupRig rig = new GroupRig(place, 2, SMALL_RING, "jfabric.engine.unexpectedBudgetBytes=64k",
            "jfabric.engine.creditWindowBytes=4k", "jfabric.engine.eagerLimitBytes=1k")) {
            MulticastGroup group = rig.writer.endpoint.join(GroupRig.GROUP + "?lossy", 0, Flags.SEND);
            assertEquals(GroupRig.GROUP, group.address());
            rig.readers.forEach(GroupTest::read);
            int count = 1000;
            for (int i = 0; i < count; i++) {
                rig.writer.memory.buffer().putInt(0, i);
                assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 100, group.fiAddr(), i));
                rig.writer.await(i);
            }
            List<Integer> lost = new ArrayList<>();
            for (FabricNode reader : rig.readers) {
                int received = 0;
                int last = -1;
                while (last != count - 1) {
                    assertEquals(0, reader.endpoint.recv(reader.memory.address(), SLOT, ANY, 9));
                    assertEquals(100, reader.await(9).len());
                    int number = reader.memory.buffer().getInt(0);
                    assertTrue(number > last, number + " after " + last);
                    last = number;
                    received++;
                }
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
}
