package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page about memory order names the classes that share words, and what it names is there. */
class MemoryOrderPageTest {
    private static final Path PAGE = Path.of("../docs/internals/memory-order.md");
    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern MEMBER = Pattern.compile("([A-Z]\\w+)\\.(\\w+)");
    private static final Pattern CONSTANT = Pattern.compile("[A-Z]+_[A-Z_0-9]+");
    private static final Pattern ORDERED = Pattern.compile(
        "\\.(?:get|put)\\w*(?:Opaque|Acquire|Release|Volatile)\\(|\\.getAndAdd(?:Int|Long)\\("
            + "|\\.compareAndSet(?:Int|Long)\\(|UnsafeApi\\.\\w+Fence\\(");
    /** Of Agrona. */
    private static final Set<String> ELSEWHERE = Set.of("UnsafeApi");

    /** The sources of the product, by the name of their class. */
    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (Path folder : MainSources.folders("fabric-")) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")
                    && !path.toString().contains("simulation")).toList()) {
                    sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            }
        }
        assertTrue(sources.size() > 500, () -> sources.size() + " classes");
        return sources;
    }

    private static boolean hasWord(String text, String word) {
        return Pattern.compile("\\b" + word + "\\b").matcher(text).find();
    }

    @Test
    void shouldNameEachClassWithOrderedAccesses() throws IOException {
        String page = Files.readString(PAGE);
        Set<String> unnamed = new TreeSet<>();
        sources().forEach((name, text) -> {
            if (ORDERED.matcher(text).find() && !hasWord(page, name)) {
                unnamed.add(name);
            }
        });
        assertEquals(Set.of(), unnamed, () -> "read them, and add their words to " + PAGE.getFileName());
    }

    @Test
    void shouldNameOnlyWordsThatThereAre() throws IOException {
        Map<String, String> sources = sources();
        Set<String> unknown = new TreeSet<>();
        int found = 0;
        for (Matcher code = CODE.matcher(Files.readString(PAGE)); code.find();) {
            String name = code.group(1);
            Matcher member = MEMBER.matcher(name);
            if (member.matches() && !ELSEWHERE.contains(member.group(1))) {
                found++;
                if (!hasWord(sources.getOrDefault(member.group(1), ""), member.group(2))) {
                    unknown.add(name);
                }
            } else if (CONSTANT.matcher(name).matches()
                && sources.values().stream().noneMatch(text -> hasWord(text, name))) {
                unknown.add(name);
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(found > 80, found + " names");
    }
}
