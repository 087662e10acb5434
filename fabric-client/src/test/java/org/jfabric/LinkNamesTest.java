package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.info.Protocol;
import org.junit.jupiter.api.Test;

/**
 * The client behaves alike over every link: its code names neither a link nor a protocol, so a new link does not change
 * it. What differs is asked of {@link Protocol} and of the info.
 */
class LinkNamesTest {
    private static final Path SOURCES = Path.of("src", "main", "java");
    /** Names of protocols and errnos; the last one describes errnos. */
    private static final Set<String> TABLES =
        Set.of("Protocol.java", "ProtocolErrno.java", "VerbsErrno.java", "AddressFormat.java", "ErrorText.java");
    private static final Pattern NAME = Pattern.compile("(?i)\\b(loopback|shm|tcp|udp|rxm|verbs|verbsud|verbsrxm|"
        + Arrays.stream(Protocol.values()).filter(protocol -> protocol != Protocol.UNSPEC).map(Enum::name)
            .collect(Collectors.joining("|")) + ")\\b");
    private static final Pattern COMMENT = Pattern.compile("(\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\\n])+')"
        + "|/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);
    /** A file system and an option of containers, which are called like a link. */
    private static final Pattern SYSTEM = Pattern.compile("/dev/shm|--shm-size");

    @Test
    void shouldNameNoLink() throws IOException {
        List<String> found = new ArrayList<>();
        List<Path> files;
        try (Stream<Path> walk = Files.walk(SOURCES)) {
            files = walk.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
        assertTrue(files.size() > 100, "files: " + files.size());
        for (Path file : files) {
            if (!TABLES.contains(file.getFileName().toString())) {
                names(Files.readString(file)).forEach(name -> found.add(file.getFileName() + ": " + name));
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void shouldLookAtCodeAndNotAtComments() {
        assertEquals(List.of("SOCK_TCP", "loopback", "Shm"), names("""
            /** As tcp does. */ // not shm
            case SOCK_TCP -> "loopback" + "/dev/shm"; "// " + Shm
            """));
    }

    private static List<String> names(String source) {
        String code = COMMENT.matcher(source).replaceAll(
            match -> match.group(1) == null ? " " : Matcher.quoteReplacement(match.group(1)));
        return NAME.matcher(SYSTEM.matcher(code).replaceAll("")).results().map(result -> result.group()).toList();
    }
}
