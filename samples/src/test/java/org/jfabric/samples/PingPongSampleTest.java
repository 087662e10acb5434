package org.jfabric.samples;

import org.jfabric.driver.FabricDriver;
import org.jfabric.samples.pingpong.Ping;
import org.jfabric.samples.pingpong.Pong;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PingPongSampleTest {
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
    void shouldAnswerEachMessageWhenPingFindsPongByItsService() throws Exception {
        start(FabricDriver.class).awaitLine("jfabric driver ready");
        TestProcess pong = start(Pong.class);
        pong.awaitLine("pong waits as jfabric://default/");

        TestProcess ping = start(Ping.class, "5");

        ping.succeeded();
        assertEquals(List.of(
            "answer: ping message 1",
            "answer: ping message 2",
            "answer: ping message 3",
            "answer: ping message 4",
            "answer: ping message 5",
            "ping done"), ping.lines());
        pong.awaitLine("pong answered 5 messages");
        pong.succeeded();
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        String usage = said(2, "abc");
        assertTrue(usage.contains("ping takes one argument") && usage.endsWith("given: abc"), usage);
        start(FabricDriver.class).awaitLine("jfabric driver ready");

        String alone = said(1);

        assertTrue(alone.contains("FI_ECONNREFUSED") && alone.endsWith("start it first."), alone);
    }

    /** The output of a ping that prints no answers and exits with that status. */
    private String said(int status, String... arguments) {
        TestProcess ping = start(Ping.class, arguments).ended();
        assertEquals(status, ping.status(), ping::toString);
        return String.join(" ", ping.lines());
    }

    private TestProcess start(Class<?> main, String... arguments) {
        TestProcess process = TestJvm.start(List.of("jfabric.dir.base=" + base), main, arguments);
        processes.add(process);
        return process;
    }
}
