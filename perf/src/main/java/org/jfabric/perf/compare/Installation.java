package org.jfabric.perf.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Location of another library's programs: on the path, or below a folder that an environment variable names, with its
 * libraries beside them.
 *
 * @param variable that names the folder; null for the path.
 * @param folder   below which there is {@code bin}; null for the path.
 */
record Installation(String variable, Path folder, Map<String, String> outer) {
    private static final String PATH = "PATH";
    private static final String LIBRARY_PATH = "LD_LIBRARY_PATH";

    static Installation ofPath(Map<String, String> environment) {
        return new Installation(null, null, environment);
    }

    /**
     * Returns the installation that a variable names.
     *
     * @return null if it is not set.
     */
    static Installation of(String variable, Map<String, String> environment) {
        String folder = environment.get(variable);
        return folder == null || folder.isEmpty() ? null : new Installation(variable, Path.of(folder), environment);
    }

    /** Returns the installation that a variable names, or the one on the path if the variable is not set. */
    static Installation preferring(String variable, Map<String, String> environment) {
        Installation named = of(variable, environment);
        return named != null ? named : ofPath(environment);
    }

    /** Returns the path of a program, or null if it is not found. */
    Path find(String program) {
        if (folder != null) {
            Path file = folder.resolve("bin").resolve(program);
            return isProgram(file) ? file : null;
        }
        for (String each : outer.getOrDefault(PATH, "").split(":")) {
            Path file = Path.of(each.isEmpty() ? "." : each, program);
            if (isProgram(file)) {
                return file;
            }
        }
        return null;
    }

    private static boolean isProgram(Path file) {
        return Files.isExecutable(file) && !Files.isDirectory(file);
    }

    /** The command with the place of its program. */
    List<String> command(List<String> command) {
        Path program = find(command.getFirst());
        return program == null ? command
            : Stream.concat(Stream.of(program.toString()), command.stream().skip(1)).toList();
    }

    /** Variables that let its programs find its own libraries, in front of others. */
    Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        if (folder != null) {
            String others = outer.getOrDefault(LIBRARY_PATH, "");
            String own = folder.resolve("lib") + ":" + folder.resolve("lib64");
            variables.put(LIBRARY_PATH, others.isEmpty() ? own : own + ':' + others);
        }
        return variables;
    }

    /** Describes how the programs were found, for the report. */
    String origin(String program) {
        Path file = find(program);
        return (file == null ? "not found" : file.toString()) + " by " + (variable == null ? PATH : variable);
    }
}
