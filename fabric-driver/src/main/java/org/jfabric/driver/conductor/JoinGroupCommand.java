package org.jfabric.driver.conductor;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jfabric.codec.control.GroupJoined;
import org.jfabric.codec.control.JoinGroup;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.JoinedGroup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;

/**
 * {@code fi_join}: opens the receiver of the group's messages, then assigns a number to the group. Owner: conductor.
 */
final class JoinGroupCommand extends Command {
    private static final long DIRECTIONS = Flags.SEND | Flags.RECV;

    private enum State {
        CHECK,
        OPENED,
        JOINED,
        /** Waits for a link with names of groups. */
        NAMED
    }

    private final JoinGroup message;
    private State state = State.CHECK;
    private EndpointResource joining;
    private SocketName group;
    private BoundAddress opened;
    private boolean joined;
    private GroupName named;
    private boolean isAnswered;
    private FabricException refusal;
    private long fiAddr;
    private JoinedGroup membership;

    JoinGroupCommand(CommandRequest request, JoinGroup message) {
        super(request);
        this.message = message;
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check(session().requireEndpoint(message.endpointId()));
                state = named == null ? State.OPENED : State.NAMED;
            }
            case OPENED -> {
                // it may have been closed meanwhile
                EndpointResource endpoint = session().requireEndpoint(message.endpointId());
                state = State.JOINED;
                onThread(endpoint.thread(), () -> {
                    fiAddr = endpoint.endpoint().links().join(group.toString(), opened);
                    joined = true;
                });
            }
            case NAMED -> {
                if (!isAnswered) {
                    return Step.LATER;
                }
                if (refusal != null) {
                    throw refusal;
                }
                state = State.JOINED;
                onThreads(this::number);
            }
            default -> {
                if (fiAddr < 0) {
                    if (named != null) {
                        aheadOnThread(joining.thread(), () -> joining.endpoint().links().leave(named));
                    }
                    throw new FabricException((int) -fiAddr,
                        "the address vector is full", "Remove addresses that are not used any more.");
                }
                return answer(membership == null
                    ? new GroupJoined(correlationId(), fiAddr, 0, 0, 0, 0, 0, 0, 0, group.toString(), new byte[0])
                    : joined(membership.start()));
            }
        }
        return Step.AGAIN;
    }

    private GroupJoined joined(LogPosition start) {
        if (membership.ringNumber() != 0) {
            joining.reads(membership.ringNumber());
        }
        return new GroupJoined(correlationId(), fiAddr, start.position(),
            start.logId().getMostSignificantBits(), start.logId().getLeastSignificantBits(), start.term(),
            membership.ringFlags(), membership.ringNumber(), membership.ringOffset(), named.address(),
            membership.log().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    protected void undo() {
        if (opened != null && !joined) {
            afterwards(opened::close);
        }
    }

    /** Assigns a number to the group: the same on each thread, as they have the same address vector. */
    private void number(int thread) {
        long number = joining.bound().vector().table(thread).insert(named.address());
        if (thread == 0) {
            fiAddr = number;
        }
    }

    private void check(EndpointResource endpoint) {
        joining = endpoint;
        if ((message.flags() & ~DIRECTIONS) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags of joining are 0x" + Long.toHexString(message.flags()), "Give FI_SEND, FI_RECV, both or 0.");
        }
        LogPosition from = message.term() == 0 ? null : new LogPosition(
            new UUID(message.logIdHigh(), message.logIdLow()), message.term(), message.position());
        if (from != null && (message.flags() & DIRECTIONS) != Flags.RECV) {
            throw new FabricException(FabricErrno.EINVAL,
                "joining " + message.address() + " to write from position " + from,
                "Give a position with FI_RECV alone.");
        }
        if (message.inPlace() != 0 && (message.flags() & DIRECTIONS) != Flags.RECV) {
            throw new FabricException(FabricErrno.EINVAL, "joining " + message.address() + " to write it in place",
                "Only readers, which join with FI_RECV alone, read in place.");
        }
        BoundAddress bound = endpoint.endpoint().settings().bound();
        if ((endpoint.endpoint().settings().caps() & Flags.MULTICAST) == 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "endpoint " + endpoint.endpoint().settings().address() + " was opened without FI_MULTICAST",
                "Ask for the capability and a link that has it, for example shm or udp.");
        }
        if (bound == null) {
            named = GroupName.parse(message.address());
            if (named.log() != null) {
                // the driver writes there as its own user
                session().requireDriversUser("recording " + named.address() + " in " + named.log());
            }
            long directions = (message.flags() & DIRECTIONS) == 0 ? DIRECTIONS : message.flags() & DIRECTIONS;
            onThread(endpoint.thread(),
                () -> endpoint.endpoint().links().join(named, directions, from, message.inPlace() != 0, new Answer()));
            return;
        }
        if (message.inPlace() != 0) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, message.address() + " is a group of datagrams, which"
                + " cannot be read in place", "Join it with receives.");
        }
        if (from != null) {
            throw new FabricException(FabricErrno.EINVAL, message.address() + " is a group of datagrams, which has no"
                + " positions", "Join it without one.");
        }
        SocketName wanted = SocketName.parse(message.address());
        if (!wanted.inetAddress().isMulticastAddress()) {
            throw new FabricException(FabricErrno.EINVAL,
                wanted + " is no multicast address", "Name a group, for example 239.1.1.1.");
        }
        // members that specify no port receive at the endpoint's own port; queue pairs have no ports
        group = wanted.port() == 0 && SocketName.isName(bound.address())
            ? wanted.withPort(SocketName.parse(bound.address()).port()) : wanted;
        if ((message.flags() & DIRECTIONS) != Flags.SEND) {
            background(() -> opened = bound.join(group));
        }
    }

    private final class Answer implements GroupHandler {
        @Override
        public void onJoined(JoinedGroup joined) {
            context().inbox().post(() -> {
                membership = joined;
                isAnswered = true;
            });
        }

        @Override
        public void onFailed(FabricException cause) {
            context().inbox().post(() -> {
                refusal = cause;
                isAnswered = true;
            });
        }
    }
}
