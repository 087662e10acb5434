package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @ParameterizedTest
    @CsvSource({
        "0,0", "100,100", "-1,-1", "64k,65536", "64K,65536", "64KiB,65536", "64 KiB,65536", "1m,1048576",
        "1MiB,1048576", "2g,2147483648", "2GiB,2147483648", "2gib,2147483648"})
    void shouldReadSizeWhenUnitIsKnown(String text, long bytes) {
        assertEquals(bytes, Quantity.parseBytes(text));
    }

    @ParameterizedTest
    @CsvSource({"0,0", "15,15", "15ns,15", "3us,3000", "3 US,3000", "7ms,7000000", "2s,2000000000"})
    void shouldReadDurationWhenUnitIsKnown(String text, long durationNs) {
        assertEquals(durationNs, Quantity.parseDurationNs(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "k", "1.5k", "1kb", "1 ms", "0x10", "1_000", "+1", "1k k", "\u0661"})
    void shouldRefuseSizeWhenTextIsNoWholeNumberWithUnitOfSize(String text) {
        assertThrows(IllegalArgumentException.class, () -> Quantity.parseBytes(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "1k", "1m", "1.5ms", "1 min", "1e3"})
    void shouldRefuseDurationWhenTextIsNoWholeNumberWithUnitOfTime(String text) {
        assertThrows(IllegalArgumentException.class, () -> Quantity.parseDurationNs(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"9223372036854775808", "9007199254740992k", "8589934592g", "-9223372036854775809"})
    void shouldRefuseSizeWhenItDoesNotFit64Bits(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> Quantity.parseBytes(text)).getMessage();
        assertTrue(message.contains("too large"), message);
    }

    @Test
    void shouldRefuseCountWhenItHasUnit() {
        assertEquals(-16, Quantity.parseCount("-16"));
        assertThrows(IllegalArgumentException.class, () -> Quantity.parseCount("16k"));
    }

    @ParameterizedTest
    @CsvSource({"65536,64 KiB", "1048576,1 MiB", "1073741824,1 GiB", "65537,65537", "0,0", "-1,-1"})
    void shouldShowSizeInLargestUnitThatDivides(long bytes, String text) {
        assertEquals(text, Quantity.formatBytes(bytes));
        assertEquals(bytes, Quantity.parseBytes(text));
    }

    @ParameterizedTest
    @CsvSource({"15,15 ns", "3000,3 us", "7000000,7 ms", "2000000000,2 s", "2000000001,2000000001 ns", "0,0"})
    void shouldShowDurationInLargestUnitThatDivides(long durationNs, String text) {
        assertEquals(text, Quantity.formatDurationNs(durationNs));
        assertEquals(durationNs, Quantity.parseDurationNs(text));
    }

    @Test
    void shouldDescribeSizeWithRoundedAndExactNumber() {
        assertEquals("1.5 MiB (1,572,865 bytes)", Quantity.describeBytes((3L << 19) + 1));
        assertEquals("1,023 bytes", Quantity.describeBytes(1023));
    }
}
