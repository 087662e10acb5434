package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The Javadoc of every public type has an example, and every example compiles. */
@Timeout(120)
class JavadocExamplesTest {
    private static final Path SOURCES = Path.of("src", "main", "java", "org", "jfabric");
    /** Not meant for applications, and a marker. */
    private static final Set<String> WITHOUT = Set.of("Attribute", "AttributeStructure", "Codes", "EndpointSource");
    private static final Pattern CLASS_DOC =
        Pattern.compile("(/\\*\\*(?:(?!\\*/).)*\\*/)\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*^public ",
            Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern BLOCK = Pattern.compile("<pre>\\{@code\n(.*?)\n \\* \\}</pre>", Pattern.DOTALL);
    private static final Pattern USE = Pattern.compile("<p>Use: \\{@code ([^}]*)\\}");
    /** What examples name and do not declare. */
    private static final String FIELDS = """
        Fabric fabric; Domain domain; Endpoint endpoint; MemoryRegion memory, region, header, body;
        CompletionQueue queue; EventQueue events; Counter counter; AddressVector peers; CompletionBatch batch;
        IoVec pieces; MemoryPool pool; PassiveEndpoint passive; SendClaim claim; WaitObjectHandle handle; PollSet set;
        CompletionDispatcher dispatcher; FutureEndpoint transfers; Info hints; Verdict verdict; Fid fid;
        UnsafeBuffer buffer; MutexCond pair; EventEntry event; long peer, address, lastContext; long[] contexts;
        void onEnd(long context) { }
        """;
    /** Names that mean something else in some types. */
    private static final String ATOMIC = "AtomicRequest request = new AtomicRequest(); long key = 7;"
        + " MemoryRegion one = null; MemoryRegion old = null;";
    private static final Map<String, String> LOCALS = Map.ofEntries(
        Map.entry("ScalableEndpoint", "Info info = null;"),
        Map.entry("JoinAttr", "LogPosition last = null;"),
        Map.entry("SendRequest", "SendRequest request = new SendRequest();"),
        Map.entry("AtomicOperation", "AtomicRequest request = new AtomicRequest();"),
        Map.entry("AtomicRequest", ATOMIC),
        Map.entry("Destination", "Messenger messenger = null;"),
        Map.entry("Atomics", ATOMIC),
        Map.entry("RemoteRequest", "RemoteRequest request = new RemoteRequest(); long key = 7;"),
        Map.entry("RmaIoVec", "RemoteRequest request = new RemoteRequest();"),
        Map.entry("TriggeredContext",
            "TriggeredContext trigger = new TriggeredContext(); SendRequest request = new SendRequest();"),
        Map.entry("DeferredWork", "DeferredWork work = new DeferredWork(); Counter received = null, forwarded = null;"
            + " SendRequest request = new SendRequest();"),
        Map.entry("ReceiveRequest", "ReceiveRequest request = new ReceiveRequest();"),
        Map.entry("CompletionError", "CompletionError error = null;"),
        Map.entry("EventError", "EventError error = null;"),
        Map.entry("EventEntry", "EventEntry entry = null;"),
        Map.entry("EventQueue", "EventEntry entry = null;"),
        Map.entry("EventType", "EventEntry entry = null;"),
        Map.entry("RecvContext", "Completion entry = null;"),
        Map.entry("OperationContext",
            "OperationContext opContext = new OperationContext(); MemoryRegion requests = null;"
            + " Completion entry = null;"),
        Map.entry("ProtocolErrno", "CompletionError error = null;"),
        Map.entry("VerbsErrno", "CompletionError error = null;"));

    @TempDir
    Path dir;

    @Test
    void shouldShowEveryPublicTypeInUse() throws IOException, URISyntaxException {
        List<String> missing = new ArrayList<>();
        StringBuilder methods = new StringBuilder();
        int examples = 0;
        for (Path file : files()) {
            String type = file.getFileName().toString().replace(".java", "");
            Matcher found = CLASS_DOC.matcher(Files.readString(file));
            if (WITHOUT.contains(type) || !found.find()) {
                continue;
            }
            String body = example(found.group(1));
            if (body.isEmpty()) {
                missing.add(type);
            } else {
                methods.append("void use").append(type).append("() throws Exception {\n")
                    .append(LOCALS.getOrDefault(type, "")).append('\n').append(body).append("\n}\n");
                examples++;
            }
        }
        assertEquals(List.of(), missing, "types without an example");
        assertTrue(examples > 80, "examples: " + examples);
        assertEquals("", compile("""
            import java.net.*; import java.nio.channels.SelectableChannel; import java.nio.file.*; import java.util.*;
            import java.util.concurrent.*; import org.agrona.*; import org.agrona.concurrent.*; import org.jfabric.*;
            import org.jfabric.future.*; import org.jfabric.info.*;
            abstract class Examples {
            """ + FIELDS + methods + "}\n"));
    }

    private static String example(String doc) {
        String blocks = BLOCK.matcher(doc).results()
            // three dots stand for what the reader does
            .map(block -> "{\n" + block.group(1).replaceAll("(?m)^ \\* ?( *\\.\\.\\.$)?", "") + "\n}")
            .collect(Collectors.joining("\n"));
        String uses = USE.matcher(doc).results().map(use -> use.group(1).replaceAll("\n \\* ?", " "))
            .map(use -> use.contains(" == ") ? "boolean value = " + use + ";" : use + ";")
            .collect(Collectors.joining("\n"));
        return (blocks + '\n' + uses).strip();
    }

    /** Compiles a class; returns the errors with their lines. */
    private String compile(String source) throws IOException, URISyntaxException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
        String path = place(Endpoint.class) + File.pathSeparator + place(DirectBuffer.class);
        URI name = URI.create("string:///Examples.java");
        JavaFileObject unit = new SimpleJavaFileObject(name, JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        compiler.getTask(new StringWriter(), null, problems,
            List.of("-proc:none", "-classpath", path, "-d", dir.toString()), null, List.of(unit)).call();
        String[] lines = source.split("\n");
        return problems.getDiagnostics().stream().filter(problem -> problem.getKind() == Diagnostic.Kind.ERROR)
            .map(problem -> problem.getMessage(null) + " in: " + lines[(int) problem.getLineNumber() - 1] + '\n')
            .collect(Collectors.joining());
    }

    private static Path place(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static List<Path> files() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder : List.of(SOURCES, SOURCES.resolve("info"), SOURCES.resolve("future"))) {
            try (Stream<Path> list = Files.list(folder)) {
                list.filter(file -> file.toString().endsWith(".java")).sorted().forEach(files::add);
            }
        }
        return files;
    }
}
