package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A ring has memory for a few records, and for more when these were sent. */
@Timeout(120)
class ShmRingMemoryTest extends ThreeShmNodes {
    private static final int LENGTH = 64;
    private static final int BURST = 200;
    /** Of a ring with few messages: four pages, with which 64 drivers that all know each other take 64 MiB. */
    private static final long SMALL = 16 << 10;

    /** Bytes of memory that the rings of a driver have. */
    private static long ringBytes(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            List<String> rings = files.map(Path::toString).filter(name -> name.endsWith(".ring")).toList();
            assertEquals(1, rings.size(), rings::toString);
            return 512 * Long.parseLong(TestProcess.run("stat", "-c", "%b", rings.getFirst()).succeeded().trim());
        }
    }

    private void receive(ShmNode node, int length, int context) {
        assertEquals(0, node.endpoint.receive(ShmNode.TAGGED, node.buf(0), length, -1, 5, 0, context));
    }

    private void send(int length, int context) {
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), length, toBeta, 5, 0, context));
    }

    private void transfer(int length, int number) {
        receive(beta, length, number);
        send(length, number);
        ShmNode.Entry entry = await(beta);
        assertEquals(number, entry.context());
        assertEquals(length, entry.length());
        assertEquals(0, entry.err());
        assertEquals(number, await(alpha).context());
    }

    @Test
    void shouldGrowWithWhatIsSent() throws IOException {
        for (int i = 0; i < 40; i++) {
            transfer(LENGTH, i);
        }
        assertTrue(ringBytes(base.resolve("alpha")) <= SMALL, () -> "usable " + ring().usableLength());
        assertTrue(ringBytes(base.resolve("beta")) <= SMALL);
        for (int i = 0; i < 20_000; i++) {
            transfer(LENGTH, i);
        }
        assertEquals(1 << 20, ring().usableLength());
        assertTrue(ringBytes(base.resolve("alpha")) > 1 << 20);
    }

    private ShmConnection ring() {
        return ((ShmLink) alpha.link).connection(ShmNode.address("beta"));
    }

    @Test
    void shouldHaveMoreForABurst() throws IOException {
        transfer(LENGTH, 0);
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < BURST; i++) {
                receive(beta, LENGTH, i);
                send(LENGTH, i);
            }
            for (int i = 0; i < BURST; i++) {
                assertEquals(i, await(beta).context());
                assertEquals(i, await(alpha).context());
            }
        }
        long bytes = ringBytes(base.resolve("alpha"));
        assertTrue(bytes > SMALL, () -> "bytes " + bytes);
        assertTrue(ringBytes(base.resolve("beta")) <= SMALL, "the way back carries nothing");
    }

    @Test
    void shouldHaveMoreForALongMessage() {
        for (int i = 0; i < 100; i++) {
            transfer(8192, i);
            transfer(LENGTH, i);
        }
        assertTrue(ring().usableLength() >= 4 * 8192);
    }

    /** A file system that was filled by others meanwhile: short messages go on, a long one fails with the reason. */
    @Test
    void shouldSayThatThereIsNoRoomForMore() throws Exception {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can mount a file system");
        TestProcess mount = TestProcess.run(
            "mount", "-t", "tmpfs", "-o", "mode=0700,size=64m", "tmpfs", base.toString());
        Assumptions.assumeTrue(mount.status() == 0, "this system lets nobody mount: " + mount.output());
        try {
            stop();
            start();
            transfer(LENGTH, 0);
            Path filler = base.resolve("filler");
            TestProcess.run("dd", "if=/dev/zero", "of=" + filler, "bs=4k");
            for (int i = 0; i < 1_000; i++) {
                transfer(LENGTH, i);
            }
            assertTrue(ring().usableLength() < SMALL);
            assertTrue(alpha.services.errors.toString().contains("stays short"), alpha.services.errors::toString);
            assertFalse(ring().files().isCut(ring().usableLength(), 0), "what has no memory yet was not cut");
            receive(beta, 8192, 1);
            send(8192, 1);
            ShmNode.Entry entry = await(alpha);
            assertEquals(FabricErrno.ENOSPC, entry.err(), entry::toString);
            assertTrue(alpha.services.errors.toString().contains("no room"), alpha.services.errors::toString);
            Files.delete(filler);
            send(8192, 2);
            assertEquals(1, await(beta).context());
            assertEquals(2, await(alpha).context());
        } finally {
            TestProcess.run("umount", "-l", base.toString());
        }
    }
}
