package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class SideReportTest {
    private static final Profile PROFILE = new Profile(Map.of("poll: link: ring and frames", 7));
    private static final PassLoad LOAD = new PassLoad(3, 4, 5, 6);

    @Test
    void shouldReadWhatItHasWritten() {
        Histogram histogram = new Histogram(100_000_000_000L, 3);
        histogram.recordValueWithCount(1_234, 60_000);
        histogram.recordValue(99_000_000_000L);
        String line = new SideReport(1, LOAD, 8, histogram, PROFILE).format();

        SideReport read = SideReport.parse(line);

        assertFalse(line.contains("\n"));
        assertEquals(histogram, read.histogram());
        assertEquals(new SideReport(1, LOAD, 8, read.histogram(), PROFILE), read);
    }

    @Test
    void shouldDoWithoutAHistogramAndAProfile() {
        SideReport read = SideReport.parse(new SideReport(1, LOAD, 8, null, null).format());
        assertNull(read.histogram());
        assertNull(read.profile());
    }

    @Test
    void shouldRefuseWhatItDidNotWrite() {
        assertThrows(IllegalArgumentException.class, () -> SideReport.parse("armed"));
        assertThrows(IllegalArgumentException.class, () -> SideReport.parse("1 2 3 4 5 six - -"));
        assertThrows(IllegalArgumentException.class, () -> SideReport.parse("1 2 3 4 5 6 - none"));
    }
}
