package org.jfabric.driver.link.verbs;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.IbUdName;
import org.jfabric.info.SocketName;

/**
 * The channel of one endpoint to a remote queue pair or a multicast group.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdChannel extends DatagramChannel {
    /** Flags that a message without header cannot carry, and completion levels that the wire does not report. */
    private static final long NOT_CARRIED = Flags.TAGGED | Flags.FENCE | Flags.DELIVERY_COMPLETE
        | Flags.MATCH_COMPLETE;

    private final VerbsUdEndpoint endpoint;
    private final String way;
    /** Null for groups and unknown senders. */
    private final IbUdName name;
    /** Null for all channels that are not to a group. */
    private final SocketName group;
    private final int queuePair;
    private VerbsUdHandle handle;

    private VerbsUdChannel(
        ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint, String address, IbUdName name,
        SocketName group) {
        super(limits, handler, address, key(name, 0), key(name, Long.BYTES), name == null ? 0 : name.queuePair(),
            group != null, NOT_CARRIED);
        this.endpoint = endpoint;
        this.name = name;
        this.group = group;
        this.queuePair = name == null ? 0 : name.queuePair();
        this.way = name == null ? address : HexFormat.of().formatHex(name.gid()) + '/' + name.lid() + '/'
            + name.level();
    }

    /** Makes a channel to the text address of a queue pair or a group. */
    static VerbsUdChannel to(
        ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint, String address) {
        boolean isGroup = SocketName.isName(address);
        return new VerbsUdChannel(limits, handler, endpoint, address, isGroup ? null : IbUdName.parse(address),
            isGroup ? SocketName.parse(address) : null);
    }

    /** Makes the channel of messages whose senders are in no address vector. */
    static VerbsUdChannel ofUnknownSenders(ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint) {
        return new VerbsUdChannel(limits, handler, endpoint, VerbsUdEndpoint.UNKNOWN_SENDERS, null, null);
    }

    /** Half of a GID, in network byte order; 0 for none. */
    private static long key(IbUdName name, int offset) {
        return name == null ? 0 : ByteBuffer.wrap(name.gid()).getLong(offset);
    }

    /** The route, which is the same for all channels to one port. */
    String way() {
        return way;
    }

    SocketName group() {
        return group;
    }

    int queuePair() {
        return queuePair;
    }

    byte[] gid() {
        return name.gid();
    }

    int lid() {
        return name.lid();
    }

    int level() {
        return name.level();
    }

    VerbsUdHandle handle() {
        return handle;
    }

    void handle(VerbsUdHandle newHandle) {
        handle = newHandle;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        int refusal = refusal(operation);
        if (refusal != 0 || name == null && group == null) {
            return refusal == 0 ? -FabricErrno.EINVAL : refusal;
        }
        if (operation.length > limits().eagerLimitBytes()) {
            return -FabricErrno.EMSGSIZE;
        }
        if ((operation.flags & Flags.TRANSMIT_COMPLETE) == 0 && endpoint.sendNow(this, operation, false)) {
            return DONE;
        }
        return endpoint.send(this, operation);
    }

    @Override
    protected void onClosed() {
        endpoint.remove(this);
    }

    @Override
    public String toString() {
        return "VerbsUdChannel{" + address() + '}';
    }
}
