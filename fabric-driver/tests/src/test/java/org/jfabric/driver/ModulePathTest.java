package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.agrona.DirectBuffer;
import org.jfabric.Fabric;
import org.jfabric.codec.wire.MessageHeaderDecoder;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An application that is a module of its own: what it can use, and what it cannot. */
@Tag("slow")
@Timeout(120)
class ModulePathTest {
    private static final String MODULE = """
        module app {
            requires org.jfabric.driver;
        }
        """;
    private static final String PROGRAM = """
        package app;

        import java.nio.file.Path;
        import org.jfabric.Fabric;
        import org.jfabric.Messenger;
        import org.jfabric.driver.FabricDriver;
        import org.jfabric.driver.config.DriverConfig;
        import org.jfabric.driver.config.ThreadingMode;
        import org.jfabric.info.FabricAddress;

        public class Main {
            public static void main(String[] arguments) {
                try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
                         .directory(Path.of(arguments[0])).threadingMode(ThreadingMode.INVOKER).build());
                     Fabric fabric = driver.fabric(); Messenger self = fabric.messenger().open()) {
                    self.endpoint().trecv(self.memory().address(2048), 1024, FabricAddress.ADDR_UNSPEC, 7, 0, 1);
                    self.endpoint().tsend(self.memory().slice(0, 64), self.peer(self.address()), 7, 2);
                    self.await(2, 10_000_000_000L, entry -> System.out.println("context " + entry.opContext()));
                }
            }
        }
        """;
    private static final String INSIDES = """
        package app;

        class Insides {
            org.jfabric.client.DriverConnection connection;
            org.jfabric.layout.RecordProducer ring;
            org.jfabric.driver.engine.Engine engine;
        }
        """;

    private final Path directory = TestDirectory.create();

    @AfterEach
    void deleteDirectory() {
        TestDirectory.delete(directory);
    }

    @Test
    void shouldRunAnApplicationThatIsAModule() throws IOException {
        Path classes = directory.resolve("classes");
        assertEquals("", compile(classes, "Main.java", PROGRAM));
        try (TestProcess run = TestProcess.run(TestJvm.java().toString(), "-XX:TieredStopAtLevel=1",
            "--module-path", modulePath() + File.pathSeparator + classes,
            "--add-opens", "java.base/jdk.internal.misc=org.agrona",
            "--enable-native-access=org.jfabric,org.jfabric.driver",
            "--module", "app/app.Main", directory.resolve("driver").toString())) {
            String output = run.succeeded();
            assertTrue(output.contains("context 1") && output.contains("context 2"), output);
        }
    }

    @Test
    void shouldKeepTheInsidesFromAModule() throws IOException {
        String errors = compile(directory.resolve("classes"), "Insides.java", INSIDES);
        for (String name : List.of("org.jfabric.client", "org.jfabric.layout", "org.jfabric.driver.engine")) {
            assertTrue(errors.contains("package " + name + " is not visible"), errors);
        }
        assertFalse(errors.contains("module not found"), errors);
    }

    /** Compiles one source as the module app, and answers what the compiler has against it. */
    private String compile(Path classes, String name, String source) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("source"));
        Path module = Files.writeString(sources.resolve("module-info.java"), MODULE);
        Path file = Files.writeString(Files.createDirectories(sources.resolve("app")).resolve(name), source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            compiler.getTask(messages, files, null,
                List.of("--class-path", "", "--module-path", modulePath(), "-d", classes.toString(), "-proc:none"),
                null, files.getJavaFileObjects(module, file)).call();
        }
        return messages.toString();
    }

    private static String modulePath() {
        return Stream.of(DirectBuffer.class, MessageHeaderDecoder.class, Fabric.class, FabricDriver.class)
            .map(ModulePathTest::placeOf).collect(Collectors.joining(File.pathSeparator));
    }

    private static String placeOf(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
