package org.jfabric.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The site: an HTML file for each Markdown page of the root folder and of {@code docs}, at the same place as in the
 * repository, with navigation and one style sheet. It has no scripts and loads nothing from elsewhere.
 */
public final class DocumentationSite {
    private static final String STYLE = "style.css";

    private final Path root;
    private final String sourceUrl;
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
     * Writes all pages, the style sheet and the pictures that pages show.
     *
     * @param output folder, made if it is missing; files of the same names are replaced.
     * @throws IOException if a file cannot be written.
     */
    public void write(Path output) throws IOException {
        Navigation navigation = new Navigation(pages);
        for (Page page : pages.values()) {
            PageRenderer renderer = new PageRenderer(page, pages.keySet(), sourceUrl);
            Path file = output.resolve(page.target());
            Files.createDirectories(file.getParent());
            Files.writeString(file, frame(page, navigation.html(page), renderer.html()));
            for (String picture : renderer.pictures()) {
                Files.createDirectories(output.resolve(picture).getParent());
                Files.copy(root.resolve(picture), output.resolve(picture), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        try (InputStream style = DocumentationSite.class.getResourceAsStream(STYLE)) {
            Files.copy(style, output.resolve(STYLE), StandardCopyOption.REPLACE_EXISTING);
        }
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
            <link rel="stylesheet" href="%s%s">
            </head>
            <body>
            %s
            <main>
            %s
            </main>
            </body>
            </html>
            """.formatted(Page.escape(page.title()), page.up(), STYLE, navigation, content);
    }
}
