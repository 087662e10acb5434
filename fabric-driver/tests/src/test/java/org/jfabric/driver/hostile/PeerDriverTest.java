package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a client can do to another driver on the same host through its own region files. */
@Tag("hostile")
@Timeout(120)
class PeerDriverTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final int LENGTH = 1 << 20;

    private DriverProcess beta;
    private DriverView betaView;
    private Bystanders across;
    private FabricNode receiver;

    @BeforeEach
    void startBeta() {
        beta = DriverProcess.start(DRIVER.base().resolve("beta"));
        betaView = new DriverView(beta.directory());
        across = new Bystanders("shm", DRIVER.directory(), beta.directory());
        receiver = Bystanders.node("shm", beta.directory());
    }

    @AfterEach
    void stopBeta() {
        try {
            across.assertGoOn(20);
            WatchedDriver.assertExplained(betaView);
        } catch (AssertionError e) {
            System.out.println("beta: " + beta.output().lines().filter(line -> !line.contains("jfabric.")).toList()
                + betaView.errors() + betaView.counters());
            throw e;
        } finally {
            across.close();
            receiver.close();
            betaView.close();
            beta.close();
        }
    }

    /** A message from a client of alpha; region and queues are the test's to break. */
    private ControlClient client;
    private ControlClient.Queues queues;
    private ControlClient.Region region;
    private long toReceiver;

    private void open(String name) {
        client = new ControlClient(DRIVER.directory(), () -> { });
        queues = client.open(name, "");
        region = client.register(LENGTH);
        toReceiver = client.insert(queues, receiver.endpoint.name());
        for (int i = 0; i < LENGTH; i += 8) {
            UnsafeApi.putLong(region.data() + i, i);
        }
    }

    private Path file() {
        return DRIVER.directory().resolve(CutFiles.nameOf(region.file()));
    }

    /** The first use maps the region, later ones copy from the mapping. */
    private void exchange(int messages) {
        for (int i = 0; i < messages; i++) {
            receiver.endpoint.trecv(receiver.memory.address(0), LENGTH, -1L, 1, 0, 1);
            receiver.memory.buffer().setMemory(0, LENGTH, (byte) -1);
            client.send(queues, KIND, region.address(0), LENGTH, toReceiver, 1, 2);
            FabricNode.Entry entry = Deadline.awaitValue("the message", receiver::poll);
            assertEquals(0, entry.err(), entry.toString());
            assertEquals(LENGTH, entry.len());
            for (int at = 0; at < LENGTH; at += 8) {
                assertEquals(at, receiver.memory.buffer().getLong(at));
            }
            assertEquals(1, client.awaitCompletion(queues)[0]);
        }
    }

    @Test
    void shouldEndOnlyTheTransferWhenARegionIsCutUnderTheMappingOfAnotherDriver() {
        for (int round = 0; round < 5; round++) {
            open("cut-" + round);
            exchange(3);
            receiver.endpoint.trecv(receiver.memory.address(0), LENGTH, -1L, 1, 0, 77);
            CutFiles.cut(DRIVER.directory(), file().getFileName().toString(), 8192);
            client.send(queues, KIND, region.address(0), LENGTH, toReceiver, 1, 3);
            FabricNode.Entry entry = Deadline.awaitValue("the receive's end", receiver::poll);
            assertEquals(77, entry.context(), entry.toString());
            assertTrue(entry.err() != 0, entry.toString());
            client.close();
            across.assertUnharmed();
        }
        WatchedDriver.assertLogged(betaView, " of a peer was truncated while ", "Only messages from this region");
        across.assertGoOn(20);
        DRIVER.bystanders().assertUnharmed();
    }

    @Test
    void shouldDeliverInSegmentsWhenTheFileIsASymbolicLink() throws IOException {
        open("link");
        Files.delete(file());
        Files.createSymbolicLink(file(), Path.of("/etc/passwd"));
        exchange(3);
        WatchedDriver.assertLogged(
            betaView, file().getFileName().toString(), "symbolic link refused", "arrive in segments");
        client.close();
    }

    @Test
    void shouldDeliverInSegmentsWhenTheFileIsAnother() throws IOException {
        open("another");
        byte[] whole = Files.readAllBytes(file());
        for (int variant = 0; variant < 6; variant++) {
            byte[] other = whole.clone();
            switch (variant) {
                case 0 -> other[FileHeaderDescriptor.GENERATION_OFFSET] ^= 1;
                case 1 -> other[FileHeaderDescriptor.OWNER_LOW_OFFSET] ^= 1;
                case 2 -> other[FileHeaderDescriptor.FILE_TYPE_OFFSET] ^= 1;
                case 3 -> other[FileHeaderDescriptor.MAGIC_OFFSET] ^= 1;
                case 4 -> other[FileHeaderDescriptor.VERSION_OFFSET] ^= 2;
                default -> other = new byte[100];
            }
            java.util.Arrays.fill(other, Math.min(4096, other.length), other.length, (byte) 9);
            Path temporary = DRIVER.directory().resolve("replacement");
            Files.write(temporary, other);
            Files.setPosixFilePermissions(temporary,
                java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
            Files.move(temporary, file(), StandardCopyOption.REPLACE_EXISTING);
            exchange(3);
            if (variant > 0) {
                WatchedDriver.assertLogged(betaView, file().getFileName().toString(), "arrive in segments");
            }
            client.close();
            open("another-" + variant);
        }
        client.close();
    }

    @Test
    void shouldReachEachOtherAgainAfterARingWasCut() throws IOException {
        open("ring");
        exchange(1);
        Path ring;
        try (var files = Files.list(beta.directory())) {
            ring = files.filter(name -> name.toString().endsWith(".ring")).findFirst().orElseThrow();
        }
        across.close();
        CutFiles.cut(beta.directory(), ring.getFileName().toString(), 0);
        WatchedDriver.assertLogged(DRIVER.view(), "driver beta", "truncated one of its files");
        DRIVER.bystanders().assertGoOn(10);
        // connects anew; what was on the way has failed
        receiver.endpoint.trecv(receiver.memory.address(0), LENGTH, -1L, 5, 0, 1);
        Deadline.awaitParked("a message arrives", () -> {
            client.send(queues, KIND, region.address(0), 64, toReceiver, 5, 9);
            client.awaitCompletion(queues);
            FabricNode.Entry entry = receiver.poll();
            return entry != null && entry.err() == 0;
        });
        client.close();
        across = new Bystanders("shm", DRIVER.directory(), beta.directory());
    }

    @Test
    void shouldTellPeersOfAClientThatIsEndedForCorruption() {
        open("corrupt");
        long toClient = receiver.av.insert(queues.address);
        receiver.endpoint.tsend(receiver.memory.address(0), LENGTH, toClient, 8, 1);
        receiver.endpoint.trecv(receiver.memory.address(0), 64, toClient, 8, 0, 2);
        FabricNode.awaitStep(receiver.domain);
        client.send(queues, KIND, region.address(0), LENGTH, toReceiver, 1, 3);
        UnsafeApi.putLongRelease(null, queues.receive.ringAddress(), -1L);
        client.signal(queues);
        assertTrue(client.expectEnded().contains("receive queue"));
        for (int i = 0; i < 2; i++) {
            FabricNode.Entry entry = Deadline.awaitValue("an error entry", receiver::poll);
            assertTrue(entry.err() != 0 && entry.err() != FabricErrno.ECANCELED, entry.toString());
        }
        client.close();
    }
}
