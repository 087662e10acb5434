package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Members of public classes that the pages name as {@code Class.member} exist, with that visibility. */
class DocumentedCallsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern CODE = Pattern.compile("`([^`\\n]+)`");
    private static final Pattern MEMBER = Pattern.compile("(?<![\\w./])([A-Z]\\w*)\\.([A-Za-z]\\w*)\\b(?!/|\\.java)");
    private static final List<String> API = List.of("org/jfabric", "org/jfabric/info", "org/jfabric/future",
        "org/jfabric/stream", "org/jfabric/driver", "org/jfabric/driver/config");

    private final Map<String, Class<?>> classes = new HashMap<>();

    DocumentedCallsTest() throws Exception {
        for (String module : List.of("fabric-client", "fabric-driver")) {
            for (String folder : API) {
                Path sources = ROOT.resolve(module).resolve("src/main/java").resolve(folder);
                if (Files.isDirectory(sources)) {
                    addClasses(sources, folder.replace('/', '.'));
                }
            }
        }
        assertTrue(classes.size() > 100, classes.size() + " classes");
    }

    private void addClasses(Path sources, String packageName) throws Exception {
        try (Stream<Path> files = Files.list(sources)) {
            for (String name : files.map(file -> file.getFileName().toString()).toList()) {
                if (name.endsWith(".java") && !name.contains("-")) {
                    String simple = name.substring(0, name.length() - ".java".length());
                    Class<?> found = Class.forName(packageName + '.' + simple, false, getClass().getClassLoader());
                    if (Modifier.isPublic(found.getModifiers())) {
                        classes.put(simple, found);
                    }
                }
            }
        }
    }

    private boolean has(Class<?> type, String member) {
        return Arrays.stream(type.getMethods()).anyMatch(method -> method.getName().equals(member))
            || Arrays.stream(type.getFields()).anyMatch(field -> field.getName().equals(member))
            || Arrays.stream(type.getClasses()).anyMatch(inner -> inner.getSimpleName().equals(member));
    }

    /** The change log also names calls that are gone. */
    @Test
    void shouldNameOnlyMembersThatThereAre() throws IOException {
        List<String> unknown = new ArrayList<>();
        int checked = 0;
        try (Stream<Path> top = Files.list(ROOT); Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            for (Path page : Stream.concat(top, docs).filter(file -> file.toString().endsWith(".md")
                && !file.endsWith("CHANGELOG.md")).sorted().toList()) {
                for (Matcher code = CODE.matcher(Files.readString(page)); code.find();) {
                    for (Matcher member = MEMBER.matcher(code.group(1)); member.find();) {
                        Class<?> type = classes.get(member.group(1));
                        if (type != null) {
                            checked++;
                            if (!has(type, member.group(2))) {
                                unknown.add(page.getFileName() + ": " + member.group());
                            }
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertTrue(checked > 300, checked + " names");
    }

    @Test
    void shouldFindMembers() {
        assertTrue(has(classes.get("Endpoint"), "tsend"));
        assertTrue(has(classes.get("Flags"), "TAGGED"));
        assertTrue(has(classes.get("Messenger"), "Builder"));
        assertFalse(has(classes.get("Endpoint"), "offer"));
        // not public
        assertFalse(classes.containsKey("Submission"));
    }
}
