package org.jfabric.driver.link.verbs;

import org.agrona.UnsafeApi;

/**
 * The 40 bytes in front of every received datagram: the global route header of InfiniBand, or on Ethernet the IPv6
 * header, or in their last 20 bytes the IPv4 header. In the last case the first bytes are undefined and may resemble an
 * IPv6 header: then the checksum of the IPv4 header decides. Stateless.
 */
final class VerbsUdRoute {
    static final int BYTES = 40;

    private static final int IN4_AT = 20;
    private static final int IN4_SOURCE_AT = 32;
    private static final int SOURCE_AT = 8;
    /** Version 4 in a header without options. */
    private static final int IN4_FIRST_BYTE = 0x45;
    private static final long MAPPED = 0xffff_0000_0000L;

    private VerbsUdRoute() {
    }

    /** Whether the source is an IPv4 address. */
    static boolean isIn4(long at) {
        int first = UnsafeApi.getByte(at + IN4_AT) & 0xff;
        return first == IN4_FIRST_BYTE && ((UnsafeApi.getByte(at) & 0xf0) != 0x60 || isSummed(at + IN4_AT));
    }

    /** Whether the checksum is right: the ones' complement sum of all words of an IPv4 header is all ones. */
    private static boolean isSummed(long at) {
        int sum = 0;
        for (int i = 0; i < BYTES - IN4_AT; i += Short.BYTES) {
            sum += UnsafeApi.getShort(at + i) & 0xffff;
        }
        return (sum & 0xffff) + (sum >>> 16) == 0xffff;
    }

    /** First half of the sender's GID, in network byte order. */
    static long sourceHigh(long at, boolean isIn4) {
        return isIn4 ? 0 : Long.reverseBytes(UnsafeApi.getLong(at + SOURCE_AT));
    }

    /** Second half of the sender's GID, in network byte order. */
    static long sourceLow(long at, boolean isIn4) {
        return isIn4 ? MAPPED | Integer.reverseBytes(UnsafeApi.getInt(at + IN4_SOURCE_AT)) & 0xffff_ffffL
            : Long.reverseBytes(UnsafeApi.getLong(at + SOURCE_AT + Long.BYTES));
    }
}
