package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.ClientHelloEncoder;
import org.jfabric.codec.control.ClientWelcomeDecoder;
import org.jfabric.codec.control.MessageHeaderDecoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.codec.wire.HelloEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Everything that is no client's hello on the driver's socket. */
@Tag("hostile")
@Timeout(120)
class SocketGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int VERSION = FileHeaderDescriptor.VERSION;
    private static final int EOF = 0;
    private static final int ECONNRESET = -104;

    private final UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(32 * 1024));

    private static int connect() {
        int fd = UnixSocket.connect(DRIVER.directory().resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, "connect: " + fd);
        return fd;
    }

    private void send(int fd, int offset, int length) {
        UnixSocket.send(fd, buffer.addressOffset() + offset, length, UnixSocket.MSG_DONTWAIT);
    }

    private void awaitClosed(int fd) {
        UnsafeBuffer read = new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024));
        Deadline.awaitParked("the driver closes the connection", () -> {
            int count = UnixSocket.recv(fd, read.addressOffset(), read.capacity(), UnixSocket.MSG_DONTWAIT);
            return count == EOF || count == ECONNRESET;
        });
        Libc.close(fd);
    }

    private int hello(long magic, int version, int schema, int template) {
        ClientHelloEncoder hello = new ClientHelloEncoder()
            .wrapAndApplyHeader(buffer, Integer.BYTES, new MessageHeaderEncoder())
            .magic(magic).version(version).reserved(0).ownerIdHigh(0).ownerIdLow(0)
            .name("hostile");
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        buffer.putInt(0, length);
        new MessageHeaderEncoder().wrap(buffer, Integer.BYTES).schemaId(schema).templateId(template);
        return Integer.BYTES + length;
    }

    private String refusal(long magic, int version) {
        int fd = connect();
        send(fd, 0, hello(magic, version, ClientHelloEncoder.SCHEMA_ID, ClientHelloEncoder.TEMPLATE_ID));
        UnsafeBuffer read = new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024));
        Deadline.awaitParked("an answer", () -> UnixSocket.recv(
            fd, read.addressOffset(), read.capacity(), UnixSocket.MSG_DONTWAIT) > 0);
        ClientWelcomeDecoder welcome = new ClientWelcomeDecoder().wrapAndApplyHeader(
            read, Integer.BYTES, new MessageHeaderDecoder());
        assertTrue(welcome.errno() != 0);
        welcome.driverName();
        String reason = welcome.reason();
        awaitClosed(fd);
        return reason;
    }

    @Test
    void shouldSayWhatIsWrongWithTheMagic() {
        assertTrue(refusal(0x1234, VERSION).contains("magic is 0x1234"));
        DRIVER.assertLogged("magic is 0x1234", Long.toHexString(FileHeaderDescriptor.MAGIC));
    }

    @Test
    void shouldNameBothVersionsWhenTheyDiffer() {
        String reason = refusal(FileHeaderDescriptor.MAGIC, 9);
        assertEquals("the client's version is 9, this driver's is " + VERSION, reason);
        DRIVER.assertLogged(reason, FileHeaderDescriptor.REMEDY);
        assertThrows(IllegalStateException.class,
            () -> new ControlClient(DRIVER.directory(), () -> { }, VERSION + 1));
    }

    @Test
    void shouldTurnAwayRandomBytes() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 100; i++) {
            int fd = connect();
            int length = 1 + random.nextInt(9000);
            for (int at = 0; at < length; at++) {
                buffer.putByte(at, (byte) random.nextInt());
            }
            // half of them with a length that can be, so that the header is looked at
            if (random.nextBoolean()) {
                buffer.putInt(0, Math.min(length, 8 + random.nextInt(1000)));
            }
            send(fd, 0, length);
            Libc.close(fd);
        }
        DRIVER.assertLogged("a connection began with");
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldTurnAwayImpossibleLengths() {
        for (int length : new int[] {0, 1, 7, 8193, 1 << 20, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            int fd = connect();
            buffer.putInt(0, length);
            send(fd, 0, 4);
            awaitClosed(fd);
            DRIVER.assertLogged("a message of " + length + " bytes", "allowed are 8 to 8192");
        }
    }

    @Test
    void shouldTurnAwayOtherMessagesThanHello() {
        for (int[] message : new int[][] {{102, 2}, {102, 77}, {1, 1}, {0, 0}, {65535, 65535}}) {
            int fd = connect();
            send(fd, 0, hello(FileHeaderDescriptor.MAGIC, VERSION, message[0], message[1]));
            awaitClosed(fd);
            DRIVER.assertLogged("template " + message[1] + " of schema " + message[0]);
        }
    }

    @Test
    void shouldTurnAwayAHelloWhoseTextDoesNotFit() {
        for (int text : new int[] {-1, 100, 8192, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            int fd = connect();
            int length = hello(
                FileHeaderDescriptor.MAGIC, VERSION, ClientHelloEncoder.SCHEMA_ID, ClientHelloEncoder.TEMPLATE_ID);
            buffer.putInt(
                Integer.BYTES + MessageHeaderEncoder.ENCODED_LENGTH + ClientHelloEncoder.BLOCK_LENGTH, text);
            send(fd, 0, length);
            awaitClosed(fd);
            DRIVER.assertLogged("hello of", "is cut");
        }
    }

    @Test
    void shouldTurnAwayAnotherDriverThatCannotBe() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 100; i++) {
            int fd = connect();
            HelloEncoder hello = new HelloEncoder()
                .wrapAndApplyHeader(buffer, Integer.BYTES, new org.jfabric.codec.wire.MessageHeaderEncoder())
                .magic(i % 10 == 0 ? 5 : FileHeaderDescriptor.MAGIC).version(i % 10 == 1 ? 9 : VERSION)
                .cipherId(i % 10 == 2 ? 1 : 0).keyId(0).settings(random.nextLong())
                .ownerIdHigh(random.nextLong()).ownerIdLow(random.nextLong())
                .ringNumber(random.nextInt(3) - 1).ringLength(i % 3 == 0 ? 1 << 20 : random.nextInt() & 0xFFFF_FFFFL)
                .errno(i % 5 == 0 ? random.nextInt() : 0).threads(i % 6 == 0 ? random.nextInt() : 0)
                .driverName(i % 4 == 0 ? "../../etc" : i % 4 == 1 ? "alpha" : i % 4 == 2 ? "" : "nobody").reason("");
            int length = 8 + hello.encodedLength();
            buffer.putInt(0, length);
            if (i % 7 == 0) {
                buffer.putInt(8 + Integer.BYTES + HelloEncoder.BLOCK_LENGTH, random.nextInt());
            }
            send(fd, 0, Integer.BYTES + length);
            awaitClosed(fd);
        }
        DRIVER.assertLogged(
            "a peer driver uses version 9 of the wire, this one " + VERSION,
            FileHeaderDescriptor.REMEDY);
        DRIVER.assertReclaimed();
    }

    @Test
    void shouldServeOthersWhileSomebodyStopsInTheMiddleOfItsHello() {
        int[] silent = new int[20];
        int length = hello(
            FileHeaderDescriptor.MAGIC, VERSION, ClientHelloEncoder.SCHEMA_ID, ClientHelloEncoder.TEMPLATE_ID);
        for (int i = 0; i < silent.length; i++) {
            silent[i] = connect();
            send(silent[i], 0, i * (length - 1) / silent.length);
        }
        for (int i = 0; i < 5; i++) {
            ControlClient client = DRIVER.client();
            client.open("meanwhile-" + i, "");
        }
        DRIVER.assertUp();
        for (int fd : silent) {
            Libc.close(fd);
        }
    }

    /** Silent ones, and some that stop in the middle; a client that has said hello is silent much longer. */
    @Test
    void shouldCloseConnectionsThatNeverSayHelloAndNoOthers() {
        Path directory = DRIVER.base().resolve("impatient");
        try (DriverProcess driver = DriverProcess.start(directory, "jfabric.liveness.helloTimeoutNs=1s");
            DriverView view = new DriverView(directory);
            ControlClient quiet = new ControlClient(directory, () -> { });
            FabricNode client = Bystanders.node("loopback", directory)) {
            ControlClient.Queues queues = quiet.open("quiet", "");
            int length = hello(
                FileHeaderDescriptor.MAGIC, VERSION, ClientHelloEncoder.SCHEMA_ID, ClientHelloEncoder.TEMPLATE_ID);
            for (int round = 0; round < 2; round++) {
                int[] silent = new int[10];
                for (int i = 0; i < silent.length; i++) {
                    silent[i] = UnixSocket.connect(directory.resolve("driver.sock"), UnixSocket.SOCK_NONBLOCK);
                    send(silent[i], 0, i * (length - 1) / silent.length);
                }
                for (int fd : silent) {
                    awaitClosed(fd);
                }
            }
            WatchedDriver.assertLogged(view, "sent no hello within 1000 ms", "jfabric.liveness.helloTimeoutNs");
            assertEquals(20, view.counter("connections refused"));
            // each of the two rounds took the whole hello time limit, and this client has sent nothing meanwhile
            assertTrue(!quiet.isEnded());
            long self = quiet.insert(queues, queues.address);
            quiet.send(queues, org.jfabric.info.Flags.TAGGED, 0, 0, self, 1, 7);
            client.domain.allocate(4096).close();
            assertTrue(driver.process().isAlive());
        }
    }

    @Test
    void shouldLoseNoDescriptorsAndNoMemoryToConnectionsThatComeAndGo() throws IOException {
        DRIVER.settle();
        long before = DRIVER.descriptors();
        for (int i = 0; i < 200; i++) {
            int fd = connect();
            if (i % 4 == 1) {
                send(fd, 0, hello(
                    FileHeaderDescriptor.MAGIC, VERSION, ClientHelloEncoder.SCHEMA_ID, ClientHelloEncoder.TEMPLATE_ID));
            } else if (i % 4 == 2) {
                send(fd, 0, 10);
            } else if (i % 4 == 3) {
                UnixSocket.shutdown(fd, UnixSocket.SHUT_RDWR);
            }
            Libc.close(fd);
        }
        DRIVER.settle();
        Deadline.awaitParked(() -> "descriptors: " + before + " before, " + DRIVER.descriptors() + " after",
            () -> DRIVER.descriptors() <= before);
        DRIVER.assertReclaimed();
        assertEquals(10, DRIVER.files().size());
    }
}
