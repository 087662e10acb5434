package org.jfabric.driver.link.udp.packet;

import java.util.List;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.LinkSource;

/** The one link of packet sockets. */
public final class PacketLinks implements LinkSource {
    /** Made by the driver. */
    public PacketLinks() {
    }

    @Override
    public List<LinkProvider> links(List<LinkProvider> others) {
        return List.of(new PacketLinkProvider());
    }
}
