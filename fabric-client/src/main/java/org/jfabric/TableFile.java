package org.jfabric;

import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.client.QueueSignal;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.TableDescriptor;

/** The mapped file of an open table, for its reader or writer. Owner: control calls, under the fabric's lock. */
final class TableFile {
    private final Fabric fabric;
    private final String address;
    private final long id;
    private final MemorySegment memory;
    private final int slots;
    private final int valueLength;
    private Runnable onEnd = () -> { };
    private volatile boolean isClosed;

    /**
     * A table as its file describes it.
     *
     * @throws FabricException {@code FI_EIO} if the file cannot be what it says.
     */
    TableFile(Fabric fabric, String address, long id, MemorySegment memory) {
        this.fabric = fabric;
        this.address = address;
        this.id = id;
        this.memory = memory;
        long count = UnsafeApi.getLong(memory.address() + FileHeaderDescriptor.PARAMETER_1_OFFSET);
        long length = UnsafeApi.getLong(memory.address() + FileHeaderDescriptor.PARAMETER_2_OFFSET);
        slots = (int) count;
        valueLength = (int) length;
        if (!TableDescriptor.isShape(count, length)
            || memory.byteSize() < TableDescriptor.fileLength(slots, valueLength)) {
            throw new FabricException(FabricErrno.EIO, "the file of table " + address + " has " + memory.byteSize()
                + " bytes, and its header says " + count + " slots with values of " + length + " bytes",
                "Another process has changed the file: close all that use the table, and make it again.");
        }
    }

    MemorySegment memory() {
        return memory;
    }

    int slots() {
        return slots;
    }

    int valueLength() {
        return valueLength;
    }

    /** Wakes the driver. */
    QueueSignal signal() {
        return fabric.connection().changeSignal();
    }

    /** Native address of a word of the header. */
    long word(int offset) {
        return memory.address() + offset;
    }

    /** The negative errno of calls that cannot succeed any more, or 0; any thread. */
    int refusal() {
        if (isClosed) {
            return -FabricErrno.EOPBADSTATE;
        }
        return fabric.driver().isGone() ? -FabricErrno.ENODEV : 0;
    }

    boolean isClosed() {
        return isClosed;
    }

    /** What happens when it is closed, also with the fabric. */
    void onEnd(Runnable ending) {
        onEnd = ending;
    }

    void close() {
        synchronized (fabric.lock()) {
            if (!isClosed) {
                fabric.commands().closeObject(ObjectKind.TABLE, id, () -> {
                    if (fabric.tables().remove(this)) {
                        end();
                        fabric.connection().release(memory, false);
                    }
                });
            }
        }
    }

    /** It is closed, and those who wait return. */
    void end() {
        isClosed = true;
        onEnd.run();
    }

    @Override
    public String toString() {
        return address + (isClosed ? ", closed" : "");
    }
}
