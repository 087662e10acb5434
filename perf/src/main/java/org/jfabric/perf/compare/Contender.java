package org.jfabric.perf.compare;

/** Something to be measured. Owner: the rig's thread. */
interface Contender extends AutoCloseable {
    /** Name in JSON and in cells. */
    String id();

    /** Name for people. */
    String title();

    /**
     * Checks that the contender can be run here.
     *
     * @return null, or one sentence that names the package to install.
     */
    String missing();

    /** Its version, for the environment. */
    String version();

    /** Returns true if the contender has this pass for messages of this size. */
    boolean can(Pass pass, int sizeBytes);

    /**
     * Measures a cell once: warms up, then runs for as long as was asked for.
     *
     * @throws org.jfabric.tool.ToolException if it fails.
     */
    Reading measure(Pass pass, int sizeBytes) throws InterruptedException;

    /**
     * Compares contents in a pass of its own; only for JFabric.
     *
     * @return messages compared, 0 if there is no such pass.
     */
    default long verify(Pass pass, int sizeBytes) throws InterruptedException {
        return 0;
    }

    @Override
    void close();
}
