package org.jfabric.tool;

import java.io.PrintWriter;
import java.io.StringWriter;

/** A command run in this process, with what it printed. */
public record ToolRun(int status, String out, String err) {
    public static ToolRun of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status = FabricTool.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
        return new ToolRun(status, out.toString(), err.toString());
    }
}
