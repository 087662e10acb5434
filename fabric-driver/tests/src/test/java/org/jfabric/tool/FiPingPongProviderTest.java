package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jfabric.info.EndpointType;
import org.jfabric.info.Protocol;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Meaning of the names of providers, and messages where the two sides' do not fit. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FiPingPongProviderTest {
    @ParameterizedTest
    @CsvSource({"tcp,RDM,tcp", "net,RDM,tcp", "tcp,MSG,tcp", "'tcp;ofi_rxm',RDM,rxm", "'ofi_rxm;tcp',RDM,rxm",
        "udp,DGRAM,udp", "packet,DGRAM,packet",
        "verbs,MSG,verbs", "verbs,RDM,verbsrxm", "'verbs;ofi_rxm',RDM,verbsrxm", "verbs,DGRAM,verbsud",
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

    /**
     * A client could not find a port that the system chose for a server; the port of a client is chosen by the system.
     */
    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "65536"})
    void shouldRefuseAPortOfItsOwnThatIsNoneBeforeWaiting(String port) {
        assertRefused("Invalid value for option '-B': " + port + " is not from 1 to 65535", "-B", port);
    }

    /** Both sides would wait for each other first, and then fail. */
    @ParameterizedTest
    @CsvSource({"udp,dgram,-m msg or -p tcp -e rdm", "verbs,dgram,-m msg or -e rdm", "verbs,msg,-m msg or -e rdm"})
    void shouldRefuseTagsBeforeWaitingWhereThereAreNone(String provider, String type, String instead) {
        assertRefused("Invalid value for option '-m': messages of " + provider + " with " + type
            + " have no tags; use " + instead.replace(" or ", ", or "), "-p", provider, "-e", type, "-m", "tagged");
    }

    @ParameterizedTest
    @CsvSource({"tcp,MSG", "tcp,RDM", "net,RDM", "'tcp;ofi_rxm',RDM", "verbs,RDM", "'verbs;ofi_rxm',RDM"})
    void shouldTakeTagsWhereThereAreSome(String provider, EndpointType type) {
        assertTrue(FiPingPongPlan.hasTags(provider, type));
    }

    /** The server says where it waits, and both sides which protocol the other one speaks and the option for it. */
    @ParameterizedTest
    @CsvSource({
        "'tcp;ofi_rxm',tcp,called net in 1.17,called tcp in 1.17",
        "tcp,'tcp;ofi_rxm',called tcp in 1.17,called net in 1.17"})
    void shouldNameTheOtherSidesProtocolAndTheOptionForIt(
        String provider, String others, String seenByServer, String seenByClient) throws Exception {
        String port = Integer.toString(LibfabricPingPong.freePort());
        String timeout = Long.toString(Deadline.s(20));
        CompletableFuture<ToolRun> waiting = CompletableFuture.supplyAsync(() -> ToolRun.of(
            "fi-pingpong", "-p", provider, "-e", "rdm", "-S", "64", "--timeout", timeout, "-B", port));
        ToolRun client = ToolRun.of(
            "fi-pingpong", "-p", others, "-e", "rdm", "-S", "64", "--timeout", timeout, "-P", port, "127.0.0.1");
        ToolRun server = waiting.get(Deadline.s(30), TimeUnit.SECONDS);

        assertTrue(server.err().startsWith("waiting for a client at port " + port), server.err());
        assertSaid(client, seenByClient, provider);
        assertSaid(server, seenByServer, others);
    }

    /** By the client, whose wait would end, and then by the server. */
    private static void assertRefused(String message, String... options) {
        List<String> arguments = new ArrayList<>(List.of("fi-pingpong"));
        arguments.addAll(List.of(options));
        arguments.add("127.0.0.1");
        for (int i = 0; i < 2; i++) {
            ToolRun run = ToolRun.of(arguments.toArray(new String[0]));
            assertEquals(2, run.status(), run.toString());
            assertTrue(run.err().startsWith("fabric: " + message + "."), run.err());
            arguments.removeLast();
        }
    }

    private static void assertSaid(ToolRun side, String seen, String option) {
        assertEquals(1, side.status(), side.toString());
        assertTrue(side.err().contains(seen), side.err());
        assertTrue(side.err().contains("fi-pingpong -p " + (option.equals("tcp") ? "tcp" : "'" + option + "'")
            + " -e rdm"), side.err());
    }
}
