package org.jfabric.tool.watch;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.tool.CncView;
import org.jfabric.tool.ToolException;

/**
 * The metrics of one driver, read once.
 *
 * @param problem     reason why nothing could be read, a sentence; otherwise null.
 * @param startTimeMs when it started, milliseconds since 1970.
 */
record Reading(
    Path directory, String problem, boolean running, boolean parked, long pid, long startTimeMs,
    List<Metric> metrics) {

    /** Reads a driver's file; a killed driver's too. */
    static Reading of(Path directory) {
        try (CncView view = CncView.open(directory)) {
            try {
                return new Reading(directory, null, view.isRunning(), view.isParked(), view.pid(), view.startTimeMs(),
                    MetricsSnapshot.of(view.counters()));
            } catch (InternalError cut) {
                throw view.cut();
            }
        } catch (ToolException | FabricException ex) {
            // the others are shown; a driver of another user may not answer
            return new Reading(directory, ex.getMessage(), false, false, 0, 0, List.of());
        }
    }

    /** Checks whether a driver has left its file there, or one runs. */
    static boolean isDriver(Path directory) {
        return Files.exists(directory.resolve(CncDescriptor.FILE_NAME));
    }
}
