package org.jfabric;

import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jfabric.client.DriverConnection;
import org.jfabric.codec.control.ObjectKind;
import org.jfabric.codec.control.OpenTable;
import org.jfabric.codec.control.TableReady;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileType;
import org.jfabric.layout.TableDescriptor;

/**
 * A table of newest values, to be opened: one client writes the values of keys, any number of clients read the newest
 * one of each. A value that was replaced is gone, and readers never hold the writer back.
 *
 * <pre>{@code
 * TableWriter writer = Table.on(fabric, "jfabric://alpha/prices").slots(1000).valueLength(64).openWriter();
 * TableReader reader = Table.on(fabric, "jfabric://alpha/prices").openReader();       // in any process
 * }</pre>
 *
 * <p>The table belongs to the driver in its address, and all who open it are clients of that driver. It lives as long
 * as somebody has it open; if the writer dies without closing, also without readers, until another writer continues it.
 * Its name has nothing to do with endpoints and groups of the same name.
 *
 * <p>Settings belong to one thread; both kinds of opening are control calls.
 */
public final class Table {
    private final Fabric fabric;
    private final String address;
    private int slots;
    private int valueLength;
    private long waitSetId;

    private Table(Fabric fabric, String address) {
        this.fabric = fabric;
        this.address = address;
    }

    /**
     * Settings of a table.
     *
     * @param fabric  of the driver that the address names.
     * @param address {@code jfabric://<driver>/<table>}.
     * @return settings for a reader.
     */
    public static Table on(Fabric fabric, String address) {
        return new Table(Codes.required(fabric, "fabric"), Codes.required(address, "address"));
    }

    /**
     * Sets how many keys can have a value at the same time.
     *
     * @param count 1 to 1,048,576; needed by the writer that makes the table. 0, the default: as the table has them.
     * @return this.
     */
    public Table slots(int count) {
        slots = count;
        return this;
    }

    /**
     * Sets the length of the longest value.
     *
     * @param bytes 1 to 1,048,576; needed by the writer that makes the table. 0, the default: as the table has it.
     * @return this.
     */
    public Table valueLength(int bytes) {
        valueLength = bytes;
        return this;
    }

    /**
     * Lets changes of the table end waits at a wait set, besides {@link TableReader#await}. Only for a reader.
     *
     * @param id of a wait set of this fabric; 0, the default, for none.
     * @return this.
     */
    public Table waitSetId(long id) {
        waitSetId = id;
        return this;
    }

    /**
     * Opens the table for writing; makes it if there is none.
     *
     * @return the one writer.
     * @throws FabricException {@link FabricErrno#EBUSY} if it has a writer, which the text names;
     *     {@link FabricErrno#EINVAL} for an address that is none, without slots and length for a new table, with others
     *     than the table has, or with a wait set; {@link FabricErrno#EADDRNOTAVAIL} if the address is another driver's;
     *     {@link FabricErrno#EACCES} for a client of another user than the driver's; {@link FabricErrno#EMFILE} if the
     *     driver has as many tables as it may; {@link FabricErrno#ENOSPC} without room for it; {@link FabricErrno#EIO}
     *     if its file was changed; {@link FabricErrno#EOPNOTSUPP} if the fabric outlives its driver;
     *     {@link FabricErrno#EOPBADSTATE} if the fabric is closed.
     */
    public TableWriter openWriter() {
        return opened(() -> {
            if (waitSetId != 0) {
                throw new FabricException(FabricErrno.EINVAL, "the writer of table " + address + " with wait set "
                    + waitSetId, "Only readers wait for changes.");
            }
            return open(true, null, false, TableWriter::new);
        });
    }

    /**
     * Opens the table for reading, from any thread, which then owns the reader.
     *
     * @return a reader.
     * @throws FabricException {@link FabricErrno#ENOENT} if there is no such table, {@link FabricErrno#EINVAL} for a
     *     wait set that is not open, and as {@link #openWriter()}.
     */
    public TableReader openReader() {
        return opened(() -> {
            // in mode INVOKER the thread that waits runs the cycles, and never sleeps
            boolean ownsSet = waitSetId == 0 && fabric.invoker() == null;
            WaitSet waitSet = ownsSet ? fabric.openOwnWaitSet()
                : waitSetId != 0 ? fabric.waitSet(waitSetId) : null;
            TableReader reader = null;
            try {
                reader = open(false, waitSet, ownsSet, file -> new TableReader(fabric, file, waitSet, ownsSet));
                return reader;
            } finally {
                if (reader == null && ownsSet) {
                    waitSet.close();
                }
            }
        });
    }

    private <T> T opened(Supplier<T> opening) {
        synchronized (fabric.lock()) {
            fabric.requireOpen();
            fabric.requireRestartable(false, "a table", "Open it in a fabric of its own");
            return opening.get();
        }
    }

    private <T> T open(boolean writes, WaitSet waitSet, boolean rings, Function<TableFile, T> maker) {
        TableReady ready = fabric.withRoom(() -> fabric.commands().call("opening table " + address, new OpenTable(
            valueLength, waitSet == null ? 0 : waitSet.id(), slots, writes ? 1 : 0, rings ? 1 : 0, address)));
        T made = null;
        try {
            DriverConnection connection = fabric.connection();
            MemorySegment memory = writes
                ? connection.open(FileType.TABLE, ready.fileNumber(), 0, TableDescriptor.HEADER_LENGTH)
                : connection.openReadOnly(FileType.TABLE, ready.fileNumber(), TableDescriptor.HEADER_LENGTH);
            TableFile file = new TableFile(fabric, address, ready.tableId(), memory);
            made = maker.apply(file);
            fabric.tables().add(file);
            return made;
        } finally {
            if (made == null) {
                fabric.discard(ObjectKind.TABLE, ready.tableId());
            }
        }
    }
}
