package org.jfabric.driver.progress;

import org.agrona.ErrorHandler;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.layout.CncDescriptor;

import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Finds out after a failed access whose file was cut.
 *
 * <p>Where the error is thrown says nothing: the virtual machine may raise it a little later than the access. So the
 * driver's own file and all files that clients can cut are looked at. If none is short, another process (a peer driver)
 * is the cause, or it has been dealt with; then the fault is only logged, and the cycle goes on.
 *
 * <p>Owner: the thread that catches.
 */
public final class FaultInspector {
    private final SharedFiles files;
    private final SystemCounters counters;
    private final ErrorHandler errorHandler;
    private final BooleanSupplier repair;

    /**
     * An inspector.
     *
     * @param files        of all clients.
     * @param counters     to count faults.
     * @param errorHandler told of each fault.
     * @param repair       makes the driver's own file whole again; true if it was cut.
     */
    public FaultInspector(
        SharedFiles files, SystemCounters counters, ErrorHandler errorHandler, BooleanSupplier repair) {
        this.files = files;
        this.counters = counters;
        this.errorHandler = errorHandler;
        this.repair = repair;
    }

    /**
     * An access to shared memory failed.
     *
     * @param error as caught.
     * @return files of clients that were cut.
     */
    public List<SharedFiles.Cut> inspect(InternalError error) {
        // before anything is counted or logged, because that is done in this very file
        boolean repaired = repair.getAsBoolean();
        counters.add(SystemCounter.FAULTS, 1);
        List<SharedFiles.Cut> cuts = files.inspect();
        if (repaired) {
            errorHandler.onError(new FabricException(
                FabricErrno.EIO,
                "the driver's own file " + CncDescriptor.FILE_NAME + " was cut; it is whole again, the counters began "
                    + "anew and earlier errors are lost",
                "Look for processes that truncate files in the driver's directory", error));
        } else if (cuts.isEmpty()) {
            errorHandler.onError(new FabricException(
                FabricErrno.EIO,
                "an access to shared memory failed (" + error.getMessage() + "), but no client's file was cut",
                "If it comes again, look for processes that truncate files in the driver's directory", error));
        }
        return cuts;
    }
}
