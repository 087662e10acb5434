package org.jfabric.perf.compare;

/** Text in a page. */
final class Html {
    private Html() {
    }

    /** Text that stands for itself, also within an attribute. */
    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
