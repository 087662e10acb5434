package org.jfabric.driver.stream.table;

import java.util.HashMap;
import java.util.Map;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.TableConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.TableDescriptor;

/** The tables of a driver by name, and the limits for them. Owner: conductor. */
public final class SharedTables {
    private final Map<String, SharedTable> tables = new HashMap<>();

    public SharedTables() {
    }

    /** Null if there is none of that name. */
    public SharedTable find(String name) {
        return tables.get(name);
    }

    /**
     * Begins a table that has no file yet.
     *
     * @throws FabricException {@code FI_EINVAL} for a shape that cannot be, {@code FI_EMFILE} for one too many.
     */
    public SharedTable add(String name, long slots, long valueLength, DriverConfig config) {
        if (!TableDescriptor.isShape(slots, valueLength)) {
            throw new FabricException(FabricErrno.EINVAL, "table " + name + " is new, and " + slots
                + " slots for values of " + Long.toUnsignedString(valueLength) + " bytes are wanted",
                "Give 1 to " + TableDescriptor.MAX_SLOTS + " slots, and 1 to " + TableDescriptor.MAX_VALUE_LENGTH
                    + " bytes.");
        }
        SharedTable table = new SharedTable(name, (int) slots, (int) valueLength);
        if (table.fileLength() > config.get(TableConfig.LENGTH_BYTES)) {
            throw new FabricException(FabricErrno.EINVAL, "table " + name + " with " + slots + " slots for values of "
                + valueLength + " bytes takes " + table.fileLength() + " bytes of memory, allowed are "
                + config.get(TableConfig.LENGTH_BYTES),
                "Make it smaller, or raise " + TableConfig.LENGTH_BYTES.name() + '.');
        }
        if (tables.size() >= config.get(TableConfig.LIMIT)) {
            throw new FabricException(FabricErrno.EMFILE, "table " + name + " would be one more than the "
                + tables.size() + " tables that the driver may have",
                "Close one that is not used, or raise " + TableConfig.LIMIT.name() + '.');
        }
        tables.put(name, table);
        return table;
    }

    /** Somebody closes a table, or has ended; whether it was the last one. */
    public boolean leave(SharedTable table, boolean writes, boolean isLost) {
        table.leave(writes, isLost);
        return table.isOver() && tables.remove(table.name(), table);
    }

    /** Forgets a table that could not be made. */
    public void remove(SharedTable table) {
        tables.remove(table.name(), table);
    }
}
