package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.Attachment;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.Invoker;
import org.jfabric.client.LentMessages;
import org.jfabric.client.SleeplessDriver;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue alone: order, flags, bad input, its ends. Sleepers are in {@link EventQueueWaitTest}. */
@Timeout(60)
class EventQueueTest {
    private static final int SIZE = 4;
    private static final int EAGAIN = -FabricErrno.EAGAIN;
    private static final Object FID = "some object";

    private final EventQueue queue = open(new EventQueueAttr().size(SIZE).flags(Flags.WRITE));
    private final EventEntry entry = new EventEntry();
    private final EventError error = new EventError();
    private final UnsafeBuffer eightBytes = new UnsafeBuffer(new byte[8]);

    private static EventQueue open(EventQueueAttr attr) {
        return new EventQueue(null, attr, 77, null);
    }

    @Test
    void shouldGiveEventsInOrderWithEveryMember() {
        assertEquals(EAGAIN, queue.read(entry, 0));
        queue.report(EventType.AV_COMPLETE, FID, 5, 6);
        UnsafeBuffer bytes = new UnsafeBuffer("..abc..".getBytes(StandardCharsets.US_ASCII));
        assertEquals(1, queue.writeBytes(1234, bytes, 2, 3, 0));
        assertEquals(1, queue.write(EventType.NOTIFY.code(), null, Long.MIN_VALUE, -1, 0));
        bytes.setMemory(0, 7, (byte) 'x');

        assertEquals(1, queue.read(entry, 0));
        assertEquals(EventType.AV_COMPLETE, entry.type());
        assertEquals(5, entry.event());
        assertSame(FID, entry.fid());
        assertEquals(5, entry.context());
        assertEquals(6, entry.data());
        assertEquals(0, entry.bytes().capacity());

        assertEquals(1, queue.read(entry, 0));
        assertEquals(1234, entry.event());
        assertNull(entry.type());
        assertNull(entry.fid());
        assertEquals(0, entry.context());
        assertEquals("abc", entry.bytes().getStringWithoutLengthAscii(0, entry.bytes().capacity()));

        assertEquals(1, queue.read(entry, 0));
        assertEquals(EventType.NOTIFY, entry.type());
        assertEquals(-1, entry.context());
        assertEquals(Long.MIN_VALUE, entry.data());
        assertEquals(0, entry.bytes().capacity());
        assertEquals(EAGAIN, queue.read(entry, 0));
        assertEquals(77, queue.context());
    }

    @Test
    void shouldLeaveWhatWasOnlyLookedAt() {
        queue.write(1, FID, 3, 2, 0);
        queue.reportError(FID, 4, 5, FabricErrno.ECONNRESET, new byte[0]);
        for (int i = 0; i < 3; i++) {
            assertEquals(1, queue.read(entry, Flags.PEEK));
            assertEquals(2, entry.context());
        }
        assertEquals(1, queue.read(entry, 0));
        for (int i = 0; i < 3; i++) {
            assertEquals(1, queue.readErr(error, Flags.PEEK));
            assertEquals(4, error.context());
        }
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(EAGAIN, queue.read(entry, Flags.PEEK));
        assertEquals(EAGAIN, queue.readErr(error, Flags.PEEK));
    }

    @Test
    void shouldStopInFrontOfAnErrorUntilItWasTaken() {
        queue.write(1, null, 0, 1, 0);
        queue.reportError(FID, 2, 9, FabricErrno.ECONNRESET, "far".getBytes(StandardCharsets.US_ASCII));
        queue.write(1, null, 0, 3, 0);
        assertEquals(EAGAIN, queue.readErr(error, 0), "the oldest one is no error");
        assertEquals(1, queue.read(entry, 0));
        assertEquals(-FabricErrno.EAVAIL, queue.read(entry, 0));
        assertEquals(-FabricErrno.EAVAIL, queue.read(entry, Flags.PEEK));
        assertEquals(1, queue.readErr(error, 0));
        assertSame(FID, error.fid());
        assertEquals(2, error.context());
        assertEquals(9, error.data());
        assertEquals(FabricErrno.ECONNRESET, error.err());
        assertEquals("far", error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
        assertEquals(EAGAIN, queue.readErr(error, 0));
        assertEquals(1, queue.read(entry, 0));
        assertEquals(3, entry.context());
    }

    @Test
    void shouldCopyErrorDataIntoMemoryOfEitherSide() {
        for (int i = 0; i < 3; i++) {
            queue.reportError(FID, 0, 0, FabricErrno.EIO, "0123456789".getBytes(StandardCharsets.US_ASCII));
        }
        UnsafeBuffer callers = new UnsafeBuffer(new byte[8]);
        callers.setMemory(0, 8, (byte) '-');
        queue.readErr(error.errDataBuffer(callers, 2, 4), 0);
        assertEquals(4, error.errDataSize(), "longer data is cut");
        assertEquals("--0123--", callers.getStringWithoutLengthAscii(0, 8));
        queue.readErr(error.errDataBuffer(callers, 2, 0), 0);
        assertEquals(10, error.errDataSize());
        queue.reportError(FID, 0, 0, FabricErrno.EIO, "xxxxxxxxxxxxxxxx".getBytes(StandardCharsets.US_ASCII));
        assertEquals("0123456789", error.errData().getStringWithoutLengthAscii(0, 10), "it outlives the slot");
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> error.errDataBuffer(callers, 5, 4)).errno());
        assertEquals(FabricErrno.EINVAL,
            assertThrows(FabricException.class, () -> entry.dataBuffer(callers, -1, 4)).errno());
    }

    @Test
    void shouldLeaveAnEventWhoseBytesDoNotFit() {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[EventEntry.MAX_DATA_LENGTH]);
        bytes.setMemory(0, bytes.capacity(), (byte) 7);
        assertEquals(1, queue.writeBytes(1, bytes, 0, bytes.capacity(), 0));
        UnsafeBuffer callers = new UnsafeBuffer(new byte[EventEntry.MAX_DATA_LENGTH]);
        entry.dataBuffer(callers, 0, EventEntry.MAX_DATA_LENGTH - 1);
        assertEquals(-FabricErrno.ETOOSMALL, queue.read(entry, 0));
        assertEquals(-FabricErrno.ETOOSMALL, queue.read(entry, Flags.PEEK));
        assertEquals(1, queue.read(entry.dataBuffer(callers, 0, EventEntry.MAX_DATA_LENGTH), 0));
        assertEquals(7, callers.getByte(EventEntry.MAX_DATA_LENGTH - 1));
        assertEquals(1, queue.writeBytes(1, bytes, 0, bytes.capacity(), 0));
        assertEquals(1, queue.read(entry.dataBuffer(null, 0, 0), 0), "everything fits into the entry's own memory");
        assertEquals(EventEntry.MAX_DATA_LENGTH, entry.bytes().capacity());
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        queue.write(1, null, 0, 0, 0);
        int flags = -FabricErrno.EBADFLAGS;
        assertEquals(flags, queue.read(entry, Flags.WRITE));
        assertEquals(flags, queue.read(entry, Flags.PEEK | 1));
        assertEquals(flags, queue.readErr(error, -1));
        assertEquals(flags, queue.write(1, null, 0, 0, Flags.PEEK));
        int invalid = -FabricErrno.EINVAL;
        assertEquals(invalid, queue.read(null, 0));
        assertEquals(invalid, queue.readErr(null, 0));
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[EventEntry.MAX_DATA_LENGTH + 1]);
        assertEquals(invalid, queue.writeBytes(1, null, 0, 0, 0));
        assertEquals(invalid, queue.writeBytes(1, bytes, -1, 1, 0));
        assertEquals(invalid, queue.writeBytes(1, bytes, 0, -1, 0));
        assertEquals(invalid, queue.writeBytes(1, bytes, Integer.MAX_VALUE, 1, 0));
        assertEquals(invalid, queue.writeBytes(1, bytes, 1, bytes.capacity(), 0));
        assertEquals(invalid, queue.writeBytes(1, bytes, 0, EventEntry.MAX_DATA_LENGTH + 1, 0));
        assertEquals(flags, queue.writeBytes(1, bytes, 0, 1, 1));
        assertEquals(-FabricErrno.ENOSYS, queue.sread(entry, -1, 0));
        assertEquals(-FabricErrno.ENOSYS, queue.tryWait());
        EventQueue readOnly = open(new EventQueueAttr());
        assertEquals(-FabricErrno.ENOSYS, readOnly.write(1, null, 0, 0, 0));
        assertEquals(-FabricErrno.ENOSYS, readOnly.writeBytes(1, bytes, 0, 1, 0));
        assertEquals(EAGAIN, readOnly.read(entry, 0));
        assertEquals(1, queue.read(entry, 0), "and none of it changed the queue");
        assertEquals(EAGAIN, queue.read(entry, 0));
    }

    @Test
    void shouldRefuseEventsOfTheApplicationWhenFullAndGoOn() {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < SIZE; i++) {
                assertEquals(1, queue.write(1, null, 0, i, 0));
            }
            assertEquals(EAGAIN, queue.write(1, null, 0, SIZE, 0));
            for (int i = 0; i < SIZE; i++) {
                assertEquals(1, queue.read(entry, 0));
                assertEquals(i, entry.context());
            }
            assertEquals(EAGAIN, queue.read(entry, 0));
        }
    }

    @Test
    void shouldTellOfItsOverrunAfterWhatWasWritten() {
        EventQueue sleeping = open(new EventQueueAttr().size(SIZE).flags(Flags.WRITE).waitObject(WaitObject.UNSPEC));
        for (int i = 0; i <= SIZE; i++) {
            sleeping.report(EventType.NOTIFY, FID, i, 0);
        }
        assertEquals(-FabricErrno.EOVERRUN, sleeping.write(1, null, 0, 0, 0));
        for (int i = 0; i < SIZE; i++) {
            assertEquals(1, sleeping.read(entry, 0));
            assertEquals(i, entry.context());
        }
        sleeping.report(EventType.NOTIFY, FID, 0, 0);
        for (int i = 0; i < 3; i++) {
            assertEquals(-FabricErrno.EOVERRUN, sleeping.read(entry, 0));
            assertEquals(-FabricErrno.EOVERRUN, sleeping.sread(entry, -1, 0));
            assertEquals(1, sleeping.readErr(error, 0));
            assertEquals(FabricErrno.EOVERRUN, error.err());
            assertSame(sleeping, error.fid());
            assertEquals(77, error.context());
            assertEquals(EAGAIN, sleeping.tryWait());
        }
    }

    @Test
    void shouldAnswerBadStateOnceClosed() {
        EventQueue closed = open(new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.UNSPEC));
        closed.write(1, null, 0, 0, 0);
        close(closed);
        assertFalse(closed.isOpen());
        int state = -FabricErrno.EOPBADSTATE;
        assertEquals(state, closed.read(entry, 0));
        assertEquals(state, closed.readErr(error, 0));
        assertEquals(state, closed.sread(entry, -1, 0));
        assertEquals(state, closed.write(1, null, 0, 0, 0));
        assertEquals(EAGAIN, closed.tryWait());
        closed.report(EventType.NOTIFY, FID, 0, 0);
        assertEquals(state, closed.read(entry, 0));
        assertTrue(closed.toString().contains("closed"), closed.toString());
    }

    @Test
    void shouldTellOfTheDriversEndAfterWhatWasQueued() {
        queue.report(EventType.NOTIFY, FID, 1, 0);
        queue.reportError(FID, 2, 0, FabricErrno.ECONNRESET, new byte[0]);
        queue.onDriverGone();
        assertEquals(1, queue.read(entry, 0));
        assertEquals(-FabricErrno.EAVAIL, queue.read(entry, 0));
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(-FabricErrno.ENODEV, queue.read(entry, 0));
        assertEquals(-FabricErrno.ENODEV, queue.readErr(error, 0));
        assertEquals(1, queue.write(1, null, 0, 3, 0));
        assertEquals(1, queue.read(entry, 0));
        assertEquals(3, entry.context());
        assertEquals(-FabricErrno.ENODEV, queue.read(entry, 0));
    }

    @ParameterizedTest
    @EnumSource(WaitObject.class)
    void shouldOpenWithTheWaitObjectsThatAreOfferedAndRefuseTheOthers(WaitObject object) {
        EventQueueAttr attr = new EventQueueAttr().waitObject(object);
        switch (object) {
            case NONE, UNSPEC, SET, FD, MUTEX_COND, YIELD -> {
                EventQueue opened = open(attr);
                assertSame(object, opened.waitObject());
                assertEquals(object == WaitObject.FD, handsOut(opened::channel));
                assertEquals(object == WaitObject.MUTEX_COND, handsOut(opened::mutexCond));
                assertControl(opened, object);
                close(opened);
                assertEquals(-FabricErrno.EOPBADSTATE,
                    PortedCalls.control(opened, ControlCommand.GETWAITOBJ.code(), new WaitObjectHandle()));
            }
            default -> assertEquals(FabricErrno.ENOSYS, refusal(attr));
        }
    }

    private static void assertControl(EventQueue queue, WaitObject object) {
        WaitObjectHandle handle = new WaitObjectHandle();
        boolean has = object == WaitObject.FD || object == WaitObject.MUTEX_COND;
        assertEquals(has ? 0 : -FabricErrno.ENODATA,
            PortedCalls.control(queue, ControlCommand.GETWAIT.code(), handle));
        assertSame(object == WaitObject.FD ? queue.channel() : null, handle.channel());
        assertSame(object == WaitObject.MUTEX_COND ? queue.mutexCond() : null, handle.mutexCond());
        assertEquals(0, PortedCalls.control(queue, ControlCommand.GETWAITOBJ.code(), handle));
        assertSame(object, handle.waitObject());
        assertEquals(-FabricErrno.EINVAL, PortedCalls.control(queue, ControlCommand.GETWAIT.code(), null));
        assertEquals(-FabricErrno.ENOSYS, PortedCalls.control(queue, ControlCommand.ENABLE.code(), handle));
    }

    @Test
    void shouldRefuseAttributesThatCannotBe() {
        assertEquals(FabricErrno.EINVAL, refusal(new EventQueueAttr().size(-1)));
        assertEquals(FabricErrno.EINVAL, refusal(new EventQueueAttr().size(EventQueue.MAX_SIZE + 1L)));
        assertEquals(FabricErrno.EINVAL, refusal(new EventQueueAttr().size(1L << 32)));
        assertEquals(FabricErrno.EINVAL, refusal(new EventQueueAttr().flags(Flags.PEEK)));
        assertEquals(FabricErrno.EINVAL, refusal(new EventQueueAttr().flags(Flags.AFFINITY).signalingVector(-1)));
        assertEquals(FabricErrno.EINVAL,
            refusal(new EventQueueAttr().flags(Flags.AFFINITY).signalingVector(Integer.MAX_VALUE)));
        assertNotNull(open(new EventQueueAttr().flags(Flags.AFFINITY).signalingVector(0)));
        assertNotNull(open(new EventQueueAttr().signalingVector(-1).waitSetId(99)), "both are not looked at");
        assertEquals(EventQueue.DEFAULT_SIZE, open(new EventQueueAttr()).size());
        assertEquals(1, open(new EventQueueAttr().size(1)).size());
    }

    @ParameterizedTest
    @ValueSource(ints = {FabricErrno.ECONNRESET, -FabricErrno.ECONNRESET})
    void shouldExplainCodesOfEitherSign(int code) {
        UnsafeBuffer text = new UnsafeBuffer(new byte[16]);
        String whole = queue.strerror(code, new UnsafeBuffer(new byte[] {1, 2}), text, 0, 8);
        assertTrue(whole.contains("ECONNRESET") && whole.endsWith("01 02"), whole);
        assertEquals(whole.substring(0, 7), text.getStringWithoutLengthAscii(0, 7));
        assertEquals(0, text.getByte(7));
        assertTrue(whole.startsWith(queue.strerror(code)));
    }

    @Test
    void shouldDropTheObjectOfAnEventThatWasRead() {
        QueuedEvents ring = new QueuedEvents(1);
        assertTrue(ring.add(1, FID, 0, 0, 0, new UnsafeBuffer(0, 0), 0, 0));
        QueuedEvents.Slot slot = ring.first();
        ring.consume();
        assertNull(slot.fid);
    }

    @Test
    void shouldAllocateNothingWhenReading() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        run(30_000);
        long id = Thread.currentThread().threadId();
        // the first measurement may allocate for itself
        threads.getThreadAllocatedBytes(id);
        long leastBytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 5 && leastBytes != 0; attempt++) {
            long before = threads.getThreadAllocatedBytes(id);
            run(10_000);
            leastBytes = Math.min(leastBytes, threads.getThreadAllocatedBytes(id) - before);
        }
        assertEquals(0, leastBytes, "bytes in 10,000 rounds");
    }

    private void run(int rounds) {
        for (int i = 0; i < rounds; i++) {
            int sum = queue.writeBytes(1, eightBytes, 0, 8, 0) + queue.write(1, FID, 3, 2, 0)
                + queue.read(entry, Flags.PEEK) + queue.read(entry, 0) + queue.read(entry, 0) + queue.read(entry, 0)
                + queue.readErr(error, 0);
            if (sum != 5 + 2 * EAGAIN) {
                throw new AssertionError("sum " + sum);
            }
        }
    }

    @Test
    void shouldRunOneCycleOfAnEmbeddedDriverBeforeEachReadAndWait() {
        EventQueue[] embedded = new EventQueue[1];
        Cycles cycles = new Cycles(() -> embedded[0].report(EventType.NOTIFY, FID, 1, 0));
        EventQueueAttr attr = new EventQueueAttr().flags(Flags.WRITE).waitObject(WaitObject.UNSPEC);
        embedded[0] = new EventQueue(null, attr, 0, new Invoker(cycles, null, null));
        embedded[0].write(1, null, 0, 0, 0);
        assertEquals(0, cycles.count, "writing runs none");
        assertEquals(1, embedded[0].read(entry, 0));
        assertEquals(EAGAIN, embedded[0].readErr(error, 0));
        assertEquals(0, embedded[0].tryWait());
        assertEquals(3, cycles.count);
        cycles.eventAt = 5;
        assertEquals(EAGAIN, embedded[0].read(entry, 0));
        assertEquals(1, embedded[0].read(entry, 0), "what the cycle brought is read at once");
        // behind the cycles without a pause, while it sleeps between them
        cycles.eventAt = 1500;
        assertEquals(1, embedded[0].sread(entry, -1, 0));
        assertEquals(1500, cycles.count);
        assertEquals(EAGAIN, embedded[0].sread(entry, 5_000_000, 0));
        close(embedded[0]);
        int before = cycles.count;
        assertEquals(-FabricErrno.EOPBADSTATE, embedded[0].read(entry, 0));
        assertEquals(before, cycles.count, "a closed queue leaves the driver alone");
    }

    private static void close(EventQueue queue) {
        queue.markClosed();
        queue.onClosed();
    }

    private static int refusal(EventQueueAttr attr) {
        return assertThrows(FabricException.class, () -> open(attr)).errno();
    }

    private static boolean handsOut(Runnable getter) {
        try {
            getter.run();
            return true;
        } catch (FabricException refused) {
            assertEquals(FabricErrno.ENODATA, refused.errno());
            return false;
        }
    }

    private static final class Cycles extends SleeplessDriver {
        private final Runnable event;
        private int count;
        private int eventAt;

        Cycles(Runnable event) {
            this.event = event;
        }

        @Override
        public int cycle(int messageLimit) {
            if (++count == eventAt) {
                event.run();
                return 1;
            }
            return 0;
        }

        @Override
        public int pollMessages(int messageLimit) {
            return cycle(messageLimit);
        }

        @Override
        public boolean needsCycle() {
            return true;
        }

        @Override
        public Attachment attach() {
            throw new AssertionError();
        }

        @Override
        public void detach(long clientId) {
            throw new AssertionError();
        }

        @Override
        public EndpointPort port(long endpointId) {
            throw new AssertionError();
        }

        @Override
        public LentMessages lentMessages(long queueId) {
            return null;
        }

        @Override
        public void onFault(InternalError error) {
            throw error;
        }
    }
}
