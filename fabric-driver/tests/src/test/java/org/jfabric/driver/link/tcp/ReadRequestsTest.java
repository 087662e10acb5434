package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Random;
import org.jfabric.driver.link.PieceList;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadRequestsTest {
    private record Expected(long operation, boolean isAccess, long address, PieceList pieces, long length) {
    }

    private final ReadRequests requests = new ReadRequests();
    private final ArrayDeque<Expected> model = new ArrayDeque<>();
    private long next = 1;

    private void add() {
        Expected added = new Expected(next, next % 3 == 0, next * 8, next % 2 == 0 ? new PieceList() : null, next * 5);
        next++;
        model.add(added);
        requests.add(added.operation, added.isAccess, added.address, added.pieces, added.length);
    }

    private void remove() {
        ReadRequests.Read read = requests.oldest();
        assertEquals(model.remove(),
            new Expected(read.operation, read.isAccess, read.address, read.pieces, read.length));
        requests.remove();
        assertNull(read.pieces, "is held after the read has ended");
    }

    /** The list grows wherever its first read is. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldKeepTheOrderWhenItGrows(int removed) {
        for (int i = 0; i < removed; i++) {
            add();
            remove();
        }
        for (int i = 0; i < 17; i++) {
            add();
        }
        while (!model.isEmpty()) {
            assertFalse(requests.isEmpty());
            remove();
        }
        assertTrue(requests.isEmpty());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldBeAQueue(int seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 5000; i++) {
            boolean isFull = model.size() >= ExposedMemory.MAX_WAITING;
            assertEquals(isFull, requests.isFull());
            assertEquals(model.isEmpty(), requests.isEmpty());
            if (!isFull && (model.isEmpty() || random.nextInt(100) < 50 + i / 100 % 2 * 10 - 5)) {
                add();
            } else {
                remove();
            }
        }
    }
}
