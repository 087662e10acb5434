package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.SocketStack;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.CSource;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.Verdict;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which library drivers call for sockets where one that counts is loaded in front of the C library. */
@Tag("slow") // starts processes
@Timeout(120)
class SocketLibraryTest {
    private static final String[] OPTIONS = {"jfabric.tcp.interface=lo", "jfabric.udp.interface=lo",
        "jfabric.link.enabled=loopback,tcp,udp", "jfabric.threading.mode=SHARED", "jfabric.log.target=STDERR"};
    private static final int LONG_BYTES = 300_000;
    private static final int BURST = 40;

    /** What the library has counted; kinds as in {@code counting_shim.c}. */
    private record Counts(Map<String, long[]> calls) {
        private static final int NAME_BYTES = 24;
        private static final int RECORD_BYTES = 64;
        private static final int TCP = 1;
        private static final int UDP = 2;
        private static final int EPOLL = 3;
        private static final int OTHER = 4;

        static Counts read(Path file) throws IOException {
            ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
            Map<String, long[]> calls = new TreeMap<>();
            for (int at = 0; at < bytes.limit(); at += RECORD_BYTES) {
                String name = new String(bytes.array(), at, NAME_BYTES, StandardCharsets.US_ASCII).replace("\0", "");
                ByteBuffer record = bytes.position(at + NAME_BYTES).slice().order(ByteOrder.nativeOrder());
                calls.put(name, LongStream.generate(record::getLong).limit(OTHER + 1).toArray());
            }
            return new Counts(calls);
        }

        long of(String name, int kind) {
            return calls.get(name)[kind];
        }

        void assertSeen(int kind, String... names) {
            for (String name : names) {
                assertTrue(of(name, kind) > 0, () -> name + " of kind " + kind + ": " + this);
            }
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            calls.forEach((name, counts) -> text.append(name).append(' ').append(Arrays.toString(counts)).append('\n'));
            return text.toString();
        }
    }

    /** Two drivers in one process that want different libraries. */
    static final class TwoDrivers {
        private TwoDrivers() {
        }

        public static void main(String[] args) {
            DriverConfig.Builder config = DriverConfig.builder().host().threadingMode(ThreadingMode.SHARED);
            Path second = config.build().directory().resolveSibling("second");
            try (FabricDriver first = FabricDriver.launch(config.build())) {
                FabricException refused = assertThrows(FabricException.class, () -> FabricDriver.launch(
                    config.directory(second).set(LinkConfig.SOCKET_LIBRARY, SocketStack.SYSTEM).build()));
                System.out.println("second: " + refused.getMessage());
                System.out.println("jfabric driver ready " + first.directory());
            }
        }
    }

    private static Path library;
    private static Path base;

    private Path countsFile;

    @BeforeAll
    static void compile() throws IOException {
        library = CSource.compile(
            Path.of("tests", "src", "test", "c", "counting_shim.c"), "-shared", "-fPIC", "-ldl");
        base = TestDirectory.create();
    }

    @AfterAll
    static void delete() {
        if (base != null) {
            TestDirectory.delete(base);
        }
    }

    private DriverProcess start(Class<?> main, String name, String... options) {
        countsFile = base.resolve(name + ".counts");
        List<String> front = List.of("env", "LD_PRELOAD=" + library, "SHIM_COUNTS=" + countsFile);
        return DriverProcess.launch(front, main, base.resolve(name), options).awaitReady();
    }

    @Test
    void shouldCallItForAllOfSocketsAndForNothingElse() throws IOException {
        try (DriverProcess counted = start(FabricDriver.class, "counted", OPTIONS);
            DriverProcess other = DriverProcess.start(base.resolve("other"), OPTIONS)) {
            assertTrue(counted.output().contains("sockets of " + library), counted.output());
            assertVerdicts(counted.directory());
            exchange(counted, other);
        }
        Counts counts = Counts.read(countsFile);
        counts.assertSeen(Counts.TCP, "socket", "bind", "connect", "listen", "accept4", "send", "sendmsg", "recv",
            "recvmsg", "setsockopt", "getsockopt", "getsockname", "shutdown", "close");
        counts.assertSeen(Counts.UDP, "socket", "bind", "sendto", "sendmmsg", "recvfrom", "recvmmsg", "setsockopt",
            "getsockname", "close");
        counts.assertSeen(Counts.EPOLL, "epoll_create1", "epoll_ctl", "epoll_wait", "close");
        assertEquals(0, counts.of("sendmsg", Counts.UDP), () -> "runs that only the system divides: " + counts);
        for (int kind = Counts.TCP; kind <= Counts.EPOLL; kind++) {
            long made = counts.of("socket", kind) + counts.of("accept4", kind) + counts.of("epoll_create1", kind);
            assertEquals(made, counts.of("close", kind), counts::toString);
        }
        counts.calls().forEach((name, calls) -> {
            assertEquals(0, calls[0], () -> name + " of what is no socket: " + counts);
            assertEquals(0, calls[Counts.OTHER], () -> name + " of other sockets: " + counts);
        });
        assertEquals(0, LongStream.of(counts.calls().get("bypassed")).sum(), counts::toString);
    }

    @Test
    void shouldPassItByIfTheOptionSaysSo() throws IOException {
        try (DriverProcess counted = start(FabricDriver.class, "passing", with("jfabric.link.socketLibrary=SYSTEM"));
            DriverProcess other = DriverProcess.start(base.resolve("beside"), OPTIONS)) {
            assertTrue(counted.output().contains("sockets of the C library, not of " + library), counted.output());
            exchange(counted, other);
        }
        Counts counts = Counts.read(countsFile);
        assertTrue(counts.calls().containsKey("socket"), counts::toString);
        counts.calls().forEach((name, calls) -> assertEquals(0, LongStream.of(calls).sum(), counts::toString));
    }

    @Test
    void shouldHaveOneLibraryForAllDriversOfAProcess() {
        try (DriverProcess both = start(TwoDrivers.class, "first", OPTIONS)) {
            String said = both.output();
            assertTrue(said.contains("second: FI_EBUSY") && said.contains(
                LinkConfig.SOCKET_LIBRARY.name() + " is SYSTEM, and this process has sockets of " + library), said);
        }
    }

    @Test
    void shouldRefuseToStartWithoutTheLibraryThatIsDemanded() {
        String said = DriverProcess.refused(base.resolve("without"), with("jfabric.link.socketLibrary=PRELOADED"));
        assertTrue(said.contains("LD_PRELOAD=<library>"), said);
    }

    /** As libvma does where it finds no device. */
    @Test
    void shouldRefuseToStartIfItGivesNoSockets() {
        List<String> front = List.of("env", "LD_PRELOAD=" + library, "SHIM_REFUSES=1");
        String said = DriverProcess.refused(front, base.resolve("refusing"), OPTIONS);
        assertTrue(said.contains("FI_ENOSYS") && said.contains("no socket that can be waited for from " + library),
            said);
    }

    private static String[] with(String option) {
        String[] all = Arrays.copyOf(OPTIONS, OPTIONS.length + 1);
        all[OPTIONS.length] = option;
        return all;
    }

    private static Fabric fabric(DriverProcess driver) {
        return Fabric.connect(new FabricConfig().directory(driver.directory()));
    }

    private static void assertVerdicts(Path directory) {
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(directory))) {
            for (Info hints : List.of(FabricPair.usualHints(), DatagramPair.hints())) {
                List<Verdict> accepted = fabric.info(hints).verdicts().stream()
                    .filter(each -> each.chosen() && !each.linkName().equals("loopback")).toList();
                assertEquals(1, accepted.size(), accepted::toString);
                assertTrue(accepted.getFirst().toString().contains("socket library: seen " + library),
                    accepted::toString);
            }
        }
    }

    /** Over tcp, by connections of either side, and over udp; the second time to a driver that sleeps. */
    private static void exchange(DriverProcess counted, DriverProcess other) {
        for (boolean isReversed : new boolean[] {false, true}) {
            try (FabricNode a = new FabricNode(
                    fabric(isReversed ? other : counted), "tcp", FabricPair.usualHints(), 64, 0, () -> { });
                FabricNode b = new FabricNode(
                    fabric(isReversed ? counted : other), "tcp", FabricPair.usualHints(), 64, 0, () -> { })) {
                long toB = a.av.insert(b.endpoint.name());
                long toA = b.av.insert(a.endpoint.name());
                send(a, b, toB, toA, 64);
                send(b, a, toA, toB, LONG_BYTES);
                awaitSleep(counted);
                send(b, a, toA, toB, 64);
                send(a, b, toB, toA, LONG_BYTES);
            }
        }
        Info hints = DatagramPair.hints();
        try (FabricNode a = new FabricNode(fabric(counted), "udp", hints, 128, 0, () -> { });
            FabricNode b = new FabricNode(fabric(other), "udp", hints, 128, 0, () -> { })) {
            long toB = a.av.insert(b.endpoint.name());
            long toA = b.av.insert(a.endpoint.name());
            sendDatagrams(a, b, toB, 1);
            sendDatagrams(b, a, toA, 1);
            awaitSleep(counted);
            sendDatagrams(b, a, toA, BURST);
            sendDatagrams(a, b, toB, BURST);
        }
    }

    private static void awaitSleep(DriverProcess driver) {
        try (ControlClient client = new ControlClient(driver.directory(), () -> { })) {
            client.await("the driver to sleep", client::isParked);
        }
    }

    private static void send(FabricNode from, FabricNode to, long peer, long source, int bytes) {
        from.fill(0, bytes, bytes);
        assertEquals(0, to.endpoint.trecv(to.memory.address(LONG_BYTES), bytes, source, 7, 0, 1));
        assertEquals(0, from.endpoint.tsend(from.memory.address(), bytes, peer, 7, 2));
        to.await(1);
        from.await(2);
        to.assertFilled(LONG_BYTES, bytes, bytes);
    }

    private static void sendDatagrams(FabricNode from, FabricNode to, long peer, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, to.endpoint.recv(to.memory.address(), 64, -1, 1));
        }
        to.awaitRead(count);
        for (int i = 0; i < count; i++) {
            assertEquals(0, from.endpoint.send(from.memory.address(), 64, peer, 2));
        }
        for (int i = 0; i < count; i++) {
            from.await(2);
            to.await(1);
        }
    }
}
