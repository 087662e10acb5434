package org.jfabric.site;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.CustomNode;
import org.commonmark.node.Heading;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.html.HtmlWriter;

/** A Markdown page, parsed. */
final class Page {
    static final List<Extension> EXTENSIONS = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(EXTENSIONS).build();
    private static final Pattern NO_WORD = Pattern.compile("[^\\w.-]+|[.-]+(?!\\w)");
    private static final String README = "README.md";

    /** A heading of the second level, which the navigation shows. */
    record Section(String id, String title) {
    }

    private final String path;
    private final Node document;
    private final Map<Heading, String> ids = new HashMap<>();
    private final List<Section> sections = new ArrayList<>();
    private String title;

    Page(String path, String text) {
        this.path = path;
        this.title = path;
        this.document = PARSER.parse(text);
        Map<String, Integer> seen = new HashMap<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                String text = text(heading);
                String slug = slug(text);
                int before = seen.merge(slug, 1, Integer::sum) - 1;
                String id = before == 0 ? slug : slug + '-' + before;
                ids.put(heading, id);
                if (heading.getLevel() == 1) {
                    title = text;
                } else if (heading.getLevel() == 2) {
                    sections.add(new Section(id, text));
                }
            }
        });
    }

    /** Path of its source from the folder of the repository. */
    String path() {
        return path;
    }

    /** Path of its HTML file from the folder of the site. */
    String target() {
        return target(path);
    }

    static String target(String path) {
        return (path.endsWith(README) ? path.substring(0, path.length() - README.length()) + "index"
            : path.substring(0, path.length() - ".md".length())) + ".html";
    }

    /** Prefix of links from it to the folder of the site. */
    String up() {
        return "../".repeat((int) path.chars().filter(c -> c == '/').count());
    }

    Node document() {
        return document;
    }

    String title() {
        return title;
    }

    List<Section> sections() {
        return sections;
    }

    /** Adds a line for each section: address, titles, and each of its words once. */
    void index(StringBuilder index) {
        String address = target();
        String heading = "";
        StringBuilder text = new StringBuilder();
        for (Node node = document.getFirstChild(); node != null; node = node.getNext()) {
            if (node instanceof Heading next && next.getLevel() > 1) {
                line(index, address, heading, text);
                address = target() + '#' + id(next);
                heading = text(next);
                text.setLength(0);
            }
            text.append(' ').append(text(node));
        }
        line(index, address, heading, text);
    }

    private void line(StringBuilder index, String address, String heading, CharSequence text) {
        Set<String> words = new TreeSet<>(List.of(NO_WORD.split(text.toString().toLowerCase(Locale.ROOT))));
        index.append(List.of(address, title, heading, String.join(" ", words)).stream()
            .map(each -> '"' + each.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
            .collect(Collectors.joining(",", "[", "],\n")));
    }

    String id(Heading heading) {
        return ids.get(heading);
    }

    static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text each) {
                text.append(each.getLiteral());
            }

            @Override
            public void visit(Code each) {
                text.append(each.getLiteral());
            }

            @Override
            public void visit(SoftLineBreak each) {
                text.append(' ');
            }

            @Override
            public void visit(Paragraph paragraph) {
                text.append(' ');
                visitChildren(paragraph);
            }

            @Override
            public void visit(CustomNode cell) {
                text.append(' ');
                visitChildren(cell);
            }
        });
        return text.toString();
    }

    /** The anchor that GitHub gives a heading, so that links work there and here. */
    private static String slug(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
    }

    static String escape(String text) {
        StringBuilder html = new StringBuilder();
        new HtmlWriter(html).text(text);
        return html.toString();
    }

    static HtmlRenderer.Builder renderer() {
        return HtmlRenderer.builder().extensions(EXTENSIONS);
    }
}
