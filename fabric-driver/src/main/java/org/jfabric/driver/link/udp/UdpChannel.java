package org.jfabric.driver.link.udp;

import org.agrona.UnsafeApi;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.SocketName;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ForeignChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.ffi.MessageVector;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A remote socket address as one endpoint sees it. There is no connection: the channel is up as soon as it is made, and
 * nothing tells when the other side goes.
 *
 * <p>Owner: progress agent.
 */
final class UdpChannel extends ForeignChannel {
    /** Credit is a matter of our own wire: as much as one grant can say, renewed when half of it is spent. */
    private static final int GRANT = Integer.MAX_VALUE;
    private static final long RENEW_BYTES = 1L << 29;
    /** What a message without header cannot carry, and levels that nobody here can tell. */
    private static final long NOT_CARRIED = Flags.TAGGED | Flags.REMOTE_CQ_DATA | Flags.FENCE
        | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;
    /** Upper bound of what the engine counts for a message beyond its length. */
    private static final int COST_BYTES = 128;

    final long keyHigh;
    final long keyLow;
    final long keyRest;
    final boolean isGroup;
    private final UdpEndpoint endpoint;
    private final MemorySegment name;
    private final long nameAddress;
    private final int nameLength;
    private boolean closed;
    /** Credit that is left. */
    private long creditBytes;
    /** Renewed so far; grants are counted in 32 bits, which run over. */
    private int renewedBytes;

    /** Of messages that nobody in the address vector has sent. */
    static UdpChannel ofStrangers(ChannelLimits limits, ChannelHandler handler, UdpEndpoint endpoint) {
        return new UdpChannel(limits, handler, endpoint, null);
    }

    UdpChannel(ChannelLimits limits, ChannelHandler handler, UdpEndpoint endpoint, SocketName remote) {
        super(limits, handler);
        this.endpoint = endpoint;
        name = Arena.ofAuto().allocate(MessageVector.NAME_BYTES, Long.BYTES);
        nameAddress = name.address();
        byte[] image = remote == null ? new byte[0] : remote.toBytes();
        MemorySegment.copy(MemorySegment.ofArray(image), 0, name, 0, image.length);
        nameLength = image.length;
        isGroup = remote != null && remote.inetAddress().isMulticastAddress();
        keyHigh = keyHigh(nameAddress);
        keyLow = keyLow(nameAddress);
        keyRest = keyRest(nameAddress);
    }

    /** Whether a socket address in memory is of IPv6. */
    static boolean isIn6(long nameAddress) {
        return UnsafeApi.getShort(nameAddress) == 10;
    }

    /** First half of an IPv6 address; 0 for IPv4. */
    static long keyHigh(long nameAddress) {
        return isIn6(nameAddress) ? UnsafeApi.getLong(nameAddress + 8) : 0;
    }

    /** Second half of an IPv6 address; the whole one for IPv4. */
    static long keyLow(long nameAddress) {
        return isIn6(nameAddress) ? UnsafeApi.getLong(nameAddress + 16) : UnsafeApi.getInt(nameAddress + 4);
    }

    /** Port and scope, in whatever byte order they lie there. */
    static long keyRest(long nameAddress) {
        long port = UnsafeApi.getShort(nameAddress + 2) & 0xffffL;
        return isIn6(nameAddress) ? port | (long) UnsafeApi.getInt(nameAddress + 24) << 16 : port;
    }

    boolean isIn6() {
        return isIn6(nameAddress);
    }

    long nameAddress() {
        return nameAddress;
    }

    int nameLength() {
        return nameLength;
    }

    boolean isClosed() {
        return closed;
    }

    /** The engine may use it now. */
    void up() {
        handler().onOpening();
        handler().onGrant(GRANT);
        creditBytes = GRANT;
        handler().onUp(this);
    }

    /** A message of ours has left, or not. */
    void onSent(long operation, long lengthBytes, int errno) {
        creditBytes -= lengthBytes + COST_BYTES;
        if (creditBytes < RENEW_BYTES) {
            creditBytes += RENEW_BYTES;
            renewedBytes += (int) RENEW_BYTES;
            handler().onGrant(GRANT + renewedBytes);
        }
        handler().onSent(operation, errno);
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        if ((operation.flags & NOT_CARRIED) != 0) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (nameLength == 0 || (operation.flags & Flags.MULTICAST) != 0 && !isGroup) {
            return -FabricErrno.EINVAL;
        }
        // the engine must not hear of new credit inside of its own call, so the message that brings it waits for a poll
        if ((operation.flags & Flags.TRANSMIT_COMPLETE) == 0 && creditBytes - operation.length >= RENEW_BYTES
            && endpoint.sendNow(this, operation)) {
            creditBytes -= operation.length + COST_BYTES;
            return DONE;
        }
        endpoint.add(this, operation);
        return PENDING;
    }

    @Override
    public void close(int errno) {
        closed = true;
        endpoint.remove(this);
    }

    @Override
    public String toString() {
        return "UdpChannel{" + (nameLength == 0 ? "strangers" : SocketName.ofBytes(
            name.asSlice(0, nameLength).toArray(ValueLayout.JAVA_BYTE))) + '}';
    }
}
