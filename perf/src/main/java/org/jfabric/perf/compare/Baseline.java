package org.jfabric.perf.compare;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.jfabric.tool.ToolException;

/**
 * An older build of JFabric that is measured beside this one, in processes of its own. If the jar is one of the
 * product, this rig's sides run on the older library. If it is the jar of a rig, its own sides run, even where the
 * library's API has changed since; sides that were added later are missing then.
 *
 * @param ownSides true if the jar contains sides of its own.
 */
record Baseline(Path jar, boolean ownSides) {
    private static final String SIDE = "org/jfabric/perf/compare/SideProcess.class";
    /** Below the folder of a checkout, the one that is preferred first. The second is the product's older name. */
    private static final List<String> JARS = List.of("fabric-driver/target/jfabric-driver-runnable.jar",
        "fabric-driver/target/jfabric-driver.jar", "perf/target/benchmarks.jar");

    /**
     * Finds it.
     *
     * @param path a jar, or the folder of a checkout that was built.
     * @throws ToolException if there is no jar.
     */
    static Baseline of(Path path) {
        Path jar = path;
        if (Files.isDirectory(path)) {
            jar = JARS.stream().map(path::resolve).filter(Files::isRegularFile).findFirst().orElseThrow(() ->
                new ToolException("There is neither " + String.join(" nor ", JARS) + " below " + path
                    + ": build it there with 'mvn -DskipTests package'."));
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            return new Baseline(jar.toAbsolutePath(), file.getEntry(SIDE) != null);
        } catch (IOException ex) {
            throw new ToolException("The older build " + jar + " cannot be read: " + ex.getMessage() + '.', ex);
        }
    }

    String classPath() {
        return ownSides ? jar.toString() : jar + File.pathSeparator + System.getProperty("java.class.path");
    }

    String version() {
        return jar + (ownSides ? ", its own sides" : "");
    }
}
