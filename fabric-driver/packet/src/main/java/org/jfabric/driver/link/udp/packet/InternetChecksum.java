package org.jfabric.driver.link.udp.packet;

import org.agrona.UnsafeApi;

/**
 * The checksum of IP and UDP (RFC 1071). Sums are of words in the byte order of the machine: the result is the same
 * when it is stored in that order.
 *
 * <p>Stateless; any thread.
 */
final class InternetChecksum {
    private static final long LOW = 0xffff_ffffL;
    private static final long UDP_PROTOCOL = big(17);

    private InternetChecksum() {
    }

    /** A 16-bit number as its bytes in the order of networks are read by this machine. */
    static long big(int value) {
        short stored = (short) value;
        return Short.toUnsignedLong(java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.BIG_ENDIAN
            ? stored : Short.reverseBytes(stored));
    }

    /** Sum of bytes; the sums of several ranges may be added if all but the last have even lengths. */
    static long sum(long address, int length) {
        long sum = 0;
        long at = address;
        for (long end = address + (length & -8); at != end; at += 8) {
            long word = UnsafeApi.getLong(at);
            sum += (word & LOW) + (word >>> 32);
        }
        if ((length & 4) != 0) {
            sum += UnsafeApi.getInt(at) & LOW;
            at += 4;
        }
        if ((length & 2) != 0) {
            sum += UnsafeApi.getShort(at) & 0xffffL;
            at += 2;
        }
        if ((length & 1) != 0) {
            sum += big((UnsafeApi.getByte(at) & 0xff) << 8);
        }
        return sum;
    }

    /** Sum of the pseudo header of UDP: both addresses, which follow each other in both IP headers, and the length. */
    static long pseudo(long addresses, int bytes, int udpLength) {
        return sum(addresses, bytes) + UDP_PROTOCOL + big(udpLength);
    }

    /** The checksum of a sum; 0 if a checksum was part of it and is right. */
    static int fold(long sum) {
        long folded = (sum & LOW) + (sum >>> 32);
        folded = (folded & 0xffff) + (folded >>> 16);
        folded = (folded & 0xffff) + (folded >>> 16);
        folded = (folded & 0xffff) + (folded >>> 16);
        return (int) ~folded & 0xffff;
    }
}
