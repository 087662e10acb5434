package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.codec.wire.CloseDecoder;
import org.jfabric.codec.wire.RemoteAnnounceEncoder;
import org.jfabric.codec.wire.RemoteGrantEncoder;
import org.jfabric.codec.wire.RemoteReadEncoder;
import org.jfabric.codec.wire.RemoteReplyEncoder;
import org.jfabric.codec.wire.RemoteWriteEncoder;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A driver on the same host that writes whatever it likes into its ring: frames of remote memory access to and from an
 * innocent client of another driver.
 */
@Timeout(120)
class ShmHostileRemoteTest {
    private static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;
    private static final long KEY = 0x1111;
    private static final long READ_ONLY = 0x2222;
    private static final long WRITE_ONLY = 0x3333;
    private static final int LENGTH = 64 << 10;
    private static final int ROOM = 1 << 20;
    private static final byte UNTOUCHED = 0x5C;
    private static final int GRANT = RemoteNode.FIRST_GRANT;
    private static final long ID = 0x0000_0001_0000_0000L;

    private Path base;
    private RemoteNode mallory;
    private FabricDriver driver;
    private DriverView view;
    private FabricNode victim;
    private FabricNode friend;
    private MemoryRegion open;
    private MemoryRegion readOnly;
    private MemoryRegion writeOnly;
    private MemoryRegion closed;
    private long toMallory;
    /** Whether mallory takes what is sent to it. */
    private boolean reads = true;

    @BeforeEach
    void start() throws IOException {
        base = TestDirectory.create();
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        mallory = new RemoteNode(base, "mallory");
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set(ShmConfig.RING_LENGTH_BYTES, RemoteNode.RING)
            .set(ShmConfig.SEGMENT_LENGTH_BYTES, RemoteNode.SEGMENT).build());
        view = new DriverView(base.resolve("alpha"));
        Fabric fabric = driver.fabric();
        Info hints = new Info().caps(Flags.RMA | Flags.TAGGED | Flags.MSG | Flags.SOURCE);
        victim = new FabricNode(fabric, "shm", hints, 64, 0, this::pump);
        friend = new FabricNode(fabric, "loopback", hints, 64, 0, this::pump);
        open = region(victim, BOTH, KEY);
        readOnly = region(victim, Flags.REMOTE_READ, READ_ONLY);
        writeOnly = region(victim, Flags.REMOTE_WRITE, WRITE_ONLY);
        closed = region(victim, 0, 0);
        victim.memory.buffer().setMemory(0, ROOM, UNTOUCHED);
        toMallory = victim.av.insert(mallory.endpoint.address);
        connect();
    }

    @AfterEach
    void stop() {
        victim.fabric.close();
        view.close();
        driver.close();
        mallory.close();
        TestDirectory.delete(base);
    }

    private static MemoryRegion region(FabricNode owner, long access, long key) {
        MemoryRegion region = access == 0 ? owner.domain.allocate(LENGTH)
            : owner.domain.allocate(LENGTH, new MemoryRegionAttr().access(access).requestedKey(key));
        region.buffer().setMemory(0, LENGTH, UNTOUCHED);
        return region;
    }

    private void pump() {
        driver.cycle();
        if (reads) {
            mallory.step();
        }
    }

    private void steps(int count) {
        for (int i = 0; i < count; i++) {
            pump();
        }
    }

    private void connect() {
        mallory.link.connect(mallory.endpoint, victim.endpoint.name(), mallory.handler);
        for (Deadline end = Deadline.usual(); !end.isOver() && mallory.channel == null;) {
            pump();
        }
        assertNotNull(mallory.channel, () -> view.errors() + ", " + mallory.services.errors);
        mallory.growRing(victim.endpoint.name());
        steps(10);
        mallory.take();
        mallory.payloads.clear();
    }

    private void frame(int type, UnsafeBuffer body, int length) {
        ShmConnection connection = mallory.link.connection(victim.endpoint.name());
        int offset = connection.claim(WORD_LENGTH + length);
        for (Deadline end = Deadline.usual(); !end.isOver() && offset < 0;) {
            driver.cycle();
            offset = connection.claim(WORD_LENGTH + length);
        }
        assertTrue(offset >= 0, "no room in the ring");
        connection.ring().putBytes(offset + WORD_LENGTH, body, 0, length);
        connection.commit(offset, WORD_LENGTH + length, type);
    }

    private int id() {
        return ((ShmChannel) mallory.channel).remoteId;
    }

    private void write(long id, long key, long address, long range, long offset, int payload, long flags) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[RemoteWriteEncoder.BLOCK_LENGTH + payload]);
        body.setMemory(0, body.capacity(), (byte) 0x77);
        new RemoteWriteEncoder().wrap(body, 0).channel(id()).grant(GRANT).operation(id).key(key).address(address)
            .length(range).msgOffset(offset).data(99).flags(flags);
        frame(RemoteWriteEncoder.TEMPLATE_ID, body, body.capacity());
    }

    private void read(long id, long key, long address, long length) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[RemoteReadEncoder.BLOCK_LENGTH]);
        new RemoteReadEncoder().wrap(body, 0).channel(id()).grant(GRANT).operation(id).key(key).address(address)
            .length(length);
        frame(RemoteReadEncoder.TEMPLATE_ID, body, body.capacity());
    }

    private void reply(long id, long offset, int errno, int payload) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[RemoteReplyEncoder.BLOCK_LENGTH + payload]);
        body.setMemory(0, body.capacity(), (byte) 0x77);
        new RemoteReplyEncoder().wrap(body, 0).channel(id()).grant(GRANT).operation(id).msgOffset(offset).errno(errno)
            .flags(0);
        frame(RemoteReplyEncoder.TEMPLATE_ID, body, body.capacity());
    }

    /** The one reply that came, without its operation: errno, reports, offset, length. */
    private String answer() {
        steps(20);
        List<String> events = mallory.take().stream().filter(event -> event.startsWith("reply")).toList();
        assertEquals(1, events.size(), events::toString);
        return events.getFirst().substring(events.getFirst().indexOf(' ', 6) + 1);
    }

    private void assertEnded(String reason) {
        steps(50);
        assertNull(mallory.channel, "the connection goes on");
        assertTrue(view.errors().stream().anyMatch(error -> error.contains(reason)), () -> view.errors().toString());
        mallory.take();
        connect();
    }

    private static void assertUntouched(MemoryRegion region, int from, int to) {
        FabricNode.assertAll(UNTOUCHED, region, from, to);
    }

    private void assertAllUntouched() {
        for (MemoryRegion region : List.of(open, readOnly, writeOnly, closed)) {
            assertUntouched(region, 0, LENGTH);
        }
        assertUntouched(victim.memory, 0, ROOM);
    }

    /** Accesses of clients of the same driver, and those of the connection. */
    private void assertGoOn() {
        long self = friend.av.insert(friend.endpoint.name());
        assertEquals(0, friend.endpoint.trecv(friend.memory.address(), 64, -1L, 1, 0, 1));
        assertEquals(0, friend.endpoint.tsend(friend.memory.address(), 64, self, 1, 2));
        friend.await();
        friend.await();
        write(ID, KEY, 0, 8, 0, 8, 0);
        assertEquals("0 false 0 0", answer());
        assertEquals(0x7777_7777_7777_7777L, open.buffer().getLong(0));
    }

    /** Each record of the ring is valid, and behind the last one comes the first one. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotReadTheRingOfADeadDriverRoundAndRound() {
        ShmConnection connection = mallory.link.connection(victim.endpoint.name());
        UnsafeBuffer ring = connection.ring();
        long word = RecordRingDescriptor.word(RecordRingDescriptor.RECORD_ALIGNMENT, CloseDecoder.TEMPLATE_ID);
        ring.setMemory(0, ring.capacity(), (byte) 0x7F);
        for (int at = 0; at < ring.capacity(); at += RecordRingDescriptor.RECORD_ALIGNMENT) {
            ring.putLong(at, word);
        }
        connection.broken("leaves");
        mallory.services.errors.clear();
        // it comes to an end, and the driver serves the next one
        for (int i = 0; i < 100; i++) {
            driver.cycle();
        }
        mallory.take();
        connect();
        assertGoOn();
    }

    @ParameterizedTest
    @CsvSource({
        // key, address, range, errno
        "9999, 0, 8, EKEYREJECTED", "0, 0, 8, EKEYREJECTED", "8738, 0, 8, EACCES", "4369, -1, 8, EFAULT",
        "4369, 65529, 8, EFAULT", "4369, 65537, 0, EFAULT", "4369, 9223372036854775807, 8, EFAULT",
        "4369, -9223372036854775808, 8, EFAULT", "4369, 0, 9223372036854775807, EFAULT",
        "4369, 8, 9223372036854775807, EFAULT", "4369, 0, 65537, EFAULT", "4369, 1, 65536, EFAULT"})
    @Requirement("REF-033")
    void shouldRefuseAWriteThatIsNotPermittedAndGoOn(long key, long address, long range, String errno) {
        int payload = (int) Math.min(range, 8);
        for (long flags : new long[] {0, Flags.REMOTE_CQ_DATA, -1L}) {
            write(ID + flags, key, address, range, 0, payload, flags);
            assertEquals(Integer.toHexString(code(errno)) + " false 0 0", answer());
            // further pieces of it are neither placed nor answered
            if (range > 16) {
                write(ID + flags, KEY, 0, 8, 0, 8, flags);
                steps(20);
                assertEquals(List.of(), mallory.take());
            }
        }
        assertAllUntouched();
        victim.assertQuiet(5);
        assertGoOn();
        assertEquals(List.of(), view.errors());
    }

    @ParameterizedTest
    @CsvSource({
        "9999, 0, 8, EKEYREJECTED", "13107, 0, 8, EACCES", "4369, -1, 8, EFAULT", "4369, 65529, 8, EFAULT",
        "4369, 9223372036854775807, 8, EFAULT", "4369, 8, 9223372036854775807, EFAULT", "4369, 1, 65536, EFAULT"})
    @Requirement("REF-033")
    void shouldRefuseAReadThatIsNotPermittedAndGoOn(long key, long address, long length, String errno) {
        read(ID, key, address, length);
        assertEquals(Integer.toHexString(code(errno)) + " false 0 0", answer());
        assertEquals(0, mallory.payloads.getLast().length);
        assertAllUntouched();
        assertGoOn();
        assertEquals(List.of(), view.errors());
    }

    private static int code(String name) {
        return switch (name) {
            case "EKEYREJECTED" -> FabricErrno.EKEYREJECTED;
            case "EACCES" -> FabricErrno.EACCES;
            default -> FabricErrno.EFAULT;
        };
    }

    @ParameterizedTest
    @CsvSource({
        // range, offset, bytes
        "8, 8, 8", "8, 1, 8", "8, -1, 8", "8, 9223372036854775807, 8", "8, -9223372036854775808, 8", "7, 0, 8",
        "0, 0, 8", "-1, 0, 8", "-9223372036854775808, 0, 8", "8, 0, 0", "100000, 5, 0", "8, 0, 8192"})
    void shouldEndTheConnectionOfAPeerThatWritesBytesOutsideOfItsRange(long range, long offset, int bytes) {
        write(ID, KEY, 16, range, offset, bytes, 0);
        assertEnded("wrote bytes outside of the range that it named");
        assertAllUntouched();
        assertGoOn();
    }

    @ParameterizedTest
    @CsvSource({"-1", "-9223372036854775808"})
    void shouldEndTheConnectionOfAPeerThatReadsANegativeLength(long length) {
        read(ID, KEY, 0, length);
        assertEnded("reads a negative number of bytes");
        assertGoOn();
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "5", "-1", "4294967296", "9223372036854775807", "1099511627776", "281474976710657"})
    void shouldEndTheConnectionOfAPeerThatAnswersWhatWasNotRequested(long id) {
        for (int errno : new int[] {0, FabricErrno.EAGAIN, FabricErrno.EIO}) {
            reply(id, 0, errno, errno == 0 ? 8 : 0);
            assertEnded("answered a remote access that was not requested");
        }
        assertAllUntouched();
        assertGoOn();
    }

    /** The operation that mallory was asked for with an event of that name. */
    private long requested(String name) {
        for (int i = 0; i < 1000; i++) {
            pump();
            for (String event : mallory.take()) {
                if (event.startsWith(name + ' ')) {
                    return Long.parseUnsignedLong(event.split(" ")[1], 16);
                }
            }
        }
        throw new AssertionError("no " + name + " has come");
    }

    @ParameterizedTest
    @CsvSource({
        // offset, errno, bytes of the first reply to a read of 1000 bytes
        "1, 0, 10", "-1, 0, 10", "1000, 0, 10", "9223372036854775807, 0, 10", "0, 0, 1001", "0, 0, 8192", "0, 0, 0",
        "0, 11, 0", "0, 11, 10"})
    void shouldEndTheConnectionOfAPeerWhoseReplyIsNotWhatWasRead(long offset, int errno, int bytes) {
        assertEquals(0, victim.endpoint.remoteMemory().read(victim.memory.address(64), 1000, toMallory, 0, 1, 7));
        reply(requested("read"), offset, errno, bytes);
        assertEnded("answered a remote access that was not requested");
        FabricNode.Entry entry = victim.await();
        assertEquals(FabricErrno.EIO, entry.err(), entry::toString);
        assertEquals(7, entry.context());
        assertAllUntouched();
        victim.assertQuiet(5);
        assertGoOn();
    }

    @Test
    void shouldTakeTheBytesOfAReadInTurnAndNoMore() {
        assertEquals(0, victim.endpoint.remoteMemory().read(victim.memory.address(64), 1000, toMallory, 0, 1, 7));
        long id = requested("read");
        reply(id, 0, 0, 400);
        reply(id, 400, 0, 600);
        victim.await(7);
        assertUntouched(victim.memory, 0, 64);
        assertUntouched(victim.memory, 1064, ROOM);
        // late ones of an operation that has ended are ignored
        reply(id, 0, 0, 1000);
        reply(id, 0, FabricErrno.EIO, 0);
        steps(20);
        assertNotNull(mallory.channel);
        victim.assertQuiet(5);
        // after a refusal in the middle, too
        assertEquals(0, victim.endpoint.remoteMemory().read(victim.memory.address(64), 1000, toMallory, 0, 1, 8));
        id = requested("read");
        reply(id, 0, 0, 400);
        reply(id, 400, FabricErrno.EKEYREJECTED, 0);
        reply(id, 400, 0, 600);
        FabricNode.Entry entry = victim.await();
        assertEquals(FabricErrno.EKEYREJECTED, entry.err(), entry::toString);
        victim.assertQuiet(5);
        assertEquals(List.of(), view.errors());
        assertGoOn();
    }

    @Test
    void shouldSendAWriteAgainAsOftenAsThePeerAsksAndEndItOnce() {
        for (int length : new int[] {8, 3 * RemoteNode.SEGMENT}) {
            assertEquals(0, victim.endpoint.remoteMemory().write(
                victim.memory.address(), length, toMallory, 0, 1, length));
            String frame = length == 8 ? "write" : "announced";
            long id = requested(frame);
            steps(20);
            for (int i = 0; i < 5; i++) {
                mallory.take();
                reply(id, 0, FabricErrno.EAGAIN, 0);
                assertEquals(id, requested(frame));
            }
            reply(id, 0, 0, 0);
            victim.await(length);
        }
        // bytes in the answer of a write
        assertEquals(0, victim.endpoint.remoteMemory().write(victim.memory.address(), 8, toMallory, 0, 1, 5));
        reply(requested("short"), 0, 0, 8);
        assertEnded("answered a remote access that was not requested");
        assertEquals(FabricErrno.EIO, victim.await().err());
        assertAllUntouched();
        assertGoOn();
    }

    @Test
    void shouldSendTheBytesOfAnAnnouncedWriteOnceIfThePeerAsksForThem() {
        int length = 3 * RemoteNode.SEGMENT;
        assertEquals(0, victim.endpoint.remoteMemory().write(victim.memory.address(), length, toMallory, 0, 1, 9));
        long id = requested("announced");
        for (int i = 0; i < 3; i++) {
            reply(id, 0, FabricErrno.ENODATA, 0);
        }
        steps(50);
        assertEquals(3, mallory.take().stream().filter(event -> event.startsWith("write ")).count());
        reply(id, 0, 0, 0);
        victim.await(9);
        assertGoOn();
    }

    /** The sum of such counts must not overflow, and a short write never waits at the peer. */
    @ParameterizedTest
    @ValueSource(longs = {0, 2, -1, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldEndTheConnectionOfAPeerThatCountsOtherWritesThanWereSent(long count) {
        reportNothing();
        assertEquals(0, victim.endpoint.remoteMemory().write(victim.memory.address(), 8, toMallory, 0, 1, 6));
        requested("short");
        placed(count);
        assertEnded(count <= 0 ? "answered no write" : "answered a short write that was not sent");
        FabricNode.Entry entry = victim.await();
        assertEquals(6, entry.context());
        assertEquals(count <= 0 ? FabricErrno.EIO : 0, entry.err(), entry::toString);
        victim.assertQuiet(5);
        assertGoOn();
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatKeepsAShortWriteWaiting() {
        reportNothing();
        assertEquals(0, victim.endpoint.remoteMemory().write(victim.memory.address(), 8, toMallory, 0, 1, 6));
        reply(requested("short"), 0, FabricErrno.EAGAIN, 0);
        assertEnded("answered a remote access that was not requested");
        assertEquals(FabricErrno.EIO, victim.await().err());
        assertGoOn();
    }

    /** The first answer says that mallory reports no accesses: then the victim's writes are short ones. */
    private void reportNothing() {
        assertEquals(0, victim.endpoint.remoteMemory().write(victim.memory.address(), 8, toMallory, 0, 1, 5));
        reply(requested("write"), 0, 0, 0);
        victim.await(5);
    }

    private void placed(long count) {
        record(ShmFrameReader.PLACED, count, 0, 0, 0);
    }

    /** A short record of remote memory access. */
    private void record(int type, long first, long key, long address, int payload) {
        ShmConnection connection = mallory.link.connection(victim.endpoint.name());
        int length = (type == ShmFrameReader.PLACED ? ShmRemote.PLACED_LENGTH : ShmRemote.SHORT_WRITE_HEADER) + payload;
        // the difference of the credit to the last record would not fit
        ((ShmChannel) mallory.channel).granted(GRANT);
        int offset = -1;
        for (Deadline end = Deadline.usual(); !end.isOver() && offset < 0;) {
            offset = ((ShmChannel) mallory.channel).claimShort(length, GRANT);
            if (offset < 0) {
                driver.cycle();
            }
        }
        assertTrue(offset >= 0, "no room in the ring");
        connection.ring().setMemory(offset + WORD_LENGTH, length - WORD_LENGTH, (byte) 0x77);
        connection.ring().putLong(offset + WORD_LENGTH, first);
        if (type == ShmFrameReader.SHORT_WRITE) {
            connection.ring().putLong(offset + ShmRemote.SHORT_KEY, key);
            connection.ring().putLong(offset + ShmRemote.SHORT_ADDRESS, address);
        }
        ((ShmChannel) mallory.channel).commitShort(offset, length, type, GRANT);
    }

    /** A write whose bytes are said to be in a region of mallory's driver. */
    private void announce(long id, long key, long address, long range, long region, long offset) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[256]);
        RemoteAnnounceEncoder encoder = new RemoteAnnounceEncoder().wrap(body, 0);
        encoder.channel(id()).grant(GRANT).operation(id).key(key).address(address).length(range).data(99).flags(0)
            .piecesCount(1).next().regionNumber(region).regionGeneration(1).regionOffset(offset).length(range);
        frame(RemoteAnnounceEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    private void grant(long key, long region, long length) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[RemoteGrantEncoder.BLOCK_LENGTH]);
        new RemoteGrantEncoder().wrap(body, 0).channel(id()).grant(GRANT).key(key).regionNumber(region)
            .regionGeneration(1).length(length);
        frame(RemoteGrantEncoder.TEMPLATE_ID, body, body.capacity());
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatWritesAgainWhileAWriteWaitsForASlot() {
        int written = 0;
        List<String> replies = List.of("");
        while (!replies.isEmpty() && written < 1000) {
            write(ID + written++, KEY, 0, 8, 0, 8, Flags.REMOTE_CQ_DATA);
            steps(20);
            replies = mallory.take();
        }
        assertTrue(written < 1000);
        write(ID + written, KEY, 0, 8, 0, 8, Flags.REMOTE_CQ_DATA);
        assertEnded("wrote again before a write that waits for a completion slot was answered");
        for (int i = 0; i < written - 1; i++) {
            assertEquals(99, victim.await().data());
        }
        victim.assertQuiet(5);
        assertGoOn();
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatReadsAndDoesNotTakeTheAnswers() {
        reads = false;
        for (int i = 0; i < (1 << 16) + 200 && view.errors().isEmpty(); i++) {
            read(ID + i, KEY, 0, LENGTH);
        }
        steps(100);
        reads = true;
        assertEnded("does not take the answers to its remote accesses");
        assertAllUntouched();
        assertGoOn();
    }

    @Test
    void shouldServeManyLongReadsInPortionsAndWhole() {
        for (int i = 0; i < 100; i++) {
            read(ID + i, KEY, 0, LENGTH);
        }
        driver.cycle();
        driver.cycle();
        mallory.step();
        long first = mallory.payloads.stream().mapToLong(payload -> payload.length).sum();
        assertTrue(first < 60 << 10, first + " bytes at once");
        steps(2000);
        long bytes = mallory.payloads.stream().mapToLong(payload -> payload.length).sum();
        assertEquals(100L * LENGTH, bytes);
        mallory.take();
        assertGoOn();
    }

    /** Whatever the frames say: no byte outside of what is permitted, and each access of the victim ends once. */
    @Test
    void shouldKeepAllOtherMemoryWhateverTheFramesSay() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Set<Long> pending = new HashSet<>();
        long posted = 0;
        for (int i = 0; i < 4000; i++) {
            if (mallory.channel == null) {
                connect();
            }
            if (pending.size() < 8 && random.nextInt(4) == 0) {
                boolean isRead = random.nextBoolean();
                int length = random.nextInt(random.nextBoolean() ? 100 : 30_000);
                long context = ++posted;
                pending.add(context);
                assertEquals(0, isRead
                    ? victim.endpoint.remoteMemory().read(
                        victim.memory.address(ROOM), length, toMallory, 0, 1, context)
                    : victim.endpoint.remoteMemory().write(
                        victim.memory.address(ROOM), length, toMallory, 0, 1, context));
            }
            any(random);
            steps(random.nextInt(3));
            for (FabricNode.Entry entry = victim.poll(); entry != null; entry = victim.poll()) {
                FabricNode.Entry seen = entry;
                assertTrue((entry.flags() & (Flags.REMOTE_WRITE | Flags.RECV)) != 0
                    || pending.remove(entry.context()), () -> seen + ", seed " + seed);
            }
            mallory.payloads.clear();
        }
        for (Deadline end = Deadline.usual(); !end.isOver() && !pending.isEmpty();) {
            // also a channel that the victim opens for accesses that were posted while it had none
            if (mallory.channel != null) {
                mallory.channel.close(FabricErrno.ECONNRESET);
                mallory.channel = null;
            }
            pump();
            for (FabricNode.Entry entry = victim.poll(); entry != null; entry = victim.poll()) {
                pending.remove(entry.context());
            }
        }
        assertEquals(Set.of(), pending, "seed " + seed);
        assertUntouched(readOnly, 0, LENGTH);
        assertUntouched(closed, 0, LENGTH);
        assertUntouched(victim.memory, 0, ROOM);
        // each kind of violation is logged for each way to it
        assertTrue(view.errors().size() < 40
            && view.errors().stream().allMatch(error -> error.contains("FabricException")),
            () -> view.errors() + ", seed " + seed);
        awaitDrained();
        connect();
        assertGoOn();
    }

    /** Until the victim has executed what was sent last, which may still end the connection. */
    private void awaitDrained() {
        for (Deadline end = Deadline.usual(); !end.isOver() && mallory.channel != null
            && !mallory.link.connection(victim.endpoint.name()).isDrained();) {
            pump();
        }
        steps(10);
    }

    private void any(Random random) {
        long[] values = {0, 1, 8, 100, LENGTH, LENGTH - 8, LENGTH + 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32};
        long[] keys = {KEY, KEY, READ_ONLY, WRITE_ONLY, 0, random.nextLong()};
        long any = values[random.nextInt(values.length)];
        long other = values[random.nextInt(values.length)];
        long key = keys[random.nextInt(keys.length)];
        // the victim's own: index in its pool and number of uses
        long id = random.nextInt(4) == 0 ? random.nextLong() : (long) random.nextInt(60) << 32 | random.nextInt(10);
        int payload = random.nextInt(4) == 0 ? 0 : random.nextInt(random.nextBoolean() ? 16 : 3000);
        switch (random.nextInt(12)) {
            case 0, 1 -> write(id, key, random.nextInt(LENGTH), payload, 0, payload, random.nextLong());
            case 2 -> write(id, key, any, other, values[random.nextInt(values.length)], payload, random.nextLong());
            case 3 -> write(id, KEY, 100, payload + 10L, random.nextInt(12), payload, 0);
            case 4 -> read(id, key, random.nextInt(LENGTH), random.nextInt(2000));
            case 5 -> read(id, key, any, other);
            case 8 -> record(ShmFrameReader.SHORT_WRITE, id, key, random.nextBoolean() ? any : 100, payload);
            case 9 -> placed(random.nextInt(4) == 0 ? any : 1);
            case 10 -> announce(
                id, key, random.nextBoolean() ? any : 0, Math.max(1, other), random.nextInt(3) - 1, any);
            case 11 -> grant(1, values[random.nextInt(values.length)], any);
            default -> {
                int[] errnos = {0, 0, 0, FabricErrno.EAGAIN, FabricErrno.EIO, -1, Integer.MIN_VALUE, 77777};
                List<String> events = mallory.take();
                if (!events.isEmpty() && events.getLast().matches("(read|write|short|announced) .*")) {
                    id = Long.parseUnsignedLong(events.getLast().split(" ")[1], 16);
                }
                reply(id, random.nextInt(3) == 0 ? any : 0, errnos[random.nextInt(errnos.length)], payload);
            }
        }
    }
}
