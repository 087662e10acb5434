package org.jfabric.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.Test;

/** Both ends of a table against a map, in one thread: every order of calls, no order of accesses. */
class TableTest {
    private static final int SLOTS = 12;
    private static final int VALUE_LENGTH = 300;
    private static final int KEYS = 20;
    private static final int GUARD = 64;

    private final long seed = System.nanoTime();
    private final SplittableRandom random = new SplittableRandom(seed);
    private final MemorySegment memory =
        Arena.ofAuto().allocate(TableDescriptor.fileLength(SLOTS, VALUE_LENGTH), 64);
    private final byte[] read = new byte[VALUE_LENGTH + GUARD];

    /** A value of the model. */
    private record Value(byte[] bytes, long version) {
    }

    /** A reader, and the slots that it has looked up. */
    private static final class Reader {
        private final TableConsumer consumer;
        private final Map<Long, Long> slotByKey = new HashMap<>();
        private long version;

        Reader(TableConsumer consumer) {
            this.consumer = consumer;
        }
    }

    private final Map<Long, Value> model = new HashMap<>();
    /** Keys that were removed since a reader looked them up have another life now. */
    private final Map<Long, Integer> lives = new HashMap<>();
    private TableProducer writer = new TableProducer(memory, SLOTS, VALUE_LENGTH);
    private long version;

    @Test
    void shouldHaveWhatAMapHasForAllReaders() {
        List<Reader> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(new Reader(new TableConsumer(memory, SLOTS, VALUE_LENGTH)));
        }
        Map<Reader, Map<Long, Integer>> livesSeen = new HashMap<>();
        for (int i = 0; i < 40_000; i++) {
            long key = random.nextInt(KEYS) * 0x1234_5678_9abcL - 7;
            Reader reader = readers.get(random.nextInt(readers.size()));
            Map<Long, Integer> seen = livesSeen.computeIfAbsent(reader, each -> new HashMap<>());
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> put(key);
                case 3 -> remove(key);
                case 4 -> {
                    long slot = reader.consumer.find(key);
                    assertEquals(model.containsKey(key), slot >= 0, this::state);
                    if (slot >= 0) {
                        reader.slotByKey.put(key, slot);
                        seen.put(key, lives.getOrDefault(key, 0));
                    }
                }
                case 5 -> visit(reader.consumer);
                case 6 -> {
                    // early ones find slots that were never used
                    if (random.nextInt(20) == 0 || i < 200) {
                        die();
                    }
                }
                default -> {
                    Long slot = reader.slotByKey.get(key);
                    if (slot != null) {
                        boolean isSame = seen.get(key).equals(lives.getOrDefault(key, 0));
                        read(reader, slot, isSame ? model.get(key) : null);
                    }
                }
            }
            assertEquals(version, reader.consumer.version(), this::state);
            assertTrue(reader.version <= version, this::state);
            reader.version = version;
        }
    }

    private void put(long key) {
        byte[] bytes = new byte[random.nextInt(VALUE_LENGTH + 2)];
        random.nextBytes(bytes);
        int result;
        if (random.nextBoolean()) {
            result = writer.put(key, bytes, UnsafeApi.arrayBaseOffset(byte[].class), bytes.length);
        } else {
            MemorySegment copy = Arena.ofAuto().allocate(Math.max(8, bytes.length), 8);
            copy.copyFrom(MemorySegment.ofArray(bytes));
            result = writer.put(key, null, copy.address(), bytes.length);
        }
        if (bytes.length > VALUE_LENGTH) {
            assertEquals(-FabricErrno.EMSGSIZE, result, this::state);
        } else if (!model.containsKey(key) && model.size() == SLOTS) {
            assertEquals(-FabricErrno.ENOSPC, result, this::state);
        } else {
            assertEquals(0, result, this::state);
            model.put(key, new Value(bytes, ++version));
        }
        assertEquals(model.size(), writer.size(), this::state);
    }

    private void remove(long key) {
        boolean isThere = model.remove(key) != null;
        assertEquals(isThere ? 0 : -FabricErrno.ENOENT, writer.remove(key), this::state);
        if (isThere) {
            version++;
            lives.merge(key, 1, Integer::sum);
        }
    }

    /** The writer has ended anywhere in a change, of which it has written something; the next one goes on. */
    private void die() {
        int index = random.nextInt(SLOTS);
        long slot = memory.address() + TableDescriptor.HEADER_LENGTH
            + (long) index * TableDescriptor.slotLength(VALUE_LENGTH);
        long ended = UnsafeApi.getLong(slot + TableDescriptor.ENDED);
        UnsafeApi.putLong(slot + TableDescriptor.BEGUN, ended + 1);
        long head = TableDescriptor.head(slot, ended + 1);
        long value = TableDescriptor.value(slot, ended + 1, TableDescriptor.valueStride(VALUE_LENGTH));
        for (int i = random.nextInt(24); i < 24; i++) {
            UnsafeApi.putByte(head + i, (byte) random.nextInt());
        }
        for (int i = random.nextInt(VALUE_LENGTH); i < VALUE_LENGTH; i++) {
            UnsafeApi.putByte(value + i, (byte) random.nextInt());
        }
        if (random.nextBoolean()) {
            // or behind a whole change that it has not counted
            UnsafeApi.putLong(memory.address() + TableDescriptor.VERSION_OFFSET, Math.max(0, version - 1));
            forgetNewSlot();
        }
        writer = new TableProducer(memory, SLOTS, VALUE_LENGTH);
        assertEquals(version, writer.version(), this::state);
        assertEquals(model.size(), writer.size(), this::state);
    }

    /** If the last change was the first of its slot, that slot is not counted either. */
    private void forgetNewSlot() {
        int used = UnsafeApi.getInt(memory.address() + TableDescriptor.USED_OFFSET);
        long slot = memory.address() + TableDescriptor.HEADER_LENGTH
            + (used - 1L) * TableDescriptor.slotLength(VALUE_LENGTH);
        if (used > 0 && UnsafeApi.getLong(slot + TableDescriptor.ENDED) == 1
            && UnsafeApi.getLong(TableDescriptor.head(slot, 1) + TableDescriptor.VERSION) == version) {
            UnsafeApi.putInt(memory.address() + TableDescriptor.USED_OFFSET, used - 1);
        }
    }

    private void read(Reader reader, long slot, Value wanted) {
        int capacity = random.nextInt(4) == 0 ? random.nextInt(VALUE_LENGTH) : VALUE_LENGTH;
        Arrays.fill(read, (byte) 99);
        int result = reader.consumer.read(slot, read, UnsafeApi.arrayBaseOffset(byte[].class), capacity);
        if (wanted == null) {
            assertEquals(-FabricErrno.ENOENT, result, this::state);
            return;
        }
        if (wanted.bytes.length > capacity) {
            assertEquals(-FabricErrno.ETOOSMALL, result, this::state);
            return;
        }
        assertEquals(wanted.bytes.length, result, this::state);
        assertEquals(wanted.version, reader.consumer.seenVersion(), this::state);
        for (int i = 0; i < read.length; i++) {
            assertEquals(i < result ? wanted.bytes[i] : 99, read[i], this::state);
        }
    }

    private void visit(TableConsumer reader) {
        Map<Long, Long> found = new HashMap<>();
        for (int i = 0; i < reader.used(); i++) {
            long slot = reader.handleAt(i);
            if (slot >= 0) {
                found.put(reader.seenKey(), reader.seenVersion());
            } else {
                assertEquals(-FabricErrno.ENOENT, slot, this::state);
            }
        }
        Map<Long, Long> wanted = new HashMap<>();
        model.forEach((key, value) -> wanted.put(key, value.version));
        assertEquals(wanted, found, this::state);
    }

    private String state() {
        return "seed " + seed + ", version " + version + ", keys " + model.keySet();
    }

    @Test
    void shouldTouchNothingElseWhateverStandsInTheFile() {
        // a reader behind the last byte of the table would read here
        TableConsumer reader = new TableConsumer(memory, SLOTS, VALUE_LENGTH);
        Set<Integer> answers = Set.of(-FabricErrno.ENOENT, -FabricErrno.EIO, -FabricErrno.EAGAIN);
        for (int i = 0; i < 300; i++) {
            for (long at = TableDescriptor.VERSION_OFFSET; at < memory.byteSize() - 7; at += 8) {
                // small numbers are likelier to be taken for something
                UnsafeApi.putLong(memory.address() + at,
                    random.nextBoolean() ? random.nextLong() : random.nextInt(3) << random.nextInt(32));
            }
            assertTrue(reader.used() <= SLOTS && reader.used() >= 0);
            long found = reader.find(random.nextInt(3));
            assertTrue(found >= 0 || answers.contains((int) found), "seed " + seed + ": " + found);
            for (int index = 0; index < SLOTS; index++) {
                Arrays.fill(read, (byte) 99);
                long handle = (random.nextLong() & Long.MAX_VALUE) >>> Integer.SIZE << Integer.SIZE | index;
                int result = reader.read(handle, read, UnsafeApi.arrayBaseOffset(byte[].class), VALUE_LENGTH);
                assertTrue(result >= 0 && result <= VALUE_LENGTH || answers.contains(result), "seed " + seed);
                for (int at = VALUE_LENGTH; at < read.length; at++) {
                    assertEquals(99, read[at], "seed " + seed);
                }
            }
        }
        for (long wrong : new long[] {SLOTS, Integer.MAX_VALUE, 0x8000_0000L, -1, -FabricErrno.ENOENT}) {
            assertEquals(-FabricErrno.EINVAL, reader.read(wrong, read, 0, 0));
        }
    }

    /** Long values: a reader takes longer for one than the writer, so that without a check it would mix two. */
    @Test
    void shouldShowWholeValuesThatNeverGoBack() throws InterruptedException {
        int length = 1 << 15;
        MemorySegment table = Arena.ofAuto().allocate(TableDescriptor.fileLength(2, length), 64);
        TableProducer producer = new TableProducer(table, 2, length);
        Thread writing = new Thread(() -> {
            byte[] value = new byte[length];
            for (long i = 1; !Thread.currentThread().isInterrupted(); i++) {
                Arrays.fill(value, (byte) i);
                producer.put(1, value, UnsafeApi.arrayBaseOffset(byte[].class), length);
            }
        });
        writing.setDaemon(true);
        writing.start();
        try {
            TableConsumer reader = new TableConsumer(table, 2, length);
            byte[] copy = new byte[length];
            long slot;
            do {
                slot = reader.find(1);
            } while (slot < 0);
            long last = 0;
            long end = System.nanoTime() + 500_000_000L;
            while (System.nanoTime() - end < 0) {
                int result = reader.read(slot, copy, UnsafeApi.arrayBaseOffset(byte[].class), length);
                if (result == -FabricErrno.EAGAIN) {
                    continue;
                }
                assertEquals(length, result);
                assertTrue(reader.seenVersion() >= last, "version " + reader.seenVersion() + " behind " + last);
                last = reader.seenVersion();
                for (int i = 0; i < length; i += 61) {
                    assertEquals((byte) last, copy[i], "a value of two changes");
                }
            }
            assertTrue(last > 0);
        } finally {
            writing.interrupt();
            writing.join();
        }
    }
}
