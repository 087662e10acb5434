package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The metadata for native images have what the sources of client and driver call: no more and no less. */
class NativeImageMetadataTest {
    private static final Path FILE = Path.of("src", "main", "resources", "META-INF", "native-image", "org.jfabric",
        "jfabric-client", "reachability-metadata.json");
    private static final Pattern CALL = Pattern.compile(
        "(Quick)?Downcall\\.(of|ofSockets|variadic)\\(\\s*\"\\w+\",\\s*(?:(\\d+),\\s*)?(\\d+)\\)");
    private static final Pattern ANY_CALL =
        Pattern.compile("Downcall\\.(?:of|ofSockets|variadic|unbound)\\(\\s*(?=[\"\\d])");
    private static final Pattern DOWNCALL = Pattern.compile("\\{\"returnType\".*?}(?=,?\\n)");

    /** As JSON: all is passed as 64 bits. */
    private static String downcall(MatchResult call) {
        String options = Stream.of(
            call.group(1) == null ? "\"captureCallState\": true" : "",
            call.group(3) == null ? "" : "\"firstVariadicArg\": " + call.group(3))
            .filter(each -> !each.isEmpty()).reduce((first, second) -> first + ", " + second).orElse("");
        return "{\"returnType\": \"jlong\", \"parameterTypes\": ["
            + String.join(", ", Collections.nCopies(Integer.parseInt(call.group(4)), "\"jlong\"")) + "]"
            + (options.isEmpty() ? "" : ", \"options\": {" + options + "}") + "}";
    }

    /** Those of RDMA devices are left out: their libraries are found at run time. */
    private static List<Path> sources() throws IOException {
        List<Path> folders = Stream.of("fabric-client", "fabric-driver").flatMap(
            module -> MainSources.folders(module).stream())
            .filter(folder -> !folder.toString().contains("rdma")).toList();
        TreeSet<Path> sources = new TreeSet<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
            }
        }
        return List.copyOf(sources);
    }

    @Test
    void shouldListTheShapesOfAllDowncalls() throws IOException {
        SortedSet<String> needed = new TreeSet<>();
        int calls = 0;
        for (Path source : sources()) {
            String text = Files.readString(source);
            List<MatchResult> found = CALL.matcher(text).results().toList();
            assertEquals(ANY_CALL.matcher(text).results().count(), found.size(), source + " links in another way");
            found.forEach(call -> needed.add(downcall(call)));
            calls += found.size();
        }
        assertTrue(calls > 80, calls + " calls");
        SortedSet<String> listed = new TreeSet<>(
            DOWNCALL.matcher(Files.readString(FILE)).results().map(MatchResult::group).toList());
        assertEquals(String.join(",\n", needed), String.join(",\n", listed));
    }

    @Test
    void shouldListTheChannelsWhoseDescriptorsAreRead() throws IOException {
        try (SocketChannel socket = SocketChannel.open(); ServerSocketChannel server = ServerSocketChannel.open();
             DatagramChannel datagrams = DatagramChannel.open()) {
            String text = Files.readString(FILE);
            for (Object channel : List.of(socket, server, datagrams)) {
                assertTrue(text.contains("{\"type\": \"" + channel.getClass().getName()
                    + "\", \"methods\": [{\"name\": \"getFDVal\", \"parameterTypes\": []}]}"), channel.toString());
            }
        }
    }
}
