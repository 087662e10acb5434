package org.jfabric.driver.link.udp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.LocalAddresses;

import java.util.Arrays;

/**
 * Exchanges datagrams with any host: each endpoint has a socket, each message is one datagram.
 *
 * <p>Owner: progress agent.
 */
final class UdpLink extends Link {
    /** Stands for the address of those who are in no address vector; no address has this form. */
    static final String STRANGERS = "unknown senders";

    private final LinkServices services;
    private final UdpConfig config;
    private final ChannelLimits limits;
    /** Made with the first endpoint: its memory is no matter of drivers without one. */
    private UdpReceiver receiver;
    private UdpEndpoint[] endpoints = new UdpEndpoint[0];

    UdpLink(LinkServices services, UdpConfig config, ChannelLimits limits) {
        this.services = services;
        this.config = config;
        this.limits = limits;
    }

    @Override
    public String name() {
        return UdpLinkProvider.NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return SocketName.isName(remoteAddress);
    }

    @Override
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress) && !LocalAddresses.areOfTwoFamilies(ownAddress, remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        if (!(endpoint.bound() instanceof UdpPort port)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                "the endpoint " + endpoint.address() + " has no UDP socket", "Open it for the link udp alone.");
        }
        if (receiver == null) {
            receiver = new UdpReceiver(config.batchSize());
        }
        endpoints = Arrays.copyOf(endpoints, endpoints.length + 1);
        endpoints[endpoints.length - 1] = new UdpEndpoint(endpoint, port, services, limits, config.batchSize());
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        UdpEndpoint found = find(endpoint);
        if (found != null) {
            endpoints = Arrays.stream(endpoints).filter(other -> other != found).toArray(UdpEndpoint[]::new);
            found.close();
        }
    }

    @Override
    public void onInserted(LocalEndpoint endpoint, String address) {
        UdpEndpoint found = find(endpoint);
        if (found != null && SocketName.isName(address)) {
            found.introduce(SocketName.parse(address));
        }
    }

    @Override
    public void join(LocalEndpoint endpoint, BoundAddress group) {
        UdpEndpoint found = find(endpoint);
        if (found == null) {
            group.close();
        } else {
            found.join((UdpPort) group);
        }
    }

    @Override
    public void leave(LocalEndpoint endpoint, String group) {
        UdpEndpoint found = find(endpoint);
        if (found != null) {
            found.leave(group);
        }
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return find(endpoint).open(SocketName.parse(remoteAddress), handler);
    }

    @Override
    public int poll(int limit) {
        UdpEndpoint[] all = endpoints;
        int work = 0;
        for (int i = 0; i < all.length; i++) {
            work += all[i].poll(receiver, limit);
        }
        return work;
    }

    @Override
    public boolean arm() {
        boolean armed = true;
        for (UdpEndpoint endpoint : endpoints) {
            armed &= endpoint.arm();
        }
        return armed;
    }

    @Override
    public void close() {
        for (UdpEndpoint endpoint : endpoints) {
            endpoint.close();
        }
        endpoints = new UdpEndpoint[0];
    }

    private UdpEndpoint find(LocalEndpoint endpoint) {
        for (UdpEndpoint candidate : endpoints) {
            if (candidate.local() == endpoint) {
                return candidate;
            }
        }
        return null;
    }
}
