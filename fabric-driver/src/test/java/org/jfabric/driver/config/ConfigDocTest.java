package org.jfabric.driver.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigDocTest {

    private static final Path PAGE = Path.of(System.getProperty("basedir", ".")).resolve("../docs/options.md");

    @TempDir
    private Path folder;

    @Test
    void shouldFindPageAsGenerated() throws IOException {
        assertEquals(
            ConfigDoc.generate(), Files.readString(PAGE),
            "docs/options.md is out of date: run org.jfabric.driver.config.ConfigDoc in the root folder");
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
