package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is not a test says what it means and cites no number of {@code docs/requirements}: neither the source code of
 * any module nor the pages that users read. Only the list itself may.
 */
class MainSourceWordsTest {
    private static final Path ROOT = Path.of("..");
    private static final Path REQUIREMENTS = Path.of("docs", "requirements");
    /** Ids of rows and of readings, ranges and shortened ones included. */
    private static final Pattern CITED = Pattern.compile("\\b(?:AMB"
        + Arrays.stream(Requirements.values()).map(group -> "|" + group.name()).collect(Collectors.joining())
        + ")-[0-9]{2,3}\\b");

    @TempDir
    Path dir;

    @Test
    void shouldSayInWordsWhatItMeans() throws IOException {
        List<String> found = new ArrayList<>();
        int files = 0;
        for (Path folder : MainSources.folders("")) {
            files += search(folder.getParent(), found);
        }
        assertTrue(files > 100, "files of source code: " + files);
        int pages = search(ROOT.resolve("docs"), found) + search(ROOT.resolve("README.md"), found);
        assertTrue(pages > 5, "pages: " + pages);
        assertEquals(List.of(), found, () -> found.size() + " lines cite a number instead of saying what it means:\n"
            + String.join("\n", found) + "\n");
    }

    @Test
    void shouldNameFileAndLine() throws IOException {
        Path page = Files.write(dir.resolve("page.md"), List.of("Tagged (TAG-012, AMB-55).", "UTF-8 and ISO-8859",
            "CQ-1 is none, OPF-018 is."));
        List<String> found = new ArrayList<>();
        Path list = Files.createDirectories(dir.resolve(REQUIREMENTS)).resolve("tagged-messages.md");
        Files.writeString(list, "TAG-012");
        assertEquals(1, search(dir, found));
        assertEquals(List.of(page + ":1 TAG-012", page + ":1 AMB-55", page + ":3 OPF-018"), found);
    }

    /** Adds each citation with file and line; returns how many files there are. */
    private static int search(Path folder, List<String> found) throws IOException {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(folder)) {
            files = walk.filter(MainSourceWordsTest::isText).sorted().toList();
        }
        for (Path file : files) {
            List<String> lines = Files.readAllLines(file);
            for (int i = 0; i < lines.size(); i++) {
                Matcher cited = CITED.matcher(lines.get(i));
                while (cited.find()) {
                    found.add(file + ":" + (i + 1) + " " + cited.group());
                }
            }
        }
        return files.size();
    }

    private static boolean isText(Path file) {
        String name = file.getFileName().toString();
        return Files.isRegularFile(file) && !file.getParent().endsWith(REQUIREMENTS)
            && Stream.of(".java", ".md", ".xml", ".properties", ".html").anyMatch(name::endsWith);
    }
}
