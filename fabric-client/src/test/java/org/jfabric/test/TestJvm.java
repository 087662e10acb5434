package org.jfabric.test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM of this JDK with the class path of the tests. It is made for a short life: the second compiler takes more than
 * it gives there. Options that come later win, so a test that measures adds {@link #COMPILED}.
 */
public final class TestJvm {
    /** Both compilers, as users have them. */
    public static final String COMPILED = "-XX:TieredStopAtLevel=4";

    private static final List<String> OPTIONS = List.of(
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xmx128m",
        "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED");

    private TestJvm() {
    }

    public static TestProcess start(Class<?> main, String... arguments) {
        return start(List.of(), main, arguments);
    }

    public static TestProcess start(List<String> options, Class<?> main, String... arguments) {
        return TestProcess.start(command(options, main, arguments));
    }

    /**
     * The command of it.
     *
     * @param options  that begin with a hyphen; anything else is a property, NAME=VALUE.
     * @param main     class of the test's class path.
     * @param arguments for it.
     * @return what can be put behind a program that starts it.
     */
    public static List<String> command(List<String> options, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(java().toString());
        command.addAll(OPTIONS);
        command.addAll(TestSession.properties());
        // in front: an option may name another one
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        options.forEach(each -> command.add(each.startsWith("-") ? each : "-D" + each));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    /** The program. */
    public static Path java() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }
}
