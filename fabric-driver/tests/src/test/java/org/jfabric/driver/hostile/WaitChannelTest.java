package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.CompletionQueueReadyDecoder;
import org.jfabric.codec.control.CqFormat;
import org.jfabric.codec.control.CqWaitCond;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.EndpointReadyDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenCompletionQueueEncoder;
import org.jfabric.codec.control.OpenWaitSetEncoder;
import org.jfabric.codec.control.WaitChannelHelloEncoder;
import org.jfabric.codec.control.WaitChannelWelcomeDecoder;
import org.jfabric.codec.control.WaitObj;
import org.jfabric.codec.control.WaitSetReadyDecoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.WaitDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Everything that can be wrong with the sockets at which applications wait. */
@Tag("hostile")
@Timeout(120)
class WaitChannelTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int FD = 3;
    private static final int NONE = 0;
    private static final int TAGGED = 4;
    private static final int ECONNRESET = -104;
    private static final int FLOOD_BYTES = 1 << 20;

    private final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(FLOOD_BYTES));

    /** A queue as its owner knows it. */
    private record Queue(ControlClient client, long id, long token, long fileNumber, int capacity) {
    }

    private static Queue open(ControlClient client, int waitObject) {
        client.openCompletionQueue(16, TAGGED, waitObject);
        return opened(client);
    }

    private static Queue opened(ControlClient client) {
        CompletionQueueReadyDecoder ready = new CompletionQueueReadyDecoder().wrap(
            client.expect(CompletionQueueReadyDecoder.TEMPLATE_ID).body(), 0,
            CompletionQueueReadyDecoder.BLOCK_LENGTH, 0);
        return new Queue(client, ready.cqId(), ready.waitToken(), ready.fileNumber(), ready.capacity());
    }

    /** An endpoint that reports to the queue. */
    private static ControlClient.Queues enable(Queue queue) {
        ControlClient client = queue.client;
        long avId = client.openAddressVector();
        client.enable(queue.id, queue.id, avId, "", "", body -> { });
        EndpointReadyDecoder ready = new EndpointReadyDecoder().wrap(
            client.expect(EndpointReadyDecoder.TEMPLATE_ID).body(), 0, EndpointReadyDecoder.BLOCK_LENGTH, 0);
        ControlClient.Queues queues = new ControlClient.Queues();
        queues.activityIndex = ready.activityIndex();
        queues.tq = client.map(FileType.TRANSMIT_QUEUE.fileName(ready.transmitQueueFile()));
        queues.transmit = ControlClient.producer(queues.tq.address(), ready.transmitQueueLength());
        queues.cq = client.map(FileType.COMPLETION_QUEUE.fileName(queue.fileNumber));
        queues.cqCapacity = queue.capacity;
        return queues;
    }

    private static void close(Queue queue) {
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        new CloseObjectEncoder().wrap(body, 0).correlationId(queue.client.nextId()).objectId(queue.id);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) ObjectKind.COMPLETION_QUEUE.value());
        queue.client.command(CloseObjectEncoder.TEMPLATE_ID, body, CloseObjectEncoder.BLOCK_LENGTH);
    }

    private static int connect() {
        int fd = UnixSocket.connect(DRIVER.directory().resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, "connect: " + fd);
        return fd;
    }

    private int hello(int fd, long magic, int version, long clientId, long objectId, long token, int extra) {
        WaitChannelHelloEncoder hello = new WaitChannelHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(magic).version(version).reserved(0)
            .clientId(clientId).objectId(objectId).token(token);
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength() + extra;
        buffer.putInt(0, length);
        return UnixSocket.send(fd, buffer.addressOffset(), Integer.BYTES + length, UnixSocket.MSG_DONTWAIT);
    }

    private int attach(Queue queue) {
        int fd = connect();
        hello(fd, FileHeaderDescriptor.MAGIC, FileHeaderDescriptor.VERSION, queue.client.clientId, queue.id,
            queue.token, 0);
        return fd;
    }

    /** Errno of the answer. */
    private int answer(int fd) {
        UnsafeBuffer read = new UnsafeBuffer(ByteBuffer.allocateDirect(1024));
        Deadline.awaitParked("an answer", () ->
            UnixSocket.recv(fd, read.addressOffset(), read.capacity(), UnixSocket.MSG_DONTWAIT) > 0);
        return new WaitChannelWelcomeDecoder().wrapAndApplyHeader(
            read, Integer.BYTES, new MessageHeaderDecoder()).errno();
    }

    private void awaitClosed(int fd) {
        UnsafeBuffer read = new UnsafeBuffer(ByteBuffer.allocateDirect(4096));
        Deadline.awaitParked("the driver closes the channel", () -> {
            int count;
            do {
                count = UnixSocket.recv(fd, read.addressOffset(), read.capacity(), UnixSocket.MSG_DONTWAIT);
            } while (count > 0);
            return count == 0 || count == ECONNRESET;
        });
        Libc.close(fd);
    }

    /** A byte is answered by a byte. */
    private void assertEchoes(int fd) {
        assertEquals(1, UnixSocket.send(fd, buffer.addressOffset(), 1, UnixSocket.MSG_DONTWAIT));
        Deadline.awaitParked("an echo", () ->
            UnixSocket.recv(fd, buffer.addressOffset(), 1, UnixSocket.MSG_DONTWAIT) == 1);
    }

    @Test
    void shouldTurnAwayWhoDoesNotKnowTheToken() {
        Queue queue = open(DRIVER.client(), FD);
        Queue other = open(DRIVER.client(), FD);
        Queue without = open(queue.client, NONE);
        assertTrue(queue.token != 0 && queue.token != other.token);
        assertEquals(0, without.token);
        long[][] wrong = {
            {queue.client.clientId, queue.id, queue.token + 1},
            {queue.client.clientId, queue.id, 0},
            {queue.client.clientId, other.id, queue.token},
            {other.client.clientId, queue.id, queue.token},
            {queue.client.clientId, without.id, 0},
            {-1, queue.id, queue.token},
            {queue.client.clientId, Long.MAX_VALUE, queue.token},
        };
        for (long[] each : wrong) {
            int fd = connect();
            hello(fd, FileHeaderDescriptor.MAGIC, FileHeaderDescriptor.VERSION, each[0], each[1], each[2], 0);
            assertEquals(FabricErrno.EACCES, answer(fd));
            awaitClosed(fd);
        }
        DRIVER.assertLogged("a wait channel for object " + queue.id + " of client " + queue.client.clientId);
        int fd = attach(queue);
        assertEquals(0, answer(fd), "the right one is still welcome");
        assertEchoes(fd);
        Libc.close(fd);
    }

    @Test
    void shouldTurnAwayGarbage() {
        Queue queue = open(DRIVER.client(), FD);
        int version = FileHeaderDescriptor.VERSION;
        int fd = connect();
        hello(fd, 0x1234, version, queue.client.clientId, queue.id, queue.token, 0);
        assertEquals(FabricErrno.EINVAL, answer(fd));
        awaitClosed(fd);
        fd = connect();
        hello(fd, FileHeaderDescriptor.MAGIC, 9, queue.client.clientId, queue.id, queue.token, 0);
        assertEquals(FabricErrno.EINVAL, answer(fd));
        awaitClosed(fd);
        DRIVER.assertLogged("a wait channel's magic is 0x1234");
        DRIVER.assertLogged("a wait channel's version is 9, this driver's is " + version, FileHeaderDescriptor.REMEDY);
        for (int extra : new int[] {-8, 1, 100}) {
            fd = connect();
            hello(fd, FileHeaderDescriptor.MAGIC, version, queue.client.clientId, queue.id, queue.token, extra);
            assertEquals(FabricErrno.EINVAL, answer(fd));
            awaitClosed(fd);
        }
        DRIVER.assertLogged("a wait channel's hello has", "bytes");
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 200; i++) {
            fd = connect();
            hello(fd, random.nextInt(4) == 0 ? random.nextLong() : FileHeaderDescriptor.MAGIC,
                random.nextInt(4) == 0 ? random.nextInt(65536) : version,
                random.nextBoolean() ? random.nextLong() : queue.client.clientId,
                random.nextBoolean() ? random.nextLong() : queue.id,
                random.nextLong(), random.nextInt(3));
            Libc.close(fd);
        }
    }

    @Test
    void shouldTakeOneChannelForEachQueue() {
        Queue queue = open(DRIVER.client(), FD);
        int first = attach(queue);
        assertEquals(0, answer(first));
        int second = attach(queue);
        assertEquals(FabricErrno.EBUSY, answer(second));
        awaitClosed(second);
        assertEchoes(first);
        Libc.close(first);
        // when the driver has noticed, there is room again
        Deadline.awaitParked("room for another channel", () -> {
            int fd = attach(queue);
            int errno = answer(fd);
            Libc.close(fd);
            return errno == 0;
        });
        close(queue);
        queue.client.expect(DoneDecoder.TEMPLATE_ID);
    }

    @Test
    void shouldServeOthersWhileAChannelIsFlooded() {
        Queue queue = open(DRIVER.client(), FD);
        int fd = attach(queue);
        assertEquals(0, answer(fd));
        long sent = 0;
        for (int i = 0; i < 2000; i++) {
            // nobody reads the echoes: the driver must not wait for room
            sent += Math.max(0, UnixSocket.send(fd, buffer.addressOffset(), FLOOD_BYTES, UnixSocket.MSG_DONTWAIT));
        }
        assertTrue(sent > FLOOD_BYTES / 8, "sent " + sent);
        DRIVER.bystanders().assertGoOn(8);
        int left;
        do {
            left = UnixSocket.recv(fd, buffer.addressOffset(), FLOOD_BYTES, UnixSocket.MSG_DONTWAIT);
        } while (left > 0);
        Deadline.awaitParked("the flood is over", () -> {
            int count = UnixSocket.recv(fd, buffer.addressOffset(), FLOOD_BYTES, UnixSocket.MSG_DONTWAIT);
            return count == -FabricErrno.EAGAIN
                && UnixSocket.send(fd, buffer.addressOffset(), 1, UnixSocket.MSG_DONTWAIT) == 1;
        });
        Deadline.awaitParked("an echo", () -> UnixSocket.recv(
            fd, buffer.addressOffset(), FLOOD_BYTES, UnixSocket.MSG_DONTWAIT) > 0);
        Libc.close(fd);
    }

    /** A client that is always armed and never reads its channel fills it: that is no reason to wait. */
    @Test
    void shouldServeOthersWhileAFullChannelIsWoken() {
        ControlClient client = DRIVER.client();
        Queue queue = open(client, FD);
        int fd = attach(queue);
        assertEquals(0, answer(fd));
        ControlClient.Queues queues = enable(queue);
        MappedFile cq = queues.cq;
        for (int i = 0; i < 2000; i++) {
            UnsafeApi.putIntVolatile(null, cq.address() + CompletionQueueDescriptor.WAIT_OFFSET
                + WaitDescriptor.ARMED_OFFSET, i % 7 == 0 ? -1 : 1);
            // names no region: each is an error entry
            client.send(queues, Flags.TAGGED, 0, 8, 0, 1, i);
            assertEquals(i, client.awaitCompletion(queues)[1]);
            UnsafeApi.putLongRelease(
                null, cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, queues.read);
        }
        DRIVER.bystanders().assertGoOn(8);
        Libc.close(fd);
    }

    /** The memory through which a wait set is woken is the client's, and it can cut it. */
    @Test
    void shouldEndOnlyTheClientWhoseWaitSetIsCut() {
        ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
        ExpandableArrayBuffer body = new ExpandableArrayBuffer();
        new OpenWaitSetEncoder().wrap(body, 0).correlationId(client.nextId()).flags(0).waitObj(WaitObj.UNSPEC);
        client.command(OpenWaitSetEncoder.TEMPLATE_ID, body, OpenWaitSetEncoder.BLOCK_LENGTH);
        WaitSetReadyDecoder set = new WaitSetReadyDecoder().wrap(
            client.expect(WaitSetReadyDecoder.TEMPLATE_ID).body(), 0, WaitSetReadyDecoder.BLOCK_LENGTH, 0);
        new OpenCompletionQueueEncoder().wrap(body, 0).correlationId(client.nextId()).size(16).flags(0)
            .format(CqFormat.TAGGED).waitObj(WaitObj.SET).signalingVector(0).waitCond(CqWaitCond.NONE)
            .waitSetId(set.waitSetId());
        client.command(OpenCompletionQueueEncoder.TEMPLATE_ID, body, OpenCompletionQueueEncoder.BLOCK_LENGTH);
        Queue queue = opened(client);
        ControlClient.Queues queues = enable(queue);
        client.send(queues, Flags.TAGGED, 0, 8, 0, 1, 1);
        assertEquals(1, client.awaitCompletion(queues)[1]);
        String file = FileType.WAIT_SET.fileName(set.fileNumber());
        CutFiles.cut(DRIVER.directory(), file, 0);
        client.send(queues, Flags.TAGGED, 0, 8, 0, 1, 2);
        Deadline.awaitParked("the client's end", client::isEnded);
        DRIVER.assertLogged("was ended", file, "was cut");
        DRIVER.bystanders().assertUnharmed();
        client.close();
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldLoseNoDescriptorsHoweverTheyEnd() {
        DRIVER.settle();
        long before = DRIVER.descriptors();
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 100; i++) {
            ControlClient client = new ControlClient(DRIVER.directory(), () -> { });
            Queue queue = open(client, FD);
            int fd = attach(queue);
            if (random.nextBoolean()) {
                assertEquals(0, answer(fd));
            }
            switch (random.nextInt(5)) {
                case 0 -> Libc.close(fd);
                case 1 -> {
                    close(queue);
                    client.expect(DoneDecoder.TEMPLATE_ID);
                    awaitClosed(fd);
                }
                case 2 -> {
                    close(queue);
                    Libc.close(fd);
                }
                case 3 -> {
                    client.close();
                    awaitClosed(fd);
                }
                default -> {
                    UnixSocket.shutdown(fd, UnixSocket.SHUT_WR);
                    client.close();
                    awaitClosed(fd);
                }
            }
            client.close();
        }
        DRIVER.settle();
        Deadline.awaitParked(() -> "descriptors: " + before + " before, " + DRIVER.descriptors() + " after",
            () -> DRIVER.descriptors() <= before);
    }
}
