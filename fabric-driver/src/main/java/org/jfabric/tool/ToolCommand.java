package org.jfabric.tool;

import java.util.concurrent.Callable;

/**
 * A command that another module adds to {@code fabric}: found by {@link java.util.ServiceLoader}, annotated for
 * picocli, answers with the exit status. What goes wrong for the user's reasons is a {@link ToolException}.
 */
public interface ToolCommand extends Callable<Integer> {
}
