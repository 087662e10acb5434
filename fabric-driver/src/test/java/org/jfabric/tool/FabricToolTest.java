package org.jfabric.tool;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FabricToolTest {
    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {
        "pingpong --bogus; Unknown option: '--bogus'.",
        "pingpong --size -1; Invalid value for option '--size': -1 is not from 0 to 1073741824.",
        "pingpong --size 1073741825; Invalid value for option '--size': 1073741825 is not from 0 to 1073741824.",
        "pingpong --size 64,-1; Invalid value for option '--size': -1 is not from 0 to 1073741824.",
        "pingpong --size ten; Invalid value for option '--size' (BYTES): \"ten\" is no size; use bytes, or a whole"
            + " number with KiB, MiB or GiB.",
        "pingpong --count 0; Invalid value for option '--count': 0 is not from 1 to 10000000000.",
        "pingpong --count 1.5; Invalid value for option '--count': '1.5' is not a long.",
        "pingpong --link efa; Invalid value for option '--link': \"efa\" is not one of loopback, shm, best, tcp, tls,"
            + " tlsrxm, verbs.",
        "pingpong --mode both; Invalid value for option '--mode': \"both\" is not one of embedded, daemon.",
        "pingpong --link; Missing required parameter for option '--link' (LINK).",
        "pingpong more; Unmatched argument at index 1: 'more'.",
        "info --caps nonsense; Invalid value for option '--caps': \"nonsense\" is not one of MSG,",
        "stat --watch 0; Invalid value for option '--watch': 0.0 is not from 0.1 to 86400.",
        "queues --watch 0; Invalid value for option '--watch': 0.0 is not from 0.1 to 86400.",
        "queues --times 0; Invalid value for option '--times': 0 is less than 1.",
        "queues --timeout 0; Invalid value for option '--timeout': 0.0 is not from 0.1 to 3600.",
        "stat --times 0; Invalid value for option '--times': 0 is less than 1.",
        "driver --port 1; Unknown options: '--port', '1'.",
        "nonsense; Unmatched argument at index 0: 'nonsense'."
    })
    void shouldSayWhatIsWrongAndWhereToReadWhenTheCommandLineIsWrong(String commandLine, String expected) {
        ToolRun run = ToolRun.of(commandLine.split(" "));

        assertEquals(2, run.status());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("fabric: " + expected), run.err());
        assertTrue(run.err().contains("--help'."), run.err());
        assertFalse(run.err().contains("\tat "), run.err());
    }

    @Test
    void shouldRefuseAnEmptyCommandLine() {
        ToolRun run = ToolRun.of();

        assertEquals(2, run.status());
        assertTrue(run.err().startsWith("fabric: No command given."), run.err());
    }

    @Test
    void shouldExplainEachCommand() {
        ToolRun help = ToolRun.of("--help");

        assertEquals(0, help.status());
        assertFalse(help.out().contains(PingPongPeer.NAME), "internal command shown");
        for (String command : List.of("pingpong", "driver", "info", "stat", "queues", "errors", "options")) {
            ToolRun own = ToolRun.of(command, "--help");

            assertTrue(help.out().contains("  " + command + " "), help.out());
            assertEquals(0, own.status());
            assertTrue(own.out().startsWith("Usage: fabric " + command + " "), own.out());
        }
    }

    @Test
    void shouldNameVersionAndLayout() {
        ToolRun run = ToolRun.of("--version");

        assertEquals(0, run.status());
        assertTrue(run.out().startsWith("JFabric "), run.out());
        assertTrue(run.out().contains("layout 1.1"), run.out());
    }

    @Test
    void shouldPrintEffectiveOptions() {
        ToolRun text = ToolRun.of("options", "--dir", "/dev/shm/jfabric-x/other");
        ToolRun json = ToolRun.of("options", "--json");

        assertEquals(0, text.status());
        assertTrue(text.out().contains("* jfabric.dir.name "), text.out());
        assertTrue(text.out().contains("= other "), text.out());
        assertEquals(0, json.status());
        List<?> options = (List<?>) JsonText.object(json.out()).get("options");
        assertTrue(options.toString().contains("name=jfabric.queue.txSize, value=256.0, unit=count, default=256.0,"
            + " isDefault=true, where=default, origin=default, variable=JFABRIC_QUEUE_TX_SIZE"), options.toString());
    }

    /** The effective value is shown, not the mark that stands for "derived". */
    @Test
    void shouldPrintWhatDerivedOptionsComeTo() {
        ToolRun json = ToolRun.of("options", "--json", "--set", "jfabric.queue.cqSize=100", "--set",
            "jfabric.queue.txSize=1000");

        assertEquals(0, json.status(), json.err());
        assertTrue(json.out().contains("\"name\":\"jfabric.queue.cqDriverShare\",\"value\":25,"), json.out());
        assertTrue(json.out().contains("\"name\":\"jfabric.queue.tqLengthBytes\",\"value\":262144,"), json.out());
        assertFalse(json.out().contains("\"name\":\"jfabric.dir.reserveFreeBytes\",\"value\":-1"), json.out());
    }

    @Test
    void shouldExitWithOneWhenTheConfigurationIsWrong() {
        ToolRun run = ToolRun.of("options", "--config", "/nonexistent/jfabric.properties");

        assertEquals(1, run.status());
        assertTrue(run.err().startsWith("fabric: FI_EINVAL"), run.err());
        assertTrue(run.err().contains("/nonexistent/jfabric.properties does not exist"), run.err());
    }
}
