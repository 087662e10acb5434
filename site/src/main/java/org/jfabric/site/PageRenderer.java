package org.jfabric.site;

import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.renderer.html.AttributeProvider;

/** Makes the HTML of a page: headings have anchors, links to pages lead to their HTML, wide tables scroll. */
final class PageRenderer {
    /** Characters of code that are kept in one line. */
    private static final int SHORT_CODE = 18;

    private final Page page;
    private final Set<String> pages;
    private final String sourceUrl;
    private final Map<String, String> types;
    private final Set<String> pictures = new TreeSet<>();

    /**
     * Renders a page.
     *
     * @param types pages of the Javadoc by simple names; each is linked from where a page names it first.
     */
    PageRenderer(Page page, Set<String> pages, String sourceUrl, Map<String, String> types) {
        this.page = page;
        this.pages = pages;
        this.sourceUrl = sourceUrl;
        this.types = new HashMap<>(types);
    }

    String html() {
        page.document().accept(new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                link.setDestination(destination(link.getDestination()));
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                pictures.add(resolve(image.getDestination()));
            }

            @Override
            public void visit(Code code) {
                String type = code.getParent() instanceof Paragraph
                    ? types.remove(code.getLiteral().replaceAll("^@|\\..*", "")) : null;
                if (type != null) {
                    Link link = new Link(page.up() + type, null);
                    code.insertBefore(link);
                    link.appendChild(code);
                }
            }

            @Override
            public void visit(HtmlBlock block) {
                // comments for the tests of examples
                if (block.getLiteral().startsWith("<!--")) {
                    block.unlink();
                }
            }
        });
        String html = Page.renderer().attributeProviderFactory(context -> (AttributeProvider) this::attributes).build()
            .render(page.document());
        // a wide one has a class
        return html.replaceAll("<table[^>]*>", "<div class=\"table\">$0").replace("</table>", "</table></div>");
    }

    /** Pictures that {@link #html()} has found, as paths from the folder of the repository. */
    Set<String> pictures() {
        return pictures;
    }

    private void attributes(Node node, String tag, Map<String, String> attributes) {
        if (node instanceof Heading heading) {
            attributes.put("id", page.id(heading));
        } else if (node instanceof Code code && code.getLiteral().length() <= SHORT_CODE) {
            attributes.put("class", "short");
        } else if (node instanceof TableBlock && columns(node) > 3) {
            attributes.put("class", "wide");
        }
    }

    private static int columns(Node table) {
        int columns = 0;
        for (Node cell = table.getFirstChild().getFirstChild().getFirstChild(); cell != null; cell = cell.getNext()) {
            columns++;
        }
        return columns;
    }

    private String destination(String link) {
        if (link.startsWith("#") || URI.create(link).isAbsolute()) {
            return link;
        }
        int hash = link.indexOf('#');
        String fragment = hash < 0 ? "" : link.substring(hash);
        String path = resolve(hash < 0 ? link : link.substring(0, hash));
        return pages.contains(path) ? page.up() + Page.target(path) + fragment : sourceUrl + path + fragment;
    }

    /** Path of a link's target from the folder of the repository. */
    private String resolve(String link) {
        Path parent = Path.of("/", page.path()).getParent();
        return parent.resolve(link).normalize().toString().substring(1);
    }
}
