package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.VerbsErrno;
import org.junit.jupiter.api.Test;

class VerbsErrnoTest {
    private static final int RETRY_EXCEEDED = 12;
    private static final int DEVICE_FATAL = 8;

    private static String text(int provErrno) {
        return ErrorText.of(provErrno, null, null, 0, 0);
    }

    @Test
    void shouldKeepStatusAndVendorsCode() {
        for (int status = 0; status < 32; status++) {
            int code = VerbsErrno.ofCompletion(status, 0x89_4321);
            assertTrue(code > 0 && VerbsErrno.isVerbs(code) && VerbsErrno.isVerbs(-code));
            assertEquals(status, VerbsErrno.status(code));
            assertEquals(status, VerbsErrno.status(-code));
            assertEquals(0x89_4321, VerbsErrno.vendorCode(-code));
            assertEquals(-1, VerbsErrno.event(code));
        }
        assertEquals(0xFF_FFFF, VerbsErrno.vendorCode(VerbsErrno.ofCompletion(1, -1)), "the lower 24 bits");
    }

    @Test
    void shouldKeepTheEvent() {
        int code = VerbsErrno.ofEvent(DEVICE_FATAL);
        assertTrue(VerbsErrno.isVerbs(code));
        assertEquals(DEVICE_FATAL, VerbsErrno.event(-code));
        assertEquals(-1, VerbsErrno.status(code));
        assertEquals(0, VerbsErrno.vendorCode(code));
    }

    @Test
    void shouldLeaveEveryErrnoAsItIs() {
        for (int errno : FabricErrno.codes()) {
            assertFalse(VerbsErrno.isVerbs(errno) || VerbsErrno.isVerbs(-errno));
            assertEquals(FabricErrno.name(errno) + ": " + FabricErrno.describe(errno), text(errno));
        }
        assertFalse(VerbsErrno.isVerbs(123456) || VerbsErrno.isVerbs(Integer.MIN_VALUE));
        assertEquals(-1, VerbsErrno.status(5));
        assertEquals(-1, VerbsErrno.event(5));
        assertEquals(0, VerbsErrno.vendorCode(5));
    }

    @Test
    void shouldSayStatusAndVendorsCodeInASentence() {
        int code = VerbsErrno.ofCompletion(RETRY_EXCEEDED, 0x81);
        String wanted = "IBV_WC_RETRY_EXC_ERR (12): The peer's card does not answer: it is gone, or the way to it"
            + " (vendor's code 0x81).";
        assertEquals(wanted, text(code));
        assertEquals(wanted, text(-code));
        assertTrue(text(VerbsErrno.ofEvent(DEVICE_FATAL)).startsWith("IBV_EVENT_DEVICE_FATAL (8): "));
        UnsafeBuffer cut = new UnsafeBuffer(new byte[8]);
        assertEquals(wanted, ErrorText.of(code, null, cut, 0, 8));
        assertEquals("IBV_WC_", cut.getStringWithoutLengthAscii(0, 7));
        assertEquals(0, cut.getByte(7));
    }

    @Test
    void shouldHaveATextForNumbersThatItDoesNotKnow() {
        for (int number = 0; number < 32; number++) {
            assertFalse(text(VerbsErrno.ofCompletion(number, 0)).isEmpty());
            assertFalse(text(VerbsErrno.ofEvent(number)).isEmpty());
        }
        assertTrue(text(VerbsErrno.ofCompletion(31, 7)).contains("unknown (31)"));
    }
}
