package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jfabric.tool.ToolException;
import org.junit.jupiter.api.Test;

/** Output of the test programs of UCX 1.13.1 and libfabric 1.17.0. */
class NativeToolTest {
    private static final String UCX = """
        iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
        20000,0.130,125.920,84.671,496.35,738.15,7942,11810
        """;
    private static final String LIBFABRIC = """
        bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
        64      200k    =200k    24m         3.89s      6.58       9.72       0.10
        """;

    private final UcxTool ucx = UcxTool.POSIX;
    private final LibfabricTool libfabric = LibfabricTool.TCP;

    private static String built(String version, String with) {
        return "# Library version: " + version + "\n# Library path: /opt/ucx/lib/libucs.so.0\n# API headers version: "
            + version + "\n# Git branch '', revision abc\n# Configured with: " + with + '\n';
    }

    @Test
    void shouldTakeUcxForAPeerOnlyIfItIsNewAndBuiltForRelease() {
        String release = "--disable-logging --disable-debug --disable-assertions --disable-params-check --prefix=/opt";
        String peer = ucx.version(built("1.22.0", release));
        assertEquals("1.22.0, revision abc", peer);
        assertNull(UcxTool.unfit(peer));
        assertNull(UcxTool.unfit("2.0.0"));
        assertNull(UcxTool.unfit(null));
        assertEquals("UCX 1.21.9 is older than 1.22", UcxTool.unfit("1.21.9"));
        assertEquals("UCX unknown, /opt is older than 1.22", UcxTool.unfit("unknown, /opt"));
        assertEquals("UCX 1.23.0, revision abc, built with logging, params-check, profiling is no release build",
            UcxTool.unfit(ucx.version(
                built("1.23.0", "--disable-debug --disable-assertions --enable-mt --enable-profiling"))));
        assertEquals("", ucx.version("ucx_info: command not found"));
    }

    @Test
    void shouldReadTheOverallRateOfUcx() {
        assertEquals(1e9 / 11_810, ucx.nsPerMessage(65_536, UCX), 1e-6);
    }

    @Test
    void shouldNotMindLinesAroundTheResultOfUcx() {
        String warned = "[1700000000.1] [host:1:0] parser.c:1911 UCX  WARN  unused env variable: UCX_X\n" + UCX + "\n";
        assertEquals(1e9 / 11_810, ucx.nsPerMessage(65_536, warned), 1e-6);
    }

    @Test
    void shouldReadTheBandwidthOfLibfabricBecauseItHasMoreDigits() {
        assertEquals(9_726.4, libfabric.nsPerMessage(64, LIBFABRIC), 0.1);
    }

    @Test
    void shouldSayWhatWasPrintedInsteadOfAResult() {
        assertTrue(assertThrows(ToolException.class, () -> ucx.nsPerMessage(64, "no transport\n"))
            .getMessage().contains("no transport"));
        assertTrue(assertThrows(ToolException.class, () -> libfabric.nsPerMessage(64, "fi_getinfo(): -61\n"))
            .getMessage().contains("-61"));
    }

    @Test
    void shouldTellEachProgramItsTransport() {
        assertEquals("tcp,self", UcxTool.TCP.environment().get("UCX_TLS"));
        for (LibfabricTool tool : List.of(LibfabricTool.SHM, LibfabricTool.TCP, LibfabricTool.RXM)) {
            List<String> command = tool.command(Pass.EXCHANGE, 64, 1_000, 5_000, false);
            assertTrue(command.contains("-p"), command.toString());
        }
        String older = "fi_info: 1.17.0\nlibfabric: 1.17.0\nlibfabric api: 1.17";
        String later = "fi_info: 1.18.1\nlibfabric: 1.18.1\nlibfabric api: 1.18";
        assertEquals(List.of("net", "tcp"),
            List.of(LibfabricTool.TCP.providerOf(older), LibfabricTool.TCP.providerOf(later)));
        assertEquals(List.of("tcp;ofi_rxm", "tcp;ofi_rxm"),
            List.of(LibfabricTool.RXM.providerOf(older), LibfabricTool.RXM.providerOf(later)));
        assertEquals("shm", LibfabricTool.SHM.providerOf(older));
    }

    @Test
    void shouldNameTheTestOfEachPass() {
        assertEquals(List.of("tag_lat", "tag_bw", "ucp_put_lat", "ucp_put_bw", "ucp_get", "ucp_fadd"),
            Stream.of(Pass.EXCHANGE, Pass.STREAM, Pass.PUT, Pass.PUT_STREAM, Pass.GET, Pass.FETCH_ADD)
                .map(pass -> UcxTool.POSIX.command(pass, 8, 1_000, 5_000, false))
                .map(command -> command.get(command.indexOf("-t") + 1)).toList());
        assertEquals(Set.of(Pass.EXCHANGE, Pass.STREAM), UcxTool.TCP.passes());
    }

    @Test
    void shouldTellOnlyTheClientWhereTheServerIs() {
        for (NativeContender.NativeTool tool : List.of(ucx, libfabric)) {
            List<String> server = tool.command(Pass.EXCHANGE, 64, 1_000, 5_000, true);
            List<String> client = tool.command(Pass.EXCHANGE, 64, 1_000, 5_000, false);
            assertFalse(server.contains("127.0.0.1"), server.toString());
            assertEquals("127.0.0.1", client.getLast());
            for (List<String> command : List.of(server, client)) {
                assertTrue(command.containsAll(List.of(tool.program(), "64", "1000", "5000")), command.toString());
            }
        }
    }
}
