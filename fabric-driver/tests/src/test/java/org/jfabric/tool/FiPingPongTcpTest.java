package org.jfabric.tool;

import org.jfabric.test.Deadline;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Everything that goes over tcp, to and from libfabric 1.17: reliable datagrams of the provider tcp, which it calls
 * net; those of tcp;ofi_rxm, which it calls tcp; and connected endpoints.
 */
@Tag("slow")
@Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FiPingPongTcpTest {
    /** Every size that the C program has. */
    private static final List<String> ALL = List.of("0", "1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48",
        "64", "96", "128", "192", "256", "384", "512", "768", "1k", "1.5k", "2k", "3k", "4k", "6k", "8k", "12k", "16k",
        "24k", "32k", "48k", "64k", "96k", "128k", "192k", "256k", "384k", "512k", "768k", "1m", "1.5m", "2m", "3m",
        "4m", "6m");
    private static final List<String> USUAL = List.of("64", "256", "1k", "4k", "64k", "1m");

    /** Each size twice: what matters is the size; to fill and compare what is long takes most of the time. */
    @ParameterizedTest(name = "java is server: {0}, {1} {2} {3}")
    @CsvSource({"true,tcp,rdm,msg", "false,tcp,rdm,msg", "true,tcp,rdm,tagged", "false,tcp,rdm,tagged",
        "true,'tcp;ofi_rxm',rdm,msg", "false,'tcp;ofi_rxm',rdm,msg", "true,'tcp;ofi_rxm',rdm,tagged",
        "false,'tcp;ofi_rxm',rdm,tagged",
        "true,tcp,msg,msg", "false,tcp,msg,msg"})
    void shouldExchangeAllSizesWithTheCProgram(boolean javaIsServer, String provider, String type, String mode)
        throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", provider, "-e", type, "-m", mode, "-c", "-S", "all", "-I", "2"), ALL);
    }

    /** With IPv6 for the control connection; the messages follow it where libfabric has the choice. */
    @ParameterizedTest(name = "java is server: {0}, {1} {2} {3}")
    @CsvSource({"true,tcp,rdm,tagged", "false,tcp,rdm,msg", "true,'tcp;ofi_rxm',rdm,msg", "true,tcp,msg,msg"})
    void shouldExchangeMessagesByIpv6(boolean javaIsServer, String provider, String type, String mode)
        throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.runIn6(
            javaIsServer, "-p", provider, "-e", type, "-m", mode, "-c", "-I", "2"), USUAL);
    }

    /** Both have a receive out that nothing comes to, and the first to end closes the connection under the other. */
    @RepeatedTest(5)
    void shouldEndWellOnBothSidesOfAConnection() throws Exception {
        String port = Integer.toString(LibfabricPingPong.freePort());
        CompletableFuture<ToolRun> server = CompletableFuture.supplyAsync(() -> ToolRun.of(
            "fi-pingpong", "-p", "tcp", "-e", "msg", "-c", "-I", "20", "-S", "64,65536", "-B", port));
        ToolRun client = ToolRun.of(
            "fi-pingpong", "-p", "tcp", "-e", "msg", "-c", "-I", "20", "-S", "64,65536", "-P", port, "127.0.0.1");

        for (ToolRun side : List.of(client, server.get(Deadline.s(60), TimeUnit.SECONDS))) {
            assertEquals(0, side.status(), side.err());
            assertTrue(side.out().contains("64k "), side.out());
        }
    }

    /** Many messages on one connection, each protocol and each direction once. */
    @ParameterizedTest(name = "java is server: {0}, {1} {2} {3}")
    @CsvSource({"true,tcp,rdm,tagged", "false,'tcp;ofi_rxm',rdm,tagged", "true,tcp,msg,msg"})
    void shouldExchangeManyMessagesWithTheCProgram(boolean javaIsServer, String provider, String type, String mode)
        throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", provider, "-e", type, "-m", mode, "-c", "-S", "512", "-I", "100"), List.of("512"));
    }

    @EnabledIfSystemProperty(named = "jfabric.test.all", matches = "true", disabledReason = "part of -Pall")
    @ParameterizedTest(name = "java is server: {0}, {1} {2} {3}")
    @CsvSource({"true,tcp,rdm,tagged", "false,tcp,rdm,msg",
        "true,'tcp;ofi_rxm',rdm,msg", "false,'tcp;ofi_rxm',rdm,tagged",
        "true,tcp,msg,msg", "false,tcp,msg,msg"})
    void shouldExchangeTheUsualSizesWithTheCProgram(boolean javaIsServer, String provider, String type, String mode)
        throws Exception {
        LibfabricPingPong.assertExchanged(LibfabricPingPong.run(
            javaIsServer, "-p", provider, "-e", type, "-m", mode, "-c", "-I", "100"), USUAL);
    }
}
