package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Control calls with the numbers, bytes and buffers that libfabric gives them, for code that is ported from C. Each has
 * a typed call elsewhere, which new code uses.
 *
 * <pre>{@code
 * int[] addrlen = {buffer.capacity()};
 * int result = PortedCalls.getname(endpoint, buffer, 0, addrlen);
 * }</pre>
 *
 * <p>Stateless; any thread that may use the object.
 */
public final class PortedCalls {
    private PortedCalls() {
    }

    /**
     * As {@link Endpoint#name()}, into memory (fi_getname).
     *
     * @param endpoint whose address it is.
     * @param addr     receives the address in ASCII, without an end mark; as much as there is room for.
     * @param offset   of the address.
     * @param addrlen  on the way in element 0 is the room in bytes, on the way out the length of the address.
     * @return 0, {@code -FI_ETOOSMALL} if there is less room than needed, {@code -FI_EINVAL} for a range outside of the
     *     buffer, {@code -FI_EOPBADSTATE} if the endpoint has no address yet or is closed.
     */
    public static int getname(Endpoint endpoint, MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(endpoint.name(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link PassiveEndpoint#name()}, into memory (fi_getname).
     *
     * @param endpoint whose address it is.
     * @param addr     as for an active endpoint.
     * @param offset   as for an active endpoint.
     * @param addrlen  as for an active endpoint.
     * @return as for an active endpoint.
     */
    public static int getname(PassiveEndpoint endpoint, MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(endpoint.name(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link ScalableEndpoint#name()}, into memory (fi_getname).
     *
     * @param endpoint whose address it is.
     * @param addr     as for an active endpoint.
     * @param offset   as for an active endpoint.
     * @param addrlen  as for an active endpoint.
     * @return as for an active endpoint.
     */
    public static int getname(ScalableEndpoint endpoint, MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(endpoint.name(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link Endpoint#peer()}, into memory (fi_getpeer).
     *
     * @param endpoint whose peer it is.
     * @param addr     as for {@link #getname(Endpoint, MutableDirectBuffer, int, int[])}.
     * @param offset   as for that.
     * @param addrlen  as for that.
     * @return as for that, or the negative errno of {@link Endpoint#peer()}.
     */
    public static int getpeer(Endpoint endpoint, MutableDirectBuffer addr, int offset, int[] addrlen) {
        try {
            return ConnectionData.put(endpoint.peer(), addr, offset, addrlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link Endpoint#getopt(EndpointOption)} or {@link PassiveEndpoint#getopt(EndpointOption)}, with numbers and
     * bytes (fi_getopt).
     *
     * @param endpoint active or passive.
     * @param level    {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name     a code of {@link EndpointOption}.
     * @param value    receives the value in the byte order of this machine.
     * @param offset   of the value.
     * @param optlen   on the way in element 0 is the room in bytes, on the way out
     *                 {@link EndpointOption#lengthBytes()}, also if there is less room.
     * @return 0, {@code -FI_ETOOSMALL} if there is less room than needed, and then nothing is stored;
     *     {@code -FI_ENOPROTOOPT} for an unknown level or name and an option that the endpoint does not have,
     *     {@code -FI_EINVAL} for room outside of the buffer, {@code -FI_ENOSYS} for an object of another class, and the
     *     errors of the typed calls.
     */
    public static int getopt(
        Fid endpoint, int level, int name, MutableDirectBuffer value, int offset, int[] optlen) {
        try {
            EndpointOption option = EndpointOptions.option(level, name);
            long content = switch (endpoint) {
                case Endpoint active -> active.getopt(option);
                case PassiveEndpoint passive -> passive.getopt(option);
                case null -> throw new FabricException(FabricErrno.EINVAL, "no endpoint");
                default -> throw withoutOptions(endpoint);
            };
            return EndpointOptions.store(option, content, value, offset, optlen);
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    /**
     * As {@link Endpoint#setopt(EndpointOption, long)} or {@link PassiveEndpoint#setopt(EndpointOption, long)}, with
     * numbers and bytes (fi_setopt).
     *
     * @param endpoint active or passive.
     * @param level    {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name     a code of {@link EndpointOption}.
     * @param value    holds the value in the byte order of this machine.
     * @param offset   of the value.
     * @param optlen   bytes of the value.
     * @return 0, {@code -FI_EINVAL} if the length is not {@link EndpointOption#lengthBytes()} or the value is outside
     *     of the buffer, else as {@link #getopt} and the typed calls.
     */
    public static int setopt(Fid endpoint, int level, int name, DirectBuffer value, int offset, int optlen) {
        try {
            EndpointOption option = EndpointOptions.option(level, name);
            long content = EndpointOptions.load(option, value, offset, optlen);
            switch (endpoint) {
                case Endpoint active -> active.setopt(option, content);
                case PassiveEndpoint passive -> passive.setopt(option, content);
                case null -> throw new FabricException(FabricErrno.EINVAL, "no endpoint");
                default -> throw withoutOptions(endpoint);
            }
            return 0;
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    private static FabricException withoutOptions(Fid object) {
        return new FabricException(FabricErrno.ENOSYS, "an object of class " + object.fidClass() + " has no options");
    }

    /**
     * Describes a wait object (fi_control). Other commands of libfabric are methods of the objects, for example
     * {@link Endpoint#setOpFlags(long)} and {@link Endpoint#enable()}. One thread at a time uses the object meanwhile.
     *
     * @param fid     a completion queue, an event queue, a counter, a wait set or an active socket endpoint; others
     *                have no command.
     * @param command code of {@link ControlCommand#GETWAIT} or {@link ControlCommand#GETWAITOBJ}.
     * @param handle  receives the kind, and for GETWAIT the object; of a member of a wait set the set's.
     * @return 0; {@code -FI_ENODATA} for GETWAIT where there is no object: NONE, UNSPEC, YIELD, a socket endpoint that
     *     is not enabled; {@code -FI_ENOSYS} for a command that the object does not have; {@code -FI_EINVAL} without an
     *     object or handle, and for {@link ControlCommand#BACKLOG}, which has a number; {@code -FI_EOPBADSTATE} if the
     *     object is closed.
     */
    public static int control(Fid fid, int command, WaitObjectHandle handle) {
        if (fid == null) {
            return -FabricErrno.EINVAL;
        }
        if (!fid.isOpen()) {
            return -FabricErrno.EOPBADSTATE;
        }
        return switch (fid) {
            case CompletionQueue queue -> queue.control(command, handle);
            case EventQueue queue -> queue.control(command, handle);
            case Counter counter -> counter.control(command, handle);
            case WaitSet set -> set.control(command, handle);
            case SocketEndpoint endpoint -> endpoint.control(command, handle);
            default -> command == ControlCommand.BACKLOG.code() && isEndpoint(fid)
                ? -FabricErrno.EINVAL : -FabricErrno.ENOSYS;
        };
    }

    /**
     * As {@link PassiveEndpoint#setBacklog} or {@link SocketEndpoint#setBacklog} (fi_control with FI_BACKLOG).
     *
     * @param fid     a passive endpoint, or a passive socket endpoint.
     * @param command code of {@link ControlCommand#BACKLOG}.
     * @param value   requests, 0 or more.
     * @return 0; {@code -FI_EINVAL} for an active endpoint, for a negative number and without an object,
     *     {@code -FI_EOPBADSTATE} once it listens or is closed, {@code -FI_ENOSYS} for another object or command.
     */
    public static int control(Fid fid, int command, int value) {
        if (fid == null) {
            return -FabricErrno.EINVAL;
        }
        if (!fid.isOpen()) {
            return -FabricErrno.EOPBADSTATE;
        }
        if (command != ControlCommand.BACKLOG.code()) {
            return -FabricErrno.ENOSYS;
        }
        try {
            switch (fid) {
                case PassiveEndpoint passive -> passive.setBacklog(value);
                case SocketEndpoint endpoint -> endpoint.setBacklog(value);
                default -> {
                    return isEndpoint(fid) ? -FabricErrno.EINVAL : -FabricErrno.ENOSYS;
                }
            }
            return 0;
        } catch (FabricException refused) {
            return -refused.errno();
        }
    }

    private static boolean isEndpoint(Fid fid) {
        return fid instanceof Endpoint || fid instanceof PassiveEndpoint || fid instanceof ScalableEndpoint;
    }
}
