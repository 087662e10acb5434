package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.LibfabricPeer;
import org.jfabric.samples.quotes.Quotes;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The program of the tutorial in its three places, and with C programs of libfabric on either side. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QuotesTest {
    private static final Path C_PROGRAM = Path.of("src", "test", "c", "quote_peer.c");
    private static final List<String> RECEIVED = List.of(
        "1 EURUSD 1.083401 1.083601",
        "2 EURUSD 1.083402 1.083602",
        "3 EURUSD 1.083403 1.083603",
        "4 EURUSD 1.083404 1.083604",
        "5 EURUSD 1.083405 1.083605",
        "received 5 quotes");

    private static final Arguments TCP = Arguments.of("tcp", "net");
    private static final Arguments RXM = Arguments.of("rxm", "tcp;ofi_rxm");

    private final List<TestProcess> processes = new ArrayList<>();
    private final Path base = TestDirectory.create();

    @AfterEach
    void endProcesses() {
        Collections.reverse(processes);
        for (TestProcess process : processes) {
            process.process().destroy();
            process.ended();
        }
        TestDirectory.delete(base);
    }

    @Test
    void shouldReachBothSubscribersOverADaemon() {
        started(TestJvm.start(properties(), FabricDriver.class)).awaitLine("jfabric driver ready");
        exchange("jfabric://default/quotes", "daemon");
    }

    @Test
    void shouldReachBothSubscribersWhereEachProcessHasADriver() {
        exchange("jfabric://feed/quotes", "embedded");
    }

    @Test
    void shouldReachBothSubscribersOverTcp() throws IOException {
        String address = "127.0.0.1:" + freePort();
        exchange("fi_sockaddr_in://" + address, "tcp", address);
    }

    /** With keys as the page makes them; a process that has another one is refused. */
    @ParameterizedTest
    @MethodSource("encryptedLinks")
    void shouldReachBothSubscribersOverTls(String link) throws Exception {
        String page = Files.readString(Path.of("..", "docs", "tutorial.md"));
        int begin = page.indexOf("umask 077");
        run(page.substring(begin, page.indexOf("```", begin)));
        String address = "127.0.0.1:" + freePort();
        TestProcess publisher = tls("feed", "publish", "feed", link, address);
        publisher.awaitLine("publisher: ");
        run("umask 077; keytool -genkeypair -alias driver -keyalg EC -groupname secp256r1 -dname CN=other -validity 365"
            + " -storetype PKCS12 -keystore keys/other.p12 -storepass:file keys/password");
        TestProcess other = tls("other", "subscribe", "other", link, address);
        other.ended();
        assertTrue(other.lines().toString().contains("FI_EKEYREJECTED"), other.lines()::toString);
        TestProcess first = tls("desk-1", "subscribe", "desk-1", link, address);
        TestProcess second = tls("desk-2", "subscribe", "desk-2", link, address);
        assertReceived(first);
        assertReceived(second);
        publisher.awaitLine("published 5 quotes to 2 subscribers");
        publisher.succeeded();
    }

    static List<String> encryptedLinks() {
        return Effort.ALL ? List.of("tls", "tlsrxm") : List.of("tlsrxm");
    }

    /** Runs commands of the shell in the test's folder. */
    private void run(String commands) throws Exception {
        ProcessBuilder shell = new ProcessBuilder("bash", "-e", "-c", commands).directory(base.toFile())
            .redirectErrorStream(true);
        shell.environment().merge("PATH", Path.of(System.getProperty("java.home"), "bin").toString(),
            (old, own) -> own + ':' + old);
        Process process = shell.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    private TestProcess tls(String key, String... arguments) {
        Path keys = base.resolve("keys");
        List<String> properties = new ArrayList<>(properties());
        properties.addAll(List.of("jfabric.tls.passwordFile=" + keys.resolve("password"),
            "jfabric.tls.trustFile=" + keys.resolve("trusted.pem"),
            "jfabric.tls.keyFile=" + keys.resolve(key + ".p12")));
        return started(TestJvm.start(properties, Quotes.class, arguments));
    }

    static List<Arguments> publishing() {
        return Effort.ALL ? List.of(TCP, RXM) : List.of(TCP);
    }

    static List<Arguments> subscribing() {
        return Effort.ALL ? List.of(TCP, RXM) : List.of(RXM);
    }

    @ParameterizedTest(name = "link {0}, libfabric''s {1}")
    @MethodSource("publishing")
    void shouldPublishToACProgram(String link, String provider) throws IOException {
        Path program = LibfabricPeer.compile(C_PROGRAM);
        String port = Integer.toString(freePort());
        TestProcess publisher = java("publish", "feed", link, "127.0.0.1:" + port);
        publisher.awaitLine("publisher: ");
        TestProcess subscriber = c(program, provider, "subscribe", port);
        TestProcess other = c(program, provider, "subscribe", port);
        assertReceived(subscriber);
        assertReceived(other);
        publisher.awaitLine("published 5 quotes to 2 subscribers");
        publisher.succeeded();
    }

    @ParameterizedTest(name = "link {0}, libfabric''s {1}")
    @MethodSource("subscribing")
    void shouldSubscribeToACProgram(String link, String provider) throws IOException {
        Path program = LibfabricPeer.compile(C_PROGRAM);
        String port = Integer.toString(freePort());
        TestProcess publisher = c(program, provider, "publish", port);
        publisher.awaitLine("publisher");
        TestProcess subscriber = java("subscribe", "desk-1", link, "127.0.0.1:" + port);
        TestProcess other = c(program, provider, "subscribe", port);
        assertReceived(subscriber);
        assertReceived(other);
        publisher.awaitLine("published 5 quotes to 2 subscribers");
        publisher.succeeded();
    }

    private void exchange(String address, String... place) {
        TestProcess publisher = java("publish", "feed", place);
        assertEquals(address, publisher.awaitLine("publisher: ").substring("publisher: ".length()));
        TestProcess first = java("subscribe", "desk-1", place);
        TestProcess second = java("subscribe", "desk-2", place);
        assertReceived(first);
        assertReceived(second);
        publisher.awaitLine("published 5 quotes to 2 subscribers");
        publisher.succeeded();
    }

    private static void assertReceived(TestProcess subscriber) {
        subscriber.succeeded();
        assertEquals(RECEIVED,
            subscriber.lines().stream().filter(line -> !line.startsWith("subscriber: ")).toList());
    }

    private TestProcess java(String role, String name, String... place) {
        List<String> arguments = new ArrayList<>(List.of(role, name));
        arguments.addAll(List.of(place));
        return started(TestJvm.start(properties(), Quotes.class, arguments.toArray(String[]::new)));
    }

    private TestProcess c(Path program, String provider, String role, String port) {
        return started(TestProcess.start(List.of(program.toString(), provider, role, "127.0.0.1", port)));
    }

    private List<String> properties() {
        return List.of("jfabric.dir.base=" + base);
    }

    private TestProcess started(TestProcess process) {
        processes.add(process);
        return process;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
