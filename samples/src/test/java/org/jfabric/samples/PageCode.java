package org.jfabric.samples;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Examples of a page of the documentation, and the code that is tested in their place. */
final class PageCode {
    private PageCode() {
    }

    private static final Pattern BEGIN = Pattern.compile("(?://|/\\*|<!--) example: (.*?)(?: \\*/| -->)?");
    private static final Set<String> ENDS = Set.of("// end", "/* end */", "<!-- end -->");
    private static final List<String> TESTED = List.of("```java", "```xml", "```c");

    /** Text between comments "example: name" and "end" of Java, C or XML, without its indentation. */
    static Map<String, String> regions(String source) {
        Map<String, String> regions = new LinkedHashMap<>();
        String name = null;
        StringBuilder text = new StringBuilder();
        for (String line : source.lines().toList()) {
            String stripped = line.strip();
            Matcher begin = BEGIN.matcher(stripped);
            if (begin.matches()) {
                name = begin.group(1);
                text.setLength(0);
            } else if (name != null && ENDS.contains(stripped)) {
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
            } else if (TESTED.contains(line)) {
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
