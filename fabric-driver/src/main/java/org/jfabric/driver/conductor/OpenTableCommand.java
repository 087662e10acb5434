package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenTable;
import org.jfabric.codec.control.TableReady;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.stream.table.SharedTable;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Opens a table; its writer makes it if there is none. Only clients of the driver's own user write, because readers
 * trust the memory to be as long as it was, and whoever can write it can cut it. Owner: conductor.
 */
final class OpenTableCommand extends Command {
    private enum State {
        CHECK,
        MADE,
        OPEN,
        SERVED
    }

    private final OpenTable message;
    private final boolean writes;
    private final long id;
    private State state = State.CHECK;
    private SharedTable making;
    private SharedFile file;
    private TableUse use;
    private WaitSetResource waitSet;

    OpenTableCommand(CommandRequest request, OpenTable message) {
        super(request);
        this.message = message;
        writes = message.writes() != 0;
        id = registry().nextId();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                return check();
            }
            case MADE -> {
                making.made(file);
                // in this step: from now on others open it, too
                open(making);
            }
            case OPEN -> open(registry().tables().find(name()));
            default -> {
                session().tables().put(id, use);
                return answer(new TableReady(correlationId(), id, use.table().file().number()));
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (waitSet != null) {
            waitSet.unbind();
        }
        if (making != null) {
            registry().tables().remove(making);
        }
        if (file != null) {
            file.delete();
            afterwards(file::unmap);
        }
    }

    private Step check() {
        String driver = FabricName.driverOf(message.address());
        if (driver == null) {
            throw new FabricException(FabricErrno.EINVAL, "\"" + message.address() + "\" is no address of a table",
                "Name it jfabric://<driver>/<table>.");
        }
        if (!driver.equals(context().driverName())) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "table " + message.address()
                + " is another driver's than " + context().driverName(), "Connect to that driver.");
        }
        ServiceNames.check("table", driver, name());
        if (writes) {
            session().requireDriversUser("writing table " + name());
        }
        SharedTable table = registry().tables().find(name());
        if (table == null) {
            begin();
        } else if (table.file() == null) {
            return Step.LATER;
        } else {
            state = State.OPEN;
        }
        return Step.AGAIN;
    }

    private void begin() {
        if (!writes) {
            throw new FabricException(FabricErrno.ENOENT, "there is no table " + name() + " in driver "
                + context().driverName(), "Its writer makes it: open it again when that runs.");
        }
        making = registry().tables().add(name(), message.slots(), message.valueLength(), context().config());
        state = State.MADE;
        background(() -> file = making.make(context().files()), making.fileLength());
    }

    private void open(SharedTable table) {
        table.requireShape(message.slots(), message.valueLength());
        if (message.waitSetId() != 0) {
            WaitSetResource found = session().waitSets().get(message.waitSetId());
            if (found == null) {
                throw new FabricException(FabricErrno.EINVAL, "wait set " + message.waitSetId() + " is not open",
                    "Open the wait set first.");
            }
            found.bind();
            waitSet = found;
        }
        if (writes) {
            table.write(session().id(), session() + " of process " + session().pid());
        } else {
            table.read();
        }
        use = new TableUse(table, writes, waitSet);
        state = State.SERVED;
        onThread(TableUse.THREAD, this::watch);
    }

    /** Progress thread. */
    private void watch() {
        if (making != null) {
            context().threads().get(TableUse.THREAD).agent().tables().add(making.watch());
        }
        if (waitSet != null) {
            use.table().watch().add(use.point(), message.rings() != 0);
        }
    }

    private String name() {
        return FabricName.endpointOf(message.address());
    }
}
