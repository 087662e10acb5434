package org.jfabric.driver.link.rxm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ExposureHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.link.support.MessageConnector;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricException;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/**
 * Reaches reliable datagram endpoints over the connections of another link, which only this link uses.
 *
 * <p>Owner: progress agent.
 */
public final class RxmLink extends Link {
    /** Limit of logged errors that peers can cause without limit: the error log has a fixed size. */
    private static final int LOGGED = 64;

    private final String name;
    private final Link below;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final RxmSettings settings;
    private final Map<LocalEndpoint, RxmPeers> byEndpoint = new HashMap<>();
    private final List<RxmPeers> polled = new ArrayList<>();
    private int logged;
    /** Address of the counter of refused unknown peers; 0 before the first. */
    private long refusals;

    /**
     * Makes a link without endpoints.
     *
     * @param below    the link whose connections it uses, by a {@link MessageConnector}; this link polls and closes
     *                 it.
     */
    public RxmLink(String name, Link below, LinkServices services, RxmSettings settings) {
        this.name = name;
        this.below = below;
        this.services = services;
        this.limits = RxmLinkProvider.LIMITS;
        this.settings = settings;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return SocketName.isName(remoteAddress);
    }

    @Override
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress) && below.reaches(ownAddress, remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        RxmPeers peers = new RxmPeers(
            this, endpoint, services, (MessageConnector) below.connections(), limits, settings);
        byEndpoint.put(endpoint, peers);
        polled.add(peers);
        peers.listen();
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        RxmPeers peers = byEndpoint.remove(endpoint);
        if (peers != null) {
            polled.remove(peers);
            peers.close();
        }
    }

    /** Memory is accessed by the card of the link below. */
    @Override
    public void expose(
        RegisteredRegion region, long access, Object domain, Info where, ExposureHandler handler) {
        below.expose(region, access, domain, where, handler);
    }

    @Override
    public void onInserted(LocalEndpoint endpoint, String address) {
        RxmPeers peers = byEndpoint.get(endpoint);
        if (peers != null) {
            peers.onInserted(address);
        }
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return byEndpoint.get(endpoint).connect(remoteAddress, handler);
    }

    @Override
    public int poll(int limit) {
        int work = below.poll(limit);
        for (int i = 0; i < polled.size(); i++) {
            work += polled.get(i).poll();
        }
        return work;
    }

    @Override
    public boolean arm() {
        for (RxmPeers peers : polled) {
            if (!peers.isIdle()) {
                return false;
            }
        }
        return below.arm();
    }

    @Override
    public boolean hasTimers() {
        return below.hasTimers() || polled.stream().anyMatch(RxmPeers::hasTimer);
    }

    @Override
    public void onMayPark() {
        below.onMayPark();
    }

    /** Whether a refused connection will be tried again. */
    public boolean isWaiting() {
        return polled.stream().anyMatch(RxmPeers::isWaiting);
    }

    /** Address of the counter of refused unknown peers. */
    long refusals() {
        if (refusals == 0) {
            refusals = services.counterAddress(name + ": connections refused because of limits");
        }
        return refusals;
    }

    /** Logs an error that peers can cause without limit. */
    void log(FabricException error) {
        if (logged < LOGGED) {
            logged++;
            services.onError(error);
        }
    }

    @Override
    public PeerAcceptor acceptor() {
        return null;
    }

    @Override
    public void close() {
        for (RxmPeers peers : polled) {
            peers.close();
        }
        polled.clear();
        byEndpoint.clear();
        below.close();
    }
}
