package org.jfabric.perf.compare;

/** Something to be measured. Owner: the rig's thread. */
interface Contender extends AutoCloseable {
    /** Name in JSON and in cells. */
    String id();

    /** Name for people. */
    String title();

    /** Checks that the contender can be run here. Returns null, or one sentence that names the package to install. */
    String missing();

    String version();

    /** Returns true if the contender has this pass for messages of this size. */
    boolean can(Pass pass, int sizeBytes);

    /** Returns true if it runs programs that cannot be stopped between two slices, and are started for each one. */
    default boolean startsAnew() {
        return false;
    }

    /**
     * Opens a cell and warms it up. It takes no processor time until it is measured.
     *
     * @throws org.jfabric.tool.ToolException if it fails.
     */
    void open(Pass pass, int sizeBytes) throws InterruptedException;

    /**
     * Measures a slice of the cell that is open, while everything else is stopped.
     *
     * @throws org.jfabric.tool.ToolException if it fails.
     */
    SliceReading slice(Pass pass, int sizeBytes) throws InterruptedException;

    /** Closes the cell; processes remain. */
    void closeCell() throws InterruptedException;

    /**
     * Compares contents in a pass of its own; only for JFabric. Returns the messages compared, 0 if there is no such
     * pass.
     */
    default long verify(Pass pass, int sizeBytes) throws InterruptedException {
        return 0;
    }

    @Override
    void close();
}
