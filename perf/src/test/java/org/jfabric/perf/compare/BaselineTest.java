package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.jfabric.tool.ToolException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselineTest {
    @TempDir
    Path folder;

    private Path jar(String name, String entry) throws IOException {
        Path jar = folder.resolve(name);
        Files.createDirectories(jar.getParent());
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry(entry));
            out.closeEntry();
        }
        return jar;
    }

    @Test
    void shouldPutAProductInFrontOfThisRigsSides() throws Exception {
        Path jar = jar("jfabric-driver-runnable.jar", "org/jfabric/Fabric.class");
        Baseline baseline = Baseline.of(jar);
        assertFalse(baseline.ownSides());
        assertEquals(jar + ":" + System.getProperty("java.class.path"), baseline.classPath());
    }

    @Test
    void shouldLeaveARigItsOwnSides() throws Exception {
        Path jar = jar("benchmarks.jar", "org/jfabric/perf/compare/SideProcess.class");
        Baseline baseline = Baseline.of(jar);
        assertTrue(baseline.ownSides());
        assertEquals(jar.toString(), baseline.classPath());
    }

    @Test
    void shouldFindTheJarOfACheckout() throws Exception {
        Path rig = jar("perf/target/benchmarks.jar", "org/jfabric/perf/compare/SideProcess.class");
        assertEquals(rig, Baseline.of(folder).jar());
        Path older = jar("fabric-driver/target/jfabric-driver.jar", "org/jfabric/Fabric.class");
        assertEquals(older, Baseline.of(folder).jar());
        Path product = jar("fabric-driver/target/jfabric-driver-runnable.jar", "org/jfabric/Fabric.class");
        assertEquals(product, Baseline.of(folder).jar());
    }

    @Test
    void shouldSayThatThereIsNoJar() {
        assertTrue(assertThrows(ToolException.class, () -> Baseline.of(folder)).getMessage().contains("build it"));
        Path none = folder.resolve("none.jar");
        assertTrue(assertThrows(ToolException.class, () -> Baseline.of(none)).getMessage().contains("none.jar"));
    }
}
