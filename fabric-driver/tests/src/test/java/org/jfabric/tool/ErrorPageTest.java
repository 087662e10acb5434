package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.MainSources;
import org.junit.jupiter.api.Test;

/** The page on errors has a row for each code, in the table that fits: codes that the product uses, and the others. */
class ErrorPageTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(FI_[A-Z0-9]+)` \\((\\d+)\\) \\|");
    private static final Pattern USE = Pattern.compile("FabricErrno\\.(E[A-Z0-9]+)\\b");

    @Test
    void shouldHaveARowForEachCode() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/what-can-go-wrong.md"));
        List<String> expected = new ArrayList<>();
        for (int code : FabricErrno.codes()) {
            if (code != FabricErrno.SUCCESS) {
                expected.add(FabricErrno.name(code) + ' ' + code);
            }
        }
        List<String> rows = new ArrayList<>();
        for (Matcher row = ROW.matcher(page); row.find();) {
            rows.add(row.group(1) + ' ' + row.group(2));
        }
        assertEquals(expected.stream().sorted().toList(), rows.stream().sorted().toList());
    }

    @Test
    void shouldNameTheUnusedCodesAsSuch() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/what-can-go-wrong.md"));
        int unused = page.indexOf("## Codes that are defined and not used");
        Set<String> used = new TreeSet<>();
        for (Matcher row = ROW.matcher(page.substring(0, unused)); row.find();) {
            used.add(row.group(1));
        }
        assertEquals(codesInSources(), used);
    }

    /** Codes that the code of the product names, but for the table of codes and comments. */
    private static Set<String> codesInSources() throws IOException {
        Set<String> codes = new TreeSet<>();
        for (Path folder : MainSources.folders("fabric-")) {
            if (folder.toString().contains("simulation")) {
                continue;
            }
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    Matcher use = USE.matcher(Files.readString(file));
                    while (use.find()) {
                        codes.add("FI_" + use.group(1));
                    }
                }
            }
        }
        return codes;
    }
}
