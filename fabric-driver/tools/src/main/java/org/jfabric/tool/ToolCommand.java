package org.jfabric.tool;

import java.util.concurrent.Callable;

/**
 * A command that another module adds to {@code fabric}: found by {@link java.util.ServiceLoader}, annotated for
 * picocli, returns the exit status. Errors that the user can correct are {@link ToolException}s.
 */
public interface ToolCommand extends Callable<Integer> {
}
