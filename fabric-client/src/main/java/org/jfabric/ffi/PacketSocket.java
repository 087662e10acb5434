package org.jfabric.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.UnsafeApi;

/**
 * Packet sockets (AF_PACKET): one kind receives packets through a ring that is mapped, the other sends frames by one
 * interface. Both need CAP_NET_RAW.
 *
 * <p>A frame of the ring (TPACKET_V2):
 *
 * <pre>
 *   tpacket2_hdr 32 bytes: 0 status u32 | 4 length u32 | 8 length in the ring u32 | 12 offset of the packet's first
 *                          byte u16 | 14 offset of the IP header u16 | 16 seconds u32 | 20 nanoseconds u32
 *                          | 24 VLAN tag u16 | 26 its type u16
 *   sockaddr_ll  20 bytes: 32 family u16 | 34 protocol u16 | 36 interface s32 | 40 kind of device u16
 *                          | 42 kind of packet u8 | 43 length of the address u8 | 44 address
 *   virtio_net_hdr 10 bytes, in front of the packet: 0 flags u8 | 1 kind of segments u8 | 2 header length u16
 *                          | 4 segment length u16 | 6 checksum start u16 | 8 checksum offset u16
 * </pre>
 *
 * <p>Descriptors are non-blocking and close-on-exec; close them with {@link Libc#close(int)}. Frames are sent by
 * {@link UdpSocket#send} without a name. Any thread may call.
 */
public final class PacketSocket {
    /** CAP_NET_RAW is missing. */
    public static final int EPERM = 1;
    /** The interface of a sender does not exist any more. */
    public static final int ENXIO = 6;
    /** Stands for all EtherTypes: only with it a socket sees the packets that leave. */
    public static final int ETH_P_ALL = 3;
    /** EtherType of IPv4. */
    public static final int ETH_P_IP = 0x0800;
    /** EtherType of IPv6. */
    public static final int ETH_P_IPV6 = 0x86DD;
    /** Number of the loopback interface, which is the same everywhere. */
    public static final int LOOPBACK_INTERFACE = 1;
    /** Bytes of an Ethernet header: next hop, own address, EtherType. */
    public static final int ETHERNET_BYTES = 14;
    /** Status of a frame that the kernel has filled. */
    public static final int STATUS_USER = 1;
    /** Bit of the status: the packet is longer than a frame; {@link #receiveWhole} returns all of it. */
    public static final int STATUS_COPIED = 2;
    /** Bit of the status: packets were dropped since the last {@link #drops}, because the ring was full. */
    public static final int STATUS_LOSING = 4;
    /** Bit of the status: the sender is on this host and has left the checksum to a card. */
    public static final int STATUS_CHECKSUM_NOT_READY = 8;
    /** Bit of the status: a card has verified the checksum. */
    public static final int STATUS_CHECKSUM_VALID = 1 << 7;
    /** Bit of the status: the time of the frame is that of the card's clock. */
    public static final int STATUS_CARD_TIME = 1 << 31;
    /** Offset of the status in a frame. */
    public static final int STATUS = 0;
    /** Offset of the packet's length in a frame. */
    public static final int LENGTH = 4;
    public static final int LENGTH_IN_RING = 8;
    /** Offset of the offset of the packet's first byte. */
    public static final int LINK_HEADER = 12;
    /** Offset of the offset of the IP header. */
    public static final int IP_HEADER = 14;
    /** Offset of the seconds of the time, unsigned; the nanoseconds follow. */
    public static final int SECONDS = 16;
    /** Offset of the number of the interface. */
    public static final int INTERFACE = 36;
    /** Bytes of the {@code virtio_net_hdr} in front of the packet. */
    public static final int OFFLOAD_BYTES = 10;
    /** Offset of the kind of segments in it, 0 if the packet is whole. */
    public static final int SEGMENTS = 1;
    /** Offset of the payload bytes of each segment in it. */
    public static final int SEGMENT_LENGTH = 4;
    /** Kind of segments: each is the payload of one datagram. */
    public static final int SEGMENTS_UDP = 5;
    /** Bytes that a frame has in front of the IP header at most, with the headers of Ethernet and VLAN. */
    public static final int FRAME_OVERHEAD_BYTES = 112;

    private static final int NAME_BYTES = 20;
    private static final int AF_INET = 2;
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW = 3;
    private static final int SOCK_FLAGS = 0x80000 | 0x800;
    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int SO_ATTACH_FILTER = 26;
    private static final int SOL_PACKET = 263;
    private static final int PACKET_RX_RING = 5;
    private static final int PACKET_STATISTICS = 6;
    private static final int PACKET_COPY_THRESH = 7;
    private static final int PACKET_VERSION = 10;
    private static final int PACKET_VNET_HDR = 15;
    private static final int PACKET_TIMESTAMP = 17;
    private static final int PACKET_QDISC_BYPASS = 20;
    private static final int PACKET_IGNORE_OUTGOING = 23;
    private static final int TPACKET_V2 = 1;
    private static final int STATISTICS_BYTES = 8;
    private static final int RING_REQUEST_BYTES = 16;
    private static final int PROGRAM_BYTES = 16;

    private static final Downcall SOCKET = Downcall.of("socket", 3);
    private static final Downcall BIND = Downcall.of("bind", 3);
    private static final Downcall CONNECT = Downcall.of("connect", 3);
    private static final int MSG_DONTWAIT = 0x40;

    private static final Downcall GETSOCKOPT = Downcall.of("getsockopt", 5);
    private static final Downcall SETSOCKOPT = Downcall.of("setsockopt", 5);
    private static final Downcall RECVFROM = Downcall.of("recvfrom", 6);

    private PacketSocket() {
    }

    /**
     * Opens a socket that receives nothing before {@link #listen}. Returns the descriptor; {@code -EPERM} without
     * CAP_NET_RAW, {@code -EAFNOSUPPORT}, {@code -EMFILE}.
     */
    public static int openReceiver() {
        return socket(AF_PACKET, SOCK_RAW, 0);
    }

    /**
     * Opens a socket that sends frames by one interface, past the queues of the system, and receives nothing. The
     * loopback interface has no queue; there a frame takes the ordinary way, on which receivers see it leave. Returns
     * as {@link #openReceiver}; {@code -ENODEV} without such an interface.
     */
    public static int openSender(int interfaceIndex) {
        int fd = socket(AF_PACKET, SOCK_RAW, 0);
        if (fd < 0) {
            return fd;
        }
        int result = interfaceIndex == LOOPBACK_INTERFACE ? 0 : setInt(fd, PACKET_QDISC_BYPASS, 1);
        result = result < 0 ? result : bind(fd, 0, interfaceIndex);
        return result < 0 ? closed(fd, result) : fd;
    }

    /**
     * Gives a receiver its ring, which {@link Libc#mmap} maps from offset 0. Packets that are longer than a frame wait
     * in the socket's buffer as well ({@link UdpSocket#buffers}), if there is room.
     *
     * @param fd         from {@link #openReceiver}.
     * @param blockBytes bytes of a block, a multiple of the page size.
     * @param frameBytes bytes of a frame, a multiple of 16; a frame lies in one block.
     * @return 0; {@code -ENOMEM}, {@code -EINVAL}.
     */
    public static int ring(int fd, int blockBytes, int blocks, int frameBytes, boolean hasLeaving) {
        int result = setInt(fd, PACKET_VERSION, TPACKET_V2);
        result = result < 0 ? result : setInt(fd, PACKET_VNET_HDR, 1);
        result = result < 0 ? result : setInt(fd, PACKET_COPY_THRESH, 1);
        if (!hasLeaving) {
            // Linux before 4.20 does not know it; a socket for one EtherType sees no packets that leave in any case
            setInt(fd, PACKET_IGNORE_OUTGOING, 1);
        }
        if (result < 0) {
            return result;
        }
        CallState state = CallState.current();
        long at = state.scratchAddress;
        UnsafeApi.putInt(at, blockBytes);
        UnsafeApi.putInt(at + 4, blocks);
        UnsafeApi.putInt(at + 8, frameBytes);
        UnsafeApi.putInt(at + 12, blockBytes / frameBytes * blocks);
        return state.intResult(SETSOCKOPT.call(state, fd, SOL_PACKET, PACKET_RX_RING, at, RING_REQUEST_BYTES));
    }

    /**
     * Has the kernel write into each frame when its packet arrived, or left, instead of when it was copied.
     *
     * @param ofCard the card's time, if there is one: {@link #STATUS_CARD_TIME} says so; else the system's.
     * @return 0 or a negative errno.
     */
    public static int times(int fd, boolean ofCard) {
        // the first one has the system note times at all, the second one says which is written
        int result = SocketTimes.enable(fd, ofCard, true, false);
        return result < 0 || !ofCard ? result : setInt(fd, PACKET_TIMESTAMP, SocketTimes.RAW_HARDWARE);
    }

    /**
     * Gives a socket of any family a program of the classic packet filter.
     *
     * @param program instructions, each of 8 bytes: operation u16, two jumps u8, value u32, from the lowest byte on.
     * @return 0 or {@code -EINVAL}, {@code -ENOMEM}.
     */
    public static int filter(int fd, long[] program) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment instructions = arena.allocateFrom(ValueLayout.JAVA_LONG, program);
            UnsafeApi.putLong(state.scratchAddress, program.length);
            UnsafeApi.putLong(state.scratchAddress + Long.BYTES, instructions.address());
            return state.intResult(SETSOCKOPT.call(
                state, fd, SOL_SOCKET, SO_ATTACH_FILTER, state.scratchAddress, PROGRAM_BYTES));
        }
    }

    /**
     * Receives packets from now on.
     *
     * @param etherType      {@link #ETH_P_IP}, {@link #ETH_P_IPV6} or {@link #ETH_P_ALL}.
     * @param interfaceIndex number of the interface, 0 for all.
     * @return 0 or a negative errno.
     */
    public static int listen(int fd, int etherType, int interfaceIndex) {
        return bind(fd, etherType, interfaceIndex);
    }

    private static int bind(int fd, int etherType, int interfaceIndex) {
        CallState state = CallState.current();
        long at = state.scratchAddress;
        UnsafeApi.setMemory(at, NAME_BYTES, (byte) 0);
        UnsafeApi.putShort(at, (short) AF_PACKET);
        UnsafeApi.putByte(at + 2, (byte) (etherType >>> 8));
        UnsafeApi.putByte(at + 3, (byte) etherType);
        UnsafeApi.putInt(at + 4, interfaceIndex);
        return state.intResult(BIND.call(state, fd, at, NAME_BYTES));
    }

    /**
     * Writes an Ethernet header.
     *
     * @param at        address of {@link #ETHERNET_BYTES}.
     * @param next      address of the next hop, its first byte lowest; 6 bytes.
     */
    public static void putEthernet(long at, long next, long own, int etherType) {
        for (int i = 0; i < 6; i++) {
            UnsafeApi.putByte(at + i, (byte) (next >>> 8 * i));
            UnsafeApi.putByte(at + 6 + i, (byte) (own >>> 8 * i));
        }
        UnsafeApi.putByte(at + 12, (byte) (etherType >>> 8));
        UnsafeApi.putByte(at + 13, (byte) etherType);
    }

    /** Takes the error of a socket whose interface was shut down: until then the descriptor counts as readable. */
    public static void clearError(int fd) {
        CallState state = CallState.current();
        long lengthAt = state.scratchAddress + CallState.STRUCT_OFFSET;
        UnsafeApi.putInt(lengthAt, Integer.BYTES);
        GETSOCKOPT.call(state, fd, SOL_SOCKET, SO_ERROR, state.scratchAddress, lengthAt);
    }

    /**
     * Receives the oldest packet that was longer than a frame, from its {@code virtio_net_hdr} on. Returns the bytes of
     * the packet and its header, or a negative errno.
     */
    public static long receiveWhole(int fd, long address, int length) {
        CallState state = CallState.current();
        return state.result(RECVFROM.call(state, fd, address, length, MSG_DONTWAIT, 0L, 0L));
    }

    /**
     * The packets that were dropped since the last call, because the ring was full. Returns the number, or a negative
     * errno.
     */
    public static long drops(int fd) {
        CallState state = CallState.current();
        long lengthAt = state.scratchAddress + CallState.STRUCT_OFFSET;
        UnsafeApi.putInt(lengthAt, STATISTICS_BYTES);
        int result = state.intResult(GETSOCKOPT.call(
            state, fd, SOL_PACKET, PACKET_STATISTICS, state.scratchAddress, lengthAt));
        return result < 0 ? result : Integer.toUnsignedLong(UnsafeApi.getInt(state.scratchAddress + Integer.BYTES));
    }

    /**
     * Opens a raw socket of IPv4 with two addresses of this host. Its only use is its line in {@code /proc/net/raw},
     * which no process without CAP_NET_RAW can make.
     *
     * @param protocol number of a protocol that is not in use.
     * @return descriptor or a negative errno.
     */
    public static int openSign(byte[] own, byte[] other, int protocol) {
        int fd = socket(AF_INET, SOCK_RAW, protocol);
        if (fd < 0) {
            return fd;
        }
        CallState state = CallState.current();
        MemorySegment.copy(own, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, own.length);
        int result = state.intResult(BIND.call(state, fd, state.scratchAddress, own.length));
        if (result == 0) {
            MemorySegment.copy(other, 0, state.scratch, ValueLayout.JAVA_BYTE, 0, other.length);
            result = state.intResult(CONNECT.call(state, fd, state.scratchAddress, other.length));
        }
        return result < 0 ? closed(fd, result) : fd;
    }

    private static int socket(int family, int type, int protocol) {
        CallState state = CallState.current();
        return state.intResult(SOCKET.call(state, family, type | SOCK_FLAGS, protocol));
    }

    private static int closed(int fd, int result) {
        Libc.close(fd);
        return result;
    }

    private static int setInt(int fd, int option, int value) {
        CallState state = CallState.current();
        UnsafeApi.putInt(state.scratchAddress, value);
        return state.intResult(SETSOCKOPT.call(state, fd, SOL_PACKET, option, state.scratchAddress, Integer.BYTES));
    }
}
