package org.jfabric.driver.link.udp.packet;

import static org.jfabric.driver.link.udp.packet.PacketCounters.Kind.CHECKSUM;
import static org.jfabric.driver.link.udp.packet.PacketCounters.Kind.MALFORMED;
import static org.jfabric.driver.link.udp.packet.PacketCounters.Kind.RING_FULL;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.ffi.UdpSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * The mapped ring of one receiving packet socket: of datagrams that leave by the loopback interface, or of those that
 * arrive by the others. A datagram that leaves is seen in the sender's call; it would arrive later, in an interrupt of
 * that call.
 *
 * <p>The kernel copies each packet into the next frame and then sets the frame's status; the frame is read where it
 * lies, and given back by clearing the status.
 *
 * <pre>
 *   oldest                  next                 the kernel's place
 *      │  frames in use        │  frames that wait  │  free frames
 * </pre>
 *
 * <p>A packet that consists of several datagrams of one sender (UDP_SEGMENT, UDP_GRO) stays the next frame until the
 * last of them was read. If it is longer than a frame, it is read from the socket's buffer in addition: one system call
 * for the many datagrams of a burst.
 *
 * <p>Opened on the resource thread; owner afterwards: progress agent.
 */
final class PacketRing {
    private static final int BLOCK_BYTES = 1 << 16;
    private static final int IN_HEADER_BYTES = 20;
    private static final int IN6_HEADER_BYTES = 40;
    private static final int UDP_HEADER_BYTES = 8;
    private static final int UDP_CHECKSUM = 6;
    private static final int IN_SOURCE = 12;
    private static final int IN6_SOURCE = 8;
    /** Of the longest packet, with the headers of Ethernet and VLAN. */
    private static final int LONGEST_BYTES = PacketSocket.OFFLOAD_BYTES + 32 + 65536;
    private static final long NS_PER_SECOND = 1_000_000_000L;
    private static final long STATISTICS_INTERVAL_NS = 1_000_000_000L;
    /** Frames that are dropped in one poll at most, so that a flood of them does not keep the thread. */
    private static final int MAX_DROPPED = 256;

    private final int fd;
    private final boolean isIn6;
    private final long[] frames;
    private final long length;
    private final int blockBytes;
    private final int frameBytes;
    private final MessageVector vector;
    /** Memory for a packet that is longer than a frame, with several datagrams. */
    private final MemorySegment whole = Arena.ofAuto().allocate(LONGEST_BYTES, 64);
    private long address;
    private PacketCounters counters;
    private LinkServices services;
    private int next;
    /** The oldest frame that was read and not given back, and how many there are. */
    private int oldest;
    private int used;
    /** The packet of the next frame: its IP header and UDP header, its payload, and that of each of its datagrams. */
    private long ip;
    private long udp;
    private int payload;
    private int segment;
    /** Bytes of that payload that were read already. */
    private int segmentOffset;
    /** Whether datagrams in that memory are to be read still, or to be delivered. */
    private boolean isWholeInUse;
    /** The frame of that packet. */
    private long wholeFrame;
    private long statisticsNs;

    private PacketRing(int fd, boolean isIn6, int frameBytes, int blocks, long address, int batch) {
        this.fd = fd;
        this.isIn6 = isIn6;
        this.address = address;
        int framesOfBlock = blockBytes(frameBytes) / frameBytes;
        frames = new long[framesOfBlock * blocks];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = address + (long) (i / framesOfBlock) * blockBytes(frameBytes)
                + (long) (i % framesOfBlock) * frameBytes;
        }
        length = (long) blockBytes(frameBytes) * blocks;
        this.blockBytes = blockBytes(frameBytes);
        this.frameBytes = frameBytes;
        vector = new MessageVector(batch, 1);
        for (int i = 0; i < batch; i++) {
            long name = vector.nameAddress(i);
            UnsafeApi.setMemory(name, MessageVector.NAME_BYTES, (byte) 0);
            UnsafeApi.putShort(name, (short) (isIn6 ? 10 : 2));
        }
    }

    /** Opens a ring that receives what is sent to an address from now on. */
    static PacketRing open(SocketName name, boolean isLoopback, DriverConfig config) {
        int fd = check("socket", PacketSocket.openReceiver());
        try {
            // for packets that are longer than a frame
            UdpSocket.buffers(fd, config.get(UdpConfig.BUFFER_BYTES), 0);
            int frameBytes = frameBytes(config.get(UdpConfig.MAX_MESSAGE_BYTES) + IN6_HEADER_BYTES + UDP_HEADER_BYTES);
            int blockBytes = blockBytes(frameBytes);
            int blocks = (int) Math.max(1, config.get(UdpConfig.RING_BYTES) / blockBytes);
            check("setsockopt", PacketSocket.ring(fd, blockBytes, blocks, frameBytes, isLoopback));
            // before the socket is bound: nothing else may be in the ring
            check("setsockopt", PacketSocket.filter(
                fd, isLoopback ? PacketFilter.leaving(name) : PacketFilter.arriving(name)));
            long mapped = Libc.mmap((long) blockBytes * blocks, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd,
                0);
            check("mmap", (int) Math.min(0, mapped));
            PacketRing ring = new PacketRing(
                fd, name.isIn6(), frameBytes, blocks, mapped, config.get(UdpConfig.BATCH_SIZE));
            int bound = isLoopback
                ? PacketSocket.listen(fd, PacketSocket.ETH_P_ALL, PacketSocket.LOOPBACK_INTERFACE)
                : PacketSocket.listen(fd, etherType(name.isIn6()), 0);
            if (bound < 0) {
                Libc.munmap(mapped, ring.length);
            }
            check("bind", bound);
            return ring;
        } catch (RuntimeException failed) {
            Libc.close(fd);
            throw failed;
        }
    }

    static int etherType(boolean isIn6) {
        return isIn6 ? PacketSocket.ETH_P_IPV6 : PacketSocket.ETH_P_IP;
    }

    private static int check(String call, int result) {
        if (result < 0) {
            throw new NativeCallException(call, -result, result == -PacketSocket.EPERM
                ? "link packet needs CAP_NET_RAW" : "a packet socket with a ring of jfabric.udp.ringBytes");
        }
        return result;
    }

    /** Whole lines, and no power of two: the first lines of all frames must not share a cache set. */
    private static int frameBytes(int packetBytes) {
        int bytes = (PacketSocket.FRAME_OVERHEAD_BYTES + packetBytes + 63) / 64 * 64;
        return Integer.bitCount(bytes) == 1 ? bytes + 64 : bytes;
    }

    private static int blockBytes(int frameBytes) {
        int blockBytes = BLOCK_BYTES;
        while (blockBytes < frameBytes) {
            blockBytes *= 2;
        }
        return blockBytes;
    }

    void attach(LinkServices linkServices, PacketCounters linkCounters) {
        services = linkServices;
        counters = linkCounters;
    }

    int fd() {
        return fd;
    }

    /** As {@link PacketSocket#times}. */
    int enableTimes(boolean ofCard) {
        return PacketSocket.times(fd, ofCard);
    }

    /** Gets the places of datagrams and their senders by {@link #receive}. */
    MessageVector vector() {
        return vector;
    }

    /** Whether a frame waits. */
    boolean hasWaiting() {
        return (UnsafeApi.getIntAcquire(null, frames[next] + PacketSocket.STATUS) & PacketSocket.STATUS_USER) != 0;
    }

    /** Finds up to a number of datagrams, which are valid until {@link #release}; returns how many there are. */
    int receive(int limit) {
        // after a fault of memory in the middle of their delivery those of the last call were not released
        release();
        int count = 0;
        int dropped = 0;
        while (count < limit && dropped < MAX_DROPPED) {
            long frame = frames[next];
            int status = UnsafeApi.getIntAcquire(null, frame + PacketSocket.STATUS);
            // all frames may be in use: then the next one is one that was delivered and not yet given back
            if ((status & PacketSocket.STATUS_USER) == 0 || used == frames.length) {
                break;
            }
            if ((status & PacketSocket.STATUS_COPIED) != 0 && segmentOffset == 0 && isWholeInUse) {
                // the memory for it has datagrams of this call
                break;
            }
            if ((status & PacketSocket.STATUS_LOSING) != 0) {
                countDrops();
            }
            if (take(frame, status, count)) {
                count++;
            } else {
                dropped++;
            }
        }
        if (count == 0 && dropped != 0) {
            release();
        }
        return count;
    }

    /** Reads one datagram of a frame; false if it is dropped. */
    private boolean take(long frame, int status, int index) {
        if (segmentOffset == 0 && !begin(frame, status)) {
            return false;
        }
        long name = vector.nameAddress(index);
        UnsafeApi.putShort(name + 2, UnsafeApi.getShort(udp));
        if (isIn6) {
            putSource6(name, ip, frame);
        } else {
            UnsafeApi.putInt(name + 4, UnsafeApi.getInt(ip + IN_SOURCE));
        }
        int bytes = Math.min(segment, payload - segmentOffset);
        vector.piece(index, 0, udp + UDP_HEADER_BYTES + segmentOffset, bytes);
        vector.transferred(index, bytes);
        segmentOffset += bytes;
        if (segmentOffset >= payload) {
            advance();
        }
        return true;
    }

    /**
     * When a datagram of the last {@link #receive} arrived.
     *
     * @param payload where the datagram lies.
     * @return nanoseconds; 0 if the clock is not the one that is asked for.
     */
    long timeNs(long payload, boolean ofCard) {
        long at = payload - address;
        // frames do not fill their blocks
        long frame = at < 0 || at >= length ? wholeFrame
            : payload - at % blockBytes % frameBytes;
        boolean isOfCard = (UnsafeApi.getInt(frame + PacketSocket.STATUS) & PacketSocket.STATUS_CARD_TIME) != 0;
        return isOfCard != ofCard ? 0
            : Integer.toUnsignedLong(UnsafeApi.getInt(frame + PacketSocket.SECONDS)) * NS_PER_SECOND
                + UnsafeApi.getInt(frame + PacketSocket.SECONDS + Integer.BYTES);
    }

    /** Finds the parts of the next packet; false if it is dropped. */
    private boolean begin(long frame, int status) {
        int linkHeader = UnsafeApi.getShort(frame + PacketSocket.LINK_HEADER) & 0xffff;
        int linkBytes = (UnsafeApi.getShort(frame + PacketSocket.IP_HEADER) & 0xffff) - linkHeader;
        long packet = frame + linkHeader;
        int packetBytes = UnsafeApi.getInt(frame + PacketSocket.LENGTH_IN_RING);
        if ((status & PacketSocket.STATUS_COPIED) != 0) {
            isWholeInUse = true;
            wholeFrame = frame;
            packet = whole.address() + PacketSocket.OFFLOAD_BYTES;
            packetBytes = receiveWhole() - PacketSocket.OFFLOAD_BYTES;
        }
        ip = packet + linkBytes;
        if (packetBytes != UnsafeApi.getInt(frame + PacketSocket.LENGTH)
            || !isWhole(packetBytes - linkBytes)) {
            return dropFrame(MALFORMED);
        }
        if (!isIntact(status)) {
            return dropFrame(CHECKSUM);
        }
        segment = segmentBytes(packet - PacketSocket.OFFLOAD_BYTES);
        return true;
    }

    /** Bytes of the packet that is longer than a frame, or a negative errno. */
    private int receiveWhole() {
        long bytes = PacketSocket.receiveWhole(fd, whole.address(), LONGEST_BYTES);
        // the first call returns the error of an interface that was shut down meanwhile, and takes no packet
        return (int) (bytes < 0 && bytes != -FabricErrno.EAGAIN
            ? PacketSocket.receiveWhole(fd, whole.address(), LONGEST_BYTES) : bytes);
    }

    private static void putSource6(long name, long ip, long frame) {
        long high = UnsafeApi.getLong(ip + IN6_SOURCE);
        UnsafeApi.putLong(name + 8, high);
        UnsafeApi.putLong(name + 16, UnsafeApi.getLong(ip + IN6_SOURCE + 8));
        // fe80::/10 is valid on one interface only
        boolean isLinkLocal = (UnsafeApi.getByte(ip + IN6_SOURCE) & 0xff) == 0xfe
            && (UnsafeApi.getByte(ip + IN6_SOURCE + 1) & 0xc0) == 0x80;
        UnsafeApi.putInt(name + 24, isLinkLocal ? UnsafeApi.getInt(frame + PacketSocket.INTERFACE) : 0);
    }

    /** Whether an IP packet has all of its datagram, as all its lengths say. */
    private boolean isWhole(int taken) {
        if (taken < IN_HEADER_BYTES) {
            return false;
        }
        int headerBytes = isIn6 ? IN6_HEADER_BYTES : (UnsafeApi.getByte(ip) & 0xf) * 4;
        if (headerBytes < IN_HEADER_BYTES || taken < headerBytes + UDP_HEADER_BYTES) {
            return false;
        }
        udp = ip + headerBytes;
        int ipBytes = isIn6 ? IN6_HEADER_BYTES + big(ip + 4) : big(ip + 2);
        int udpBytes = big(udp + 4);
        payload = udpBytes - UDP_HEADER_BYTES;
        return ipBytes <= taken && payload >= 0 && udp + udpBytes <= ip + ipBytes;
    }

    private static int big(long at) {
        return (UnsafeApi.getByte(at) & 0xff) << 8 | UnsafeApi.getByte(at + 1) & 0xff;
    }

    /** Whether the checksums are right, as far as they are complete and were not verified before. */
    private boolean isIntact(int status) {
        if (!isIn6 && InternetChecksum.fold(InternetChecksum.sum(ip, (int) (udp - ip))) != 0) {
            return false;
        }
        if ((status & (PacketSocket.STATUS_CHECKSUM_NOT_READY | PacketSocket.STATUS_CHECKSUM_VALID)) != 0) {
            return true;
        }
        if (UnsafeApi.getShort(udp + UDP_CHECKSUM) == 0) {
            return !isIn6;
        }
        int bytes = payload + UDP_HEADER_BYTES;
        long pseudo = isIn6 ? InternetChecksum.pseudo(ip + IN6_SOURCE, 32, bytes)
            : InternetChecksum.pseudo(ip + IN_SOURCE, 8, bytes);
        return InternetChecksum.fold(pseudo + InternetChecksum.sum(udp, bytes)) == 0;
    }

    /** Payload of each datagram of a packet. */
    private int segmentBytes(long offload) {
        int bytes = UnsafeApi.getByte(offload + PacketSocket.SEGMENTS) == PacketSocket.SEGMENTS_UDP
            ? UnsafeApi.getShort(offload + PacketSocket.SEGMENT_LENGTH) & 0xffff : 0;
        return bytes == 0 ? payload : bytes;
    }

    private boolean dropFrame(PacketCounters.Kind reason) {
        counters.add(reason, 1);
        advance();
        return false;
    }

    private void advance() {
        segmentOffset = 0;
        next = next + 1 == frames.length ? 0 : next + 1;
        used++;
    }

    /** The kernel marks every frame until its counter is read; once in a second is enough. */
    private void countDrops() {
        long nowNs = services.nowNs();
        if (nowNs - statisticsNs >= STATISTICS_INTERVAL_NS) {
            statisticsNs = nowNs;
            counters.add(RING_FULL, Math.max(0, PacketSocket.drops(fd)));
        }
    }

    /** Gives the frames back whose datagrams were delivered. */
    void release() {
        for (; used != 0; used--) {
            UnsafeApi.putIntRelease(null, frames[oldest] + PacketSocket.STATUS, 0);
            oldest = oldest + 1 == frames.length ? 0 : oldest + 1;
        }
        isWholeInUse &= segmentOffset != 0;
    }

    void close() {
        if (address != 0) {
            Libc.munmap(address, length);
            address = 0;
            Libc.close(fd);
        }
    }
}
