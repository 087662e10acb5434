package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.FileType;
import org.jfabric.layout.WaitDescriptor;

/** {@code fi_wait_open}: creates the file; the engine gets it with the queues of the set. Owner: conductor. */
final class OpenWaitSetCommand extends Command {
    private final long flags;
    private final int waitObjectCode;
    private final long id;
    private boolean checked;
    private long waitToken = WaitResource.NO_CHANNEL;
    private SharedFile file;

    /**
     * Decodes the command.
     *
     * @param request as it arrived; not kept.
     */
    OpenWaitSetCommand(CommandRequest request) {
        super(request);
        OpenWaitSetDecoder decoder = new OpenWaitSetDecoder().wrap(
            request.body(), 0, OpenWaitSetDecoder.BLOCK_LENGTH, OpenWaitSetDecoder.SCHEMA_VERSION);
        flags = decoder.flags();
        waitObjectCode = decoder.waitObjRaw();
        id = registry().nextId();
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
            WaitResource.points(context().threads().count(), file.address() + WaitDescriptor.WAIT_FILE_OFFSET),
            waitToken));
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
            case FD -> waitToken = WaitResource.randomToken();
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
