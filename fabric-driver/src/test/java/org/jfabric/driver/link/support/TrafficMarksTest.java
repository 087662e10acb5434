package org.jfabric.driver.link.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.ffi.SocketClass;
import org.jfabric.info.TrafficClass;
import org.junit.jupiter.api.Test;

class TrafficMarksTest {
    @Test
    void shouldMarkEveryLabelWithItsCodePoint() {
        int[][] marks = {{0, 0}, null, {0, 0}, {46, 6}, {40, 6}, {10, 2}, {1, 1}, {48, 6}};
        for (TrafficClass label : TrafficClass.values()) {
            int[] expected = marks[label.ordinal()];
            if (expected != null) {
                assertEquals(new SocketClass(expected[0] << 2, expected[1]), TrafficMarks.of(label.code()),
                    label::toString);
            }
        }
    }

    @Test
    void shouldMarkWithACodePointThatFitsIntoAHeader() {
        for (int dscp = 0; dscp < 256; dscp++) {
            SocketClass expected = dscp > 63 ? SocketClass.NONE : new SocketClass(dscp << 2, dscp >= 40 ? 6 : 0);
            assertEquals(expected, TrafficMarks.of(TrafficClass.dscpSet(dscp)));
        }
    }
}
