package org.jfabric.perf.compare;

import java.util.List;

/**
 * Settings for the start of a contender's processes.
 *
 * @param flags     of the virtual machine, besides the rig's own.
 * @param classPath of another build; null for the rig's own.
 * @param bound     true if each process is bound to a core; otherwise the scheduler places its threads.
 * @param cabled    true if the two sides are on hosts of their own with a {@link Cable} between them; otherwise they
 *                  are on this host, with its loopback interface.
 */
record Launch(List<String> flags, String classPath, boolean bound, boolean cabled) {
    /** Like the rig itself, each on its core. */
    static final Launch USUAL = new Launch(List.of(), null, true, false);
    /** Processes that sleep more than they run. */
    static final Launch UNBOUND = new Launch(List.of(), null, false, false);
    /** Like the rig itself, on two hosts. */
    static final Launch CABLED = new Launch(List.of(), null, true, true);

    private static final String PATTERN = "perf.pattern";
    private static final String PEERS = "perf.peers";

    /** Like the rig itself, with many peers in one process. */
    static Launch peers(ManyPeersSide.Pattern pattern, int peers) {
        return new Launch(List.of("-D" + PATTERN + '=' + pattern, "-D" + PEERS + '=' + peers), null);
    }

    /** Who sends to whom in this process. */
    static ManyPeersSide.Pattern pattern() {
        return ManyPeersSide.Pattern.valueOf(System.getProperty(PATTERN, ManyPeersSide.Pattern.PAIRS.name()));
    }

    /** How many peers there are in this process. */
    static int peers() {
        return Integer.getInteger(PEERS, 1);
    }

    /** Processes on this host, each on its core. */
    Launch(List<String> flags, String classPath) {
        this(flags, classPath, true, false);
    }
}
