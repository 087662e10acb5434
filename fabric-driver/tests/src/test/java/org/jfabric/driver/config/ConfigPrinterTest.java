package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Properties;

import org.junit.jupiter.api.Test;

class ConfigPrinterTest {

    private static List<String> lines(DriverConfig.Builder builder) {
        return ConfigPrinter.print(builder.build()).lines().toList();
    }

    private static String lineOf(List<String> lines, String name) {
        return lines.stream().filter(line -> line.contains(name + " ")).findFirst().orElseThrow();
    }

    @Test
    void shouldShowEveryOptionOnce() {
        List<String> lines = lines(DriverConfig.builder().systemProperties(new Properties()));
        for (OptionGroup group : DriverConfig.optionGroups()) {
            assertTrue(lines.contains(group.title()), group.title());
            for (Option<?> option : group.options()) {
                assertEquals(1, lines.stream().filter(line -> line.contains(option.name() + " ")).count());
            }
        }
    }

    @Test
    void shouldMarkOnlyValuesThatAreNotTheDefault() {
        Properties properties = new Properties();
        properties.setProperty("jfabric.queue.txSize", "512");
        List<String> lines = lines(DriverConfig.builder().systemProperties(properties)
            .set("jfabric.shm.ringLengthBytes", "1048576"));
        String changed = lineOf(lines, "jfabric.queue.txSize");
        assertTrue(changed.startsWith("  * ") && changed.contains("= 512 "), changed);
        assertTrue(changed.endsWith("system property; default 256"), changed);
        String repeated = lineOf(lines, "jfabric.shm.ringLengthBytes");
        assertTrue(repeated.startsWith("    ") && repeated.endsWith("code or command line"), repeated);
        assertEquals(1, lines.stream().filter(line -> line.startsWith("  * ")).count());
        String derived = lineOf(lines, "jfabric.queue.cqDriverShare");
        assertTrue(derived.contains("= 384 ") && derived.endsWith("default; -1 = max(16, size / 4)"), derived);
    }
}
