package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code of docs/remote-memory.md and its neighbours: it compiles, it runs, and a page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class RemoteMemoryExampleTest {
    private final List<String> said = new ArrayList<>();
    private final UnsafeBuffer order = new UnsafeBuffer(0, 0);
    private DirectBuffer slots;

    // example: register
    /** The hints of both sides: memory is accessed, and tagged messages carry the keys. */
    static Info hints() {
        return new Info().caps(Flags.RMA | Flags.TAGGED);
    }

    /** Memory that peers may read and write; the key is unique in the domain. */
    static MemoryRegion register(Domain domain, long lengthBytes, long key) {
        return domain.allocate(lengthBytes,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(key));
    }
    // end of example

    // example: own
    /** A library's buffer that peers may read: an embedded driver uses it in place, another one copies it. */
    static MemoryRegion registerOwn(Domain domain, ByteBuffer direct, long key) {
        return domain.register(MemorySegment.ofBuffer(direct),
            new MemoryRegionAttr().access(Flags.REMOTE_READ).requestedKey(key));
    }
    // end of example

    // example: keys
    static final long KEYS = 1;

    /** Sends a peer what it needs to access a region: key and length. */
    static void publish(Endpoint endpoint, MemoryRegion region, long peer) {
        UnsafeBuffer message = new UnsafeBuffer(new byte[16]);
        message.putLong(0, region.key());
        message.putLong(8, region.lengthBytes());
        check(endpoint.tinject(message, 0, 16, peer, KEYS));
    }

    /** Receives that message at the start of the memory, and returns the key. */
    static long awaitKey(Endpoint endpoint, CompletionQueue queue, MemoryRegion memory) {
        check(endpoint.trecv(memory.address(), 16, FabricAddress.ADDR_UNSPEC, KEYS, 0, 1));
        check(-next(queue));
        return memory.buffer().getLong(0);
    }
    // end of example

    // example: binding
    /** A region that only peers of this endpoint may write, and whose writes are counted. */
    static MemoryRegion inbox(Domain domain, Endpoint endpoint, Counter writes, long key) {
        MemoryRegion region = domain.allocate(1 << 16, new MemoryRegionAttr()
            .access(Flags.REMOTE_WRITE).requestedKey(key).flags(Flags.RMA_EVENT));
        region.bind(writes, Flags.REMOTE_WRITE);
        region.bind(endpoint, 0);
        region.enable();
        return region;
    }
    // end of example

    // example: access
    /** Writes 64 bytes to offset 128 of the peer's region, and reads them back to behind them. */
    static void writeAndRead(Endpoint endpoint, CompletionQueue queue, MemoryRegion memory, long peer, long key) {
        RemoteMemory remote = endpoint.remoteMemory();
        check(remote.write(memory.address(0), 64, peer, 128, key, 1));
        // needs no wait: accesses take effect in the order of posting
        check(remote.read(memory.address(64), 64, peer, 128, key, 2));
        // the write's entry: the bytes are in the peer's memory
        check(-next(queue));
        // the read's entry: the bytes are here
        check(-next(queue));
    }
    // end of example

    // example: doorbell
    static final int SLOT = 64;

    /** Writes an order into its slot of the peer's region; the number of the slot is the data. */
    static void order(Endpoint endpoint, MemoryRegion memory, int length, long peer, long key, int slot) {
        check(endpoint.remoteMemory().writedata(
            memory.address(), length, slot, peer, (long) slot * SLOT, key, 3));
    }

    private final CompletionHandler handler = this::onEntry;

    /** At the peer: handles the orders that have come. No receive is posted for them. */
    int handleOrders(CompletionQueue queue) {
        return queue.poll(handler, 16);
    }

    private void onEntry(Completion entry) {
        if ((entry.flags() & Flags.REMOTE_CQ_DATA) != 0) {
            order.wrap(slots, (int) entry.data() * SLOT, (int) entry.len());
            onOrder(order);
        }
    }
    // end of example

    // example: next
    /** Waits for one entry, and returns 0 or the error of the operation. */
    static int next(CompletionQueue queue) {
        int read;
        do {
            read = queue.poll(entry -> { }, 1);
        } while (read == 0 || read == -FabricErrno.EAGAIN);
        if (read == -FabricErrno.EAVAIL) {
            CompletionError error = new CompletionError();
            queue.readErr(error, 0);
            return error.err();
        }
        check(Math.min(read, 0));
        return 0;
    }

    static void check(int result) {
        if (result < 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }
    // end of example

    // example: persistent
    static final long LOG = 9;

    /** At the owner: a file that peers write and read. What is in it already stays. */
    static MemoryRegion openLog(Domain domain, Path file) {
        return domain.allocatePersistent(file, 1 << 20,
            new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(LOG));
    }

    /** Appends a record to a peer's log. When this returns true, it survives a power failure of the peer's host. */
    static boolean append(Endpoint endpoint, CompletionQueue queue, MemoryRegion record, long peer, long offset) {
        check(endpoint.remoteMemory().writemsg(new RemoteRequest()
            .memory(record.address(), record.lengthBytes()).destAddr(peer).remote(offset, LOG)
            .flags(Flags.COMPLETION | Flags.COMMIT_COMPLETE)));
        return next(queue) == 0;
    }
    // end of example

    private void onOrder(DirectBuffer bytes) {
        said.add(bytes.getStringWithoutLengthAscii(0, bytes.capacity()));
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldExchangeKeysWriteReadAndRing(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(), 64)) {
            MemoryRegion region = register(pair.b.domain, 4096, 77);
            publish(pair.b.endpoint, region, pair.toA);
            long key = awaitKey(pair.a.endpoint, pair.a.cq, pair.a.memory);
            assertEquals(77, key);
            assertEquals(4096, pair.a.memory.buffer().getLong(8));

            ByteBuffer direct = ByteBuffer.allocateDirect(64).putLong(8, Long.reverseBytes(4711));
            MemoryRegion own = registerOwn(pair.b.domain, direct, 99);
            assertEquals(setup.daemon, own.isCopied());
            assertEquals(0, pair.a.endpoint.remoteMemory().read(pair.a.memory.address(), 8, pair.toB, 8, 99, 6));
            pair.a.await(6);
            assertEquals(4711, pair.a.memory.buffer().getLong(0));

            pair.a.fill(0, 64, 5);
            writeAndRead(pair.a.endpoint, pair.a.cq, pair.a.memory, pair.toB, key);
            pair.a.assertFilled(64, 64, 5);

            for (int slot = 0; slot < 3; slot++) {
                int length = pair.a.memory.buffer().putStringWithoutLengthAscii(0, "buy " + slot);
                order(pair.a.endpoint, pair.a.memory, length, pair.toB, key, slot);
                assertEquals(0, next(pair.a.cq));
            }
            slots = region.buffer();
            while (said.size() < 3) {
                assertEquals(0, Math.min(0, handleOrders(pair.b.cq) + FabricErrno.EAGAIN));
            }
            assertEquals(List.of("buy 0", "buy 1", "buy 2"), said);

            check(pair.a.endpoint.remoteMemory().read(pair.a.memory.address(), 8, pair.toB, 0, key + 1, 4));
            assertEquals(FabricErrno.EKEYREJECTED, next(pair.a.cq));
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldCountWritesOfTheEndpointsPeers(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(), 64)) {
            Counter writes = pair.b.domain.openCounter(new CounterAttr());
            MemoryRegion region = inbox(pair.b.domain, pair.b.endpoint, writes, 78);
            check(pair.a.endpoint.remoteMemory().write(pair.a.memory.address(), 8, pair.toB, 0, region.key(), 1));
            assertEquals(0, next(pair.a.cq));
            Deadline deadline = Deadline.usual();
            while (writes.read() != 1) {
                deadline.check("the count of the write", writes::toString);
                pair.pump();
            }
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldAppendToALogThatStays(Setup setup) throws IOException {
        try (DiskDirectory disk = new DiskDirectory()) {
            Path file = disk.file("log");
            for (int run = 0; run < 2; run++) {
                try (FabricPair pair = new FabricPair(setup, hints().caps(Flags.RMA | Flags.RMA_PMEM), 64)) {
                    openLog(pair.b.domain, file);
                    MemoryRegion record = pair.a.domain.allocate(64);
                    record.buffer().putStringWithoutLengthAscii(0, "record " + run);
                    assertTrue(append(pair.a.endpoint, pair.a.cq, record, pair.toB, 64 * run));
                }
            }
            byte[] bytes = Files.readAllBytes(file);
            assertEquals(1 << 20, bytes.length);
            assertEquals("record 0", new String(bytes, 0, 8, StandardCharsets.US_ASCII));
            assertEquals("record 1", new String(bytes, 64, 8, StandardCharsets.US_ASCII));
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShow(
            List.of("docs/remote-memory.md", "docs/registered-memory.md", "docs/remote-memory-links.md"),
            RemoteMemoryExampleTest.class, 8);
    }
}
