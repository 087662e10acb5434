package org.jfabric.driver.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.driver.link.support.PeerRate;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;

/**
 * The channel of one endpoint to a remote socket address.
 *
 * <p>Owner: progress agent.
 */
public final class UdpChannel extends DatagramChannel {
    /** Flags that a message without header cannot carry, and completion levels that the wire does not report. */
    private static final long NOT_CARRIED = Flags.TAGGED | Flags.REMOTE_CQ_DATA | Flags.FENCE
        | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    private final UdpEndpoint endpoint;
    private final MemorySegment name;
    private final long nameAddress;
    private final int nameLength;
    /** What is taken of the peer; null without a limit. */
    private final PeerRate rate;

    /** Makes the channel of messages whose senders are in no address vector. */
    static UdpChannel ofUnknownSenders(ChannelLimits limits, ChannelHandler handler, UdpEndpoint endpoint) {
        return new UdpChannel(limits, handler, endpoint, null, image(null));
    }

    UdpChannel(ChannelLimits limits, ChannelHandler handler, UdpEndpoint endpoint, SocketName remote) {
        this(limits, handler, endpoint, remote, image(remote));
    }

    private UdpChannel(
        ChannelLimits limits, ChannelHandler handler, UdpEndpoint endpoint, SocketName remote, MemorySegment name) {
        super(limits, handler, remote == null ? UdpEndpoint.UNKNOWN_SENDERS : remote.toString(),
            keyHigh(name.address()), keyLow(name.address()), keyRest(name.address()),
            remote != null && remote.inetAddress().isMulticastAddress(), NOT_CARRIED);
        this.endpoint = endpoint;
        this.name = name;
        nameAddress = name.address();
        nameLength = remote == null ? 0 : remote.toBytes().length;
        rate = endpoint.newRate();
    }

    /** The socket address in the kernel's layout; all zero for none. */
    private static MemorySegment image(SocketName remote) {
        MemorySegment name = Arena.ofAuto().allocate(MessageVector.NAME_BYTES, Long.BYTES);
        byte[] image = remote == null ? new byte[0] : remote.toBytes();
        MemorySegment.copy(MemorySegment.ofArray(image), 0, name, 0, image.length);
        return name;
    }

    /** Whether a socket address in memory is an IPv6 address. */
    public static boolean isIn6(long nameAddress) {
        return UnsafeApi.getShort(nameAddress) == 10;
    }

    /** The channel of a datagram's sender. */
    static UdpChannel sender(DatagramSources sources, long nameAddress, UdpChannel unknownSenders) {
        DatagramChannel known = sources.find(keyHigh(nameAddress), keyLow(nameAddress), keyRest(nameAddress));
        return known == null ? unknownSenders : (UdpChannel) known;
    }

    /** First half of an IPv6 address; 0 for IPv4. */
    public static long keyHigh(long nameAddress) {
        return isIn6(nameAddress) ? UnsafeApi.getLong(nameAddress + 8) : 0;
    }

    /** Second half of an IPv6 address; a whole IPv4 address. */
    public static long keyLow(long nameAddress) {
        return isIn6(nameAddress) ? UnsafeApi.getLong(nameAddress + 16) : UnsafeApi.getInt(nameAddress + 4);
    }

    /** Port and scope, in the byte order of the memory. */
    public static long keyRest(long nameAddress) {
        long port = UnsafeApi.getShort(nameAddress + 2) & 0xffffL;
        return isIn6(nameAddress) ? port | (long) UnsafeApi.getInt(nameAddress + 24) << 16 : port;
    }

    /** Where its peer's socket address lies in memory. */
    public long nameAddress() {
        return nameAddress;
    }

    int nameLength() {
        return nameLength;
    }

    /** Whether the peer has sent more than it may; a datagram that is taken counts. */
    boolean isOverRate(int length) {
        return rate != null && endpoint.isOver(rate, length);
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        int refusal = refusal(operation);
        if (refusal != 0 || nameLength == 0) {
            return refusal == 0 ? -FabricErrno.EINVAL : refusal;
        }
        if (endpoint.dtls() != null && !endpoint.dtls().isReady(this)) {
            return -FabricErrno.EAGAIN;
        }
        if (endpoint.sendNow(this, operation)) {
            // the kernel has copied it: both levels are reached
            return DONE;
        }
        endpoint.add(this, operation);
        return PENDING;
    }

    @Override
    protected void onClosed() {
        endpoint.closed(this);
        if (endpoint.dtls() != null) {
            endpoint.dtls().forget(this);
        }
    }

    @Override
    public String toString() {
        return "UdpChannel{" + address() + '}';
    }
}
