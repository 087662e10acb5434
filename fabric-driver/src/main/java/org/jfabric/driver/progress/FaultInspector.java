package org.jfabric.driver.progress;

import org.agrona.ErrorHandler;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;

import java.util.List;

/**
 * Finds out after a failed access whose file was cut.
 *
 * <p>Where the error is thrown says nothing: the virtual machine may raise it a little later than the access. So all
 * files that clients can cut are looked at. If none is short, another process (a peer driver) is the cause, or it has
 * been dealt with; then the fault is only logged, and the cycle goes on.
 *
 * <p>Owner: the thread that catches.
 */
public final class FaultInspector {
    private final SharedFiles files;
    private final SystemCounters counters;
    private final ErrorHandler errorHandler;

    /**
     * An inspector.
     *
     * @param files        of all clients.
     * @param counters     to count faults.
     * @param errorHandler told of each fault.
     */
    public FaultInspector(SharedFiles files, SystemCounters counters, ErrorHandler errorHandler) {
        this.files = files;
        this.counters = counters;
        this.errorHandler = errorHandler;
    }

    /**
     * An access to shared memory failed.
     *
     * @param error as caught.
     * @return files of clients that were cut.
     */
    public List<SharedFiles.Cut> inspect(InternalError error) {
        counters.add(SystemCounter.FAULTS, 1);
        List<SharedFiles.Cut> cuts = files.inspect();
        if (cuts.isEmpty()) {
            errorHandler.onError(new FabricException(
                FabricErrno.EIO,
                "an access to shared memory failed (" + error.getMessage() + "), but no client's file was cut",
                "If it comes again, look for processes that truncate files in the driver's directory", error));
        }
        return cuts;
    }
}
