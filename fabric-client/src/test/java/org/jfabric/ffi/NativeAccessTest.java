package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
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

    @Test
    void shouldShowTheApplicationsFramesAlone() {
        StackTraceElement[] frames = {new StackTraceElement("org.jfabric.ffi.NativeAccess", "check", null, 1),
            new StackTraceElement("java.util.ArrayList", "forEach", null, 2),
            new StackTraceElement("org.jfabric.Fabric", "connect", null, 2),
            new StackTraceElement("com.example.Desk", "main", null, 3)};
        assertEquals("com.example.Desk", NativeAccess.ofCaller(frames)[0].getClassName());
        assertEquals(1, NativeAccess.ofCaller(frames).length);
        assertEquals(3, NativeAccess.ofCaller(Arrays.copyOf(frames, 3)).length);
    }

    private static String check(String... flags) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(TestJvm.java().toString());
        command.add("-Xshare:auto");
        command.add("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(flags));
        command.add("-cp");
        command.add(location(Check.class) + File.pathSeparator + location(NativeAccess.class) + File.pathSeparator +
            location(UnsafeApi.class));
        command.add(Check.class.getName());
        return TestProcess.start(command).ended().output().strip();
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
