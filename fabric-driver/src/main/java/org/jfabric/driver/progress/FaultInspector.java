package org.jfabric.driver.progress;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.ErrorHandler;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.CncDescriptor;

/**
 * Finds the truncated file after a failed access.
 *
 * <p>The place where the error is thrown does not show the file: the virtual machine may raise the error a little later
 * than the access. So the driver's own file and all files that clients can truncate are checked. If none is short,
 * another process (a peer driver) is the cause, or the file has been handled already; then the fault is only logged,
 * and the cycle continues.
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
     * @param repair       makes the driver's own file whole again; true if it was cut.
     */
    public FaultInspector(
        SharedFiles files, SystemCounters counters, ErrorHandler errorHandler, BooleanSupplier repair) {
        this.files = files;
        this.counters = counters;
        this.errorHandler = errorHandler;
        this.repair = repair;
    }

    /** An access to shared memory failed. */
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
                "Find the processes that truncate files in the driver's directory", error));
        } else if (cuts.isEmpty()) {
            errorHandler.onError(new FabricException(
                FabricErrno.EIO,
                "an access to shared memory failed (" + error.getMessage() + "), but no client's file was cut",
                "If it comes again, find the processes that truncate files in the driver's directory", error));
        }
        return cuts;
    }
}
