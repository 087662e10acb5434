package org.jfabric.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/** The source code of all modules, tests apart, as seen from the folder of one. */
public final class MainSources {
    private static final Path ROOT = Path.of("..");
    private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");

    private MainSources() {
    }

    /** The folders of the modules in the root folder's {@code pom.xml}, relative to that. */
    static List<String> modules() throws IOException {
        return MODULE.matcher(Files.readString(ROOT.resolve("pom.xml"))).results()
            .map(result -> result.group(1)).toList();
    }

    /** The folders {@code src/main/java} of modules whose name begins so. */
    public static List<Path> folders(String begin) {
        try {
            return modules().stream().filter(module -> module.startsWith(begin))
                .map(module -> ROOT.resolve(module).resolve("src/main/java")).filter(Files::isDirectory).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
