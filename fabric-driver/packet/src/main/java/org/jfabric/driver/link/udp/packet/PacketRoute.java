package org.jfabric.driver.link.udp.packet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.info.SocketName;
import org.jfabric.layout.Words;

/**
 * The way of frames to one peer: the interface, the next hop, and the headers that all its datagrams begin with.
 *
 * <p>Owner: progress agent.
 */
final class PacketRoute {
    private static final int IN_HEADER_BYTES = 20;
    private static final int IN6_HEADER_BYTES = 40;
    private static final int UDP_HEADER_BYTES = 8;
    private static final int HOP_LIMIT = 64;
    private static final int UDP = 17;

    final SocketName peer;
    final int headerBytes;
    /** Socket of the interface; negative if there is none. */
    int senderFd = -1;
    private final boolean isIn6;
    private final int etherType;
    private final MemorySegment memory;
    private final long headers;
    /** Address of the IP header in them. */
    private final long ip;
    /** Sums of what is the same in each datagram. */
    private long headerSum;
    private long pseudoSum;
    private int mtuBytes;
    private boolean isKnown;
    private boolean isProbeDue;
    /** Time of the last look-up, and whether there was a message since. */
    long checkedNs;
    boolean isUsed = true;

    PacketRoute(SocketName peer) {
        this.peer = peer;
        isIn6 = peer.isIn6();
        etherType = PacketRing.etherType(isIn6);
        headerBytes = PacketSocket.ETHERNET_BYTES + (isIn6 ? IN6_HEADER_BYTES : IN_HEADER_BYTES)
            + UDP_HEADER_BYTES;
        memory = Arena.ofAuto().allocate(64, 64);
        headers = memory.address();
        ip = headers + PacketSocket.ETHERNET_BYTES;
    }

    /**
     * Takes over what was found.
     *
     * @param hop       the next hop, or null if frames cannot be sent now.
     * @param sender    socket of its interface, negative if there is none.
     * @param own       source address of the endpoint, or the wildcard.
     */
    void update(PacketHop hop, int sender, InetAddress own, int ownPort, int tos, long nowNs) {
        checkedNs = nowNs;
        isUsed = false;
        isKnown = hop != null && sender >= 0;
        senderFd = sender;
        if (!isKnown) {
            return;
        }
        isProbeDue = hop.isStale();
        mtuBytes = hop.mtuBytes();
        byte[] source = own.isAnyLocalAddress() ? hop.source() : own.getAddress();
        UnsafeApi.setMemory(headers, 64, (byte) 0);
        PacketSocket.putEthernet(headers, hop.hardware(), hop.ownHardware(), etherType);
        if (isIn6) {
            put(ip, 0x60 | tos >>> 4, tos << 4);
            put(ip + 6, UDP, HOP_LIMIT);
            put(ip + 8, source);
            put(ip + 24, peer.inetAddress().getAddress());
        } else {
            put(ip, 0x45, tos);
            // not to be cut: then the identification may be 0 (RFC 6864)
            put(ip + 6, 0x40, 0);
            put(ip + 8, HOP_LIMIT, UDP);
            put(ip + 12, source);
            put(ip + 16, peer.inetAddress().getAddress());
            headerSum = InternetChecksum.sum(ip, IN_HEADER_BYTES);
        }
        long udp = headers + headerBytes - UDP_HEADER_BYTES;
        put(udp, ownPort >>> 8, ownPort);
        put(udp + 2, peer.port() >>> 8, peer.port());
        pseudoSum = isIn6 ? InternetChecksum.pseudo(ip + 8, 32, 0) : InternetChecksum.pseudo(ip + 12, 8, 0);
    }

    private static void put(long at, int first, int second) {
        UnsafeApi.putByte(at, (byte) first);
        UnsafeApi.putByte(at + 1, (byte) second);
    }

    private static void put(long at, byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            UnsafeApi.putByte(at + i, bytes[i]);
        }
    }

    /** Whether a message is to be sent as a frame. */
    boolean takesFrame(long lengthBytes, long nowNs, long maxAgeNs) {
        isUsed = true;
        if (!isKnown || lengthBytes + headerBytes - PacketSocket.ETHERNET_BYTES > mtuBytes
            || nowNs - checkedNs > maxAgeNs) {
            return false;
        }
        if (isProbeDue) {
            // a datagram of the kernel's makes it ask the next hop whether it is still there
            isProbeDue = false;
            return false;
        }
        return true;
    }

    /** A socket was closed, because its interface does not exist any more. */
    void lose(int fd) {
        if (senderFd == fd) {
            senderFd = -1;
            isKnown = false;
        }
    }

    /** Frames are refused: the kernel's socket is used until the next look-up. */
    void fail() {
        isKnown = false;
    }

    /** Writes a datagram with its headers. */
    void write(MessageVector from, int index, MessageVector to, int place, long at) {
        Words.copyShort(headers, at, headerBytes);
        long payload = at + headerBytes;
        int length = 0;
        for (int i = 0; i < from.pieceCount(index); i++) {
            int bytes = (int) from.pieceLength(index, i);
            Words.copy(from.pieceAddress(index, i), payload + length, bytes);
            length += bytes;
        }
        int udpBytes = length + UDP_HEADER_BYTES;
        long udp = payload - UDP_HEADER_BYTES;
        long udpLength = InternetChecksum.big(udpBytes);
        UnsafeApi.putShort(udp + 4, (short) udpLength);
        int checksum = InternetChecksum.fold(pseudoSum + udpLength + InternetChecksum.sum(udp, udpBytes));
        // 0 would say that there is none
        UnsafeApi.putShort(udp + 6, (short) (checksum == 0 ? 0xffff : checksum));
        long packet = at + PacketSocket.ETHERNET_BYTES;
        if (isIn6) {
            UnsafeApi.putShort(packet + 4, (short) udpLength);
        } else {
            long total = InternetChecksum.big(udpBytes + IN_HEADER_BYTES);
            UnsafeApi.putShort(packet + 2, (short) total);
            UnsafeApi.putShort(packet + 10, (short) InternetChecksum.fold(headerSum + total));
        }
        to.piece(place, 0, at, length + headerBytes);
    }

    static long lengthBytes(MessageVector from, int index) {
        long length = 0;
        for (int i = 0; i < from.pieceCount(index); i++) {
            length += from.pieceLength(index, i);
        }
        return length;
    }
}
