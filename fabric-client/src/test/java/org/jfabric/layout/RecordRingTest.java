package org.jfabric.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Random;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordRingTest {
    private static final int CAPACITY = 1 << 12;
    private static final int LINE = RecordRingDescriptor.RECORD_ALIGNMENT;
    private static final int STAMP_TYPE = 10;
    private static final int MAX_TYPE = STAMP_TYPE;
    private static final int STEPS = 200_000;

    private record Sent(int type, int length, long value) {
    }

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment ring = arena.allocate(CAPACITY, LINE);
    private final MemorySegment consumerPosition = arena.allocate(Long.BYTES, LINE);
    private final RecordProducer producer =
        new RecordProducer(ring.address(), CAPACITY, consumerPosition.address());
    private final RecordConsumer consumer =
        new RecordConsumer(ring.address(), CAPACITY, consumerPosition.address(), MAX_TYPE);
    private final ArrayDeque<Sent> sent = new ArrayDeque<>();
    private int stamps;

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldDeliverTheSameRecordsBetweenTimeStamps(int seed) {
        producer.stampEvery(LINE * (seed == 1 ? 5 : 100), STAMP_TYPE);
        shouldDeliverRecordsOnceInOrderAndNothingElse(seed);
        long most = producer.position() / (LINE * (seed == 1 ? 5 : 100));
        assertTrue(stamps > most / 4 && stamps <= most, () -> stamps + " of at most " + most);
    }

    /** The position alone says where a time stamp is. */
    @Test
    void shouldPutATimeStampInFrontOfOneRecordInSoManyLines() {
        producer.stampEvery(8 * LINE, STAMP_TYPE);
        for (int i = 1; i <= 100; i++) {
            long beforeNs = System.nanoTime();
            int offset = producer.claim(LINE);
            producer.commit(offset, LINE, 2);
            if (i > 8 && i % 8 == 1) {
                assertEquals(RecordConsumer.RECORD, consumer.poll());
                assertEquals(STAMP_TYPE, consumer.type(), "in front of record " + i);
                assertEquals(RecordRingDescriptor.STAMP_LENGTH, consumer.length());
                long stampNs = UnsafeApi.getLong(consumer.address() + RecordRingDescriptor.WORD_LENGTH);
                assertTrue(stampNs >= beforeNs && stampNs <= System.nanoTime());
                consumer.advance();
            }
            assertEquals(RecordConsumer.RECORD, consumer.poll());
            assertEquals(2, consumer.type(), "record " + i);
            consumer.advance();
            consumer.release();
        }
    }

    @Test
    void shouldNotTakeTheLastSpaceForATimeStamp() {
        producer.stampEvery(CAPACITY - 2 * LINE, STAMP_TYPE);
        int records = 0;
        while (producer.claim(LINE) >= 0) {
            producer.commit((int) producer.position() & (CAPACITY - 1), LINE, 2);
            records++;
        }
        assertEquals(CAPACITY / LINE - 1, records, "all lines but the one with the next word");
        for (int i = 0; i < records; i++) {
            assertEquals(RecordConsumer.RECORD, consumer.poll());
            assertEquals(2, consumer.type());
            consumer.step();
        }
        consumer.release();
        producer.commit(producer.claim(LINE), LINE, 2);
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        assertEquals(STAMP_TYPE, consumer.type(), "the next record gets it");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldDeliverRecordsOnceInOrderAndNothingElse(int seed) {
        Random random = new Random(seed);
        for (int step = 0; step < STEPS; step++) {
            String state = "seed " + seed + " step " + step + " position " + producer.position();
            int length = RecordRingDescriptor.WORD_LENGTH + random.nextInt(CAPACITY / 4 - LINE);
            switch (random.nextInt(9)) {
                case 0, 1, 2 -> send(random.nextInt(4) == 0 ? length : 8 + length % 160, random.nextLong());
                case 3 -> abandon(length);
                case 7 -> sendLess(length, random);
                case 4, 5 -> receive(1, state);
                case 6 -> receive(random.nextInt(40), state);
                default -> consumer.release();
            }
        }
        receive(Integer.MAX_VALUE, "seed " + seed + " end");
        assertEquals(0, sent.size(), () -> "seed " + seed);
    }

    /** Its bytes behind the part that it may use stay as they are, whatever is sent and received before it grows. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldDeliverTheSameRecordsInARingThatGrows(int seed) {
        Random random = new Random(seed);
        int[] usable = {16 * LINE};
        int[] wanted = {0};
        boolean[] isFull = {true};
        producer.beginSmall(usable[0], (length, isNeeded) -> {
            if (isFull[0] && !isNeeded) {
                producer.notGrown();
            } else {
                wanted[0] = length;
            }
        });
        if (seed % 2 == 0) {
            producer.stampEvery(5 * LINE, STAMP_TYPE);
        }
        ring.asSlice(usable[0] + RecordProducer.WRITTEN_BEHIND).fill((byte) 0x5A);
        for (int step = 0; step < 20_000; step++) {
            String state = "seed " + seed + " step " + step + " position " + producer.position();
            boolean isQuick = step < 10_000;
            isFull[0] = isQuick;
            int length = RecordRingDescriptor.WORD_LENGTH + random.nextInt(isQuick ? 2 * LINE : CAPACITY / 4 - LINE);
            if (random.nextInt(8) == 0) {
                abandon(length);
            } else {
                send(length, random.nextLong());
            }
            receive(isQuick ? Integer.MAX_VALUE : random.nextInt(3), state);
            consumer.release();
            assertEquals(-1, ring.asSlice(usable[0] + RecordProducer.WRITTEN_BEHIND).mismatch(
                arena.allocate(CAPACITY - usable[0] - RecordProducer.WRITTEN_BEHIND).fill((byte) 0x5A)), state);
            assertTrue(!isQuick || wanted[0] == 0, () -> "needs more although nothing is left in it, " + state);
            if (wanted[0] != 0 && random.nextInt(10) == 0) {
                assertTrue(wanted[0] >= 4 * usable[0] || wanted[0] == CAPACITY, state);
                if (wanted[0] == CAPACITY) {
                    producer.grown(CAPACITY);
                    shouldDeliverRecordsOnceInOrderAndNothingElse(seed);
                    return;
                }
                usable[0] = wanted[0];
                wanted[0] = 0;
                producer.grown(usable[0]);
            }
        }
        throw new AssertionError("seed " + seed + " has not grown to its whole length, " + usable[0]);
    }

    @Test
    void shouldTakeNothingWhenFullUntilTheConsumerPublishesItsPosition() {
        while (producer.claim(LINE) >= 0) {
            producer.commit((int) producer.position() & (CAPACITY - 1), LINE, 2);
        }
        assertEquals(-FabricErrno.EAGAIN, producer.claim(LINE));
        assertEquals(CAPACITY - LINE, producer.position(), "all lines but the one with the next word");
        assertEquals(RecordConsumer.RECORD, consumer.poll());
        consumer.step();
        assertEquals(-FabricErrno.EAGAIN, producer.claim(LINE));
        consumer.release();
        assertEquals(CAPACITY - LINE, producer.claim(LINE));
    }

    private void send(int length, long value) {
        int offset = producer.claim(length);
        if (offset < 0) {
            assertEquals(-FabricErrno.EAGAIN, offset);
            return;
        }
        soil(offset, length, value);
        int type = 2 + (int) (value & 7);
        producer.commit(offset, length, type);
        sent.add(new Sent(type, length, value));
    }

    /** Commits less than it has claimed and written. */
    private void sendLess(int length, Random random) {
        int offset = producer.claim(length);
        if (offset >= 0) {
            soil(offset, length, 7);
            int committed = RecordRingDescriptor.WORD_LENGTH + random.nextInt(length - 7);
            producer.commit(offset, committed, 2);
            sent.add(new Sent(2, committed, 7));
        }
    }

    /** Claims, writes, and never commits. */
    private void abandon(int length) {
        int offset = producer.claim(length);
        if (offset >= 0) {
            soil(offset, length, RecordRingDescriptor.word(LINE, 2));
        }
    }

    /** Fills the body with words that look like records wherever a line begins. */
    private void soil(int offset, int length, long value) {
        for (int i = 8; i + 8 <= length; i += 8) {
            UnsafeApi.putLong(
                ring.address() + offset + i, i % LINE == 0 ? RecordRingDescriptor.word(LINE, 2) : value);
        }
    }

    private void receive(int limit, String state) {
        for (int i = 0; i < limit; i++) {
            int result = consumer.poll();
            // two, if the record behind the first one was abandoned after it had padded the ring's end
            while (result == RecordConsumer.RECORD && consumer.type() == STAMP_TYPE) {
                assertEquals(RecordRingDescriptor.STAMP_LENGTH, consumer.length(), state);
                consumer.advance();
                stamps++;
                result = consumer.poll();
            }
            if (sent.isEmpty()) {
                assertEquals(RecordConsumer.EMPTY, result, state);
                return;
            }
            assertEquals(RecordConsumer.RECORD, result, state);
            Sent expected = sent.remove();
            assertEquals(expected.type, consumer.type(), state);
            assertEquals(expected.length, consumer.length(), state);
            if (expected.length >= 16) {
                assertEquals(expected.value, UnsafeApi.getLong(consumer.address() + 8), state);
            }
            consumer.advance();
        }
    }
}
