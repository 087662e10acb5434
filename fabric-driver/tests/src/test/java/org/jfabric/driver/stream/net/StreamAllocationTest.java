package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;
import org.jfabric.layout.Words;
import org.jfabric.test.AllocatedBytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sending, receiving and repairing makes no garbage. */
@Tag("compiled")
class StreamAllocationTest {
    private static final int RING = 1 << 20;
    private static final int RECORD = 128;
    private static final int PAYLOAD = 64;
    private static final int LOST_EACH = 97;

    private final Long2ObjectHashMap<LoopPort> ports = new Long2ObjectHashMap<>();
    private final SplittableRandom random = new SplittableRandom(1);
    private final StreamNet[] nets = new StreamNet[3];
    private final Sink[] sinks = {new Sink(), new Sink()};
    private final Source source = new Source();
    private long nowNs;
    private long count;

    @Test
    void shouldMakeNoGarbageWhileMessagesAreSentAndRepaired() {
        for (int i = 0; i < nets.length; i++) {
            nets[i] = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, 0);
            LoopPort port = new LoopPort(SimulatedPaths.name("10.0.0." + i, 4100));
            StreamPath path = new StreamPath(nets[i].open(port),
                i == 0 ? null : SimulatedPaths.name("10.0.0.0", 4100));
            if (i == 0) {
                source.writer = nets[0].publish("quotes", source, StreamPolicy.reliable(), List.of(path));
            } else {
                nets[i].subscribe("quotes", "reader", null, sinks[i - 1], List.of(path));
            }
        }
        for (int i = 0; i < 100; i++) {
            step();
        }
        assertEquals(2, source.writer.readers().size());
        assertEquals(0, AllocatedBytes.least(() -> {
            for (int i = 0; i < 2_000; i++) {
                source.next += 20;
                step();
            }
        }));
        for (int i = 0; i < 1000; i++) {
            step();
        }
        assertEquals(source.next, sinks[0].next);
        assertEquals(source.next, sinks[1].next);
        assertTrue(source.writer.repairs() > 100, () -> "repairs " + source.writer.repairs());
    }

    private void step() {
        nowNs += 10_000;
        for (StreamNet net : nets) {
            net.step(nowNs);
        }
    }

    /** A socket whose datagrams arrive at once. */
    private final class LoopPort extends StreamSocket {
        private static final int SLOTS = 1 << 10;
        private static final int SLOT = 1 << 11;
        private static final int NAME = SLOT - 32;

        private final long memory = UnsafeApi.allocateMemory((long) (SLOTS + 2) * SLOT);
        private final long own = memory + (long) SLOTS * SLOT;
        private final int[] lengths = new int[SLOTS];
        private long head;
        private long tail;
        private int length;

        LoopPort(SocketName name) {
            PeerAddress address = PeerAddress.of(name);
            Words.copy(address.name(), own + NAME, address.length());
            ports.put(UnsafeApi.getLong(own + NAME), this);
        }

        @Override
        public int maxDatagramBytes() {
            return 1408;
        }

        @Override
        public long claim() {
            return own;
        }

        @Override
        public void send(int lengthBytes, long name, int nameLength) {
            length = lengthBytes;
            repeat(name, nameLength);
        }

        @Override
        public void repeat(long name, int nameLength) {
            LoopPort to = ports.get(UnsafeApi.getLong(name));
            if (++count % LOST_EACH != 0 && to.tail - to.head < SLOTS) {
                int slot = (int) to.tail & SLOTS - 1;
                Words.copy(own, to.memory + (long) slot * SLOT, length);
                Words.copy(own + NAME, to.memory + (long) slot * SLOT + NAME, SocketName.IN_LENGTH);
                to.lengths[slot] = length;
                to.tail++;
            }
        }

        @Override
        public void flush() {
            // all are there
        }

        @Override
        public int receive() {
            return head == tail ? -1 : lengths[(int) head++ & SLOTS - 1];
        }

        @Override
        public long address() {
            return memory + (head - 1 & SLOTS - 1) * SLOT;
        }

        @Override
        public long name() {
            return address() + NAME;
        }

        @Override
        public int nameLength() {
            return SocketName.IN_LENGTH;
        }

        @Override
        public boolean arm() {
            return head == tail;
        }

        @Override
        public void close() {
            // it has memory alone
        }
    }

    /** All messages are the same. */
    private static final class Source extends StreamSource {
        private final LogPosition first = new LogPosition(new UUID(1, 2), 1, 0);
        private StreamWriter writer;
        private long next;

        Source() {
            payload = UnsafeApi.allocateMemory(PAYLOAD);
            payloadLength = PAYLOAD;
        }

        @Override
        public LogPosition first() {
            return first;
        }

        @Override
        public int ringBytes() {
            return RING;
        }

        @Override
        public long next() {
            return next;
        }

        @Override
        public long oldest() {
            return Math.max(0, next - RING / RECORD);
        }

        @Override
        public int read(long position) {
            return 0;
        }

        @Override
        public long offset(long position) {
            return position * RECORD;
        }

        @Override
        public boolean isRecorded() {
            return false;
        }

        @Override
        public boolean isBlocked() {
            return false;
        }

        @Override
        public void onJoined(RemoteReader reader) {
            // seen by the writer's list
        }

        @Override
        public void onOtherWriter(String address) {
            throw new AssertionError(address);
        }

        @Override
        public void onLeft(RemoteReader reader, int errno) {
            throw new AssertionError(reader + " has left: " + errno);
        }
    }

    /** Takes everything. */
    private static final class Sink extends StreamSink {
        private long next;

        @Override
        public void onJoined(LogPosition start, int ringBytes, int flags) {
            next = start.position();
        }

        @Override
        public boolean hasRoom(int payloadLength) {
            return true;
        }

        @Override
        public void write(long position, int flags, long tag, long data, long payload, int payloadLength) {
            next = position + 1;
        }

        @Override
        public void gap(long first, long last) {
            throw new AssertionError("gap " + first + " to " + last);
        }

        @Override
        public void behind(long position) {
            throw new AssertionError("behind " + position);
        }

        @Override
        public void end(int errno) {
            throw new AssertionError("end " + errno);
        }

        @Override
        public long window() {
            return RING / 2;
        }

        @Override
        public long consumed() {
            return next;
        }

        @Override
        public void onNotice(FabricException notice) {
            throw notice;
        }
    }
}
