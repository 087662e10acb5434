package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The page on streams shows pieces of the sample {@code once}. */
class StreamsPageTest {
    @Test
    void shouldShowTheCodeOfTheSample() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "streams.md"));
        for (String source : List.of("ExactlyOnce", "Portfolio")) {
            var regions = PageCode.regions(Files.readString(
                Path.of("src", "main", "java", "org", "jfabric", "samples", "once", source + ".java")));
            assertTrue(!regions.isEmpty());
            regions.values().forEach(code -> assertTrue(page.contains("```java\n" + code + "```\n"),
                () -> "docs/streams.md does not show:\n" + code));
        }
    }
}
