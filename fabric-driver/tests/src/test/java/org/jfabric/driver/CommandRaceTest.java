package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.AddressReadyDecoder;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.CommandFailedDecoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.PublishServiceEncoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileType;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client does not wait for one answer before it sends the next command: commands overlap as they like. */
@Timeout(60)
class CommandRaceTest {
    private static final int ROUNDS = 50;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private FabricDriver driver;

    @TempDir
    private Path temporary;

    @AfterEach
    void closeAll() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    @ParameterizedTest
    @EnumSource(value = ThreadingMode.class, names = {"SHARED", "DEDICATED"})
    void shouldKeepWhatAnEndpointUsesWhenItIsClosedWhileTheEndpointIsEnabled(ThreadingMode mode) {
        launch(mode);
        ControlClient client = client();
        for (int i = 0; i < ROUNDS; i++) {
            client.openCompletionQueue(0, 4, 0);
            CompletionQueueReadyDecoder queue = new CompletionQueueReadyDecoder().wrap(
                client.expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(), 0,
                CompletionQueueReadyDecoder.BLOCK_LENGTH, 0);
            long avId = client.openAddressVector();
            client.enable(queue.cqId(), queue.cqId(), avId, "", "", body -> { });
            close(client, ObjectKind.COMPLETION_QUEUE, queue.cqId());
            close(client, ObjectKind.ADDRESS_VECTOR, avId);
            EndpointReadyDecoder ready = null;
            int busy = 0;
            for (int answers = 0; answers < 3; answers++) {
                ControlClient.Event event = client.awaitEvent();
                if (event.type() == EndpointReadyDecoder.TEMPLATE_ID) {
                    ready = new EndpointReadyDecoder().wrap(event.body(), 0, EndpointReadyDecoder.BLOCK_LENGTH, 0);
                } else if (event.type() == CommandFailedDecoder.TEMPLATE_ID) {
                    assertEquals(FabricErrno.EBUSY, new CommandFailedDecoder().wrap(
                        event.body(), 0, CommandFailedDecoder.BLOCK_LENGTH, 0).errno());
                    busy++;
                }
            }
            assertTrue(ready != null, "the endpoint was named first");
            assertEquals(2, busy);
            // the endpoint works: an entry is written where the queue still is
            ControlClient.Queues queues = new ControlClient.Queues();
            queues.activityIndex = ready.activityIndex();
            queues.tq = client.map(FileType.TRANSMIT_QUEUE.fileName(ready.transmitQueueFile()));
            queues.transmit = ControlClient.producer(queues.tq.address(), ready.transmitQueueLength());
            MappedFile cq = client.map(FileType.COMPLETION_QUEUE.fileName(queue.fileNumber()));
            queues.cq = cq;
            queues.cqCapacity = queue.capacity();
            client.send(queues, Flags.TAGGED, 0, 8, 0, 1, 100 + i);
            assertEquals(100 + i, client.awaitCompletion(queues)[1]);
            close(client, ObjectKind.ENDPOINT, ready.endpointId());
            client.expect(DoneDecoder.TEMPLATE_ID);
            close(client, ObjectKind.COMPLETION_QUEUE, queue.cqId());
            client.expect(DoneDecoder.TEMPLATE_ID);
            close(client, ObjectKind.ADDRESS_VECTOR, avId);
            client.expect(DoneDecoder.TEMPLATE_ID);
        }
    }

    @Test
    void shouldGiveQueueBackWhenEnablingFails() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        ControlClient.Queues first = client.open("taken", "");
        client.openCompletionQueue(0, 4, 0);
        long cqId = new CompletionQueueReadyDecoder().wrap(
            client.expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(), 0,
            CompletionQueueReadyDecoder.BLOCK_LENGTH, 0).cqId();
        client.enable(cqId, cqId, first.avId, "taken", "", body -> { });
        assertEquals(FabricErrno.EADDRINUSE, client.expectFailure());
        close(client, ObjectKind.COMPLETION_QUEUE, cqId);
        client.expect(DoneDecoder.TEMPLATE_ID);
    }

    @Test
    void shouldNotKeepAServiceWhoseEndpointIsClosedWhileItIsPublished() {
        launch(ThreadingMode.SHARED);
        ControlClient client = client();
        for (int i = 0; i < ROUNDS; i++) {
            ControlClient.Queues queues = client.open("server", "");
            ExpandableArrayBuffer body = new ExpandableArrayBuffer();
            PublishServiceEncoder publish = new PublishServiceEncoder().wrap(body, 0).correlationId(client.nextId())
                .endpointId(queues.endpointId).service("service");
            client.command(PublishServiceEncoder.TEMPLATE_ID, body, publish.encodedLength());
            close(client, ObjectKind.ENDPOINT, queues.endpointId);
            client.awaitEvent();
            client.awaitEvent();
            // the name is free again, and so is the file that other drivers look at
            ControlClient.Queues next = client.open("other", "service");
            close(client, ObjectKind.ENDPOINT, next.endpointId);
            client.expect(DoneDecoder.TEMPLATE_ID);
        }
        client.await("the service's file to go", () -> !Files.exists(driver.directory().resolve("service.svc")));
        assertFalse(Files.exists(driver.directory().resolve("service.svc.new")));
    }

    @Tag("slow") // runs a program
    @Test
    void shouldNotWaitForAPipeInPlaceOfAServiceFile() throws IOException, InterruptedException {
        launch(ThreadingMode.SHARED);
        Path sibling = Files.createDirectory(driver.directory().resolveSibling("sibling"));
        TestProcess.run("mkfifo", sibling.resolve("pipe.svc").toString()).succeeded();
        Files.createSymbolicLink(sibling.resolve("link.svc"), Files.writeString(
            sibling.resolve("target"), "jfabric://sibling/ep-9"));
        Files.writeString(sibling.resolve("good.svc"), "jfabric://sibling/ep-7");
        Files.writeString(sibling.resolve("long.svc"), "jfabric://sibling/" + "x".repeat(5000));
        Files.writeString(sibling.resolve("empty.svc"), "");
        ControlClient client = client();
        ControlClient.Queues queues = client.open("", "");
        assertEquals("jfabric://sibling/pipe", inserted(client, queues, "jfabric://sibling/pipe"));
        assertEquals("jfabric://sibling/link", inserted(client, queues, "jfabric://sibling/link"));
        assertEquals("jfabric://sibling/long", inserted(client, queues, "jfabric://sibling/long"));
        assertEquals("jfabric://sibling/empty", inserted(client, queues, "jfabric://sibling/empty"));
        assertEquals("jfabric://sibling/ep-7", inserted(client, queues, "jfabric://sibling/good"));
    }

    private static String inserted(ControlClient client, ControlClient.Queues queues, String address) {
        client.insertAddress(queues.avId, address);
        return new AddressReadyDecoder().wrap(client.expect(AddressReadyDecoder.TEMPLATE_ID).body(), 0,
            AddressReadyDecoder.BLOCK_LENGTH, 0).address();
    }

    private static void close(ControlClient client, ObjectKind kind, long id) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[CloseObjectEncoder.BLOCK_LENGTH]);
        body.putLong(CloseObjectEncoder.correlationIdEncodingOffset(), client.nextId());
        body.putLong(CloseObjectEncoder.objectIdEncodingOffset(), id);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) kind.value());
        client.command(CloseObjectEncoder.TEMPLATE_ID, body, CloseObjectEncoder.BLOCK_LENGTH);
    }

    private void launch(ThreadingMode mode) {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(temporary.resolve("base").resolve("driver")).threadingMode(mode).build());
        opened.push(driver);
    }

    private ControlClient client() {
        ControlClient client = new ControlClient(driver.directory(), () -> { });
        opened.push(client);
        return client;
    }
}
