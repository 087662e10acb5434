package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@Tag("slow") // each test runs a virtual machine
class NativeAccessTest {
    private static final String OPENS = "--add-opens java.base/jdk.internal.misc=ALL-UNNAMED";
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    @Test
    void shouldPassWithBothFlags() throws Exception {
        assertEquals("passed", check("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", NATIVE));
    }

    @Test
    void shouldNameBothFlagsWhenBothAreMissing() throws Exception {
        String message = check();
        assertTrue(message.contains("the java command lacks " + OPENS + " " + NATIVE + ";"), message);
    }

    @Test
    void shouldNameTheOneFlagThatIsMissing() throws Exception {
        String noOpens = check(NATIVE);
        assertTrue(noOpens.contains("lacks " + OPENS + ";"), noOpens);
        String noNative = check("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED");
        assertTrue(noNative.contains("lacks " + NATIVE + ";"), noNative);
    }

    private static String check(String... flags) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xshare:auto");
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(flags));
        command.add("-cp");
        command.add(location(Check.class) + File.pathSeparator + location(NativeAccess.class) + File.pathSeparator +
            location(UnsafeApi.class));
        command.add(Check.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        return output;
    }

    private static Path location(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /** Runs in a process of its own. */
    static final class Check {
        public static void main(String[] arguments) {
            try {
                NativeAccess.check();
                NativeAccess.check();
                System.out.println("passed");
            } catch (IllegalStateException missing) {
                System.out.println(missing.getMessage());
            }
        }
    }
}
