package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.CompletionCredits;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.LentMessages;
import org.jfabric.client.SleeplessDriver;
import org.jfabric.client.UseGuard;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompletionQueueTest {
    private static final int CAPACITY = 8;
    private static final int SHARE = 4;

    private final CompletionQueueImage image = new CompletionQueueImage(CAPACITY);
    private final DriverState driver = new DriverState();
    private final CompletionQueue queue = open(CompletionFormat.TAGGED, null);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64 * CAPACITY]);
    private final CompletionError error = new CompletionError();
    private final List<Long> contexts = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(CompletionFormat.class)
    @Requirement({"CQ-015", "CQ-016", "CQ-017", "CQ-018", "CQ-019", "CQ-020"})
    void shouldShowFormatAsProjectionOfTheFullEntry(CompletionFormat format) {
        CompletionQueue formatted = open(format, null);
        image.success(1);
        image.success(2);
        image.success(3);
        assertEquals(3, formatted.read(buffer, 8, 5));
        int longs = format.resolved().entryLengthBytes() / 8;
        for (int entry = 0; entry < 3; entry++) {
            long expected = entry + 1;
            for (int i = 0; i < longs; i++) {
                assertEquals(expected, buffer.getLong(8 + (entry * longs + i) * 8));
                expected *= 10;
            }
        }
        assertEquals(0, buffer.getLong(8 + 3 * longs * 8));
        assertEquals(format.resolved(), formatted.format());
    }

    @Test
    @Requirement({"CQ-054", "CQ-055", "CQ-057"})
    void shouldReadAtMostCountAndThenTheRest() {
        for (int i = 1; i <= 5; i++) {
            image.success(i);
        }
        assertEquals(3, queue.read(buffer, 0, 3));
        assertEquals(3, image.readPosition());
        assertEquals(2, queue.read(buffer, 0, 3));
        assertEquals(5, image.readPosition());
        assertEquals(-FabricErrno.EAGAIN, queue.read(buffer, 0, 3));
    }

    @Test
    @Requirement({"CQ-060", "CQ-062", "CQ-087"})
    void shouldKeepErrorsInOrderAmongSuccesses() {
        image.success(1);
        image.error(2, FabricErrno.ETRUNC, 5, new byte[0]);
        image.error(3, FabricErrno.ECANCELED, 6, new byte[0]);
        image.success(4);
        assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
        assertEquals(1, queue.read(buffer, 0, 4));
        assertEquals(-FabricErrno.EAVAIL, queue.read(buffer, 0, 4));
        assertEquals(-FabricErrno.EAVAIL, queue.poll(this::collect, 4));
        assertEquals(1, image.readPosition());
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(FabricErrno.ETRUNC, error.err());
        assertEquals(2, error.opContext());
        assertEquals(14, error.olen());
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(FabricErrno.ECANCELED, error.err());
        assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
        assertEquals(1, queue.poll(this::collect, 4));
        assertEquals(List.of(4L), contexts);
    }

    @Test
    @Requirement("CQ-021")
    void shouldFillEveryErrorMemberWhateverTheFormat() {
        CompletionQueue contextOnly = open(CompletionFormat.CONTEXT, null);
        image.error(3, FabricErrno.EIO, 77, new byte[] {1, 2, 3});
        assertEquals(1, contextOnly.readErr(error, 0));
        assertEquals(3, error.opContext());
        assertEquals(30, error.flags());
        assertEquals(300, error.len());
        assertEquals(3000, error.buf());
        assertEquals(30_000, error.data());
        assertEquals(300_000, error.tag());
        assertEquals(3, error.srcAddr());
        assertEquals(21, error.olen());
        assertEquals(FabricErrno.EIO, error.err());
        assertEquals(77, error.provErrno());
        assertEquals(3, error.errDataSize());
        assertEquals(2, error.errData().getByte(1));
    }

    @Test
    @Requirement({"CQ-097", "CQ-098", "CQ-099"})
    void shouldCopyErrorDataToTheCallerAndCutThem() {
        byte[] data = {10, 20, 30, 40};
        image.error(1, FabricErrno.EIO, 1, data);
        image.error(2, FabricErrno.EIO, 1, data);
        UnsafeBuffer mine = new UnsafeBuffer(new byte[8]);
        error.errDataBuffer(mine, 1, 3);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(3, error.errDataSize());
        assertEquals(30, mine.getByte(3));
        assertEquals(0, mine.getByte(4));
        error.errDataBuffer(mine, 2, 6);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(4, error.errDataSize());
        assertEquals(10, mine.getByte(2));
        assertEquals(40, mine.getByte(5));
        assertEquals(40, error.errData().getByte(3));
    }

    @Test
    @Requirement({"CQ-100", "CQ-101"})
    void shouldKeepErrorDataInTheHolderWhenTheCallerHasNoRoom() {
        image.error(1, FabricErrno.EIO, 1, new byte[] {10, 20, 30, 40});
        UnsafeBuffer mine = new UnsafeBuffer(new byte[8]);
        mine.setMemory(0, 8, (byte) 9);
        error.errDataBuffer(mine, 1, 0);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(4, error.errDataSize());
        assertEquals(9, mine.getByte(1));
        // the slot goes to other entries; the holder keeps its copy, which outlives even these reads
        for (int i = 0; i < 2 * CAPACITY; i++) {
            image.success(i);
            assertEquals(1, queue.read(buffer, 0, 1));
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(10 + 10 * i, error.errData().getByte(i));
        }
    }

    @Test
    @Requirement({"CQ-100", "REF-003"})
    void shouldKeepErrorDataInTheHolderBeforeApi15AndNotTellTheirSize() {
        CompletionReader older = new CompletionReader(
            image.memory, CAPACITY, CompletionFormat.TAGGED, new CompletionCredits(
                SHARE, image.memory.address() + CompletionQueueDescriptor.RETIRED_OFFSET, new UseGuard("test"), null),
            driver, true);
        image.error(1, FabricErrno.EIO, 1, new byte[] {10, 20, 30, 40});
        image.error(2, FabricErrno.EIO, 1, new byte[0]);
        UnsafeBuffer mine = new UnsafeBuffer(new byte[8]);
        error.errDataBuffer(mine, 0, 8).errData(new UnsafeBuffer(new byte[] {9, 9}), 0, 2);
        assertEquals(1, older.readErr(error));
        assertEquals(1, error.opContext());
        assertEquals(4, error.errData().capacity());
        assertEquals(40, error.errData().getByte(3));
        assertEquals(2, error.errDataSize(), "a member that does not exist stays as it was");
        assertEquals(0x909L, mine.getLong(0), "the caller's buffer is ignored");
        assertEquals(1, older.readErr(error));
        assertEquals(2, error.opContext());
        assertEquals(0, error.errData().capacity());
        assertEquals(2, error.errDataSize());
        assertEquals(0x909L, mine.getLong(0));
        assertEquals(0, error.reset().errDataSize());
    }

    @Test
    @Requirement("CQ-102")
    void shouldNoticeAnotherThreadThatReadsMeanwhile() {
        image.success(1);
        List<String> noticed = new ArrayList<>();
        assertEquals(1, queue.poll(entry -> {
            Thread other = new Thread(() -> {
                try {
                    queue.read(new UnsafeBuffer(new byte[48]), 0, 1);
                } catch (AssertionError e) {
                    noticed.add(e.getMessage());
                }
            }, "intruder");
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, 1));
        assertEquals(1, noticed.size());
        assertTrue(noticed.get(0).contains("intruder"), noticed.get(0));
    }

    @Test
    @Requirement("CQ-103")
    void shouldShowErrorDataAsBytesWhateverTheyAre() {
        UnsafeBuffer data = new UnsafeBuffer(new byte[] {(byte) 0xDE, (byte) 0xAD, 0});
        for (int code : new int[] {FabricErrno.ETRUNC, FabricErrno.EIO, -77, 987_654}) {
            String text = queue.strerror(code, data, null, 0, 0);
            assertTrue(text.endsWith(" de ad 00"), text);
        }
    }

    @Test
    @Requirement("CQ-150")
    void shouldHaveNoCallThatWritesEntries() {
        for (Method method : CompletionQueue.class.getMethods()) {
            String name = method.getName().toLowerCase(Locale.ROOT);
            for (String verb : List.of("write", "insert", "post", "put", "add", "offer", "complete")) {
                assertFalse(name.startsWith(verb), method.toString());
            }
        }
    }

    @Test
    @Requirement("CQ-096")
    void shouldRefuseFlagsOfReadErr() {
        image.error(1, FabricErrno.EIO, 1, new byte[0]);
        assertEquals(-FabricErrno.EBADFLAGS, queue.readErr(error, 1));
        assertEquals(1, queue.readErr(error, 0));
    }

    @Test
    @Requirement("CQ-058")
    void shouldConsumeNothingWhenCountIsZero() {
        assertEquals(-FabricErrno.EAGAIN, queue.read(null, 0, 0));
        image.success(1);
        assertEquals(0, queue.read(null, 0, 0));
        assertEquals(0, queue.poll(this::collect, 0));
        assertEquals(1, queue.read(buffer, 0, 1));
        image.error(2, FabricErrno.EIO, 1, new byte[0]);
        assertEquals(-FabricErrno.EAVAIL, queue.read(null, 0, 0));
        assertEquals(-FabricErrno.EAVAIL, queue.poll(this::collect, 0));
        assertEquals(1, image.readPosition());
    }

    @Test
    void shouldRefuseCountsAndBuffersThatCannotBe() {
        image.success(1);
        assertEquals(-FabricErrno.EINVAL, queue.read(buffer, 0, -1));
        assertEquals(-FabricErrno.EINVAL, queue.read(buffer, -1, 1));
        assertEquals(-FabricErrno.EINVAL, queue.read(new UnsafeBuffer(new byte[47]), 0, 1));
        assertEquals(-FabricErrno.EINVAL, queue.readFrom(buffer, 0, 2, new long[1]));
        assertEquals(-FabricErrno.EINVAL, queue.readFrom(buffer, 0, 2, new UnsafeBuffer(new byte[15]), 0));
        assertEquals(0, image.readPosition());
    }

    @Test
    @Requirement({"CQ-064", "CQ-065", "CQ-067"})
    void shouldTellTheSourceOfEachEntry() {
        image.success(1);
        image.success(2);
        image.success(3);
        long[] sources = new long[4];
        assertEquals(2, queue.readFrom(buffer, 0, 2, sources));
        assertEquals(1, sources[0]);
        assertEquals(FabricAddress.ADDR_NOTAVAIL, sources[1]);
        UnsafeBuffer heap = new UnsafeBuffer(new byte[16]);
        assertEquals(1, queue.readFrom(buffer, 0, 1, heap, 8));
        assertEquals(3, heap.getLong(8));
    }

    @Test
    void shouldShowEntriesInPlaceAndReleaseThemAtTheEnd() {
        image.success(1);
        image.success(2);
        int shown = queue.poll(completion -> {
            assertEquals(0, image.readPosition());
            assertEquals(completion.opContext() * 10, completion.flags());
            assertEquals(completion.opContext() * 100, completion.len());
            assertEquals(completion.opContext() * 1000, completion.buf());
            assertEquals(completion.opContext() * 10_000, completion.data());
            assertEquals(completion.opContext() * 100_000, completion.tag());
            assertEquals(-FabricErrno.EOPBADSTATE, queue.read(buffer, 0, 1));
            collect(completion);
        }, 10);
        assertEquals(2, shown);
        assertEquals(List.of(1L, 2L), contexts);
        assertEquals(2, image.readPosition());
    }

    @Test
    void shouldCountAnEntryAsReadWhenItsHandlerThrows() {
        image.success(1);
        image.success(2);
        assertThrows(IllegalStateException.class, () -> queue.poll(completion -> {
            throw new IllegalStateException("of the application");
        }, 10));
        assertEquals(1, image.readPosition());
        assertEquals(1, queue.poll(this::collect, 10));
        assertEquals(List.of(2L), contexts);
    }

    @Test
    void shouldReadOverManyLapsAndTheWrapOfTheNumber() {
        for (int i = 1; i <= 10 * CAPACITY + 3; i++) {
            image.success(i);
            assertEquals(1, queue.poll(this::collect, 10));
            assertEquals(i, contexts.get(i - 1));
        }
        assertEquals(-FabricErrno.EAGAIN, queue.poll(this::collect, 10));
    }

    @Test
    void shouldGiveCreditBackForEntriesOfTheClientOnly() {
        for (int i = 0; i < SHARE; i++) {
            assertTrue(queue.credits().available());
            queue.credits().take();
        }
        assertFalse(queue.credits().available());
        image.success(1, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        assertEquals(1, queue.read(buffer, 0, 1));
        assertFalse(queue.credits().available());
        image.success(2);
        image.error(3, FabricErrno.EIO, 1, new byte[0]);
        assertEquals(1, queue.poll(this::collect, 9));
        assertEquals(1, queue.credits().left());
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(2, queue.credits().left());
        image.retired(2);
        assertEquals(SHARE, queue.credits().left());
    }

    @Test
    @Requirement({"CQ-146", "CQ-147"})
    void shouldTellOverrunOnceAllThatWasWrittenIsRead() {
        for (int i = 1; i <= CAPACITY; i++) {
            image.success(i);
        }
        image.overrun();
        assertEquals(CAPACITY, queue.read(buffer, 0, CAPACITY));
        for (int i = 0; i < 3; i++) {
            assertEquals(-FabricErrno.EOVERRUN, queue.read(buffer, 0, 1));
            assertEquals(-FabricErrno.EOVERRUN, queue.poll(this::collect, 1));
            assertEquals(-FabricErrno.EOVERRUN, queue.read(buffer, 0, 0));
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(FabricErrno.EOVERRUN, error.err());
            assertEquals(0, error.opContext());
        }
    }

    @Test
    void shouldReadWhatADeadDriverWroteAndThenSayThatItIsGone() {
        image.success(1);
        image.error(2, FabricErrno.EIO, 1, new byte[0]);
        assertTrue(driver.end(new FabricException(FabricErrno.ENODEV, "died")));
        assertFalse(driver.end(new FabricException(FabricErrno.EIO, "again")));
        assertEquals(1, queue.read(buffer, 0, 2));
        assertEquals(-FabricErrno.EAVAIL, queue.read(buffer, 0, 2));
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(-FabricErrno.ENODEV, queue.read(buffer, 0, 2));
        assertEquals(-FabricErrno.ENODEV, queue.poll(this::collect, 2));
        assertEquals(-FabricErrno.ENODEV, queue.readErr(error, 0));
        assertEquals(FabricErrno.ENODEV, assertThrows(FabricException.class, driver::requireAlive).errno());
    }

    @Test
    @Requirement("CQ-142")
    void shouldRefuseToReadBeforeAnEndpointIsEnabledAndAfterClose() {
        CompletionQueue unbound = new CompletionQueue(
            null, 1, 0, new CompletionQueueAttr().size(SHARE).format(CompletionFormat.TAGGED), image.memory, CAPACITY,
            driver, null, 0, 0);
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.read(buffer, 0, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.readErr(error, 0));
        unbound.onEndpointEnabled();
        assertEquals(-FabricErrno.EAGAIN, unbound.read(buffer, 0, 1));
        unbound.markClosed();
        unbound.onEndpointEnabled();
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.read(buffer, 0, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.poll(this::collect, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.readErr(error, 0));
        assertFalse(unbound.isOpen());
    }

    @Test
    @Requirement({"CQ-104", "CQ-105", "CQ-106"})
    void shouldExplainProviderErrorsOfEitherSign() {
        UnsafeBuffer text = new UnsafeBuffer(new byte[16]);
        text.setMemory(0, 16, (byte) 'x');
        String full = queue.strerror(FabricErrno.ETRUNC, new UnsafeBuffer(new byte[] {(byte) 0xAB}), text, 2, 8);
        assertTrue(full.startsWith("FI_ETRUNC"), full);
        assertTrue(full.contains("ab"), full);
        assertEquals(full.substring(0, 7), text.getStringWithoutLengthAscii(2, 7));
        assertEquals(0, text.getByte(9));
        assertEquals('x', text.getByte(10));
        assertEquals('x', text.getByte(1));
        assertEquals(queue.strerror(FabricErrno.ETRUNC), queue.strerror(-FabricErrno.ETRUNC));
        assertFalse(queue.strerror(987_654).isEmpty());
        assertNotEquals(queue.strerror(1), queue.strerror(2));
        text.setMemory(0, 16, (byte) 'x');
        queue.strerror(5, null, text, 0, 1);
        assertEquals(0, text.getByte(0));
        assertEquals('x', text.getByte(1));
        queue.strerror(5, null, text, 1, 0);
        assertEquals('x', text.getByte(1), "no room for an end either");
    }

    @Test
    void shouldRunOneCycleOfAnEmbeddedDriverBeforeEachRead() {
        int[] cycles = new int[1];
        CompletionQueue embedded = open(CompletionFormat.TAGGED, new Invoker(new SleeplessDriver() {
            @Override
            public org.jfabric.client.Attachment attach() {
                throw new AssertionError();
            }

            @Override
            public void detach(long clientId) {
                throw new AssertionError();
            }

            @Override
            public int cycle(int messageLimit) {
                return pollMessages(messageLimit);
            }

            @Override
            public int pollMessages(int messageLimit) {
                image.success(++cycles[0]);
                return 1;
            }

            @Override
            public boolean needsCycle() {
                return true;
            }

            @Override
            public org.jfabric.client.EndpointPort port(long endpointId) {
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
        }, null, null));
        assertEquals(1, embedded.read(buffer, 0, 10));
        assertEquals(1, embedded.poll(this::collect, 10));
        assertEquals(2, cycles[0]);
        assertEquals(List.of(2L), contexts);
        assertEquals(-FabricErrno.EAGAIN, embedded.readErr(error, 0));
        assertEquals(3, cycles[0]);
    }

    private void collect(Completion completion) {
        contexts.add(completion.opContext());
    }

    private CompletionQueue open(CompletionFormat format, Invoker invoker) {
        CompletionQueue opened = new CompletionQueue(
            null, 1, 0, new CompletionQueueAttr().size(SHARE).format(format), image.memory, CAPACITY, driver, invoker,
            0, 0);
        opened.onEndpointEnabled();
        return opened;
    }
}
