package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.codec.control.ClientHelloEncoder;
import org.jfabric.codec.control.CloseObjectEncoder;
import org.jfabric.codec.control.DrainDriverEncoder;
import org.jfabric.codec.control.MessageHeaderEncoder;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LivenessConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients that ring seldom, read late or never, say nothing, do not listen, or hang up in the middle of a command. */
@Timeout(120)
class ControlChannelTest {
    private static final int UNKNOWN_KIND = 77;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final UnsafeBuffer bytes = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
    private FabricDriver driver;

    @TempDir
    private Path temporary;

    @AfterEach
    void closeAll() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    /** More than the driver takes of a client in one cycle. */
    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldTakeAllCommandsOfAClientThatRingsOnce(ThreadingMode mode) {
        launch(builder(mode));
        ControlClient client = client();
        int commands = 100;

        write(client, commands);
        client.doorbell();

        expectFailures(client, commands);
    }

    /** The events are longer than the ring, so most of them wait in the driver until the client reads. */
    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldDeliverTheEventsThatFoundNoRoomWithoutAFurtherCommand(ThreadingMode mode) {
        launch(builder(mode).set(QueueConfig.CTL_RING_BYTES, 16 << 10));
        ControlClient client = client();
        int commands = 200;

        write(client, commands);
        client.doorbell();
        client.await("the driver to take them", () -> client.commands.isDrained());

        expectFailures(client, commands);
    }

    /** It has more commands in every cycle, so that the driver never comes to rest. */
    @Test
    void shouldEndABusyClientThatNeverReadsItsEvents() {
        launch(builder(ThreadingMode.INVOKER));
        ControlClient client = client();
        // a client whose commands fill a batch is served again in the next cycle without a further ring
        int batch = 16;
        write(client, batch);
        long first = client.commands.position();
        write(client, 20 * batch);
        client.doorbell();
        client.await("the driver to begin", () -> client.commands.isTaken(first));

        int cycles = 0;
        while (!client.isEnded()) {
            assertTrue(cycles++ < 5000, "it is served without end");
            write(client, batch);
            driver.cycle();
        }

        client().open("another", "");
    }

    /** Nothing else wakes the driver when the time is over. */
    @ParameterizedTest
    @EnumSource(value = ThreadingMode.class, names = {"SHARED", "DEDICATED"})
    void shouldCloseASilentConnectionInADriverThatSleeps(ThreadingMode mode) {
        launch(builder(mode).set(LivenessConfig.HELLO_TIMEOUT_NS, 100_000_000L));
        int fd = connect();

        Deadline.awaitParked("the driver closes", () ->
            UnixSocket.recv(fd, bytes.addressOffset(), 1, UnixSocket.MSG_DONTWAIT) == 0);
    }

    /** It could not know its number and its files. */
    @ParameterizedTest
    @EnumSource(ThreadingMode.class)
    void shouldEndAClientThatCannotReceiveItsWelcome(ThreadingMode mode) {
        launch(builder(mode));
        Set<String> before = files();
        int fd = connect();
        assertEquals(0, UnixSocket.shutdown(fd, UnixSocket.SHUT_RD));
        ClientHelloEncoder hello = new ClientHelloEncoder()
            .wrapAndApplyHeader(bytes, Integer.BYTES, new MessageHeaderEncoder())
            .magic(FileHeaderDescriptor.MAGIC).version(FileHeaderDescriptor.VERSION)
            .reserved(0).ownerIdHigh(0).ownerIdLow(0).name("deaf");
        int length = MessageHeaderEncoder.ENCODED_LENGTH + hello.encodedLength();
        bytes.putInt(0, length);
        assertEquals(Integer.BYTES + length,
            UnixSocket.send(fd, bytes.addressOffset(), Integer.BYTES + length, UnixSocket.MSG_DONTWAIT));

        Deadline.awaitParked("the driver closes", () -> {
            idle();
            int sent = UnixSocket.send(fd, bytes.addressOffset(), 1, UnixSocket.MSG_DONTWAIT);
            return sent < 0 && sent != -FabricErrno.EAGAIN;
        });
        Deadline.awaitParked("its control file goes", () -> {
            idle();
            return files().equals(before);
        });
    }

    /** The command ends with its client, and the driver serves the others as if it had not been drained. */
    @Test
    void shouldGiveUpADrainOnceWhenTheClientThatAskedForItIsGone() {
        launch(builder(ThreadingMode.SHARED));
        AtomicBoolean drained = new AtomicBoolean();
        driver.wiring().drain().allow(() -> drained.set(true));
        List<Boolean> draining = Collections.synchronizedList(new ArrayList<>());
        Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()).listener(new FabricListener() {
            @Override
            public void onDriverDraining(boolean begins) {
                draining.add(begins);
            }
        }));
        try (FabricNode node = new FabricNode(
            fabric, "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 0, () -> { })) {
            int length = 1 << 20;
            long self = node.av.insert(node.endpoint.name());
            // the drain waits for it, because its receive is posted at the end only
            assertEquals(0, node.endpoint.tsend(node.memory.address(0), length, self, 1, 11));
            Set<String> before = files();
            ControlClient tool = client();

            drain(tool);
            Deadline.awaitParked("the drain begins", () -> draining.equals(List.of(true)));
            tool.hangUp();

            Deadline.awaitParked("the drain is given up", () -> draining.equals(List.of(true, false)));
            Deadline.awaitParked("the tool's control file goes", () -> files().equals(before));
            for (int i = 0; i < 10; i++) {
                node.awaitStep();
            }
            assertEquals(0, node.endpoint.trecv(node.memory.address(length), length, self, 1, 0, 12));
            assertEquals(0, node.await().err());
            assertEquals(0, node.await().err());
            assertEquals(List.of(true, false), draining);
            assertFalse(drained.get());
        }
    }

    private void drain(ControlClient tool) {
        new DrainDriverEncoder().wrap(bytes, 0).correlationId(tool.nextId())
            .ownerIdHigh(driver.wiring().owner().high()).ownerIdLow(driver.wiring().owner().low())
            .timeoutNs(1_000_000_000_000L).force(0).reserved(0);
        tool.command(DrainDriverEncoder.TEMPLATE_ID, bytes, DrainDriverEncoder.BLOCK_LENGTH);
    }

    /** Writes commands, each of which is answered with a failure; does not ring. */
    private static void write(ControlClient client, int count) {
        int length = RecordRingDescriptor.WORD_LENGTH + CloseObjectEncoder.BLOCK_LENGTH;
        UnsafeBuffer body = new UnsafeBuffer(new byte[CloseObjectEncoder.BLOCK_LENGTH]);
        body.putByte(CloseObjectEncoder.kindEncodingOffset(), (byte) UNKNOWN_KIND);
        for (int i = 0; i < count; i++) {
            body.putLong(CloseObjectEncoder.correlationIdEncodingOffset(), i);
            int offset = client.commands.claim(length);
            assertTrue(offset >= 0, () -> FabricErrno.name(offset));
            client.commandRecords.putBytes(
                offset + RecordRingDescriptor.WORD_LENGTH, body, 0, CloseObjectEncoder.BLOCK_LENGTH);
            client.commands.commit(offset, length, CloseObjectEncoder.TEMPLATE_ID);
        }
    }

    private static void expectFailures(ControlClient client, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(FabricErrno.EINVAL, client.expectFailure(), "of command " + i);
        }
    }

    private DriverConfig.Builder builder(ThreadingMode mode) {
        // JUnit's temporary directory is readable by others, the driver's base must not be
        return DriverConfig.builder().directory(temporary.resolve("base").resolve("driver")).threadingMode(mode);
    }

    private void launch(DriverConfig.Builder builder) {
        driver = FabricDriver.launchEmbedded(builder.build());
        opened.add(driver);
    }

    private ControlClient client() {
        ControlClient client = new ControlClient(driver.directory(), this::idle);
        opened.add(client);
        return client;
    }

    private int connect() {
        int fd = UnixSocket.connect(driver.directory().resolve(DriverDirectory.SOCKET_NAME), UnixSocket.SOCK_NONBLOCK);
        assertTrue(fd >= 0, () -> FabricErrno.name(fd));
        opened.add(() -> Libc.close(fd));
        return fd;
    }

    private void idle() {
        if (driver.config().get(ThreadingConfig.MODE) == ThreadingMode.INVOKER) {
            driver.cycle();
        }
    }

    private Set<String> files() {
        try (Stream<Path> entries = Files.list(driver.directory())) {
            Set<String> names = new HashSet<>();
            entries.forEach(path -> names.add(path.getFileName().toString()));
            return names;
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
