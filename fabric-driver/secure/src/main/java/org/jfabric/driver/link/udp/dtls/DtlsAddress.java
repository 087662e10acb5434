package org.jfabric.driver.link.udp.dtls;

import org.jfabric.driver.link.udp.UdpChannel;

/** The socket address of a peer as the key of a map; one object is reused for finding, which allocates nothing. */
final class DtlsAddress {
    private long high;
    private long low;
    private long rest;

    /** Takes over an address in the kernel's layout. */
    DtlsAddress set(long nameAddress) {
        high = UdpChannel.keyHigh(nameAddress);
        low = UdpChannel.keyLow(nameAddress);
        rest = UdpChannel.keyRest(nameAddress);
        return this;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DtlsAddress that && high == that.high && low == that.low && rest == that.rest;
    }

    @Override
    public int hashCode() {
        return Long.hashCode((high * 31 + low) * 31 + rest);
    }
}
