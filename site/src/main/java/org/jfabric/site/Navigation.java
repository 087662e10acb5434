package org.jfabric.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The list of pages beside each page: groups and their pages in the order of {@code navigation.txt}, then the pages
 * that it does not name.
 */
final class Navigation {
    private static final String FILE = "navigation.txt";

    private final Map<String, List<Page>> groups = new LinkedHashMap<>();
    private final String version;
    private final boolean hasJavadoc;

    Navigation(Map<String, Page> pages, String version, boolean hasJavadoc) throws IOException {
        this.version = version;
        this.hasJavadoc = hasJavadoc;
        Map<String, Page> others = new TreeMap<>(pages);
        List<Page> group = null;
        for (String line : lines()) {
            if (!line.startsWith(" ")) {
                group = groups.computeIfAbsent(line, title -> new ArrayList<>());
                continue;
            }
            Page page = others.remove(line.strip());
            if (page == null) {
                throw new IllegalArgumentException(FILE + " names no page, or one twice: " + line.strip());
            }
            group.add(page);
        }
        if (!others.isEmpty()) {
            groups.put("More", List.copyOf(others.values()));
        }
    }

    private static List<String> lines() throws IOException {
        try (InputStream file = Navigation.class.getResourceAsStream(FILE)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines()
                .filter(line -> !line.isBlank()).toList();
        }
    }

    String html(Page current) {
        StringBuilder html = new StringBuilder();
        String home = current.up() + "index.html";
        html.append("<header><a class=\"home\" href=\"").append(home).append("\">JFabric</a> <span>").append(version)
            .append("</span></header>\n");
        html.append("<nav aria-label=\"Pages\"><input type=\"checkbox\" id=\"nav-open\">"
            + "<label for=\"nav-open\">Pages</label>\n<div>\n");
        if (hasJavadoc) {
            html.append("<a href=\"").append(current.up()).append("javadoc/index.html\">Javadoc</a>\n<a href=\"")
                .append(current.up()).append("javadoc/testing/index.html\">Javadoc for tests</a>\n");
        }
        groups.forEach((title, pages) -> {
            boolean isOpen = pages.contains(current);
            html.append("<details class=\"group\"").append(isOpen ? " open" : "").append("><summary>")
                .append(Page.escape(title)).append("</summary><ul>\n");
            pages.forEach(page -> append(html, page, current));
            html.append("</ul></details>\n");
        });
        return html.append("</div></nav>").toString();
    }

    private static void append(StringBuilder html, Page page, Page current) {
        html.append("<li><a href=\"").append(current.up()).append(page.target()).append('"')
            .append(page == current ? " aria-current=\"page\"" : "").append('>')
            .append(Page.escape(page.title())).append("</a>");
        if (page == current && !page.sections().isEmpty()) {
            html.append("<ul class=\"sections\">");
            for (Page.Section section : page.sections()) {
                html.append("<li><a href=\"#").append(section.id()).append("\">")
                    .append(Page.escape(section.title())).append("</a></li>");
            }
            html.append("</ul>");
        }
        html.append("</li>\n");
    }
}
