package org.jfabric.driver.stream.table;

import org.agrona.UnsafeApi;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.TableDescriptor;

/**
 * One table: its file, its one writer, and how many have it open. It ends when nobody has; not if its writer has died,
 * because the next one continues it. Owner: conductor; the watch belongs to the progress thread.
 */
public final class SharedTable {
    /** Files of clients belong to these; that of a table stays when its writer ends. */
    private static final long NO_CLIENT = 0;

    private final String name;
    private final int slots;
    private final int valueLength;
    private SharedFile file;
    private TableWatch watch;
    private String writer;
    private int uses;
    private boolean isKept;

    SharedTable(String name, int slots, int valueLength) {
        this.name = name;
        this.slots = slots;
        this.valueLength = valueLength;
    }

    public String name() {
        return name;
    }

    public long fileLength() {
        return TableDescriptor.fileLength(slots, valueLength);
    }

    /** Makes the file; resource thread. */
    public SharedFile make(SharedFiles files) {
        long length = fileLength();
        return files.create(NO_CLIENT, files.nextNumber(), FileType.TABLE, 0, length,
            length - FileHeaderDescriptor.HEADER_LENGTH, slots, valueLength);
    }

    /** The file was made. */
    public void made(SharedFile newFile) {
        file = newFile;
        watch = new TableWatch(newFile.address());
    }

    /** Null until it is made. */
    public SharedFile file() {
        return file;
    }

    public TableWatch watch() {
        return watch;
    }

    /**
     * Opens it for writing.
     *
     * @param clientId of the writer.
     * @param text     names it to others.
     * @throws FabricException {@code FI_EBUSY} if it has a writer.
     */
    public void write(long clientId, String text) {
        if (writer != null) {
            throw new FabricException(FabricErrno.EBUSY, "table " + name + " has a writer, " + writer,
                "Close that one, or end its process; then open again.");
        }
        writer = text;
        isKept = false;
        uses++;
        storeWriter(clientId);
    }

    public void read() {
        uses++;
    }

    /** Somebody closes it, or has ended. */
    void leave(boolean writes, boolean isLost) {
        uses--;
        if (writes) {
            writer = null;
            isKept = isLost;
            storeWriter(0);
        }
    }

    /** Whether nobody has it open, and nobody will. */
    public boolean isOver() {
        return uses == 0 && !isKept;
    }

    /**
     * Refuses another shape than it has.
     *
     * @param wantedSlots  0 for any.
     * @param wantedLength 0 for any.
     * @throws FabricException {@code FI_EINVAL}.
     */
    public void requireShape(long wantedSlots, long wantedLength) {
        if (wantedSlots != 0 && wantedSlots != slots || wantedLength != 0 && wantedLength != valueLength) {
            throw new FabricException(FabricErrno.EINVAL, "table " + name + " has " + slots + " slots for values of "
                + valueLength + " bytes, wanted are " + wantedSlots + " and " + wantedLength,
                "Open it without, or with what it has.");
        }
    }

    private void storeWriter(long clientId) {
        try {
            UnsafeApi.putLongRelease(null, file.address() + TableDescriptor.WRITER_OFFSET, clientId);
            FaultPoint.pass();
        } catch (InternalError cut) {
            // who maps the file finds out that it was cut
            return;
        }
    }
}
