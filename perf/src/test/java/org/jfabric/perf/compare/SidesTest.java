package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Both sides of a system in this process, with few messages. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SidesTest {
    private static final int SIZE = 64;
    private static final int COUNT = 130;

    @TempDir
    Path folder;
    private Path cell;

    /** Not there yet: the first driver makes it. */
    @BeforeEach
    void nameTheFolder() {
        cell = folder.resolve("cell");
    }

    @Test
    void shouldExchangeWithTwoPeersAfterACancelAndAPeek() throws Exception {
        Exchange.run(SideKind.JFABRIC_POSTED, SIZE, cell);
    }

    @Test
    void shouldSendFromOneDriverToTheOtherInOneThread() {
        try (Side side = SideKind.JFABRIC_ONE_THREAD.open(Exchange.settings(SideRole.PING, SIZE, cell))) {
            side.connect();
            side.cycle();
            assertTrue(side.run(Pass.EXCHANGE, COUNT) > 0);
        }
    }

    /** Both daemons only have to be there. */
    @Test
    @SuppressWarnings("try")
    void shouldExchangeThroughTwoDaemonsWithClientsThatSleep() throws Exception {
        Side first = SideKind.JFABRIC_SHARED_UNBOUND.open(Exchange.settings(SideRole.PING_DRIVER, SIZE, cell));
        try {
            Side second = SideKind.JFABRIC_SHARED_UNBOUND.open(Exchange.settings(SideRole.DRIVER, SIZE, cell));
            try {
                Exchange.run(SideKind.JFABRIC_WAITING_SHM, SIZE, cell);
            } finally {
                second.close();
            }
        } finally {
            first.close();
        }
    }
}
