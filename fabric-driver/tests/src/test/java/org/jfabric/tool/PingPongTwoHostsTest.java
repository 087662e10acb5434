package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.net.TwoHosts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command of the launcher, with its processes in two network namespaces. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingPongTwoHostsTest {
    /** Twenty times as many warm up. */
    private static final int COUNT = 10;

    @ParameterizedTest(name = "mode={0} interface={1}")
    @CsvSource(delimiter = '|', value = {
        "embedded | auto",
        "embedded | cable0",
        "daemon   | 198.18.77.1,198.18.77.2"
    })
    void shouldExchangeMessagesOverTheCable(String mode, String interfaces) throws Exception {
        try (TwoHosts hosts = TwoHosts.make()) {
            ToolRun run = ToolRun.of("pingpong", "--link", "tcp", "--mode", mode, "--count", Integer.toString(COUNT),
                "--size", "3000", "--netns", hosts.first() + ',' + hosts.second(), "--interface", interfaces, "--json");

            assertEquals(0, run.status(), run.err());
            assertEquals(2.0 * COUNT, JsonText.object(run.out()).get("verified"));
            // each of the verified and of the timed round trips is at least one packet to either side
            assertTrue(hosts.packets() > 3 * COUNT, "packets " + hosts.packets());
        }
    }

    @Test
    void shouldSayWhatIsWrongWithTheOptions() {
        ToolRun one = ToolRun.of("pingpong", "--link", "tcp", "--netns", "only");
        assertEquals(2, one.status());
        assertTrue(one.err().contains("\"only\" is not PING,PONG"), one.err());
        ToolRun shm = ToolRun.of("pingpong", "--link", "shm", "--interface", "eth0");
        assertEquals(2, shm.status());
        assertTrue(shm.err().contains("is for links of networks, not for shm"), shm.err());
        ToolRun nowhere = ToolRun.of("pingpong", "--link", "tcp", "--interface", "nosuch0", "--count", "1");
        assertEquals(1, nowhere.status());
        assertTrue(nowhere.err().contains("no interface called nosuch0"), nowhere.err());
    }
}
