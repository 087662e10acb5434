package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class CompletionErrorTest {
    private static final UnsafeBuffer SOURCE =
        new UnsafeBuffer("..0123456789abcdef".getBytes(StandardCharsets.US_ASCII));

    @Test
    void shouldReturnEveryMemberAndForgetItOnReset() {
        CompletionError error = new CompletionError().opContext(1).flags(1L << 10).len(3).buf(4).data(5).tag(6)
            .olen(7).err(265).provErrno(-9).srcAddr(10).errData(SOURCE, 2, 3);
        assertEquals(1, error.opContext());
        assertEquals(1L << 10, error.flags());
        assertEquals(3, error.len());
        assertEquals(4, error.buf());
        assertEquals(5, error.data());
        assertEquals(6, error.tag());
        assertEquals(7, error.olen());
        assertEquals(265, error.err());
        assertEquals(-9, error.provErrno());
        assertEquals(10, error.srcAddr());
        assertEquals("CompletionError{err=FI_ETRUNC, provErrno=-9, opContext=1, flags=RECV, len=3, buf=0x4, data=0x5, "
            + "tag=0x6, olen=7, errDataSize=3, srcAddr=10}", error.toString());

        assertSame(error, error.reset());
        assertEquals(new CompletionError().toString(), error.toString());
        assertEquals(0, error.errData().capacity());
        assertEquals(FabricAddress.ADDR_NOTAVAIL, error.srcAddr());
    }

    @Test
    void shouldKeepErrorDataInItsOwnMemoryWhenTheCallerGaveNone() {
        UnsafeBuffer slot = new UnsafeBuffer("reused".getBytes(StandardCharsets.US_ASCII));
        CompletionError error = new CompletionError().errData(slot, 2, 4);
        slot.setMemory(0, slot.capacity(), (byte) 'x');
        assertEquals("used", error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
    }

    @Test
    void shouldCutErrorDataToTheCapacityOfTheCaller() {
        UnsafeBuffer own = new UnsafeBuffer(new byte[16]);
        own.setMemory(0, 16, (byte) '-');
        CompletionError error = new CompletionError().errDataBuffer(own, 3, 4).errData(SOURCE, 2, 16);
        assertEquals(4, error.errDataSize());
        assertEquals("0123", error.errData().getStringWithoutLengthAscii(0, 4));
        assertEquals("---0123---------", own.getStringWithoutLengthAscii(0, 16));
    }

    @Test
    void shouldTellTheBytesStoredWhenThereIsRoomForMore() {
        UnsafeBuffer own = new UnsafeBuffer(new byte[64]);
        CompletionError error = new CompletionError().errDataBuffer(own, 0, 64).errData(SOURCE, 2, 16);
        assertEquals(16, error.errDataSize());
        assertEquals(16, error.errData().capacity());
        assertEquals(0, error.errData(SOURCE, 2, 0).errDataSize());
        error.reset();
        assertEquals(5, error.errData(SOURCE, 2, 5).errDataSize(), "the buffer stays in use over a reset");
        assertEquals("01234", own.getStringWithoutLengthAscii(0, 5));
    }

    @Test
    void shouldLeaveTheBufferOfTheCallerAloneWhenItsCapacityIsZero() {
        UnsafeBuffer own = new UnsafeBuffer(new byte[8]);
        CompletionError error = new CompletionError().errDataBuffer(own, 0, 8).errDataBuffer(own, 0, 0);
        error.errData(SOURCE, 2, 8);
        assertEquals(8, error.errDataSize());
        assertEquals(0L, own.getLong(0));
        error.errDataBuffer(null, 5, 5).errData(SOURCE, 2, 1);
        assertEquals("0", error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
    }

    @Test
    void shouldKeepAWholeErrorCellAndNoMore() {
        UnsafeBuffer large = new UnsafeBuffer(new byte[CompletionError.MAX_ERR_DATA_LENGTH + 1]);
        CompletionError error = new CompletionError();
        assertEquals(104, error.errData(large, 0, 104).errDataSize());
        assertEquals(104, error.errData(large, 0, 105).errDataSize());
    }

    @Test
    void shouldRefuseARangeOutsideOfTheBuffer() {
        UnsafeBuffer own = new UnsafeBuffer(new byte[8]);
        int[][] ranges = {{-1, 4}, {0, 9}, {8, 1}, {4, 5}, {Integer.MAX_VALUE, 1}, {0, -1}, {1, Integer.MAX_VALUE}};
        for (int[] range : ranges) {
            FabricException refused = assertThrows(FabricException.class,
                () -> new CompletionError().errDataBuffer(own, range[0], range[1]));
            assertEquals(FabricErrno.EINVAL, refused.errno());
            assertTrue(refused.getMessage().contains("8 bytes"), refused.getMessage());
        }
    }
}
