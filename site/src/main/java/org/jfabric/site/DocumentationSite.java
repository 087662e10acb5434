package org.jfabric.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The site: an HTML file for each Markdown page of the root folder and of {@code docs}, at the same place as in the
 * repository, with navigation, one style sheet, and a script that searches an index. It loads nothing from elsewhere.
 * If the folder has Javadoc, names of its types lead there.
 */
public final class DocumentationSite {
    private static final List<String> RESOURCES = List.of("style.css", "search.js");
    private static final Pattern VERSION = Pattern.compile("(?m)^    <version>(.*)</version>");
    private static final Pattern TYPE = Pattern.compile("[A-Z]\\w*\\.html");

    private final Path root;
    private final String sourceUrl;
    private final String version;
    private final Map<String, Page> pages = new TreeMap<>();

    /**
     * Reads all pages.
     *
     * @param root      folder of the repository.
     * @param sourceUrl address of the files of the repository, with a slash at its end.
     * @throws IOException if a page cannot be read.
     */
    public DocumentationSite(Path root, String sourceUrl) throws IOException {
        this.root = root.toAbsolutePath().normalize();
        this.sourceUrl = sourceUrl;
        Matcher found = VERSION.matcher(Files.readString(this.root.resolve("pom.xml")));
        version = found.find() ? found.group(1) : "";
        try (Stream<Path> top = Files.list(this.root); Stream<Path> docs = Files.walk(this.root.resolve("docs"))) {
            for (Path file : Stream.concat(top, docs).filter(file -> file.toString().endsWith(".md")).toList()) {
                String path = this.root.relativize(file).toString();
                pages.put(path, new Page(path, Files.readString(file)));
            }
        }
    }

    /**
     * Makes the site.
     *
     * @param args folder of the repository, folder of the site, address of the files of the repository.
     * @throws IOException if a page cannot be read or written.
     */
    public static void main(String[] args) throws IOException {
        Path output = Path.of(args[1]);
        DocumentationSite site = new DocumentationSite(Path.of(args[0]), args[2]);
        site.write(output);
        System.out.println(site.pages.size() + " pages: " + output.toAbsolutePath().resolve("index.html"));
    }

    /**
     * Writes all pages, the style sheet, the index, the script and the pictures that pages show.
     *
     * @param output folder, made if it is missing; files of the same names are replaced.
     * @throws IOException if a file cannot be written.
     */
    public void write(Path output) throws IOException {
        Map<String, String> types = types(output);
        Navigation navigation = new Navigation(pages, version, !types.isEmpty());
        StringBuilder index = new StringBuilder("const INDEX = [\n");
        for (Page page : pages.values()) {
            page.index(index);
            PageRenderer renderer = new PageRenderer(page, pages.keySet(), sourceUrl, types);
            Path file = output.resolve(page.target());
            Files.createDirectories(file.getParent());
            Files.writeString(file, frame(page, navigation.html(page), renderer.html()));
            for (String picture : renderer.pictures()) {
                Files.createDirectories(output.resolve(picture).getParent());
                Files.copy(root.resolve(picture), output.resolve(picture), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.writeString(output.resolve("index.js"), index.append("];\n"));
        for (String resource : RESOURCES) {
            try (InputStream in = DocumentationSite.class.getResourceAsStream(resource)) {
                Files.copy(in, output.resolve(resource), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** The pages of the Javadoc by the simple names of the types; without any if it was not made. */
    private static Map<String, String> types(Path output) throws IOException {
        Map<String, String> types = new HashMap<>();
        if (Files.exists(output.resolve("javadoc"))) {
            try (Stream<Path> files = Files.walk(output.resolve("javadoc"))) {
                files.filter(file -> TYPE.matcher(file.getFileName().toString()).matches()).forEach(file -> types.put(
                    file.getFileName().toString().replace(".html", ""), output.relativize(file).toString()));
            }
        }
        return types;
    }

    private static String frame(Page page, String navigation, String content) {
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>%s</title>
            <link rel="stylesheet" href="%sstyle.css">
            <script src="%ssearch.js" data-up="%s" defer></script>
            </head>
            <body>
            %s
            <main>
            %s
            </main>
            </body>
            </html>
            """.formatted(Page.escape(page.title()), page.up(), page.up(), page.up(), navigation, content);
    }
}
