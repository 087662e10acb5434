package org.jfabric.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SlabDescriptorTest {
    @Test
    void shouldMakeACellTheLeastMultipleThatHoldsThePayload() {
        int unit = SlabDescriptor.CELL_ALIGNMENT;
        for (int payload = 0; payload <= 5 * unit; payload++) {
            int length = SlabDescriptor.cellLength(payload);
            assertEquals(0, length % unit);
            assertTrue(length >= payload && length > 0);
            assertTrue(length == unit || length - unit < payload, length + " for " + payload);
        }
    }
}
