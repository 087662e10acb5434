package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Atomic operations of both sides in packets over a device in memory, which counts receives or shares them. */
@Timeout(60)
class RxmAtomicPacketsTest {
    private static final int COUNT = 500;
    private static final long KEY = 0x7777_0000_1111L;
    private static final int LONGEST = 800;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private RxmNode a;
    private RxmNode b;

    /** The engine's part: answers a request by its operands, and checks the answers to its own. */
    private static final class Side extends RemoteHandler {
        private final RxmTold told;
        final Map<Long, Long> awaited = new HashMap<>();
        final long memory = UnsafeApi.allocateMemory(LONGEST);
        int sent;
        int executed;
        int answered;

        Side(RxmTold told) {
            this.told = told;
            told.remote = this;
        }

        /** Sends operations until there is no room; each has its number as operands, in as many words as it says. */
        int send() {
            int work = 0;
            while (sent < COUNT && awaited.size() < 100) {
                int words = sent % 7 == 0 ? LONGEST / 8 : 1;
                TransmitOperation operation = new TransmitOperation(sent, memory);
                operation.flags = Flags.ATOMIC | Flags.READ;
                operation.atomic = new AtomicPart();
                operation.atomic.form = AtomicForm.FETCH;
                operation.atomic.datatype = 6;
                operation.atomic.operation = 2;
                operation.atomic.count = words;
                operation.remoteAddress = 8L * sent;
                operation.key = KEY;
                operation.address = memory;
                operation.length = 8L * words;
                for (int i = 0; i < words; i++) {
                    UnsafeApi.putLong(memory + 8L * i, sent * 1000L + i);
                }
                int result = told.remoteChannel.atomic(operation, 0);
                if (result == -FabricErrno.EAGAIN) {
                    return work;
                }
                assertEquals(0, result);
                // the operands were taken
                UnsafeApi.setMemory(memory, LONGEST, (byte) -1);
                awaited.put((long) sent, (long) words);
                sent++;
                work++;
            }
            return work;
        }

        @Override
        public void onAtomic(RemoteAccess access, long operands, long length) {
            int number = (int) (access.ranges().address(0) / 8);
            assertEquals(executed, number, "in order");
            assertEquals(KEY, access.ranges().key(0));
            assertEquals(AtomicForm.FETCH, access.form());
            assertEquals(8 * access.ranges().lengthBytes(0), length);
            for (int i = 0; i < length / 8; i++) {
                assertEquals(number * 1000L + i, UnsafeApi.getLong(operands + 8L * i));
            }
            executed++;
            int errno = number % 5 == 0 ? FabricErrno.EKEYREJECTED : 0;
            assertEquals(0, told.remoteChannel.reply(
                access.operation(), errno, false, 0, operands, errno == 0 ? length : 0, 0));
        }

        @Override
        public void onReply(long operation, int errno, boolean reports, long offset, long source, long length) {
            long words = awaited.remove(operation);
            assertEquals(operation % 5 == 0 ? FabricErrno.EKEYREJECTED : 0, errno);
            assertEquals(errno == 0 ? 8 * words : 0, length);
            for (int i = 0; i < length / 8; i++) {
                assertEquals(operation * 1000 + i, UnsafeApi.getLong(source + 8L * i));
            }
            answered++;
        }

        @Override
        public void onWrite(RemoteAccess access, long offset, long source, long length) {
            throw new AssertionError("not sent");
        }

        @Override
        public void onRead(RemoteAccess access) {
            throw new AssertionError("not sent");
        }

        @Override
        public void onEnded(long operation, int errno) {
            throw new AssertionError("not sent");
        }

        @Override
        public int find(RemoteRanges ranges, long right, PieceList pieces) {
            throw new AssertionError("not sent");
        }

        @Override
        public boolean begin(long right, boolean hasData) {
            throw new AssertionError("not sent");
        }

        @Override
        public void onShortWrite(RemoteAccess access, long source) {
            throw new AssertionError("not sent");
        }

        @Override
        public void onPlaced(long count) {
            throw new AssertionError("not sent");
        }

        @Override
        public void onAnnouncedWrite(RemoteAccess access, RemotePayload payload) {
            throw new AssertionError("not sent");
        }

        @Override
        public void end(RemoteRanges ranges, long right, boolean hasData, long data) {
            throw new AssertionError("not sent");
        }

        @Override
        public int commitRefusal(RemoteRanges ranges) {
            throw new AssertionError("not sent");
        }

        @Override
        public void commit(RemoteRanges ranges, boolean hasData, long data, long operation) {
            throw new AssertionError("not sent");
        }
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(30);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0,
                () -> what + " was not reached; errors " + a.node.errors + b.node.errors);
            a.step(true);
            b.step(true);
        }
    }

    private RxmTold connect(String... options) {
        a = new RxmNode(network, "10.0.0.1", options);
        b = new RxmNode(network, "10.0.0.2", options);
        RxmTold there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        return there;
    }

    private void close() {
        for (RxmNode node : List.of(a, b)) {
            node.close();
            assertEquals(List.of(), node.node.verbs.leftAtEnd());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"jfabric.verbs.packetReceives", "jfabric.verbs.sharedReceives"})
    void everyOperationOfBothSidesIsAnswered(String receives) {
        Side there = new Side(connect(receives, "16"));
        Side back = new Side(b.peers.get(a.address));
        await("answers", () -> {
            there.send();
            back.send();
            return there.answered == COUNT && back.answered == COUNT;
        });
        assertEquals(COUNT, there.executed);
        assertEquals(COUNT, back.executed);
        UnsafeApi.freeMemory(there.memory);
        UnsafeApi.freeMemory(back.memory);
        close();
    }

    /** They have no place in the packets, and the card's own are not used. */
    @Test
    void readsAndWritesAreRefused() {
        RxmTold there = connect();
        TransmitOperation operation = new TransmitOperation(0, 0);
        operation.flags = Flags.RMA | Flags.WRITE;
        assertEquals(-FabricErrno.EOPNOTSUPP, there.remoteChannel.write(operation, 0, 0));
        assertEquals(-FabricErrno.EOPNOTSUPP, there.remoteChannel.read(operation, 0));
        close();
    }
}
