package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.EndpointType;
import org.jfabric.Protocol;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the names of providers mean, and what is said where the two sides' do not fit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FiPingPongProviderTest {
    @ParameterizedTest
    @CsvSource({"tcp,RDM,tcp", "net,RDM,tcp", "tcp,MSG,tcp", "'tcp;ofi_rxm',RDM,rxm", "'ofi_rxm;tcp',RDM,rxm",
        "udp,DGRAM,udp", "verbs,MSG,verbs", "verbs,RDM,verbsrxm", "'verbs;ofi_rxm',RDM,verbsrxm", "verbs,DGRAM,verbsud",
        "udp,RDM,", "'tcp;ofi_rxm',MSG,", "tcp,DGRAM,", "shm,RDM,", "rxm,RDM,", "loopback,RDM,"})
    void shouldMeanTheLinkThatSpeaksTheProvidersProtocolOfToday(String provider, EndpointType type, String link) {
        assertEquals(link, FiPingPongPlan.link(provider, type));
    }

    @Test
    void shouldAskForTheProtocolOfTodayByTcpWithRdm() {
        FiPingPongPlan plan = new FiPingPongPlan(
            "tcp", EndpointType.RDM, true, 1, FiPingPongPlan.usualSizes(), false);
        assertEquals(Protocol.XNET, plan.hints().epAttr().protocol());
    }

    /** A server would wait for a client that can never fit, here for ever. */
    @ParameterizedTest
    @CsvSource({"shm,rdm", "udp,rdm", "'tcp;ofi_rxm',msg", "nonsense,msg", "tcp,dgram"})
    void shouldRefuseWhatThereIsNotBeforeWaiting(String provider, String type) {
        ToolRun run = ToolRun.of("fi-pingpong", "-p", provider, "-e", type);

        assertEquals(2, run.status(), run.toString());
        assertTrue(run.err().contains('"' + provider + "\" with " + type + " is not one of "), run.err());
        assertTrue(run.err().contains("tcp (msg, rdm)"), run.err());
        assertTrue(run.err().contains("tcp;ofi_rxm (rdm)"), run.err());
    }

    /** The server says where it waits, and both sides which protocol the other one speaks and the option for it. */
    @ParameterizedTest
    @CsvSource({
        "'tcp;ofi_rxm',tcp,called net in 1.17,called tcp in 1.17",
        "tcp,'tcp;ofi_rxm',called tcp in 1.17,called net in 1.17"})
    void shouldNameTheOtherSidesProtocolAndTheOptionForIt(
        String provider, String others, String seenByServer, String seenByClient) throws Exception {
        String port = Integer.toString(LibfabricPingPong.freePort());
        CompletableFuture<ToolRun> waiting = CompletableFuture.supplyAsync(() -> ToolRun.of(
            "fi-pingpong", "-p", provider, "-e", "rdm", "-S", "64", "--timeout", Long.toString(Deadline.s(20)), "-B", port));
        ToolRun client = ToolRun.of(
            "fi-pingpong", "-p", others, "-e", "rdm", "-S", "64", "--timeout", Long.toString(Deadline.s(20)), "-P", port, "127.0.0.1");
        ToolRun server = waiting.get(Deadline.s(30), TimeUnit.SECONDS);

        assertTrue(server.err().startsWith("waiting for a client at port " + port), server.err());
        assertSaid(client, seenByClient, provider);
        assertSaid(server, seenByServer, others);
    }

    private static void assertSaid(ToolRun side, String seen, String option) {
        assertEquals(1, side.status(), side.toString());
        assertTrue(side.err().contains(seen), side.err());
        assertTrue(side.err().contains("fi-pingpong -p " + (option.equals("tcp") ? "tcp" : "'" + option + "'")
            + " -e rdm"), side.err());
    }
}
