package org.jfabric.driver.qualify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command between two namespaces, and what its serving side refuses. */
@Tag("slow")
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QualifyTest {
    private static final Path PROGRAM = Path.of("/usr/bin/fi_pingpong");
    private static final int END_S = 200;

    @TempDir
    private Path folder;

    /** Runs both sides; what the calling one said. */
    private TestProcess run(String pathOfServer, String... options) throws IOException {
        assumeTrue(Files.isExecutable(PROGRAM), PROGRAM + " is not there: install the package libfabric-bin");
        try (TwoHosts hosts = TwoHosts.make()) {
            for (String host : List.of(hosts.first(), hosts.second())) {
                TestProcess.run("ip", "-n", host, "link", "set", "lo", "up").succeeded();
            }
            List<String> serving = new ArrayList<>(
                List.of("ip", "netns", "exec", hosts.second(), "env", "PATH=" + pathOfServer));
            serving.addAll(TestJvm.command(List.of(), QualifyMain.class, "--serve", "--peer", TwoHosts.FIRST_ADDRESS));
            try (TestProcess server = TestProcess.start(serving)) {
                server.awaitLine("qualify: waits for the other host");
                List<String> all = new ArrayList<>(List.of("--peer", TwoHosts.SECOND_ADDRESS, "--interface",
                    TwoHosts.INTERFACE, "--quick", "--report", folder.resolve("report.md").toString()));
                all.addAll(List.of(options));
                try (TestProcess caller = TwoHosts.java(hosts.first(), QualifyMain.class, all.toArray(String[]::new))) {
                    caller.ended(END_S);
                    assertEquals(0, server.ended().status(), server::toString);
                    return caller;
                }
            }
        }
    }

    private String report() throws IOException {
        return Files.readString(folder.resolve("report.md"));
    }

    @Test
    void shouldMakeTheStepsOfEthernetAndWriteAReportWithoutAddresses() throws Exception {
        // of each kind of step one, or all but those that differ from others by the link alone
        TestProcess caller = run(System.getenv("PATH"), "--only", Effort.ALL
            ? "^(?!conformance, tcp|contents, tcp msg|contents, .*: C to C|a peer that is killed, tcp)"
            : "^(discovery|conformance, rxm|contents, (tcp rdm: C to ours|(udp|packet) dgram: ours to C)|times, tcp msg"
                + "|(rates and remote memory|a peer that is killed), rxm|streams)");
        assertEquals(0, caller.status(), caller::toString);
        String report = report();
        assertTrue(report.contains(" 0 failed, 0 skipped"), report);
        for (String step : List.of("discovery", "conformance, rxm", "contents, tcp rdm: C to ours",
            "contents, udp dgram: ours to C", "contents, packet dgram: ours to C", "times, tcp msg: C",
            "rates and remote memory, rxm", "a peer that is killed, rxm", "streams")) {
            assertTrue(report.contains("| " + step + " | passed | "), step + " in\n" + report);
        }
        assertTrue(report.contains("| tcp msg, 64 bytes | ") && report.contains("| rxm, atomic addition | "), report);
        assertFalse(report.contains(TwoHosts.FIRST_ADDRESS) || report.contains(TwoHosts.SECOND_ADDRESS)
            || report.contains(InetAddress.getLocalHost().getHostName()), report);
    }

    @Test
    void shouldSkipWhatTheOtherHostLacks() throws Exception {
        TestProcess caller = run(folder.toString(), "--only", "contents, udp");
        assertEquals(0, caller.status(), caller::toString);
        assertTrue(report().contains("| contents, udp dgram: C to ours | passed |"), report());
        assertTrue(report().matches("(?s).*\\| contents, udp dgram: ours to C \\| skipped \\| [0-9.]+ \\| on the other"
            + " host: fi_pingpong is not on the path of this host; install libfabric-bin \\|.*"), report());
    }

    /** A program that sends other bytes than it should. */
    @Test
    void shouldFailWhereContentsAreNotThoseThatWereSent() throws Exception {
        // without -c
        Path program = Files.writeString(folder.resolve("fi_pingpong"),
            "#!/bin/sh\nexec " + PROGRAM + " -p tcp -e msg -I 2\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        TestProcess caller = run(folder + ":/usr/bin:/bin", "--only", "contents, tcp msg: ours to C");
        assertEquals(1, caller.status(), caller::toString);
        assertTrue(report().contains("| contents, tcp msg: ours to C | **failed** | ")
            && report().contains("is not what the other side had to send"), report());
    }

    @Test
    void shouldServeNobodyButThePeerAndNothingButSteps() throws Exception {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        Place place = new Place(null, "lo", here, 0);
        int port = NumberedMessages.freePort();
        try (Programs programs = new Programs(place, "127.0.0.1")) {
            ServingSide side = new ServingSide(place, here, new Privacy(), programs);
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
                try {
                    side.serve(port);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            try (ControlLine stranger = connect("127.0.0.2", here, port)) {
                assertNull(stranger.hear(20));
            }
            try (ControlLine peer = connect("127.0.0.1", here, port)) {
                assertEquals(ControlLine.GREETING, peer.hear(20));
                peer.say(ControlLine.GREETING);
                for (String wrong : List.of("", "SHELL TCP_MSG true 0 1", "OURS tcp true 0 1",
                    "OURS TCP_MSG true 0 1 x", "OURS TCP_MSG true 0 0", "OURS TCP_MSG yes 0 1",
                    "THEIRS TCP_MSG true 0 1;id")) {
                    peer.say("start " + wrong);
                    assertEquals("failed it was asked for what there is not", peer.hear(20), wrong);
                }
                peer.say("exec id");
                assertNull(peer.hear(20));
            }
            try (ControlLine peer = connect("127.0.0.1", here, port)) {
                peer.say(ControlLine.GREETING);
                assertEquals(ControlLine.GREETING, peer.hear(20));
                peer.say("bye");
                served.get(Deadline.s(20), TimeUnit.SECONDS);
            }
        }
    }

    private static ControlLine connect(String from, InetAddress to, int port) throws IOException {
        Deadline deadline = Deadline.usual();
        while (true) {
            try {
                return new ControlLine(new Socket(to, port, InetAddress.getByName(from), 0));
            } catch (IOException notYet) {
                deadline.check("the serving side", notYet::toString);
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldHideNamesAndAddressesAndNothingElse() throws Exception {
        Privacy privacy = new Privacy("storm.example.org", "192.0.2.7");
        String kept = " stormy 6.1.0-28 25.0.3+9 20.31.1014 12:30 x::y 1.17.0";
        String shown = privacy.hide("storm: fi_sockaddr_in://192.0.2.7:47 fe80::ff:fe00:1 ::ffff:10.0.0.1"
            + " 02:00:00:00:00:01 0002:c903:00a1:b2c3 /home/ann/x storm.example.org" + kept);
        assertEquals("<name>: fi_sockaddr_in://<address>:47" + " <address>".repeat(4) + " <home> <name>" + kept, shown);
        assertEquals(shown, Privacy.checked(shown));
        assertThrows(IOException.class, () -> Privacy.checked("at 192.0.2.7"));
    }
}
