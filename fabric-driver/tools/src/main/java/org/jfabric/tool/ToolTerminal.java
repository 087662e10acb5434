package org.jfabric.tool;

import java.io.PrintWriter;

/** What the terminal of this process can show. */
public final class ToolTerminal {
    private static final String CLEAR = "\033[H\033[2J";

    private ToolTerminal() {
    }

    /** Whether the standard output is a terminal on which a place can be chosen. */
    public static boolean canDraw() {
        return System.console() != null && System.console().isTerminal() && canDraw(System.getenv("TERM"));
    }

    static boolean canDraw(String term) {
        return term != null && !term.isEmpty() && !term.equals("dumb");
    }

    /** Clears it, if it can be drawn on. */
    static void clear(PrintWriter out) {
        if (canDraw()) {
            out.print(CLEAR);
        }
    }
}
