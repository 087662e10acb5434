package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FiguresTest {
    @ParameterizedTest
    @CsvSource({"NaN, -", "0, 0", "7, 7", "7.25, 7.25", "12.34, 12.3", "999, 999", "999.4, 999", "999.6, 1.00k",
        "1234, 1.23k", "99960, 100k", "1234567, 1.23M", "5e9, 5.00G"})
    void shouldShowThreeDigits(double value, String text) {
        assertEquals(text, Figures.number(value));
    }

    @ParameterizedTest
    @CsvSource({"-1, -", "0, 0ns", "128, 128ns", "1280, 1.28us", "999600, 1.00ms", "17000000000, 17.0s",
        "9223372036854775807, >17s"})
    void shouldShowTimesWithTheirUnit(long ns, String text) {
        assertEquals(text, Figures.time(ns));
    }

    @ParameterizedTest
    @CsvSource({"-5, 0s", "59.9, 59s", "60, 1m00s", "3599, 59m59s", "3600, 1h00m", "90061, 1d01h"})
    void shouldShowDurationsInTwoUnits(double seconds, String text) {
        assertEquals(text, Figures.duration(seconds));
    }
}
