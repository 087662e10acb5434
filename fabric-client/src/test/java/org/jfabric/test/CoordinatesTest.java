package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Artifacts and version that are written in several places are the same in all. */
class CoordinatesTest {
    private static final Path ROOT = Path.of("..");
    private static final String FEATURES = "docs/features.md";
    private static final String BOM = "config/bom";
    private static final Pattern OWN_ARTIFACT = Pattern.compile("(?m)^    <artifactId>(.*?)</artifactId>");
    private static final Pattern OWN_VERSION = Pattern.compile("(?m)^    <version>(.*?)</version>");
    private static final Pattern PARENTS_VERSION = Pattern.compile("(?m)^        <version>(.*?)</version>");
    private static final Pattern STANDALONE_VERSION = Pattern.compile("<jfabric.version>(.*?)</jfabric.version>");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(jfabric-.*?)</artifactId>");
    private static final Pattern NAMED = Pattern.compile("`(jfabric-[a-z-]+)`");
    private static final String DEPLOYED_NOT = "<maven.deploy.skip>true</maven.deploy.skip>";

    private static String text(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    private static String first(Pattern pattern, String file) throws IOException {
        return pattern.matcher(text(file)).results().map(result -> result.group(1)).findFirst()
            .orElseThrow(() -> new AssertionError(file + " does not have " + pattern));
    }

    private static Set<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(result -> result.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void shouldHaveOneVersion() throws IOException {
        String version = first(OWN_VERSION, "pom.xml");
        TreeMap<String, String> others = new TreeMap<>();
        for (String module : MainSources.modules()) {
            others.put(module, first(module.equals(BOM) ? OWN_VERSION : PARENTS_VERSION, module + "/pom.xml"));
        }
        assertTrue(others.size() > 5, others::toString);
        others.put("samples/standalone", first(STANDALONE_VERSION, "samples/standalone/pom.xml"));
        others.put(FEATURES, first(OWN_VERSION, FEATURES));
        others.values().removeIf(version::equals);
        assertEquals(new TreeMap<>(), others, () -> "the version of pom.xml is " + version);
    }

    @Test
    void shouldManageInTheBomAndNameInTheFeaturesWhatIsDeployed() throws IOException {
        List<String> deployed = new ArrayList<>();
        for (String module : MainSources.modules()) {
            if (!text(module + "/pom.xml").contains(DEPLOYED_NOT)) {
                deployed.add(first(OWN_ARTIFACT, module + "/pom.xml"));
            }
        }
        Set<String> named = all(NAMED, text(FEATURES));
        assertEquals(new TreeSet<>(deployed), named);
        Set<String> managed = all(ARTIFACT, text(BOM + "/pom.xml"));
        assertEquals(named, managed);
        assertTrue(text(FEATURES).contains("<artifactId>jfabric-driver</artifactId>"));
    }
}
