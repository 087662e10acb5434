package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.jfabric.codec.control.AddressReady;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers to the parts of one insertion, in any order, and told twice. */
class AddressInsertionTest {
    private static final int EAGAIN = -FabricErrno.EAGAIN;

    private final EventQueue queue = new EventQueue(null, new EventQueueAttr(), 0, null);
    private final AddressVector vector = new AddressVector(
        null, 1, new AddressVectorAttr().flags(Flags.EVENT), 0);
    private final String[] names = {"jfabric://d/a", "jfabric://d/b", "jfabric://d/c"};
    private final long[] fiAddrs = new long[3];
    private final EventEntry entry = new EventEntry();
    private final EventError error = new EventError();
    private AddressInsertion insertion;

    @BeforeEach
    void begin() {
        insertion = new AddressInsertion(vector, queue, names, fiAddrs, 99);
    }

    @Test
    void shouldTellTheEndOnlyAfterAllAnswersAndTheCall() {
        insertion.onAnswer(2, new AddressReady(1, 7, ""), null);
        insertion.onAnswer(0, new AddressReady(2, 8, "jfabric://d/own"), null);
        insertion.onAnswer(1, null, new FabricException(FabricErrno.EINVAL, "no address"));
        assertEquals(-FabricErrno.EAVAIL, queue.read(entry, 0));
        assertEquals(1, queue.readErr(error, 0));
        assertSame(vector, error.fid());
        assertEquals(1, error.data());
        assertEquals("jfabric://d/b", error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
        assertEquals(EAGAIN, queue.read(entry, 0), "the call itself still submits");
        insertion.onSubmitted();
        assertEquals(1, queue.read(entry, 0));
        assertEquals(EventType.AV_COMPLETE, entry.type());
        assertEquals(99, entry.context());
        assertEquals(2, entry.data());
        assertArrayEquals(new long[] {8, FabricAddress.ADDR_NOTAVAIL, 7}, fiAddrs);
        assertEquals("jfabric://d/own", vector.lookup(8));
        assertEquals("jfabric://d/c", vector.lookup(7), "an answer without a name means the one asked for");
    }

    @Test
    void shouldCountAnAddressOnceWhoseFailureIsToldTwice() {
        FabricException gone = new FabricException(FabricErrno.ENODEV, "the driver is gone");
        insertion.onAnswer(0, null, gone);
        insertion.onAnswer(0, null, gone);
        insertion.onAnswer(1, null, gone);
        insertion.onSubmitted();
        for (int i = 0; i < 2; i++) {
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(FabricErrno.ENODEV, error.err());
            assertEquals(i, error.data());
        }
        assertEquals(EAGAIN, queue.read(entry, 0), "one is still out");
        insertion.onAnswer(2, null, gone);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(1, queue.read(entry, 0));
        assertEquals(0, entry.data());
        assertEquals(EAGAIN, queue.read(entry, 0));
    }
}
