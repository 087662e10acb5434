package org.jfabric.driver.link.udp.packet;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.LinkServices;

/**
 * The packet link's counters of datagrams that were not delivered, or not sent as frames. A counter is allocated when
 * it is first used.
 *
 * <p>Owner: progress agent.
 */
final class PacketCounters {
    /** One of them, by its label. */
    enum Kind {
        RING_FULL("datagrams dropped because the ring was full"),
        CHECKSUM("datagrams dropped because of a wrong checksum"),
        MALFORMED("datagrams dropped because they were malformed or too long"),
        BY_SOCKET("datagrams sent by the system's socket");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    private final LinkServices services;
    private final long[] addresses = new long[Kind.values().length];

    PacketCounters(LinkServices services) {
        this.services = services;
    }

    void add(Kind kind, long count) {
        int index = kind.ordinal();
        if (addresses[index] == 0) {
            addresses[index] = services.counterAddress("packet: " + kind.label);
        }
        UnsafeApi.putLongRelease(null, addresses[index], UnsafeApi.getLong(addresses[index]) + count);
    }
}
