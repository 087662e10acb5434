package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The pages on the quotes show the code that {@link QuotesTest} and {@link QuoteStreamTest} run. */
class QuotePagesTest {
    private static final Path PAGES = Path.of("..", "docs");
    private static final Path JAVA = Path.of("src", "main", "java", "org", "jfabric", "samples");

    @Test
    void shouldShowThePublisherAndTheSubscriberOfTheTutorial() throws IOException {
        Map<String, String> code = regions("quotes", "QuoteFeed", "QuoteReader", "Place", "Quotes");
        code.putAll(regions("evolution", "SizedQuotes"));
        for (String schema : List.of("quotes.xml", "sized-quotes.xml")) {
            code.putAll(PageCode.regions(Files.readString(Path.of("src", "main", "sbe", schema))));
        }
        assertShown(code, "tutorial.md");
    }

    @Test
    void shouldShowThePublisherAndTheReadersOfTheStream() throws IOException {
        assertShown(regions("stream", "QuoteStream", "QuotePrinter", "AverageBid"), "tutorial-streams.md");
    }

    @Test
    void shouldShowTheFirstProgramOfThoseWhoKnowAeron() throws IOException {
        assertShown(regions("stream", "FirstQuote"), "from-aeron.md");
    }

    @Test
    void shouldShowTheCProgram() throws IOException {
        assertShown(PageCode.regions(Files.readString(Path.of("src", "test", "c", "quote_peer.c"))), "talk-to-c.md");
    }

    private static Map<String, String> regions(String sample, String... names) throws IOException {
        Map<String, String> code = new LinkedHashMap<>();
        for (String name : names) {
            code.putAll(PageCode.regions(Files.readString(JAVA.resolve(sample).resolve(name + ".java"))));
        }
        return code;
    }

    private static void assertShown(Map<String, String> code, String page) throws IOException {
        Map<String, String> blocks = PageCode.blocks(Files.readString(PAGES.resolve(page)));
        assertFalse(code.isEmpty());
        assertEquals(code.keySet().stream().sorted().collect(Collectors.toList()),
            blocks.keySet().stream().sorted().collect(Collectors.toList()), page);
        code.forEach((name, text) -> assertEquals(text, blocks.get(name), page + ", example " + name));
    }
}
