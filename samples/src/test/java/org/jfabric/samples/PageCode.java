package org.jfabric.samples;

import java.util.LinkedHashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Examples of a page of the documentation, and the code that is tested in their place. */
final class PageCode {
    private PageCode() {
    }

    /** Text between "// example: name" and "// end", without its indentation. */
    static Map<String, String> regions(String source) {
        Map<String, String> regions = new LinkedHashMap<>();
        String name = null;
        StringBuilder text = new StringBuilder();
        for (String line : source.lines().toList()) {
            String stripped = line.strip();
            if (stripped.startsWith("// example: ")) {
                name = stripped.substring("// example: ".length());
                text.setLength(0);
            } else if (name != null && stripped.equals("// end")) {
                // a line end behind the last line would count as a line without indentation
                regions.put(name, text.toString().stripTrailing().stripIndent() + '\n');
                name = null;
            } else if (name != null) {
                text.append(line).append('\n');
            }
        }
        return regions;
    }

    /** Text of the code blocks that follow a comment "example: name". */
    static Map<String, String> blocks(String page) {
        Map<String, String> blocks = new LinkedHashMap<>();
        String name = null;
        StringBuilder text = null;
        for (String line : page.lines().toList()) {
            if (line.startsWith("<!-- example: ")) {
                name = line.substring("<!-- example: ".length(), line.indexOf(" -->"));
            } else if (line.startsWith("```java")) {
                assertTrue(name != null, "a block of code that is not tested, after " + blocks.keySet());
                text = new StringBuilder();
            } else if (text != null && line.startsWith("```")) {
                blocks.put(name, text.toString());
                name = null;
                text = null;
            } else if (text != null) {
                text.append(line).append('\n');
            }
        }
        return blocks;
    }
}
