package org.jfabric.driver.stream;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The channel by which an endpoint sends to a group. It is up from the first join until the endpoint closes, but only
 * while the endpoint is the group's writer there is a ring to write to.
 *
 * <p>Owner: progress agent.
 */
final class GroupChannel extends Channel {
    /** The last two only of a recorded group. */
    private static final long LEVELS =
        Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.COMMIT_COMPLETE | Flags.RECORDED;

    private final Groups groups;
    private final LocalEndpoint endpoint;
    private final String address;
    private Group group;
    /** Why there is no ring to write to; a positive errno. */
    private int refusal = FabricErrno.EOPNOTSUPP;

    GroupChannel(Groups groups, LocalEndpoint endpoint, String address, ChannelHandler handler) {
        // every length is passed to send(), which knows the group's limit
        super(new ChannelLimits(0, 0, Long.MAX_VALUE, Long.BYTES, LEVELS, 0),
            handler);
        this.groups = groups;
        this.endpoint = endpoint;
        this.address = address;
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    String address() {
        return address;
    }

    /** Sets the group that the endpoint writes to; null if it does not any more. */
    void group(Group newGroup) {
        group = newGroup;
        refusal = newGroup != null ? FabricErrno.ENOTCONN : refusal;
    }

    /** The group has ended with an error, which is the answer to sends from now on. */
    void failed(int errno) {
        refusal = errno;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        Group to = group;
        if (to == null) {
            return -refusal;
        }
        return to.send(operation.flags, operation.tag, operation.data, operation.length, operation, null, 0);
    }

    @Override
    public boolean sendsShort() {
        return true;
    }

    @Override
    public int sendShort(long kind, long tag, long payload, int length, int grant) {
        Group to = group;
        return to == null ? -refusal : to.send(kind, tag, 0, length, null, null, payload);
    }

    @Override
    public boolean hasRoom(int length) {
        return group != null && group.hasRoom(length);
    }

    @Override
    public int offer(byte[] array, long from, int length) {
        Group to = group;
        return to == null ? -refusal : to.send(Flags.MSG, 0, 0, length, null, array, from);
    }

    @Override
    public void close(int errno) {
        groups.onClosed(this);
    }
}
