package org.jfabric.driver.link.verbsud;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.IbUdName;
import org.jfabric.SocketName;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * A remote queue pair, or a multicast group, as one endpoint sees it.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdChannel extends DatagramChannel {
    /** What a message without header cannot carry, and levels that nobody here can tell. */
    private static final long NOT_CARRIED = Flags.TAGGED | Flags.FENCE | Flags.DELIVERY_COMPLETE
        | Flags.MATCH_COMPLETE;

    private final VerbsUdEndpoint endpoint;
    private final String address;
    private final String way;
    /** Null for groups and strangers. */
    private final IbUdName name;
    /** Null for all others. */
    private final SocketName group;
    private final int queuePair;
    private VerbsUdHandle handle;

    private VerbsUdChannel(
        ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint, String address, IbUdName name,
        SocketName group) {
        super(limits, handler, key(name, 0), key(name, Long.BYTES), name == null ? 0 : name.queuePair(),
            group != null, NOT_CARRIED);
        this.endpoint = endpoint;
        this.address = address;
        this.name = name;
        this.group = group;
        this.queuePair = name == null ? 0 : name.queuePair();
        this.way = name == null ? address : HexFormat.of().formatHex(name.gid()) + '/' + name.lid() + '/'
            + name.level();
    }

    /** To a queue pair or a group, by their text. */
    static VerbsUdChannel to(
        ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint, String address) {
        boolean isGroup = SocketName.isName(address);
        return new VerbsUdChannel(limits, handler, endpoint, address, isGroup ? null : IbUdName.parse(address),
            isGroup ? SocketName.parse(address) : null);
    }

    /** Of messages that nobody in the address vector has sent. */
    static VerbsUdChannel ofStrangers(ChannelLimits limits, ChannelHandler handler, VerbsUdEndpoint endpoint) {
        return new VerbsUdChannel(limits, handler, endpoint, VerbsUdLink.STRANGERS, null, null);
    }

    /** Half of a GID, in the order of the network; 0 for none. */
    private static long key(IbUdName name, int offset) {
        return name == null ? 0 : ByteBuffer.wrap(name.gid()).getLong(offset);
    }

    /** Whether datagrams name it as their source. */
    boolean isSource() {
        return name != null;
    }

    String address() {
        return address;
    }

    /** What channels to one port have in common. */
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
        return "VerbsUdChannel{" + address + '}';
    }
}
