package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jfabric.driver.kit.Effort;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

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

    @ParameterizedTest
    @EnumSource
    void shouldSendBetweenSeveralDriversInOneThread(ManyPeersSide.Pattern pattern) {
        try (Side side = new ManyPeersSide(cell, pattern, 3, SIZE)) {
            side.connect();
            assertTrue(side.run(Pass.EXCHANGE, 2 * COUNT) > 0);
        }
    }

    @Test
    void shouldWriteToEachReaderOfAGroup() {
        try (Side side = new GroupSide(Exchange.settings(SideRole.PING, SIZE, cell), 3)) {
            side.connect();
            assertTrue(side.run(Pass.EXCHANGE, COUNT) > 0);
        }
    }

    /** Of bursts of datagrams two whole ones and a part of one; in some passes contents are compared. */
    @ParameterizedTest
    @CsvSource({"JFABRIC_UDP, STREAM, 1024", "JFABRIC_UDP, VERIFY_STREAM, 1024", "JFABRIC_ZERO_COPY, STREAM, 64",
        "JFABRIC_ZERO_COPY, VERIFY_STREAM, 64", "JFABRIC_ZERO_COPY, VERIFY_STREAM, 4096",
        "JFABRIC_LENT, EXCHANGE, 65536", "JFABRIC_LENT_READ, VERIFY, 65536", "JFABRIC_CONNECTION, EXCHANGE, 64"})
    void shouldDoItsPartOfAPass(SideKind kind, Pass pass, int sizeBytes) throws Exception {
        boolean verifies = pass == Pass.VERIFY || pass == Pass.VERIFY_STREAM;
        try (Side pong = kind.open(Exchange.settings(SideRole.PONG, pass, sizeBytes, cell));
            Side ping = kind.open(Exchange.settings(SideRole.PING, pass, sizeBytes, cell))) {
            pong.connect();
            CompletableFuture<Void> connected = CompletableFuture.runAsync(ping::connect);
            // it accepts connections
            while (!connected.isDone()) {
                pong.cycle();
            }
            connected.get();
            AtomicBoolean isOver = new AtomicBoolean();
            CompletableFuture<Long> answered = CompletableFuture.supplyAsync(() -> {
                long result = pong.run(pass, COUNT);
                // the last answer leaves with a cycle behind it
                while (!isOver.get()) {
                    pong.cycle();
                }
                return result;
            });
            long result = ping.run(pass, COUNT);
            isOver.set(true);
            while (!answered.isDone()) {
                ping.cycle();
            }
            assertTrue(verifies ? result == COUNT : result > 0);
            assertTrue(!verifies || answered.get() == COUNT);
        }
    }

    /** Bursts are whole ones, also of a count that is none. */
    @ParameterizedTest
    @CsvSource({"JFABRIC_STREAM, EXCHANGE", "JFABRIC_STREAM, VERIFY", "JFABRIC_STREAM, VERIFY_STREAM",
        "JFABRIC_STREAM, BURST", "JFABRIC_STREAM_RECORDED, WRITE"})
    void shouldWriteAStreamThatTheOtherSideReads(SideKind kind, Pass pass) throws Exception {
        try (Side pong = kind.open(Exchange.settings(SideRole.PONG, pass, SIZE, cell));
            Side ping = kind.open(Exchange.settings(SideRole.PING, pass, SIZE, cell))) {
            connect(pong, ping);
            connect(ping, pong);
            AtomicBoolean isOver = new AtomicBoolean();
            CompletableFuture<Long> answered = CompletableFuture.supplyAsync(() -> {
                long result = pong.run(pass, COUNT);
                while (!isOver.get()) {
                    pong.cycle();
                }
                return result;
            });
            assertTrue(ping.run(pass, COUNT) > 0);
            isOver.set(true);
            assertEquals(pass == Pass.VERIFY || pass == Pass.VERIFY_STREAM ? COUNT : 0, answered.get());
            assertEquals(pass.hasDistribution(), ping.distribution() != null);
        }
    }

    private static void connect(Side side, Side other) throws Exception {
        CompletableFuture<Void> connected = CompletableFuture.runAsync(side::connect);
        while (!connected.isDone()) {
            other.cycle();
        }
        connected.get();
    }

    /** Chronicle needs options of the JVM. */
    @ParameterizedTest
    @CsvSource({"JFABRIC_RECORDING, RECORD", "JFABRIC_RECORDING, COMMIT", "JFABRIC_RECORDING, REPLAY",
        "AERON_ARCHIVE, RECORD", "AERON_ARCHIVE, REPLAY", "BARE_FILE, COMMIT"})
    @SuppressWarnings("try")
    void shouldWriteALogOrReadIt(SideKind kind, Pass pass) {
        Side archive = kind == SideKind.AERON_ARCHIVE
            ? SideKind.AERON_ARCHIVE_DRIVER.open(Exchange.settings(SideRole.DRIVER, pass, SIZE, cell)) : null;
        try (Side side = kind.open(Exchange.settings(SideRole.PING, pass, SIZE, cell))) {
            side.connect();
            assertTrue(side.run(pass, COUNT) > 0);
            assertTrue(side.run(pass, 2 * COUNT) > 0);
        } finally {
            if (archive != null) {
                archive.close();
            }
        }
    }

    @Test
    void shouldReadATable() {
        try (Side side = SideKind.JFABRIC_TABLE.open(Exchange.settings(SideRole.PING, Pass.GET, SIZE, cell))) {
            assertTrue(side.run(Pass.GET, COUNT) > 0);
        }
    }

    @Test
    @SuppressWarnings("try")
    void shouldExchangeByAeron() throws Exception {
        try (Side driver = SideKind.AERON_DRIVER.open(Exchange.settings(SideRole.DRIVER, SIZE, cell))) {
            Exchange.run(SideKind.AERON_IPC, SIZE, cell);
        }
    }

    /** The side itself compares the numbers of messages. Debian has the library. */
    @Test
    @SuppressWarnings("try")
    void shouldLendByIceoryx() throws Exception {
        assumeTrue(IceoryxLibrary.version() != null, "iceoryx is not installed");
        Side daemon = SideKind.ICEORYX_DAEMON.open(Exchange.settings(SideRole.DRIVER, SIZE, cell));
        try {
            Exchange.run(SideKind.ICEORYX, SIZE, cell);
            Exchange.run(SideKind.ICEORYX, 65_536, folder.resolve("next"));
        } finally {
            daemon.close();
        }
    }

    /** Sizes below and above what may be injected; the bytes of the longest are copied once. */
    @ParameterizedTest
    @MethodSource("sizes")
    void shouldAccessEachOthersMemoryInEachPass(int sizeBytes) throws Exception {
        try (Side pong = SideKind.JFABRIC_REMOTE.open(Exchange.settings(SideRole.PONG, sizeBytes, cell));
            Side ping = SideKind.JFABRIC_REMOTE.open(Exchange.settings(SideRole.PING, sizeBytes, cell))) {
            pong.connect();
            ping.connect();
            for (Pass pass : List.of(
                Pass.VERIFY, Pass.PUT, Pass.GET, Pass.PUT_STREAM, Pass.FETCH_ADD, Pass.PUT, Pass.GET)) {
                pong.arm(pass);
                CompletableFuture<Long> answered = CompletableFuture.supplyAsync(() -> pong.run(pass, COUNT));
                long result = ping.run(pass, COUNT);
                assertTrue(result > 0);
                while (!answered.isDone()) {
                    ping.cycle();
                }
                assertEquals(pass == Pass.VERIFY ? COUNT : 0, answered.get());
                assertTrue(pass != Pass.VERIFY || result == COUNT);
            }
        }
    }

    static int[] sizes() {
        return Effort.ALL ? new int[] {1, 8, 64, 65_536} : new int[] {8, 65_536};
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
