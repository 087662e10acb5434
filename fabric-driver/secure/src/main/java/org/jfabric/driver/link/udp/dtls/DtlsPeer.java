package org.jfabric.driver.link.udp.dtls;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.udp.UdpChannel;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.SocketName;

/**
 * A remote address with a session or a handshake. A handshake, whichever side has begun it, replaces the session only
 * when it has proved the peer, so that a forged datagram ends nothing.
 *
 * <p>Owner: progress agent.
 */
final class DtlsPeer {
    final DtlsAddress key;
    final SocketName socketName;
    private final MemorySegment name = Arena.ofAuto().allocate(MessageVector.NAME_BYTES, Long.BYTES);
    private final int nameLength;
    /** The session that messages are sent in, or null. */
    DtlsSession session;
    /** A handshake that this side has begun, or null. */
    DtlsHandshake outgoing;
    /** A handshake that the peer has begun, or null. */
    DtlsHandshake incoming;
    /** The channel whose messages wait for a session, or null. */
    UdpChannel waiting;
    /** The channel whose messages have waited for the session; null if there was none. */
    UdpChannel served;

    /** Copies the address out of the kernel's layout. */
    DtlsPeer(long nameAddress) {
        key = new DtlsAddress().set(nameAddress);
        nameLength = UdpChannel.isIn6(nameAddress) ? SocketName.IN6_LENGTH : SocketName.IN_LENGTH;
        UnsafeApi.copyMemory(nameAddress, name.address(), nameLength);
        socketName = SocketName.ofBytes(name.asSlice(0, nameLength).toArray(ValueLayout.JAVA_BYTE));
    }

    InetAddress host() {
        return socketName.inetAddress();
    }

    long nameAddress() {
        return name.address();
    }

    int nameLength() {
        return nameLength;
    }

    /** Whether a handshake is under way whose peer receives at its address. */
    boolean isBeingProved() {
        return outgoing != null || incoming != null && incoming.isVerified();
    }

    /** Whether nothing is left of it. */
    boolean isUnused() {
        return session == null && outgoing == null && incoming == null && waiting == null;
    }

    @Override
    public String toString() {
        return socketName.toString();
    }
}
