package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The page on simulation shows the test of the sample {@code replicas}, and one with a seed by annotation. */
class SimulationPageTest {
    private static final Path PAGE = Path.of("..", "docs", "simulation.md");
    private static final Path CODE = Path.of("src", "test", "java", "org", "jfabric", "samples");

    @Test
    void shouldShowTheCodeThatIsTested() throws IOException {
        Map<String, String> code =
            PageCode.regions(Files.readString(CODE.resolve("replicas").resolve("ReplicatedCounterTest.java")));
        code.putAll(PageCode.regions(Files.readString(CODE.resolve("SimulatedQuoteTest.java"))));
        Map<String, String> page = PageCode.blocks(Files.readString(PAGE));
        assertFalse(code.isEmpty());
        assertEquals(code.keySet(), page.keySet());
        code.forEach((name, text) -> assertEquals(text, page.get(name), "example " + name));
    }
}
