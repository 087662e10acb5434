package org.jfabric.samples.market;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The roles of the sample on four hosts, each of which is a network namespace. */
@Tag("slow")
@Timeout(180)
class MarketHostsTest {
    private static final String COUNT = "100000";
    private static final String WHOLE = COUNT + " quotes in order, 0 lost";

    private static TestProcess read(String host, String address, String... nameAndKind) {
        List<String> arguments = new ArrayList<>(List.of("read", address + ":4100", nameAndKind[0], COUNT));
        arguments.addAll(List.of(nameAndKind).subList(1, nameAndKind.length));
        return TwoHosts.java(host, MarketData.class, arguments.toArray(String[]::new));
    }

    @Test
    void shouldGiveEachHostEachQuoteAlsoTheLateAndTheSlowOne() {
        Path folder = TestDirectory.create();
        try (TwoHosts hosts = TwoHosts.make();
            TestProcess prompt = read(hosts.second(), TwoHosts.FIRST_ADDRESS, "prompt")) {
            String address = hosts.add();
            try (TestProcess slow = read(hosts.added(), address, "slow", "slow");
                TestProcess writer = TwoHosts.java(hosts.first(), MarketData.class, "write", "0.0.0.0:4100",
                    folder.resolve("log").toString(), COUNT)) {
                writer.awaitLine("writer: " + COUNT);
                String another = hosts.add();
                try (TestProcess late = read(hosts.added(), another, "late")) {
                    assertEquals("prompt: " + WHOLE, prompt.awaitLine("prompt: " + COUNT));
                    assertEquals("slow: " + WHOLE, slow.awaitLine("slow: " + COUNT));
                    assertEquals("late: " + WHOLE, late.awaitLine("late: " + COUNT));
                }
                writer.say("");
                assertEquals(0, writer.ended().status(), writer::toString);
            }
        } finally {
            TestDirectory.delete(folder);
        }
    }
}
