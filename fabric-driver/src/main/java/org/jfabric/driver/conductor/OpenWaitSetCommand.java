package org.jfabric.driver.conductor;

import org.jfabric.codec.control.OpenWaitSet;
import org.jfabric.codec.control.WaitSetReady;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.FileType;
import org.jfabric.layout.WaitDescriptor;

/** {@code fi_wait_open}: creates the file; the engine gets it with the queues of the set. Owner: conductor. */
final class OpenWaitSetCommand extends Command {
    private final OpenWaitSet message;
    private final long id;
    private boolean checked;
    private long waitToken = WaitResource.NO_CHANNEL;
    private SharedFile file;

    OpenWaitSetCommand(CommandRequest request, OpenWaitSet message) {
        super(request);
        this.message = message;
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
        session().waitSets().put(id, new WaitSetResource(id, file, new WaitResource(
            WaitResource.points(context().threads().count(), file.address() + WaitDescriptor.WAIT_FILE_OFFSET),
            waitToken)));
        return answer(new WaitSetReady(correlationId(), id, file.number(), waitToken));
    }

    private void check() {
        if (message.flags() != 0) {
            throw new FabricException(FabricErrno.EINVAL,
                "a wait set with flags 0x" + Long.toHexString(message.flags()), "The flags are reserved, use 0.");
        }
        WaitObject waitObject = WaitObject.of(message.waitObj());
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
