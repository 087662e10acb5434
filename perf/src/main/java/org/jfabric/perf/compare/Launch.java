package org.jfabric.perf.compare;

import java.util.List;

/**
 * Settings for the start of a contender's processes.
 *
 * @param flags     of the virtual machine, besides the rig's own.
 * @param classPath of another build; null for the rig's own.
 * @param bound     true if each process is bound to a core; otherwise the scheduler places its threads.
 */
record Launch(List<String> flags, String classPath, boolean bound) {
    /** Like the rig itself, each on its core. */
    static final Launch USUAL = new Launch(List.of(), null, true);
    /** Processes that sleep more than they run. */
    static final Launch UNBOUND = new Launch(List.of(), null, false);
}
