package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.InfoFieldsEncoder;
import org.jfabric.codec.control.PublishServiceEncoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients and driver over real files and sockets; the client is written by hand. */
@Timeout(60)
class DriverControlTest {
    private final List<AutoCloseable> opened = new ArrayList<>();
    private FabricDriver driver;

    @TempDir
    private Path temporary;

    @AfterEach
    void closeAll() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldCarryATaggedMessageBetweenTwoClients(ThreadingMode mode) {
        launch(mode);
        ControlClient left = client();
        ControlClient right = client();
        ControlClient.Queues a = left.open("left", "");
        ControlClient.Queues b = right.open("right", "there");
        ControlClient.Region source = left.register(8192);
        ControlClient.Region sink = right.register(8192);
        UnsafeApi.putLong(source.data() + 16, 0x1122334455667788L);
        long dest = left.insert(a, "jfabric://driver/there");
        right.receive(b, sink.address(64), 4096, 7, 42);
        left.send(a, Flags.TAGGED | Flags.COMPLETION, source.address(16), 8, dest, 7, 43);
        assertArrayEquals(new long[] {1, 42, 8}, right.awaitCompletion(b));
        assertEquals(0x1122334455667788L, UnsafeApi.getLong(sink.data() + 64));
        assertArrayEquals(new long[] {1, 43, 0}, left.awaitCompletion(a));
        left.inject(a, "hello", dest, 8);
        right.receive(b, sink.address(0), 4096, 8, 44);
        assertArrayEquals(new long[] {1, 44, 5}, right.awaitCompletion(b));
        assertEquals('h', UnsafeApi.getByte(sink.data()));
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldReclaimEverythingAtOnceWhenAClientIsGone(ThreadingMode mode) throws IOException {
        launch(mode);
        List<String> before = files();
        ControlClient client = client();
        ControlClient.Queues queues = client.open("mine", "service");
        client.register(1 << 20);
        client.receive(queues, 0, 0, 1, 1);
        assertTrue(files().size() >= before.size() + 6, () -> String.valueOf(files()));
        // killed between claim and commit
        queues.transmit.claim(64);
        client.hangUp();
        ControlClient watcher = client();
        watcher.await("the files to go", () -> files().size() == before.size() + 1);
        assertEquals(before.size() + 1, files().size(), "only the watcher's control file is left");
        ControlClient.Queues again = watcher.open("mine", "service");
        assertEquals("jfabric://driver/mine", again.address);
    }

    @Test
    void shouldRefuseAClientOfAnotherVersionAndNameBoth() {
        launch(ThreadingMode.SHARED);
        IllegalStateException refused = assertThrows(
            IllegalStateException.class, () -> new ControlClient(driver.directory(), this::idle, 99));
        assertTrue(refused.getMessage().contains("version is 99, this driver's is " + FileHeaderDescriptor.VERSION),
            refused.getMessage());
    }

    @Test
    void shouldTurnAwayGarbageAndServeOthers() {
        launch(ThreadingMode.SHARED);
        UnsafeBuffer garbage = new UnsafeBuffer(java.nio.ByteBuffer.allocateDirect(4096));
        garbage.setMemory(0, 4096, (byte) 0x7f);
        for (int length : new int[] {0x7f7f7f7f, -1, 0, 7, 8193, 8, 4000}) {
            int fd = UnixSocket.connect(driver.directory().resolve(DriverDirectory.SOCKET_NAME), 0);
            assertTrue(fd >= 0);
            garbage.putInt(0, length);
            UnixSocket.send(fd, garbage.addressOffset(), 4096, 0);
            // the driver closes: the end of file, or a reset because bytes of ours were left
            int end = UnixSocket.recv(fd, garbage.addressOffset() + 8, 1, 0);
            assertTrue(end == 0 || end == -FabricErrno.ECONNRESET, "end " + end);
            Libc.close(fd);
        }
        client().open("fine", "");
    }

    @Test
    void shouldRefuseBadValuesWithTheDocumentedErrno() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        client.openCompletionQueue(Long.MAX_VALUE, 4, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.openCompletionQueue(-1, 4, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.openCompletionQueue(16, 77, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.openCompletionQueue(16, 4, WaitObject.CRITSEC_COND.code());
        assertEquals(FabricErrno.ENOSYS, client.expectFailure());
        client.register(0, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.register(64, 0x1000);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.register(1L << 39, 0);
        assertEquals(FabricErrno.ENOSPC, client.expectFailure());
        ControlClient.Queues queues = client.open("", "");
        enable(client, 0, queues.cqId, queues.avId, "", "");
        assertEquals(FabricErrno.ENOCQ, client.expectFailure());
        enable(client, queues.cqId, 99, queues.avId, "", "");
        assertEquals(FabricErrno.ENOCQ, client.expectFailure());
        enable(client, queues.cqId, queues.cqId, 99, "", "");
        assertEquals(FabricErrno.ENOAV, client.expectFailure());
        enable(client, queues.cqId, queues.cqId, queues.avId, "a/b", "");
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.enable(queues.cqId, queues.cqId, queues.avId, "", "",
            body -> body.putInt(
                ControlClient.INFO + InfoFieldsEncoder.epTypeEncodingOffset(), EndpointType.SOCK_STREAM.code()));
        assertEquals(FabricErrno.EOPNOTSUPP, client.expectFailure());
        client.enable(queues.cqId, queues.cqId, queues.avId, "", "",
            body -> body.putLong(
                ControlClient.INFO + InfoFieldsEncoder.txOpFlagsEncodingOffset(), Flags.COMMIT_COMPLETE));
        assertEquals(FabricErrno.EBADFLAGS, client.expectFailure());
        client.enable(queues.cqId, queues.cqId, queues.avId, "", "",
            body -> body.putLong(
                ControlClient.INFO + InfoFieldsEncoder.txSizeEncodingOffset(), 1L << 40));
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        for (String address : new String[] {"", "x", "jfabric://", "jfabric://a", "jfabric://a/", "jfabric://a/b/c",
            "jfabric://../x", "jfabric://a/" + "b".repeat(2000)}) {
            client.insertAddress(queues.avId, address);
            assertEquals(FabricErrno.EINVAL, client.expectFailure(), address);
        }
        close(client, 1, queues.cqId);
        assertEquals(FabricErrno.EBUSY, client.expectFailure());
        close(client, 2, queues.avId);
        assertEquals(FabricErrno.EBUSY, client.expectFailure());
        close(client, 4, queues.endpointId);
        client.expect(DoneDecoder.TEMPLATE_ID);
        close(client, 4, queues.endpointId);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        close(client, 1, queues.cqId);
        client.expect(DoneDecoder.TEMPLATE_ID);
        close(client, 2, queues.avId);
        client.expect(DoneDecoder.TEMPLATE_ID);
        close(client, 9, 1);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        assertFalse(client.isEnded());
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    @Requirement({"CQ-035", "CQ-044"})
    void shouldRefuseWaitObjectsThatDoNotExistAndIgnoreConditionsWhereNobodyWaits(ThreadingMode mode) {
        launch(mode);
        ControlClient client = client();
        for (int waitObject : new int[] {-1, 7, 77, Integer.MAX_VALUE}) {
            client.openCompletionQueue(16, 4, waitObject);
            assertEquals(FabricErrno.EINVAL, client.expectFailure());
        }
        for (WaitObject notHere : List.of(WaitObject.POLLFD, WaitObject.CRITSEC_COND)) {
            client.openCompletionQueue(16, 4, notHere.code());
            assertEquals(FabricErrno.ENOSYS, client.expectFailure());
        }
        client.openCompletionQueue(16, 4, 1, 99);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        client.openCompletionQueue(16, 4, 0, 99);
        client.expect(CompletionQueueReadyDecoder.TEMPLATE_ID);
    }

    /** Else a client that opens and closes endpoints for long would run out of them. */
    @Test
    void shouldGiveTheActivityByteOfAClosedEndpointToTheNextOne() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        ControlClient.Queues closed = client.open("", "");
        ControlClient.Queues open = client.open("", "");
        assertNotEquals(closed.activityIndex, open.activityIndex);
        close(client, 4, closed.endpointId);
        client.expect(DoneDecoder.TEMPLATE_ID);
        assertEquals(closed.activityIndex, client.open("", "").activityIndex);
    }

    @Test
    void shouldRefuseANameThatIsTaken() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        ControlClient.Queues queues = client.open("name", "service");
        enable(client, queues.cqId, queues.cqId, queues.avId, "name", "");
        assertEquals(FabricErrno.EADDRINUSE, client.expectFailure());
        enable(client, queues.cqId, queues.cqId, queues.avId, "other", "service");
        assertEquals(FabricErrno.EADDRINUSE, client.expectFailure());
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        PublishServiceEncoder publish = new PublishServiceEncoder().wrap(body, 0).correlationId(client.nextId())
            .endpointId(queues.endpointId).service("name");
        client.command(PublishServiceEncoder.TEMPLATE_ID, body, publish.encodedLength());
        assertEquals(FabricErrno.EADDRINUSE, client.expectFailure());
        publish.wrap(body, 0).correlationId(client.nextId()).endpointId(queues.endpointId).service("second");
        client.command(PublishServiceEncoder.TEMPLATE_ID, body, publish.encodedLength());
        client.expect(DoneDecoder.TEMPLATE_ID);
        assertEquals(0, client.insert(queues, "jfabric://driver/second"));
        assertEquals(0, client.insert(queues, "jfabric://driver/name"), "the service stands for the same endpoint");
        enable(client, queues.cqId, queues.cqId, queues.avId, "other", "");
        client.expect(org.jfabric.codec.control.EndpointReadyDecoder.TEMPLATE_ID);
    }

    @Test
    void shouldEndOnlyTheClientWhoseCommandRingIsCorrupt() {
        launch(ThreadingMode.SHARED);
        ControlClient witness = client();
        ControlClient.Queues queues = witness.open("witness", "");
        long[] words = {
            RecordRingDescriptor.word(-1, 10), RecordRingDescriptor.word(7, 10),
            RecordRingDescriptor.word(1 << 30, 10), RecordRingDescriptor.word(64, 0),
            RecordRingDescriptor.word(64, -5), RecordRingDescriptor.word(64, 8), RecordRingDescriptor.word(64, 1000),
            RecordRingDescriptor.word(64, 1), RecordRingDescriptor.word(12, 10), RecordRingDescriptor.word(33, 11),
        };
        for (long word : words) {
            ControlClient client = client();
            UnsafeApi.putLongRelease(null, client.commands.ringAddress(), word);
            client.doorbell();
            String reason = client.expectEnded();
            assertTrue(reason.contains("command ring is corrupt"), reason);
        }
        // a text whose length leads out of the record
        for (int length : new int[] {-1, Integer.MAX_VALUE, 4097, 100}) {
            ControlClient client = client();
            UnsafeBuffer body = new UnsafeBuffer(new byte[64]);
            body.putInt(org.jfabric.codec.control.InsertAddressEncoder.BLOCK_LENGTH, length);
            client.command(org.jfabric.codec.control.InsertAddressEncoder.TEMPLATE_ID, body, 40);
            assertTrue(client.expectEnded().contains("text 0"));
        }
        assertFalse(witness.isEnded());
        loop(witness, queues);
    }

    @Test
    void shouldEndOnlyTheClientWhoseQueueIsCorrupt() {
        launch(ThreadingMode.SHARED);
        ControlClient witness = client();
        ControlClient.Queues good = witness.open("witness", "");
        List<Long> words = new ArrayList<>();
        for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1, 7, 8, 63, 65, 1 << 20}) {
            words.add(RecordRingDescriptor.word(length, 2));
            words.add(RecordRingDescriptor.word(length, 4));
        }
        for (int type : new int[] {-1, 0, 1, 3, 5, 6, 7, 8, Integer.MAX_VALUE}) {
            words.add(RecordRingDescriptor.word(64, type));
        }
        for (long word : words) {
            ControlClient client = client();
            ControlClient.Queues queues = client.open("", "");
            UnsafeApi.putLongRelease(null, queues.transmit.ringAddress(), word);
            client.signal(queues);
            // what is refused as a whole record: injected bytes that are not there
            String reason = client.expectEnded();
            assertTrue(reason.contains("transmit queue"), () -> Long.toHexString(word) + " " + reason);
        }
        for (int type : new int[] {-1, 0, 1, 2, 5, 6, 7}) {
            ControlClient client = client();
            ControlClient.Queues queues = client.open("", "");
            UnsafeApi.putLongRelease(null, queues.receive.ringAddress(), RecordRingDescriptor.word(64, type));
            client.signal(queues);
            assertTrue(client.expectEnded().contains("receive queue"));
        }
        assertFalse(witness.isEnded());
        loop(witness, good);
    }

    @Test
    void shouldAnswerInvalidFieldsOfAWellFormedRequestWithAnErrorEntry() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        ControlClient.Queues queues = client.open("", "");
        long dest = client.insert(queues, queues.address);
        ControlClient.Region region = client.register(4096);
        long context = 100;
        for (long buf : new long[] {0, 1, -1, Long.MIN_VALUE, region.address(4096), region.address(0) ^ 1L << 40}) {
            client.send(queues, Flags.TAGGED, buf, 8, dest, 1, context);
            assertArrayEquals(new long[] {2, context++, 0}, client.awaitCompletion(queues), "buf " + buf);
            client.receive(queues, buf, 8, 1, context);
            assertArrayEquals(new long[] {2, context++, 0}, client.awaitCompletion(queues), "buf " + buf);
        }
        for (long length : new long[] {4097, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 40}) {
            client.send(queues, Flags.TAGGED, region.address(0), length, dest, 1, context);
            assertArrayEquals(new long[] {2, context++, 0}, client.awaitCompletion(queues), "length " + length);
        }
        for (long destination : new long[] {-1, 1, 1L << 40, Long.MIN_VALUE}) {
            client.send(queues, Flags.TAGGED, region.address(0), 8, destination, 1, context);
            assertArrayEquals(new long[] {2, context++, 0}, client.awaitCompletion(queues), "dest " + destination);
        }
        assertFalse(client.isEnded());
        loop(client, queues);
    }

    @Test
    void shouldSurviveImpossiblePositionsInEveryWord() {
        launch(ThreadingMode.SHARED);
        ControlClient witness = client();
        ControlClient.Queues good = witness.open("witness", "");
        for (long value : new long[] {-1, 1, 63, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32}) {
            ControlClient client = client();
            ControlClient.Queues queues = client.open("", "");
            UnsafeApi.putLong(queues.tq.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, value);
            UnsafeApi.putLong(queues.rq.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, value);
            UnsafeApi.putLong(queues.tq.address() + RecordRingDescriptor.COMPLETED_OFFSET, value);
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, value);
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.WRITTEN_OFFSET, value);
            UnsafeApi.putLong(queues.cq.address() + CompletionQueueDescriptor.RETIRED_OFFSET, value);
            UnsafeApi.putLong(client.control.address() + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, value);
            for (int i = 0; i < FileHeaderDescriptor.HEADER_LENGTH; i += 8) {
                UnsafeApi.putLong(client.control.address() + i, value);
                UnsafeApi.putLong(queues.tq.address() + i, value);
                UnsafeApi.putLong(queues.cq.address() + i, value);
            }
            // the driver keeps its own positions: a request still works
            long dest = client.insert(queues, queues.address);
            client.inject(queues, "x", dest, 5);
            client.receive(queues, 0, 0, 5, 9);
            client.awaitCompletion(queues);
        }
        assertFalse(witness.isEnded());
        loop(witness, good);
    }

    @Test
    void shouldEndAClientThatSubmitsMoreThanItMay() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        ControlClient.Queues queues = client.open("", "");
        client.await("the end", () -> {
            for (int i = 0; i < 100; i++) {
                if (queues.receive.claim(64) >= 0) {
                    client.receive(queues, 0, 0, 1, i);
                }
            }
            return client.isEnded();
        });
    }

    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldEndOnlyTheOwnerOfAFileThatWasCut(ThreadingMode mode) throws IOException {
        launch(mode);
        ControlClient witness = client();
        ControlClient.Queues good = witness.open("witness", "");
        for (String kind : new String[] {".tq", ".rq", ".cq", ".mr", ".ctl"}) {
            ControlClient client = client();
            List<String> before = files();
            ControlClient.Queues queues = client.open("", "");
            ControlClient.Region region = client.register(1 << 16);
            long dest = client.insert(queues, queues.address);
            String name = kind.equals(".ctl") ? null : files().stream()
                .filter(file -> file.endsWith(kind) && !before.contains(file)).findFirst().orElseThrow();
            Path victim = kind.equals(".ctl") ? Path.of(client.control.path()) : driver.directory().resolve(name);
            client.receive(queues, region.address(0), 1 << 16, 3, 1);
            cut(victim);
            client.await("the end after a cut " + kind, () -> {
                try {
                    client.send(queues, Flags.TAGGED | Flags.COMPLETION, region.address(0), 1 << 16, dest, 3, 2);
                    // once this is compiled the fault is thrown later than the access, else behind the handler
                    FaultPoint.pass();
                } catch (InternalError | IllegalStateException ex) {
                    // our own mapping is cut, too
                    client.doorbell();
                }
                client.doorbell();
                return client.isEnded();
            });
            assertFalse(witness.isEnded(), "after a cut " + kind);
            loop(witness, good);
        }
    }

    @Test
    void shouldWakeAParkedDriverByTheDoorbell() {
        launch(ThreadingMode.SHARED, "jfabric.threading.parkTimeoutNs", "10s");
        ControlClient client = client();
        ControlClient.Queues queues = client.open("", "");
        long dest = client.insert(queues, queues.address);
        for (int i = 0; i < 20; i++) {
            client.await("the driver to park", client::isParked);
            long start = System.nanoTime();
            client.inject(queues, "wake", dest, i);
            client.receive(queues, 0, 0, i, i);
            client.awaitCompletion(queues);
            assertTrue(System.nanoTime() - start < 5_000_000_000L, "only the doorbell can have woken it in time");
        }
    }

    @Test
    void shouldReturnNoWorkWhenIdle() {
        launch(ThreadingMode.INVOKER);
        ControlClient client = client();
        client.open("", "");
        client.await("quiet", () -> {
            int work = 0;
            for (int i = 0; i < 5000; i++) {
                work += driver.cycle();
            }
            return work == 0;
        });
        assertEquals(0, driver.cycle());
    }

    @Test
    void shouldServeTheEmbeddingClientWithoutQueueFiles() {
        launch(ThreadingMode.INVOKER);
        List<String> before = files();
        var attachment = driver.embedded().attach();
        assertEquals("driver", attachment.driverName());
        assertEquals(driver.directory(), attachment.directory());
        assertEquals(before.size() + 1, files().size());
        driver.embedded().detach(attachment.clientId());
        ControlClient watcher = client();
        watcher.await("the control file to go", () -> files().size() == before.size() + 1);
    }

    @Test
    void shouldTellClientsWhenItClosesAndLeaveNothing() {
        launch(ThreadingMode.DEDICATED);
        ControlClient client = client();
        client.open("", "service");
        Path directory = driver.directory();
        driver.close();
        assertTrue(client.expectEnded().contains("closes"));
        assertFalse(Files.exists(directory));
    }

    private void loop(ControlClient client, ControlClient.Queues queues) {
        long dest = client.insert(queues, queues.address);
        client.inject(queues, "again", dest, 1234);
        client.receive(queues, 0, 0, 1234, 77);
        long[] entry = client.awaitCompletion(queues);
        assertEquals(77, entry[1]);
    }

    private static void enable(
        ControlClient client, long txCq, long rxCq, long avId, String name, String service) {
        client.enable(txCq, rxCq, avId, name, service, body -> {
        });
    }

    private static void close(ControlClient client, int kind, long id) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[CloseObjectEncoder.BLOCK_LENGTH]);
        body.putLong(CloseObjectEncoder.correlationIdEncodingOffset(), client.nextId());
        body.putLong(CloseObjectEncoder.objectIdEncodingOffset(), id);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) kind);
        client.command(CloseObjectEncoder.TEMPLATE_ID, body, CloseObjectEncoder.BLOCK_LENGTH);
    }

    private static void cut(Path file) {
        int fd = Libc.openat(Libc.AT_FDCWD, file.toString(), Libc.O_RDWR, 0);
        assertTrue(fd >= 0, "open " + file);
        assertEquals(0, Libc.ftruncate(fd, 0));
        Libc.close(fd);
    }

    private List<String> files() {
        try (Stream<Path> entries = Files.list(driver.directory())) {
            return entries.map(path -> path.getFileName().toString()).sorted().toList();
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private void launch(ThreadingMode mode, String... options) {
        DriverConfig.Builder builder = DriverConfig.builder().directory(base().resolve("driver")).threadingMode(mode);
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        driver = FabricDriver.launchEmbedded(builder.build());
        opened.add(driver);
    }

    /** JUnit's temporary directory is readable by others, the driver's base must not be. */
    private Path base() {
        return temporary.resolve("base");
    }

    private ControlClient client() {
        ControlClient client = new ControlClient(driver.directory(), this::idle);
        opened.add(client);
        return client;
    }

    private void idle() {
        if (driver.config().get(ThreadingConfig.MODE) == ThreadingMode.INVOKER) {
            driver.cycle();
        }
    }
}
