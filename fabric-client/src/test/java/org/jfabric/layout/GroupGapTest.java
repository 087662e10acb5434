package org.jfabric.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of a ring that stand for messages which are missing. */
class GroupGapTest {
    private static final int CAPACITY = 4096;
    private static final int LINE = GroupRingDescriptor.RECORD_ALIGNMENT;
    private static final long KEY = 0x8123_4567_89ab_cdefL;

    private final MemorySegment memory =
        Arena.ofAuto().allocate(GroupRingDescriptor.HEADER_LENGTH + CAPACITY, LINE);
    private final long file = memory.address();
    private long tail;

    GroupGapTest() {
        UnsafeApi.putLong(file + GroupRingDescriptor.KEY_OFFSET, KEY);
    }

    private void write(long position, int flags, long tag) {
        long record = file + GroupRingDescriptor.HEADER_LENGTH + (tail & CAPACITY - 1);
        UnsafeApi.putLong(file + GroupRingDescriptor.INTENT_OFFSET, tail + LINE);
        UnsafeApi.putInt(record + GroupRingDescriptor.LENGTH, GroupRingDescriptor.RECORD_HEADER);
        UnsafeApi.putInt(record + GroupRingDescriptor.FLAGS, flags);
        UnsafeApi.putLong(record + GroupRingDescriptor.TAG, tag);
        UnsafeApi.putLong(record + GroupRingDescriptor.MARK, GroupRingDescriptor.mark(position, KEY));
        UnsafeApi.putLong(file + GroupRingDescriptor.LATEST_OFFSET, tail);
        tail += LINE;
        UnsafeApi.putLong(file + GroupRingDescriptor.TAIL_OFFSET, tail);
    }

    private void gap(long first, long last) {
        missing(last + 1 - first);
        write(first, GroupRingDescriptor.GAP, last + 1);
    }

    private void missing(long more) {
        UnsafeApi.putLong(
            file + GroupRingDescriptor.MISSING_OFFSET, GroupRingDescriptor.missing(file) + more);
    }

    private GroupConsumer reader(boolean isLossy, long position) {
        return new GroupConsumer(file, CAPACITY, isLossy, false, isLossy, 0, position);
    }

    private static void assertGap(GroupConsumer reader, int found, long first, long last) {
        assertEquals(GroupConsumer.GAP, found, reader::failure);
        assertEquals(first, reader.nextPosition());
        assertEquals(last + 1, reader.position());
        reader.skipGap();
        assertEquals(last + 1, reader.nextPosition());
    }

    private static void assertMessage(GroupConsumer reader, int found, long position) {
        assertEquals(GroupConsumer.MESSAGE, found, reader::failure);
        assertEquals(position, reader.position());
        reader.take();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldShowGapsBetweenMessages(boolean byMark) {
        write(7, 0, 0);
        gap(8, 1_000_000);
        gap(1_000_001, 1_000_001);
        write(1_000_002, 0, 0);
        GroupConsumer reader = reader(false, 7);
        assertMessage(reader, byMark ? reader.nextWritten() : reader.next(tail), 7);
        assertGap(reader, byMark ? reader.nextWritten() : reader.next(tail), 8, 1_000_000);
        assertGap(reader, byMark ? reader.nextWritten() : reader.next(tail), 1_000_001, 1_000_001);
        assertMessage(reader, byMark ? reader.nextWritten() : reader.next(tail), 1_000_002);
        assertEquals(GroupConsumer.NONE, byMark ? reader.nextWritten() : reader.next(tail));
        assertEquals(tail, reader.offset());
    }

    @Test
    void shouldShowTheRestOfAGapThatAReaderBeginsIn() {
        gap(0, 99);
        write(100, 0, 0);
        GroupConsumer reader = reader(false, 40);
        assertEquals(GroupConsumer.NONE, reader.nextWritten());
        assertGap(reader, reader.next(tail), 40, 99);
        assertMessage(reader, reader.nextWritten(), 100);
    }

    /** What was overwritten may have been gaps, each of which stood for many. */
    @Test
    void shouldShowOneGapForOverwrittenMessagesAndGaps() {
        write(0, 0, 0);
        GroupConsumer reader = reader(true, 0);
        assertMessage(reader, reader.next(tail), 0);
        gap(1, 5_000);
        for (long position = 5_001; position < 5_100; position++) {
            write(position, 0, 0);
        }
        assertEquals(GroupConsumer.NONE, reader.next(tail));
        assertGap(reader, reader.next(tail), 1, 5_098);
        assertMessage(reader, reader.next(tail), 5_099);
        // the newest record is a gap
        for (long position = 5_100; position < 5_200; position++) {
            write(position, 0, 0);
        }
        gap(5_200, 5_300);
        assertEquals(GroupConsumer.NONE, reader.next(tail));
        assertGap(reader, reader.next(tail), 5_100, 5_199);
        assertGap(reader, reader.next(tail), 5_200, 5_300);
        assertEquals(GroupConsumer.NONE, reader.next(tail));
        reader.close();
    }

    /** More than the writer has counted, or nothing: the ring is not what a writer writes. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 5, 8, 11, Long.MAX_VALUE})
    void shouldRefuseGapsThatCannotBe(long behind) {
        missing(2);
        write(8, GroupRingDescriptor.GAP, behind);
        GroupConsumer reader = reader(false, 8);
        assertEquals(GroupConsumer.BROKEN, reader.next(tail));
        assertTrue(reader.failure().contains("gap"), reader::failure);
        assertEquals(GroupConsumer.BROKEN, reader(false, 8).nextWritten());
        // in front of it nothing was overwritten
        assertEquals(GroupConsumer.BROKEN, reader(false, 7).next(tail));
    }
}
