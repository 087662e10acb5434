package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A C program with an address of its own choice is stopped, killed and started again, and others want its place. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestartedPeerTest {
    private static final int BYTES = 64;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final long MANY_NS = Deadline.ns(20);
    private static final long RESTART_NS = Deadline.ns(5);

    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
    private final CompletionError error = new CompletionError();
    private final List<Process> programs = new ArrayList<>();
    @TempDir
    private Path directory;
    private FabricDriver driver;
    private CompletionQueue queue;
    private AddressVector addresses;
    private MemoryRegion region;
    private Endpoint endpoint;
    private int received;

    @AfterEach
    void close() throws InterruptedException {
        for (Process program : programs) {
            program.destroyForcibly().waitFor();
        }
        if (driver != null) {
            driver.close();
        }
    }

    private void open(String link) {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(directory.resolve("driver"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", link)
            .set("jfabric.tcp.interface", "127.0.0.1").build());
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.RDM);
        Domain domain = driver.fabric().domain(driver.fabric().info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        region = domain.allocate(4 * BYTES);
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        for (int i = 0; i < 3; i++) {
            assertEquals(0, endpoint.recv(region.address(), BYTES, -1, RECEIVE));
        }
    }

    private void cycle() {
        int read = queue.read(entry, 0, 1);
        if (read == 1 && entry.getLong(0) == RECEIVE) {
            received++;
        } else if (queue.readErr(error, 0) == 1) {
            assertEquals(SEND, error.opContext(), () -> "error " + error.err());
        }
    }

    private void await(long durationNs, BooleanSupplier condition) {
        long deadline = System.nanoTime() + durationNs;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> received + " messages have come; driver: " + driver);
            cycle();
            Thread.yield();
        }
    }

    /** Starts the C program, which listens at that port; messages can be exchanged afterwards. */
    private Run start(String provider, int port) throws Exception {
        int controlPort = LibfabricPingPong.freePort();
        CompletableFuture<FiPingPongControl> accepted =
            CompletableFuture.supplyAsync(() -> FiPingPongControl.accept(controlPort, false, listening -> { }));
        LibfabricPingPong.awaitListener(controlPort, accepted);
        String ports = "FI_" + provider.toUpperCase() + "_PORT_";
        Process program = LibfabricPingPong.start(
            List.of("-p", provider, "-e", "rdm", "-I", "1000000", "-S", Integer.toString(BYTES),
                "-P", Integer.toString(controlPort), "127.0.0.1"),
            Map.of(ports + "LOW_RANGE", Integer.toString(port), ports + "HIGH_RANGE", Integer.toString(port)));
        programs.add(program);
        FiPingPongControl control = accepted.get(MANY_NS, TimeUnit.NANOSECONDS);
        control.meanwhile(this::cycle);
        control.sendName(endpoint.name());
        String name = control.receiveName();
        assertEquals(port, SocketName.parse(name).port());
        long peer = addresses.insert(name);
        control.sync(false);
        return new Run(program, control, peer);
    }

    private record Run(Process program, FiPingPongControl control, long peer) {
    }

    private void answer(Run run) {
        await(MANY_NS, () -> endpoint.send(region.address(2 * BYTES), BYTES, run.peer, SEND) == 0);
        assertEquals(0, endpoint.recv(region.address(), BYTES, -1, RECEIVE));
    }

    /** Another process of this host that says to be the peer; what it is answered. */
    private String claim(String request) throws IOException {
        SocketName name = SocketName.parse(endpoint.name());
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress("127.0.0.1", 0));
            socket.connect(new InetSocketAddress(name.inetAddress(), name.port()));
            socket.getOutputStream().write(HexFormat.of().parseHex(request));
            int[] length = new int[1];
            await(MANY_NS, () -> (length[0] = available(socket)) > 0);
            return HexFormat.of().formatHex(socket.getInputStream().readNBytes(length[0]));
        }
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void signal(String signal, Process program) throws Exception {
        TestProcess.run("kill", signal, Long.toString(program.pid())).succeeded();
    }

    @ParameterizedTest
    @CsvSource({"net,tcp", "tcp,rxm"})
    void shouldKeepThePlaceOfALivingPeerAndGiveThatOfADeadOneToItsSuccessor(String provider, String link)
        throws Exception {
        LibfabricPingPong.assumeInstalled();
        open(link);
        int port = LibfabricPingPong.freePort();
        HexFormat hex = HexFormat.of();
        String request = link.equals("tcp")
            ? "03000008" + "00".repeat(20) + "0100000000000000" + "0000" + hex.toHexDigits((short) port) + "07654321"
            : "03000018" + "00".repeat(20) + "0100000000000000" + "01020403"
                + hex.toHexDigits(Short.reverseBytes((short) port)) + "0200" + "00400000" + "00100000"
                + "0000000021436507";

        Run first = start(provider, port);
        await(MANY_NS, () -> received == 1);
        signal("-STOP", first.program);
        assertEquals("0306", claim(request).substring(0, 4), "the process is stopped, and its kernel answers");
        signal("-CONT", first.program);
        answer(first);
        await(MANY_NS, () -> received == 2);

        signal("-KILL", first.program);
        first.program.waitFor();
        first.control.close();
        Run second = start(provider, port);
        await(RESTART_NS, () -> received == 3);
        answer(second);
        await(MANY_NS, () -> received == 4);
        second.control.close();
    }
}
