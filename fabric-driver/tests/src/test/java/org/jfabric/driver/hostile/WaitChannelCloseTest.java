package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenWaitSetEncoder;
import org.jfabric.codec.control.WaitChannelHelloEncoder;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.codec.control.WaitSetReadyDecoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.Effort;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A wait set is closed while its channel is on its way to the progress thread, which is another one than the
 * conductor's. The descriptor must be closed once, and not used afterwards: another connection may have its number.
 */
@Tag("hostile")
@Timeout(120)
class WaitChannelCloseTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver("jfabric.threading.mode=DEDICATED");

    private static final int ROUNDS = Effort.rounds(80, 200);
    private static final int STRANGERS = 4;
    private static final int ECONNRESET = -104;

    private final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(4096));

    private record WaitSet(long id, long token) {
    }

    private static WaitSet open(ControlClient client) {
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        new OpenWaitSetEncoder().wrap(body, 0).correlationId(client.nextId()).flags(0).waitObj(WaitObj.FD);
        client.command(OpenWaitSetEncoder.TEMPLATE_ID, body, OpenWaitSetEncoder.BLOCK_LENGTH);
        WaitSetReadyDecoder ready = new WaitSetReadyDecoder().wrap(
            client.expect(WaitSetReadyDecoder.TEMPLATE_ID).body(), 0, WaitSetReadyDecoder.BLOCK_LENGTH, 0);
        return new WaitSet(ready.waitSetId(), ready.waitToken());
    }

    private static void close(ControlClient client, WaitSet set) {
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        new CloseObjectEncoder().wrap(body, 0).correlationId(client.nextId()).objectId(set.id);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) ObjectKind.WAIT_SET.value());
        client.command(CloseObjectEncoder.TEMPLATE_ID, body, CloseObjectEncoder.BLOCK_LENGTH);
    }

    private static int connect() {
        int fd = UnixSocket.connect(DRIVER.directory().resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, "connect: " + fd);
        return fd;
    }

    private void hello(int fd, long clientId, WaitSet set) {
        WaitChannelHelloEncoder hello = new WaitChannelHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
            .reserved(0).clientId(clientId).objectId(set.id).token(set.token);
        int length = Integer.BYTES + MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length - Integer.BYTES);
        assertEquals(length, UnixSocket.send(fd, buffer.addressOffset(), length, UnixSocket.MSG_DONTWAIT));
    }

    private int receive(int fd) {
        return UnixSocket.recv(fd, buffer.addressOffset(), buffer.capacity(), UnixSocket.MSG_DONTWAIT);
    }

    @Test
    void shouldNotTouchConnectionsThatComeMeanwhile() {
        ControlClient client = DRIVER.client();
        for (int round = 0; round < ROUNDS; round++) {
            WaitSet set = open(client);
            int channel = connect();
            hello(channel, client.clientId, set);
            close(client, set);
            int[] strangers = new int[STRANGERS];
            for (int i = 0; i < STRANGERS; i++) {
                strangers[i] = connect();
            }
            client.expect(DoneDecoder.TEMPLATE_ID);
            Deadline.awaitParked("the end of the channel", () -> {
                int count = receive(channel);
                return count == 0 || count == ECONNRESET;
            });
            // what the driver did with the channel is done when it has answered again
            close(client, open(client));
            client.expect(DoneDecoder.TEMPLATE_ID);
            for (int stranger : strangers) {
                assertEquals(-FabricErrno.EAGAIN, receive(stranger), "round " + round);
                Libc.close(stranger);
            }
            Libc.close(channel);
        }
    }
}
