package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigDocTest {

    private static final Path PAGE = Path.of("..", "docs", "options.md");

    @TempDir
    private Path folder;

    @Test
    void shouldFindPageAsGenerated() throws IOException {
        String hint = "docs/options.md is out of date: run org.jfabric.driver.config.ConfigDoc in the root folder";
        String found = Files.readString(PAGE);
        List<String> generatedLines = ConfigDoc.generate().lines().toList();
        List<String> foundLines = found.lines().toList();
        for (int i = 0; i < Math.min(generatedLines.size(), foundLines.size()); i++) {
            assertEquals(generatedLines.get(i), foundLines.get(i), hint);
        }
        assertEquals(ConfigDoc.generate(), found, hint);
    }

    @Test
    void shouldWritePageWhereTold() throws IOException {
        Path file = folder.resolve("new/options.md");
        ConfigDoc.main(new String[]{file.toString()});
        assertEquals(ConfigDoc.generate(), Files.readString(file));
    }

    @Test
    void shouldExplainEveryOptionAndNameNoMachine() {
        String page = ConfigDoc.generate();
        for (OptionGroup group : DriverConfig.optionGroups()) {
            for (Option<?> option : group.options()) {
                assertTrue(page.contains("| `" + option.name() + "` | "), option.name());
            }
        }
        assertTrue(page.contains("/dev/shm/jfabric-&lt;uid&gt;"));
    }
}
