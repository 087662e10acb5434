package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class SideReportTest {
    @Test
    void shouldReadWhatItHasWritten() {
        Histogram histogram = new Histogram(100_000_000_000L, 3);
        histogram.recordValueWithCount(1_234, 60_000);
        histogram.recordValue(99_000_000_000L);
        String line = new SideReport(1, 2, 3, 4, 5, histogram).format();

        SideReport read = SideReport.parse(line);

        assertFalse(line.contains("\n"));
        assertEquals(histogram, read.histogram());
        assertEquals(new SideReport(1, 2, 3, 4, 5, read.histogram()), read);
    }

    @Test
    void shouldDoWithoutAHistogram() {
        assertNull(SideReport.parse(new SideReport(1, 2, 3, 4, 5, null).format()).histogram());
    }

    @Test
    void shouldRefuseWhatItDidNotWrite() {
        assertThrows(IllegalArgumentException.class, () -> SideReport.parse("armed"));
        assertThrows(IllegalArgumentException.class, () -> SideReport.parse("1 2 3 4 five -"));
    }
}
