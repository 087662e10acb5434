package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.BitSet;
import org.jfabric.ffi.Affinity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The baselines in this process, with few messages. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BaselinesTest {
    @TempDir
    Path folder;

    @Test
    void shouldExchangeMessagesOverSockets() throws Exception {
        Exchange.run(SideKind.BARE_TCP, 64, folder.resolve("cell"));
        Exchange.run(SideKind.BARE_TCP, 1 << 20, folder.resolve("cell"));
        Exchange.run(SideKind.BARE_UDP, 64, folder.resolve("cell"));
        Exchange.run(SideKind.BARE_UDP, BarePort.MOST_DATAGRAM_BYTES, folder.resolve("cell"));
    }

    private static SideSettings settings(Pass pass, int sizeBytes) {
        BitSet cpus = Affinity.cpus();
        int cpu = cpus.nextSetBit(0);
        return new SideSettings(SideRole.PING, pass, sizeBytes, Path.of("unused"), 0, cpu,
            Math.max(cpu, cpus.nextSetBit(cpu + 1)), true);
    }

    @ParameterizedTest
    @EnumSource(value = SideKind.class, names = {"HAND_OVER", "BARE_HAND_OVER"})
    void shouldHandALineOverAndBack(SideKind kind) {
        try (Side side = kind.open(settings(Pass.EXCHANGE, 64))) {
            assertTrue(side.run(Pass.EXCHANGE, 50) > 0);
            assertTrue(side.run(Pass.EXCHANGE, 65) > 0);
        }
    }

    @Test
    void shouldHandALineOverAtAFixedRate() {
        try (Side side = SideKind.HAND_OVER.open(settings(Pass.PACED, 64))) {
            assertTrue(side.run(Pass.PACED, 50) > 0);
            assertEquals(50, side.distribution().getTotalCount());
        }
    }

    @Test
    void shouldCopyMemory() {
        try (Side side = SideKind.COPY.open(settings(Pass.STREAM, 65_536))) {
            assertTrue(side.run(Pass.STREAM, 100) > 0);
        }
    }
}
