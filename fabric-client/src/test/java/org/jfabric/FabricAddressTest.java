package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;

class FabricAddressTest {
    @Test
    @Requirement({"SEP-021", "REF-020"})
    void shouldPutTheContextIntoTheHighestBits() {
        for (int bits = 1; bits <= FabricAddress.MAX_RX_CTX_BITS; bits++) {
            for (int index : new int[] {0, 1, (1 << bits) - 1}) {
                for (long fiAddr : new long[] {0, 1, 0xABCDE}) {
                    assertEquals(((long) index << (64 - bits)) | fiAddr, FabricAddress.rxAddr(fiAddr, index, bits));
                }
            }
        }
        assertEquals(0xC000_0000_0000_0005L, FabricAddress.rxAddr(5, 3, 2));
        assertEquals(5, FabricAddress.rxAddr(5, 0, 0));
    }

    @Test
    @Requirement("SEP-021")
    void shouldRefuseContextsThatTheBitsCannotHold() {
        int[][] wrong = {{0, -1}, {0, 17}, {1, 0}, {4, 2}, {-1, 4}, {1 << 16, 16}};
        for (int[] each : wrong) {
            assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class,
                () -> FabricAddress.rxAddr(1, each[0], each[1])).errno());
        }
    }
}
