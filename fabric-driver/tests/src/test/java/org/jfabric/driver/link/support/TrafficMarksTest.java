package org.jfabric.driver.link.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.ffi.SocketClass;
import org.jfabric.info.TrafficClass;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrafficMarksTest {
    @ParameterizedTest
    @CsvSource({"UNSPEC, 0, 0", "BEST_EFFORT, 0, 0", "LOW_LATENCY, 46, 6", "DEDICATED_ACCESS, 40, 6",
        "BULK_DATA, 10, 2", "SCAVENGER, 1, 1", "NETWORK_CTRL, 48, 6"})
    @Requirement({"TX-049", "TX-050", "TX-051", "TX-052", "TX-053"})
    void shouldMarkEveryLabelWithItsCodePoint(TrafficClass label, int codePoint, int priority) {
        assertEquals(new SocketClass(codePoint << 2, priority), TrafficMarks.of(label.code()));
    }

    @Test
    void shouldMarkWithACodePointThatFitsIntoAHeader() {
        for (int dscp = 0; dscp < 256; dscp++) {
            SocketClass expected = dscp > 63 ? SocketClass.NONE : new SocketClass(dscp << 2, dscp >= 40 ? 6 : 0);
            assertEquals(expected, TrafficMarks.of(TrafficClass.dscpSet(dscp)));
        }
    }
}
