package org.jfabric.driver;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.EnableEndpointEncoder;
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenScalableEndpointEncoder;
import org.jfabric.codec.control.ScalableEndpointReadyDecoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the driver itself checks of scalable endpoints: the client is written by hand, and claims anything. */
@Timeout(60)
class ScalableCommandTest {
    @TempDir
    private Path temporary;
    private ControlClient client;
    private long cqId;
    private long avId;

    @Test
    void shouldTrustNoCountNameIndexOrNumber() throws Exception {
        Path directory = temporary.resolve("base").resolve("driver");
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory).threadingMode(ThreadingMode.SHARED).build());
            ControlClient connected = new ControlClient(driver.directory(), () -> { })) {
            client = connected;
            client.openCompletionQueue(0, 4, 0);
            cqId = new CompletionQueueReadyDecoder().wrap(client.expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(),
                0, CompletionQueueReadyDecoder.BLOCK_LENGTH, 0).cqId();
            avId = client.openAddressVector();
            refusesOpening();
            contexts();
        }
    }

    private void refusesOpening() {
        int[][] counts = {{-1, 1}, {1, -1}, {65, 1}, {1, 65}, {Integer.MAX_VALUE, Integer.MIN_VALUE}};
        for (int[] each : counts) {
            open("many", each[0], each[1]);
            assertEquals(FabricErrno.EINVAL, client.expectFailure());
        }
        for (String name : new String[] {"a/b", "a#rx1", ".a", "a".repeat(65)}) {
            open(name, 1, 1);
            assertEquals(FabricErrno.EINVAL, client.expectFailure(), name);
        }
        close(ObjectKind.SCALABLE_ENDPOINT.value(), 4711);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        enable(4711, 0, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
    }

    private void contexts() {
        open("many", 2, 1);
        long id = new ScalableEndpointReadyDecoder().wrap(
            client.expect(ScalableEndpointReadyDecoder.TEMPLATE_ID).body(), 0,
            ScalableEndpointReadyDecoder.BLOCK_LENGTH, 0).scalableId();
        open("many", 2, 1);
        assertEquals(FabricErrno.EADDRINUSE, client.expectFailure());
        for (int[] place : new int[][] {{-1, 0}, {1, 0}, {2, 1}, {Integer.MAX_VALUE, 1}}) {
            enable(id, place[0], place[1]);
            assertEquals(FabricErrno.EINVAL, client.expectFailure());
        }
        long[] opened = {enabled(id, 1, 1), enabled(id, 0, 0)};
        for (int i = 0; i < 2; i++) {
            enable(id, 1 - i, 1 - i);
            assertEquals(FabricErrno.EBUSY, client.expectFailure());
            close(ObjectKind.SCALABLE_ENDPOINT.value(), id);
            assertEquals(FabricErrno.EBUSY, client.expectFailure());
            close(ObjectKind.ENDPOINT.value(), opened[i]);
            client.expect(DoneDecoder.TEMPLATE_ID);
        }
        close(ObjectKind.ENDPOINT.value(), enabled(id, 0, 0));
        client.expect(DoneDecoder.TEMPLATE_ID);
        close(ObjectKind.SCALABLE_ENDPOINT.value(), id);
        client.expect(DoneDecoder.TEMPLATE_ID);
        enable(id, 0, 0);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        open("many", 0, 0);
        client.expect(ScalableEndpointReadyDecoder.TEMPLATE_ID);
    }

    private long enabled(long scalableId, int index, int transmits) {
        enable(scalableId, index, transmits);
        EndpointReadyDecoder ready = new EndpointReadyDecoder().wrap(
            client.expect(EndpointReadyDecoder.TEMPLATE_ID).body(), 0, EndpointReadyDecoder.BLOCK_LENGTH, 0);
        return ready.endpointId();
    }

    private void enable(long scalableId, int index, int transmits) {
        client.enable(cqId, cqId, avId, "", "", body -> {
            body.putLong(EnableEndpointEncoder.scalableIdEncodingOffset(), scalableId, LITTLE_ENDIAN);
            body.putInt(EnableEndpointEncoder.contextIndexEncodingOffset(), index, LITTLE_ENDIAN);
            body.putInt(EnableEndpointEncoder.isTransmitContextEncodingOffset(), transmits, LITTLE_ENDIAN);
        });
    }

    private void open(String name, int txCtxCnt, int rxCtxCnt) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[512]);
        OpenScalableEndpointEncoder encoder = new OpenScalableEndpointEncoder().wrap(body, 0)
            .correlationId(client.nextId()).txCtxCnt(txCtxCnt).rxCtxCnt(rxCtxCnt);
        body.putLong(OpenScalableEndpointEncoder.capsEncodingOffset(), Flags.NAMED_RX_CTX, LITTLE_ENDIAN);
        encoder.endpointName(name);
        client.command(OpenScalableEndpointEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    private void close(int kind, long id) {
        UnsafeBuffer body = new UnsafeBuffer(new byte[CloseObjectEncoder.BLOCK_LENGTH]);
        new CloseObjectEncoder().wrap(body, 0).correlationId(client.nextId()).objectId(id);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) kind);
        client.command(CloseObjectEncoder.TEMPLATE_ID, body, CloseObjectEncoder.BLOCK_LENGTH);
    }
}
