package org.jfabric.driver.kit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A page of the documentation that shows pieces of a test, marked there by comments. */
public final class ExamplePage {
    private static final Path ROOT = Path.of("..");
    private static final String TESTS = "fabric-driver/tests/src/test/java/";
    private static final String BEGIN = "// example: ";
    private static final String END = "// end of example";

    private ExamplePage() {
    }

    /** Each marked piece stands on the page as it is in the test, and so many there are. */
    public static void assertShows(String page, Class<?> test, int examples) throws IOException {
        assertShow(List.of(page), test, examples);
    }

    /** Each marked piece stands on one of the pages. */
    public static void assertShow(List<String> pages, Class<?> test, int examples) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String page : pages) {
            text.append(text(page));
        }
        List<String> lines = Files.readAllLines(ROOT.resolve(TESTS + test.getName().replace('.', '/') + ".java"));
        int found = 0;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).strip().startsWith(BEGIN)) {
                StringBuilder code = new StringBuilder();
                while (!lines.get(++i).strip().equals(END)) {
                    code.append(lines.get(i)).append('\n');
                }
                String block = "```java\n" + code.toString().stripTrailing().stripIndent() + "\n```\n";
                assertTrue(text.indexOf(block) >= 0, () -> pages + " do not show:\n" + block);
                found++;
            }
        }
        assertEquals(examples, found);
    }

    /** A page of the project. */
    public static String text(String page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }
}
