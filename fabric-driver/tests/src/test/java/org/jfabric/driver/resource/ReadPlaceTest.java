package org.jfabric.driver.resource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import org.jfabric.layout.ReadPlaceDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ReadPlaceTest {
    private static final int PLACES = 5_000_000;

    private final long file = Arena.ofAuto().allocate(512, 4096).address();
    private final ReadPlace place = new ReadPlace(file, null);

    /** A client that has read one message in each line would be taken for one that lies. */
    @Test
    @Timeout(60)
    void shouldShowNoPositionAheadOfTheOffsetWhileTheClientMoves() throws InterruptedException {
        Thread client = Thread.ofPlatform().start(() -> {
            for (long i = 1; i <= PLACES; i++) {
                ReadPlaceDescriptor.store(file, 64 * i, i, i);
            }
        });
        while (place.lost() < PLACES) {
            place.look();
            assertTrue(64 * place.position() <= place.offset() && place.lost() <= place.position(),
                () -> "offset " + place.offset() + ", position " + place.position() + ", lost " + place.lost());
        }
        client.join();
        place.look();
        assertEquals(64L * PLACES, place.offset());
        assertEquals(PLACES, place.position());
    }
}
