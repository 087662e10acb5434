package org.jfabric.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.queue.ContextEntryDecoder;
import org.jfabric.codec.queue.ContextEntryEncoder;
import org.jfabric.codec.queue.DataEntryDecoder;
import org.jfabric.codec.queue.DataEntryEncoder;
import org.jfabric.codec.queue.ErrEntryDecoder;
import org.jfabric.codec.queue.ErrEntryEncoder;
import org.jfabric.codec.queue.MsgEntryDecoder;
import org.jfabric.codec.queue.MsgEntryEncoder;
import org.jfabric.codec.queue.TaggedEntryDecoder;
import org.jfabric.codec.queue.TaggedEntryEncoder;
import org.jfabric.info.CompletionFormat;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

/** The formats have the sizes and offsets of the C structures, so that an entry can be decoded where it lies. */
class CompletionLayoutTest {
    private static final int START = 16;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[128]);

    @Test
    @Requirement({"CQ-015", "CQ-016"})
    void shouldHaveTheContextFirstThenFlagsAndLength() {
        assertEquals(8, ContextEntryDecoder.BLOCK_LENGTH);
        assertEquals(8, CompletionFormat.CONTEXT.entryLengthBytes());
        new ContextEntryEncoder().wrap(buffer, START).opContext(-3);
        assertLongs(-3, 0);
        assertEquals(-3, new ContextEntryDecoder().wrap(buffer, START, 8, 0).opContext());
        assertEquals(24, MsgEntryDecoder.BLOCK_LENGTH);
        assertEquals(24, CompletionFormat.MSG.entryLengthBytes());
        new MsgEntryEncoder().wrap(buffer, START).opContext(1).flags(2).length(3);
        assertLongs(1, 2, 3, 0);
    }

    @Test
    @Requirement({"CQ-017", "CQ-018", "CQ-019"})
    void shouldAddPositionDataAndTagBehindThem() {
        assertEquals(40, DataEntryDecoder.BLOCK_LENGTH);
        assertEquals(40, CompletionFormat.DATA.entryLengthBytes());
        new DataEntryEncoder().wrap(buffer, START).opContext(1).flags(2).length(3).buf(4).data(5);
        assertLongs(1, 2, 3, 4, 5, 0);
        assertEquals(48, TaggedEntryDecoder.BLOCK_LENGTH);
        assertEquals(48, CompletionFormat.TAGGED.entryLengthBytes());
        new TaggedEntryEncoder().wrap(buffer, START).opContext(11).flags(12).length(13).buf(14).data(15).tag(16);
        assertLongs(11, 12, 13, 14, 15, 16, 0);
        MsgEntryDecoder poorer = new MsgEntryDecoder().wrap(buffer, START, MsgEntryDecoder.BLOCK_LENGTH, 0);
        assertEquals(11, poorer.opContext());
        assertEquals(12, poorer.flags());
        assertEquals(13, poorer.length());
    }

    @Test
    @Requirement("CQ-088")
    void shouldLayTheErrorEntryOutAsTheStructure() {
        assertEquals(80, ErrEntryDecoder.BLOCK_LENGTH);
        new ErrEntryEncoder().wrap(buffer, START).opContext(1).flags(2).length(3).buf(4).data(5).tag(6).olen(7)
            .err(8).provErrno(-9).errData(10).errDataSize(11);
        assertLongs(1, 2, 3, 4, 5, 6, 7);
        assertEquals(8, buffer.getInt(START + 56));
        assertEquals(-9, buffer.getInt(START + 60));
        assertEquals(10, buffer.getLong(START + 64));
        assertEquals(11, buffer.getLong(START + 72));
        assertEquals(0, buffer.getLong(START + 80));
    }

    private void assertLongs(long... expected) {
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], buffer.getLong(START + i * 8), "at " + i * 8);
        }
    }
}
