package org.jfabric.driver.soak;

import org.jfabric.driver.kit.Effort;

/** What a run of the soak is told by system properties. */
public final class SoakOptions {
    /** Operations of a run over all setups, a million if everything is to be run. */
    public static final long SHORT_RUN = Effort.rounds(40_000, 1_000_000);
    /** Thousandths of all operations that go over the scripted link. */
    public static final int SCRIPTED_SHARE = 200;

    private static final String OPERATIONS = "jfabric.test.soak.operations";
    private static final String SEED = "jfabric.test.soak.seed";
    private static final String PROGRESS_THREADS = "jfabric.test.soak.progressThreads";
    private static final String SETUP = "jfabric.test.soak.setup";

    private SoakOptions() {
    }

    public static long operations() {
        return Long.getLong(OPERATIONS, SHORT_RUN);
    }

    /** The first seed; the worlds of a run take the ones that follow. */
    public static long seed() {
        return Long.getLong(SEED, 1);
    }

    /** Of each driver in the setups with several. */
    static int progressThreads() {
        return Integer.getInteger(PROGRESS_THREADS, 2);
    }

    /** Whether a setup is wanted, or null for all. */
    static boolean wants(SoakSetup setup) {
        return wants(setup.name());
    }

    /** The same for the name of a setup. */
    static boolean wants(String setup) {
        String only = System.getProperty(SETUP);
        return only == null || only.equals(setup);
    }

    /** Whether the scripted link is wanted. */
    public static boolean wantsScripted() {
        String only = System.getProperty(SETUP);
        return only == null || "SCRIPTED".equals(only);
    }

    static String replay(SoakSetup setup, long seed) {
        return "-D" + SETUP + '=' + setup.name() + " -D" + SEED + '=' + seed;
    }
}
