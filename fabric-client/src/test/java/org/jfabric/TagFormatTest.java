package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricException;
import org.jfabric.info.TagFormat;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

class TagFormatTest {
    @Test
    @Requirement({"EP-143", "EP-144", "EP-146"})
    void shouldReadTheFieldsOfAFormat() {
        TagFormat format = new TagFormat(0x30FF);
        assertEquals(14, format.bits());
        assertEquals(0x3FFF, format.mask());
        long[] fields = {0x3000, 0x0F00, 0x00FF};
        assertEquals(fields.length, format.fieldCount());
        for (int i = 0; i < fields.length; i++) {
            assertEquals(fields[i], format.fieldMask(i), "field " + i);
        }
        for (int chosen = 0; chosen < 8; chosen++) {
            long mask = 0;
            for (int i = 0; i < fields.length; i++) {
                mask |= (chosen >> i & 1) == 0 ? 0 : fields[i];
            }
            assertTrue(format.isValidMask(mask), "mask " + mask);
            assertTrue(format.isValidMask(mask | 0xF000_0000L), "bits outside do not count");
        }
        for (long broken : new long[] {0x1000, 0x0100, 1, 0x80, 0x3100}) {
            assertFalse(format.isValidMask(broken), "mask " + broken);
        }
        assertThrows(FabricException.class, () -> format.fieldMask(3));
        assertThrows(FabricException.class, () -> format.fieldMask(-1));
    }

    @Test
    @Requirement("EP-149")
    void shouldReadATagWithoutStructureAsBits() {
        TagFormat format = new TagFormat(FabricAddress.TAG_FORMAT_GENERIC);
        assertEquals(0xAAAA_AAAA_AAAA_AAAAL, FabricAddress.TAG_FORMAT_GENERIC);
        assertEquals(64, format.bits());
        assertEquals(64, format.fieldCount());
        assertEquals(-1L, format.mask());
        for (int i = 0; i < 64; i++) {
            assertEquals(1L << 63 - i, format.fieldMask(i));
        }
        assertTrue(format.isValidMask(0x1234_5678_9ABC_DEF1L));
        // what a provider reports beyond the fields is cut off by the mask
        assertEquals(0x2BCD, 0xFFFF_FFFF_FFFF_ABCDL & new TagFormat(0x30FF).mask());
    }

    @Test
    void shouldKnowNoFieldInZeroAndOneInAllOnes() {
        TagFormat none = new TagFormat(0);
        assertEquals(0, none.bits() + none.fieldCount());
        assertEquals(0, none.mask());
        assertTrue(none.isValidMask(5));
        TagFormat one = new TagFormat(-1L);
        assertEquals(1, one.fieldCount());
        assertEquals(-1L, one.fieldMask(0));
        assertFalse(one.isValidMask(1));
        assertEquals(new TagFormat(0x30FF), new TagFormat(0x30FF));
        assertEquals(new TagFormat(0x30FF).hashCode(), new TagFormat(0x30FF).hashCode());
        assertTrue(new TagFormat(0x30FF).toString().contains("30"));
    }

    @Test
    @Requirement("EP-147")
    void shouldHoldWhatHasAsManyFieldsOfAtMostItsWidths() {
        TagFormat asked = new TagFormat(0x30FF);
        assertTrue(new TagFormat(0x30FF).holds(asked));
        assertTrue(new TagFormat(0b111_0000_11111111L).holds(asked));
        assertFalse(new TagFormat(0b1_0000_11111111L).holds(asked));
        assertFalse(new TagFormat(0b111_0000_1111111L).holds(asked));
        assertFalse(new TagFormat(0xFF).holds(asked));
    }
}
