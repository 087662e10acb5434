package org.jfabric.tool.doctor;

import java.util.Locale;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.ffi.CpuQuota;

/** Cores and quotas of time (control groups, version 1 and 2) against threads that spin. */
final class CoresCheck implements Check {
    private static final String NAME = "cores";

    @Override
    public Finding examine(Host host) {
        double cores = CpuQuota.availableCores(host.root());
        ThreadingMode mode = host.config().get(ThreadingConfig.MODE);
        String seen = String.format(Locale.ROOT, "%.1f cores for this process, threading mode %s", cores, mode);
        if (mode != ThreadingMode.DEDICATED) {
            return cores >= 2 ? Finding.ok(NAME, seen)
                : Finding.note(NAME, seen, "Driver and application share one core's time and wait for each other.");
        }
        int spinning = host.config().get(ThreadingConfig.PROGRESS_THREADS);
        String spin = spinning == 1 ? "One thread of the driver spins" : spinning + " threads of the driver spin";
        if (cores <= spinning) {
            return Finding.error(NAME, seen, spin + ", and nothing is left for its clients. Give the process more"
                + " cores," + (spinning == 1 ? " or use SHARED." : " use fewer progress threads, or use SHARED."),
                "./fabric driver --set jfabric.threading.mode=SHARED"
                    + (spinning == 1 ? "" : " --set jfabric.threading.progressThreads=1"));
        }
        return cores < spinning + 2 ? Finding.warning(NAME, seen, spin + "; the application's thread, the conductor and"
            + " the compilers of the virtual machine share the rest.") : Finding.ok(NAME, seen);
    }
}
