package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.jfabric.AtomicRequest;
import org.jfabric.Atomics;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.LibfabricPeer;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.AtomicForm;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomic operations, remote memory and levels between an endpoint over rxm and a C program of libfabric 1.17. */
@Tag("slow")
@Timeout(120)
class LibfabricRxmTest {
    private static final int REGION = 1 << 20;
    private static final long KEY = 7;
    private static final long READ_ONLY = 8;
    private static final long WRONG = 1234;
    /** Where the C program has old values and compare values. */
    private static final int OLD = 65536;
    private static final int COMPARES = 131072;

    private final Path base = TestDirectory.create();
    private FabricDriver driver;
    private FabricNode node;
    private LibfabricPeer c;
    private long toC;
    private MemoryRegion region;

    @BeforeEach
    void open() {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", "rxm")
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        node = new FabricNode(driver.fabric(), "rxm",
            new Info().caps(Flags.MSG | Flags.TAGGED | Flags.RMA | Flags.ATOMIC), 64, 0, driver::cycle);
        c = LibfabricPeer.start("tcp;ofi_rxm", "rdm", driver::cycle);
        toC = node.av.insert(c.name());
        c.tellToConnect(node.endpoint.name());
        c.answer("connected");
        region = node.domain.allocate(
            REGION, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(KEY));
        node.domain.allocate(4096, new MemoryRegionAttr().access(Flags.REMOTE_READ).requestedKey(READ_ONLY));
        c.ask("region " + KEY + ' ' + REGION + " rw", "region " + KEY);
        c.ask("region " + READ_ONLY + " 4096 r", "region " + READ_ONLY);
    }

    @AfterEach
    void close() {
        if (c != null) {
            c.close();
        }
        driver.close();
        TestDirectory.delete(base);
    }

    private static byte[] pattern(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed + 7 * i);
        }
        return bytes;
    }

    private byte[] local(int offset, int length) {
        byte[] bytes = new byte[length];
        node.memory.buffer().getBytes(offset, bytes);
        return bytes;
    }

    private byte[] target(int offset, int length) {
        byte[] bytes = new byte[length];
        region.buffer().getBytes(offset, bytes);
        return bytes;
    }

    /** The same bytes in both regions and at the same places of both local memories. */
    private void fill(int length, int targetSeed, int operandSeed, int compareSeed) {
        region.buffer().putBytes(64, pattern(targetSeed, length));
        node.memory.buffer().putBytes(0, pattern(operandSeed, length));
        node.memory.buffer().putBytes(COMPARES, pattern(compareSeed, length));
        node.memory.buffer().setMemory(OLD, length, (byte) 0);
        c.ask("fill 1 64 " + length + ' ' + targetSeed, "ok");
        c.ask("fill 0 0 " + length + ' ' + operandSeed, "ok");
        c.ask("fill 0 " + COMPARES + ' ' + length + ' ' + compareSeed, "ok");
    }

    private int post(int form, AtomicDatatype datatype, AtomicOperation operation, int count, long offset, long key) {
        AtomicRequest request = new AtomicRequest().operation(operation, datatype, count).destAddr(toC)
            .remote(offset, key).opContext(1);
        Atomics atomics = node.endpoint.atomics();
        if (operation != AtomicOperation.ATOMIC_READ) {
            request.operands(node.memory.address(0));
        }
        if (form == AtomicForm.BASE) {
            return atomics.atomicmsg(request);
        }
        request.results(node.memory.address(OLD));
        return form == AtomicForm.FETCH ? atomics.fetchAtomicmsg(request)
            : atomics.compareAtomicmsg(request.compares(node.memory.address(COMPARES)));
    }

    private static String command(int form) {
        return form == AtomicForm.BASE ? "atomic" : form == AtomicForm.FETCH ? "fetch" : "compare";
    }

    /** What C computes in its memory for this side, and this side for C, is the same. */
    @ParameterizedTest
    @ValueSource(ints = {AtomicForm.BASE, AtomicForm.FETCH, AtomicForm.COMPARE})
    void everyOperationGivesTheSameInBothRoles(int form) {
        int operations = 0;
        for (AtomicDatatype datatype : AtomicDatatype.values()) {
            for (AtomicOperation operation : AtomicOperation.values()) {
                boolean exists = AtomicForm.exists(form, datatype, operation);
                String valid = datatype.compareTo(AtomicDatatype.DOUBLE) > 0 ? "valid 0"
                    : c.ask("valid " + form + ' ' + operation.code() + ' ' + datatype.code());
                assertEquals(exists, !valid.equals("valid 0"), datatype + " " + operation + ' ' + valid);
                if (!exists) {
                    continue;
                }
                operations++;
                int count = 1 + operations % 5;
                int length = count * datatype.sizeBytes();
                for (int compareSeed : new int[] {20, 3 + operations}) {
                    fill(length, 20, 3 + operations, compareSeed);
                    assertEquals(0, post(form, datatype, operation, count, 64, KEY));
                    assertEquals(0, node.await(1).err(), datatype + " " + operation);
                    c.ask(command(form) + ' ' + operation.code() + ' ' + datatype.code() + ' ' + count + " 64 " + KEY,
                        "done");
                    String where = datatype + " " + operation + " compared with " + compareSeed;
                    assertArrayEquals(c.bytes(1, 64, length), target(64, length), where);
                    if (form != AtomicForm.BASE) {
                        assertArrayEquals(pattern(20, length), local(OLD, length), where);
                        assertArrayEquals(pattern(20, length), c.bytes(0, OLD, length), where);
                    }
                }
            }
        }
        assertTrue(operations > 60, "operations " + operations);
    }

    @Test
    void cExecutesTheLongestListsOfThisSideAndThisSideThoseOfC() {
        int most = (int) node.endpoint.atomics().fetchAtomicvalid(AtomicDatatype.INT64, AtomicOperation.SUM);
        fill(8 * most, 1, 2, 0);
        assertEquals(0, post(AtomicForm.FETCH, AtomicDatatype.INT64, AtomicOperation.SUM, most, 64, KEY));
        assertEquals(0, node.await(1).err());
        c.ask("fetch 2 6 " + most + " 64 " + KEY, "done");
        assertArrayEquals(c.bytes(1, 64, 8 * most), target(64, 8 * most));

        int mostOfC = Integer.parseInt(c.ask("valid 1 2 6").substring("valid ".length()));
        assertTrue(mostOfC > 2000, "elements " + mostOfC);
        c.ask("fill 0 0 " + 8 * mostOfC + " 5", "ok");
        region.buffer().putBytes(64, pattern(9, 8 * mostOfC));
        c.ask("fetch 11 6 " + mostOfC + " 64 " + KEY, "done");
        assertArrayEquals(pattern(5, 8 * mostOfC), target(64, 8 * mostOfC));
        assertArrayEquals(pattern(9, 8 * mostOfC), c.bytes(0, OLD, 8 * mostOfC));

        c.ask("fetchv 11 5 3 128 " + KEY, "done");
        assertArrayEquals(pattern(5, 12), target(128, 12));
        assertArrayEquals(pattern(5 + 7 * 12, 12), target(128 + 4096, 12));
    }

    @Test
    void badRequestsOfCAreAnsweredWithTheirReasonAndNothingElseEnds() {
        int[][] expected = {
            {FabricErrno.EKEYREJECTED, 64, (int) WRONG}, {FabricErrno.EFAULT, REGION, (int) KEY},
            {FabricErrno.EFAULT, REGION - 4, (int) KEY}, {FabricErrno.EINVAL, 68, (int) KEY},
            {FabricErrno.EACCES, 64, (int) READ_ONLY}};
        for (int[] bad : expected) {
            for (String command : new String[] {"atomic 2", "fetch 2", "compare 12"}) {
                c.ask(command + " 6 1 " + bad[1] + ' ' + bad[2], "error " + bad[0]);
            }
        }
        fill(8, 1, 2, 0);
        c.ask("atomic 11 6 1 64 " + KEY, "done");
        assertArrayEquals(pattern(2, 8), target(64, 8));
        // C says only that it is not allowed
        for (long[] bad : new long[][] {{64, WRONG}, {REGION, KEY}, {64, READ_ONLY}}) {
            assertEquals(0, post(
                AtomicForm.FETCH, AtomicDatatype.INT64, AtomicOperation.SUM, 1, bad[0], bad[1]));
            assertEquals(FabricErrno.EACCES, node.await().err());
        }
        assertEquals(0, post(AtomicForm.BASE, AtomicDatatype.INT64, AtomicOperation.ATOMIC_WRITE, 1, 64, KEY));
        assertEquals(0, node.await(1).err());
        assertArrayEquals(pattern(2, 8), c.bytes(1, 64, 8));
    }

    @Test
    void bothSidesWriteAndReadEachOthersMemory() {
        for (int length : new int[] {1, 5000, 300_000}) {
            byte[] bytes = pattern(length, length);
            node.memory.buffer().putBytes(0, bytes);
            assertEquals(0, node.endpoint.remoteMemory().write(node.memory.address(), length, toC, 64, KEY, 1));
            assertEquals(0, node.endpoint.remoteMemory().read(
                node.memory.address(REGION), length, toC, 64, KEY, 2));
            assertEquals(0, node.await(1).err() | node.await(2).err());
            assertArrayEquals(bytes, c.bytes(1, 64, length));
            assertArrayEquals(bytes, local(REGION, length));

            c.ask("fill 0 0 " + length + " 3", "ok");
            c.ask("write " + length + " 128 " + KEY + " -", "done");
            c.ask("read " + length + " 128 " + KEY, "done");
            assertArrayEquals(pattern(3, length), target(128, length));
            assertArrayEquals(pattern(3, length), c.bytes(0, 0, length));
        }
        c.ask("fill 0 0 1000 11", "ok");
        c.ask("writev 1000 4096 " + KEY, "done");
        c.ask("read 1000 4096 " + KEY, "done");
        assertArrayEquals(pattern(11, 1000), target(4096, 1000));
        c.ask("writedata 8 256 " + KEY + " 0x1122334455667788", "done");
        FabricNode.Entry entry = node.await();
        assertEquals(0x1122334455667788L, entry.data());
        assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, entry.flags());
        assertEquals(0, node.endpoint.remoteMemory().writedata(node.memory.address(), 8, 0x77, toC, 64, KEY, 5));
        assertEquals(0, node.await(5).err());
        assertTrue(c.ask("await").endsWith(" 0x77"));
    }

    /** The wire has no answer for it: the connection ends, and the pair connects again. */
    @Test
    void aBadKeyEndsTheConnectionAndTheNextCallMakesANewOne() {
        assertEquals(0, node.endpoint.remoteMemory().read(node.memory.address(), 8, toC, 0, WRONG, 1));
        assertEquals(FabricErrno.ECONNRESET, node.await().err());
        assertWorks();
        String error = c.ask("write 8 0 " + WRONG + " d");
        assertTrue(error.startsWith("error "), error);
        assertWorks();
    }

    private void assertWorks() {
        fill(8, 1, 2, 0);
        assertEquals(0, post(AtomicForm.BASE, AtomicDatatype.INT64, AtomicOperation.ATOMIC_WRITE, 1, 64, KEY));
        assertEquals(0, node.await(1).err());
        assertArrayEquals(pattern(2, 8), c.bytes(1, 64, 8));
    }

    /** C reads no message without bytes; it answers what is asked behind it. */
    @Test
    void aMessageWithoutBytesIsDeliveredToC() {
        for (long level : new long[] {Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE}) {
            assertEquals(0, node.endpoint.messages().sendmsg(node.memory.address(), 0, 0, toC, 1, level));
            // C answers while it makes progress, here at the next line
            c.ask("receive 8", "ok");
            assertEquals(0, node.await(1).err());
            assertTrue(c.ask("await").contains(" 0 "));
        }
        assertEquals(0, node.endpoint.messages().sendmsg(node.memory.address(), 0, 0, toC, 2, Flags.MATCH_COMPLETE));
        assertEquals(FabricErrno.EOPNOTSUPP, node.await().err());
        assertWorks();
    }

    /** C confirms what a receive has taken, whatever its length is. */
    @ParameterizedTest
    @ValueSource(ints = {1, 64, 20_000, 500_000})
    void theLevelsAreConfirmedWhenCReceives(int length) {
        long context = 1;
        for (long level : new long[] {Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
            node.memory.buffer().putBytes(0, pattern(9, length));
            assertEquals(0, node.endpoint.messages().sendmsg(node.memory.address(), length, 0, toC, context, level));
            node.assertQuiet(100);
            c.ask("receive " + length, "ok");
            assertTrue(c.ask("await").contains(' ' + Integer.toString(length) + ' '));
            assertEquals(0, node.await(context++).err());
            assertArrayEquals(pattern(9, length), c.bytes(0, 0, length));
        }
    }
}
