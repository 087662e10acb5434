package org.jfabric.driver.link.udp.packet;

/**
 * Where frames to a destination go.
 *
 * @param hardware       address of the next hop, its first byte lowest.
 * @param mtuBytes       longest IP packet.
 * @param source         address that the system chooses as source, in the order of networks.
 * @param isStale        whether the kernel has not heard of the next hop for a while.
 */
record PacketHop(
    int interfaceIndex, long hardware, long ownHardware, int mtuBytes, byte[] source, boolean isStale) {
}
