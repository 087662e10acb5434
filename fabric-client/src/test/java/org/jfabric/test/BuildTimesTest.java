package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildTimesTest {

    @TempDir
    Path dir;

    @Test
    void shouldTakeOverlappingClassesOfOneModuleOnceAndAddModules() throws IOException {
        Path first = Files.createDirectory(dir.resolve("first"));
        Path second = Files.createDirectory(dir.resolve("second"));
        Files.writeString(first.resolve("slow-1.tsv"), "a.OneTest\t1000\t41000\na.TwoTest\t41000\t61000\n");
        Files.writeString(first.resolve("slow-2.tsv"), "a.ThreeTest\t2000\t31000\n");
        Files.writeString(second.resolve("slow-3.tsv"), "b.FourTest\t100000\t130000\n");
        Files.writeString(second.resolve("unit-4.tsv"), "b.FiveTest\t90000\t95000\n");
        BuildTimes times = new BuildTimes(Duration.ofSeconds(120));
        times.readModule(first);
        times.readModule(second);

        String text = times.render();

        assertTrue(text.contains("slow tests                1:30, 4 classes"), text);
        assertTrue(text.contains("unit tests                0:05 of 1:00, 1 classes"), text);
        assertTrue(text.contains("compile, style, package   0:25"), text);
        assertTrue(text.contains("40.0  OneTest (slow)"), text);
        assertFalse(text.contains("WARNING"), text);
    }

    @Test
    void shouldNameTheTenMostExpensiveClassesAndWarnOfBudgets() throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 1; i <= 12; i++) {
            lines.append("a.C" + i + "Test\t0\t" + i * 100_000 + "\n");
        }
        Files.writeString(dir.resolve("unit-1.tsv"), lines);
        Files.writeString(dir.resolve("slow-1.tsv"), "a.LastTest\t0\t1\n");
        BuildTimes times = new BuildTimes(Duration.ofMinutes(9));
        times.readModule(dir);

        String text = times.render();

        assertEquals(10, text.lines().filter(line -> line.endsWith("(unit)")).count(), text);
        assertFalse(text.contains(" C2Test"), text);
        assertTrue(text.contains("WARNING: the unit tests took 20:00, more than the budget of 1:00"), text);
        assertTrue(text.contains("WARNING: the build took 9:00, more than the budget of 8:00"), text);
    }
}
