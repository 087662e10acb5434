package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.kit.PacketPrivilege;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams to and from libfabric's udp provider. */
@Tag("slow")
@Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FiPingPongUdpTest {
    /** Every size up to the provider's longest message. */
    private static final List<String> ALL = List.of("0", "1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48",
        "64", "96", "128", "192", "256", "384", "512", "768", "1k");

    @ParameterizedTest(name = "java is server: {0}")
    @ValueSource(booleans = {true, false})
    void shouldExchangeAllSizesWithTheCProgram(boolean javaIsServer) throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", "udp", "-e", "dgram", "-c", "-S", "all", "-I", "2"), ALL);
    }

    @ParameterizedTest(name = "java is server: {0}")
    @ValueSource(booleans = {true, false})
    void shouldExchangeTheUsualSizesWithTheCProgram(boolean javaIsServer) throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", "udp", "-e", "dgram", "-c", "-I", "100"), List.of("64", "256", "1k"));
    }

    @ParameterizedTest(name = "java is server: {0}")
    @ValueSource(booleans = {true, false})
    void shouldExchangeDatagramsByIpv6(boolean javaIsServer) throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.runIn6(
            javaIsServer, "-p", "udp", "-e", "dgram", "-c", "-I", "10"), List.of("64", "256", "1k"));
    }

    @ParameterizedTest(name = "java is server: {0}")
    @ValueSource(booleans = {true, false})
    void shouldExchangeAllSizesFromARing(boolean javaIsServer) throws Exception {
        PacketPrivilege.assume();
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", "packet", "-e", "dgram", "-c", "-S", "all", "-I", "20"), ALL);
    }

    @ParameterizedTest(name = "java is server: {0}")
    @ValueSource(booleans = {true, false})
    void shouldExchangeDatagramsByIpv6FromARing(boolean javaIsServer) throws Exception {
        PacketPrivilege.assume();
        LibfabricPingPong.assertExchanged(LibfabricPingPong.runIn6(
            javaIsServer, "-p", "packet", "-e", "dgram", "-c", "-I", "10"), List.of("64", "256", "1k"));
    }

    @Test
    void shouldMeasureSeveralSizesInTheirOrder() throws Exception {
        String port = Integer.toString(LibfabricPingPong.freePort());
        CompletableFuture<ToolRun> server = CompletableFuture.supplyAsync(() -> ToolRun.of(
            "fi-pingpong", "-p", "udp", "-e", "dgram", "-c", "-I", "20", "-S", "256,64,256", "-B", port));
        ToolRun client = ToolRun.of(
            "fi-pingpong", "-p", "udp", "-e", "dgram", "-c", "-I", "20", "-S", "256,64,256", "-P", port, "127.0.0.1");
        for (ToolRun side : List.of(client, server.get(Deadline.s(60), TimeUnit.SECONDS))) {
            assertEquals(0, side.status(), side.err());
            // the first line names the columns
            assertEquals(List.of("256", "64", "256"),
                side.out().lines().skip(1).map(line -> line.substring(0, line.indexOf(' '))).toList(), side.out());
        }
    }

    @Test
    void shouldSayWhereNobodyAnswers() {
        ToolRun run = ToolRun.of("fi-pingpong", "--timeout", "1", "-P", "1", "127.0.0.1");
        assertEquals(1, run.status());
        assertTrue(run.err().contains("No server answers at 127.0.0.1 port 1"), run.err());
    }

    @Test
    void shouldRefuseWhatItCannotDo() {
        assertEquals(2, ToolRun.of("fi-pingpong", "-e", "stream").status());
        assertEquals(2, ToolRun.of("fi-pingpong", "-m", "rma").status());
        assertEquals(2, ToolRun.of("fi-pingpong", "-S", "many").status());
        assertEquals(2, ToolRun.of("fi-pingpong", "-S", "64,").status());
        assertEquals(2, ToolRun.of("fi-pingpong", "-S", "64,-1").status());
        assertEquals(2, ToolRun.of("fi-pingpong", "-I", "0").status());
    }
}
