package org.jfabric.driver.link.udp.packet;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.info.SocketName;

/**
 * Programs of the classic packet filter for the sockets of a {@link PacketPort}. The kernel runs them for each packet
 * of the host, before it copies anything.
 *
 * <p>Stateless; any thread.
 */
final class PacketFilter {
    private static final int LOAD_WORD = 0x20;
    private static final int LOAD_HALF = 0x28;
    private static final int LOAD_BYTE = 0x30;
    private static final int LOAD_HALF_INDEXED = 0x48;
    private static final int LOAD_HEADER_LENGTH = 0xb1;
    private static final int JUMP_EQUAL = 0x15;
    private static final int JUMP_ANY_BIT = 0x45;
    private static final int JUMP_NOT_BELOW = 0x35;
    private static final int RETURN = 0x06;
    /** Offsets from here on are counted from the IP header, whatever the device has in front of it. */
    private static final int IP = -0x100000;
    /** Whether the packet is for this host, for all, for another, or leaves: a value of the kernel. */
    private static final int PACKET_TYPE = -0x1000 + 4;
    private static final int PACKET_HOST = 0;
    private static final int PACKET_OUTGOING = 4;
    /** EtherType, a value of the kernel. */
    private static final int PROTOCOL = -0x1000;
    /** Number of the interface, a value of the kernel. */
    private static final int INTERFACE = -0x1000 + 8;
    private static final int UDP = 17;
    private static final int FRAGMENT_BITS = 0x3fff;
    private static final int IN6_HEADER_BYTES = 40;
    /** The first group of IPv4; behind groups is the address of all hosts. */
    private static final int IN_GROUPS = 0xe0000000;
    private static final int IN_LOOPBACK_BROADCAST = 0x7fffffff;
    private static final int IN6_GROUPS = 0xff;

    private final List<long[]> instructions = new ArrayList<>();
    /** Offset of the IP header. */
    private final int ip;

    private PacketFilter(int ip) {
        this.ip = ip;
    }

    /** Drops every packet. */
    static long[] nothing() {
        return new long[] {instruction(RETURN, 0, 0, 0)};
    }

    /** Takes whole datagrams that arrive from other hosts for a socket address; the wildcard stands for all of them. */
    static long[] arriving(SocketName to) {
        PacketFilter filter = new PacketFilter(IP);
        filter.require(LOAD_WORD, PACKET_TYPE, PACKET_HOST);
        filter.load(LOAD_WORD, INTERFACE);
        filter.refuse(JUMP_EQUAL, PacketSocket.LOOPBACK_INTERFACE);
        return filter.datagrams(to);
    }

    /** Takes whole datagrams for a socket address that leave by the loopback interface. */
    static long[] leaving(SocketName to) {
        // loads from an offset in the packet are compiled to a few instructions, those from the IP header are calls
        PacketFilter filter = new PacketFilter(PacketSocket.ETHERNET_BYTES);
        filter.require(LOAD_WORD, PACKET_TYPE, PACKET_OUTGOING);
        filter.require(LOAD_HALF, PROTOCOL, PacketRing.etherType(to.isIn6()));
        return filter.datagrams(to);
    }

    /**
     * With the port first, because it differs most often. The wildcard stands for addresses of this host, not for
     * groups: those are received by the kernel's sockets.
     */
    private long[] datagrams(SocketName to) {
        if (to.isIn6()) {
            require(LOAD_HALF, ip + IN6_HEADER_BYTES + 2, to.port());
            require(LOAD_BYTE, ip + 6, UDP);
            requireAddress(to.inetAddress(), ip + 24);
            if (to.inetAddress().isAnyLocalAddress()) {
                load(LOAD_BYTE, ip + 24);
                refuse(JUMP_EQUAL, IN6_GROUPS);
            }
        } else {
            load(LOAD_HEADER_LENGTH, ip);
            require(LOAD_HALF_INDEXED, ip + 2, to.port());
            require(LOAD_BYTE, ip + 9, UDP);
            load(LOAD_HALF, ip + 6);
            refuse(JUMP_ANY_BIT, FRAGMENT_BITS);
            requireAddress(to.inetAddress(), ip + 16);
            if (to.inetAddress().isAnyLocalAddress()) {
                load(LOAD_WORD, ip + 16);
                refuse(JUMP_NOT_BELOW, IN_GROUPS);
                refuse(JUMP_EQUAL, IN_LOOPBACK_BROADCAST);
            }
        }
        return program();
    }

    private void requireAddress(InetAddress address, int offset) {
        if (address.isAnyLocalAddress()) {
            return;
        }
        ByteBuffer words = ByteBuffer.wrap(address.getAddress());
        for (int i = 0; words.hasRemaining(); i += Integer.BYTES) {
            require(LOAD_WORD, offset + i, words.getInt());
        }
    }

    private void require(int load, int offset, int value) {
        load(load, offset);
        instructions.add(new long[] {JUMP_EQUAL, value, 0});
    }

    private void refuse(int test, int value) {
        instructions.add(new long[] {test, value, 1});
    }

    private void load(int load, int offset) {
        instructions.add(new long[] {load, offset, 0});
    }

    /** With two returns behind the instructions: take all, and drop, to which every condition that fails jumps. */
    private long[] program() {
        int size = instructions.size();
        long[] program = new long[size + 2];
        for (int i = 0; i < size; i++) {
            long[] each = instructions.get(i);
            int toDrop = size - i;
            int operation = (int) each[0];
            boolean isTest = operation == JUMP_EQUAL || operation == JUMP_ANY_BIT || operation == JUMP_NOT_BELOW;
            program[i] = instruction(operation, isTest && each[2] == 1 ? toDrop : 0,
                isTest && each[2] == 0 ? toDrop : 0, (int) each[1]);
        }
        program[size] = instruction(RETURN, 0, 0, -1);
        program[size + 1] = instruction(RETURN, 0, 0, 0);
        return program;
    }

    private static long instruction(int operation, int jumpTrue, int jumpFalse, int value) {
        return operation | (long) jumpTrue << 16 | (long) jumpFalse << 24 | (long) value << 32;
    }
}
