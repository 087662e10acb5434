package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.WaitObject;
import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.WaitResource;
import org.jfabric.driver.conductor.WaitSetResource;
import org.jfabric.driver.engine.WaitPoint;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.layout.FileType;
import org.jfabric.layout.WaitDescriptor;

/** {@code fi_wait_open}: makes the file; the engine learns of it with the queues of the set. Owner: conductor. */
public final class OpenWaitSetCommand extends Command {
    private final long flags;
    private final int waitObjectCode;
    private final long id;
    private boolean checked;
    private long waitToken = WaitResource.NO_CHANNEL;
    private SharedFile file;

    /**
     * Takes the command's fields.
     *
     * @param context what commands work with.
     * @param session who asks.
     * @param decoder over private memory; not kept.
     * @param id      number for the set.
     */
    public OpenWaitSetCommand(ConductorContext context, ClientSession session, OpenWaitSetDecoder decoder, long id) {
        super(context, session, decoder.correlationId());
        flags = decoder.flags();
        waitObjectCode = decoder.waitObjRaw();
        this.id = id;
    }

    @Override
    protected Step step(long nowNs) {
        if (!checked) {
            check();
            checked = true;
            background(this::make);
            return Step.AGAIN;
        }
        WaitSetResource waitSet = new WaitSetResource(id, file, new WaitResource(
            new WaitPoint(file.address() + WaitDescriptor.WAIT_FILE_OFFSET), waitToken));
        session().waitSets().put(id, waitSet);
        session().proxy().waitSetReady(correlationId(), waitSet);
        return Step.ENDED;
    }

    private void check() {
        if (flags != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "a wait set with flags 0x" + Long.toHexString(flags), "The flags are reserved, use 0.");
        }
        WaitObject waitObject = WaitObject.of(waitObjectCode);
        switch (waitObject) {
            case UNSPEC, MUTEX_COND, YIELD -> {
            }
            case FD -> {
                RequestedWait.requireThreads(session());
                waitToken = WaitResource.randomToken();
            }
            case NONE, SET -> throw new FabricException(FabricErrno.EINVAL,
                "a wait set with wait object " + waitObject, "Use UNSPEC, FD, MUTEX_COND or YIELD.");
            default -> throw new FabricException(FabricErrno.ENOSYS,
                "a wait set with wait object " + waitObject + " cannot be opened",
                "Use UNSPEC, FD, MUTEX_COND or YIELD.");
        }
    }

    private void make() {
        file = context().files().create(
            session().id(),
            context().files().nextNumber(),
            FileType.WAIT_SET,
            0,
            WaitDescriptor.WAIT_FILE_LENGTH,
            WaitDescriptor.WAIT_FILE_LENGTH - WaitDescriptor.WAIT_FILE_OFFSET,
            0,
            0);
    }
}
