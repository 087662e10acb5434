package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.SocketName;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.EndpointResource;
import org.jfabric.driver.link.BoundAddress;

/** {@code fi_join}: opens what receives the group's messages, then gives the group a number. Owner: conductor. */
public final class JoinGroupCommand extends Command {
    private static final long DIRECTIONS = Flags.SEND | Flags.RECV;

    private enum State {
        CHECK,
        OPENED,
        JOINED
    }

    private final long endpointId;
    private final long flags;
    private final String address;
    private State state = State.CHECK;
    private SocketName group;
    private BoundAddress opened;
    private boolean joined;
    private long fiAddr;

    /**
     * Takes the command's fields.
     *
     * @param context       what commands work with.
     * @param session       who asks.
     * @param correlationId comes back in the answer.
     * @param endpointId    the member.
     * @param flags         {@code FI_SEND} alone for one that does not receive.
     * @param address       of the group.
     */
    public JoinGroupCommand(
        ConductorContext context, ClientSession session, long correlationId, long endpointId, long flags,
        String address) {
        super(context, session, correlationId);
        this.endpointId = endpointId;
        this.flags = flags;
        this.address = address;
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check(ChangeConnectionCommand.endpoint(session(), endpointId));
                state = State.OPENED;
            }
            case OPENED -> {
                // it may have been closed meanwhile
                EndpointResource endpoint = ChangeConnectionCommand.endpoint(session(), endpointId);
                state = State.JOINED;
                onProgress(() -> {
                    fiAddr = endpoint.endpoint().join(group.toString(), opened);
                    joined = true;
                });
            }
            default -> {
                if (fiAddr < 0) {
                    throw new FabricException((int) -fiAddr,
                        "the address vector is full", "Remove addresses that are not used any more.");
                }
                session().proxy().addressReady(correlationId(), fiAddr, group.toString());
                return Step.ENDED;
            }
        }
        return Step.AGAIN;
    }

    @Override
    protected void undo() {
        if (opened != null && !joined) {
            afterwards(opened::close);
        }
    }

    private void check(EndpointResource endpoint) {
        if ((flags & ~DIRECTIONS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags of joining are 0x" + Long.toHexString(flags), "Give FI_SEND, FI_RECV, both or 0.");
        }
        BoundAddress bound = endpoint.endpoint().settings().bound();
        if (bound == null || (endpoint.endpoint().settings().caps() & Flags.MULTICAST) == 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "endpoint " + endpoint.endpoint().settings().address() + " was opened without FI_MULTICAST",
                "Ask for the capability and a link that has it, for example udp.");
        }
        SocketName wanted = SocketName.parse(address);
        if (!wanted.inetAddress().isMulticastAddress()) {
            throw new FabricException(FabricErrno.EINVAL,
                wanted + " is no multicast address", "Name a group, for example 239.1.1.1.");
        }
        // members that name no port receive where they receive everything else; queue pairs have no ports
        group = wanted.port() == 0 && SocketName.isName(bound.address())
            ? wanted.withPort(SocketName.parse(bound.address()).port()) : wanted;
        if ((flags & DIRECTIONS) != Flags.SEND) {
            background(() -> opened = bound.join(group));
        }
    }
}
