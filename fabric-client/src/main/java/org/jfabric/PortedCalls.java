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
     * As {@link Endpoint#getopt(EndpointOption)}, with numbers and bytes (fi_getopt).
     *
     * @param endpoint whose option it is.
     * @param level    {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name     a code of {@link EndpointOption}.
     * @param value    receives the value in the byte order of this machine.
     * @param offset   of the value.
     * @param length   room in bytes.
     * @return bytes stored.
     * @throws FabricException as {@link Endpoint#getopt(EndpointOption)}; {@link FabricErrno#ENOPROTOOPT} also for an
     *     unknown level or name, {@link FabricErrno#ETOOSMALL} if the room is less than
     *     {@link EndpointOption#lengthBytes()}, {@link FabricErrno#EINVAL} if it is outside of the buffer.
     */
    public static int getopt(
        Endpoint endpoint, int level, int name, MutableDirectBuffer value, int offset, int length) {
        EndpointOption option = EndpointOptions.option(level, name);
        long content = endpoint.getopt(option);
        EndpointOptions.requireRoom(option, value, offset, length);
        return EndpointOptions.store(option, content, value, offset);
    }

    /**
     * As {@link Endpoint#setopt(EndpointOption, long)}, with numbers and bytes (fi_setopt).
     *
     * @param endpoint whose option it is.
     * @param level    {@link EndpointOption#LEVEL_ENDPOINT}.
     * @param name     a code of {@link EndpointOption}.
     * @param value    holds the value in the byte order of this machine.
     * @param offset   of the value.
     * @param length   bytes of the value.
     * @throws FabricException as {@link Endpoint#setopt(EndpointOption, long)}; {@link FabricErrno#ENOPROTOOPT} also
     *     for an unknown level or name, {@link FabricErrno#EINVAL} if the length is not
     *     {@link EndpointOption#lengthBytes()} or the value is outside of the buffer.
     */
    public static void setopt(Endpoint endpoint, int level, int name, DirectBuffer value, int offset, int length) {
        EndpointOption option = EndpointOptions.option(level, name);
        endpoint.setopt(option, EndpointOptions.load(option, value, offset, length));
    }

    /**
     * Describes a wait object (fi_control). Other commands of libfabric are methods of the objects, for example
     * {@link Endpoint#setOpFlags(long)} and {@link Endpoint#enable()}. One thread at a time uses the object meanwhile.
     *
     * @param fid     a completion queue, a counter, a wait set or an active socket endpoint; others have no command.
     * @param command code of {@link ControlCommand#GETWAIT} or {@link ControlCommand#GETWAITOBJ}.
     * @param handle  receives the kind, and for GETWAIT the object; of a member of a wait set the set's.
     * @return 0; {@code -FI_ENODATA} for GETWAIT where there is no object: NONE, UNSPEC, YIELD, a socket endpoint that
     *     is not enabled; {@code -FI_ENOSYS} for
     *     a command that the object does not have; {@code -FI_EINVAL} without an object or handle, and for
     *     {@link ControlCommand#BACKLOG} of an active endpoint; {@code -FI_EOPBADSTATE} if the object is closed.
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
            case Counter counter -> counter.control(command, handle);
            case WaitSet set -> set.control(command, handle);
            case SocketEndpoint endpoint -> endpoint.control(command, handle);
            // passive endpoints have one
            case Endpoint endpoint when command == ControlCommand.BACKLOG.code() -> -FabricErrno.EINVAL;
            default -> -FabricErrno.ENOSYS;
        };
    }
}
