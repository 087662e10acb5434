package org.jfabric.client;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.UnsafeApi;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenView;
import org.jfabric.codec.control.ViewReady;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileType;
import org.jfabric.layout.ViewDescriptor;

/**
 * Reads snapshots of the queues of a driver's endpoints from another process, for tools: a client without objects of
 * its own that asks for one endpoint after the other.
 *
 * <p>The driver writes in its duty cycle, a bounded part in each; a driver whose application runs no cycles answers
 * nothing. Owner: one thread.
 */
public final class QueueWatch implements AutoCloseable {
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(50);

    private final ClientConductor conductor;
    private final long timeoutNs;

    private QueueWatch(ClientConductor conductor, long timeoutNs) {
        this.conductor = conductor;
        this.timeoutNs = timeoutNs;
    }

    /**
     * Connects to a driver.
     *
     * @throws FabricException {@link FabricErrno#ENODEV} if no driver runs there, {@link FabricErrno#EACCES} if it is
     *     another user's, {@link FabricErrno#ETIMEDOUT} if it does not answer.
     */
    public static QueueWatch connect(Path directory, long timeoutNs) {
        return new QueueWatch(ToolClient.connect(directory, "queues", timeoutNs), timeoutNs);
    }

    /**
     * Takes a snapshot of the next endpoint of the driver.
     *
     * @param afterEndpointId the endpoint with the next greater id is taken; 0 for the first.
     * @return the snapshot, or null if there is no endpoint with a greater id.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} if the driver does not write in time, or why it refuses.
     */
    public QueueSnapshot next(long afterEndpointId) {
        ViewReady ready = conductor.commands().call("a snapshot of queues", new OpenView(afterEndpointId));
        if (ready.viewId() == 0) {
            return null;
        }
        MemorySegment file = null;
        try {
            file = conductor.connection().openReadOnly(
                FileType.VIEW, ready.fileNumber(), ViewDescriptor.FILE_LENGTH);
            return QueueSnapshot.decode(await(file));
        } catch (InternalError cut) {
            throw new FabricException(FabricErrno.EIO,
                FileType.VIEW.fileName(ready.fileNumber()) + " was cut while it was read", "Try again.", cut);
        } finally {
            if (file != null) {
                conductor.connection().release(file, false);
            }
            conductor.commands().closeObject(ObjectKind.VIEW, ready.viewId(), () -> { });
        }
    }

    @Override
    public void close() {
        conductor.close();
    }

    private byte[] await(MemorySegment file) {
        byte[] copy = new byte[ViewDescriptor.FILE_LENGTH];
        long deadlineNs = System.nanoTime() + timeoutNs;
        while (!copy(file, copy)) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new FabricException(FabricErrno.ETIMEDOUT,
                    "the driver has not finished the snapshot of its queues within "
                        + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms",
                    "Check whether it is overloaded or stopped.");
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
        return copy;
    }

    /** Copies a snapshot; false if there is none yet, or if the driver was writing the next one meanwhile. */
    static boolean copy(MemorySegment file, byte[] copy) {
        long sequenceAddress = file.address() + ViewDescriptor.SEQUENCE_OFFSET;
        long sequence = UnsafeApi.getLongAcquire(null, sequenceAddress);
        if (sequence == 0 || (sequence & 1) != 0) {
            return false;
        }
        MemorySegment.copy(file, 0, MemorySegment.ofArray(copy), 0, copy.length);
        // the copy must be complete before the sequence is read again
        UnsafeApi.loadFence();
        return UnsafeApi.getLongAcquire(null, sequenceAddress) == sequence;
    }
}
