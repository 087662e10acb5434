package org.jfabric.perf.compare;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import org.jfabric.tool.ToolException;

/**
 * An older build of JFabric that is measured beside this one, in processes of its own. A jar of the product gets this
 * rig's sides, which then run on the older library; a jar of a rig runs its own sides, also where the library's API has
 * changed since, but has none of the later ones.
 *
 * @param jar      of the older build.
 * @param ownSides whether it has sides.
 */
record Baseline(Path jar, boolean ownSides) {
    private static final String SIDE = "org/jfabric/perf/compare/SideProcess.class";
    /** Below the folder of a checkout, the one that is preferred first. */
    private static final List<String> JARS =
        List.of("fabric-driver/target/jfabric-driver.jar", "perf/target/benchmarks.jar");

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

    /** Class path of its processes. */
    String classPath() {
        return ownSides ? jar.toString() : jar + File.pathSeparator + System.getProperty("java.class.path");
    }

    /** For the report. */
    String version() {
        return jar + (ownSides ? ", its own sides" : "");
    }
}
