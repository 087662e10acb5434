package org.jfabric.driver.link.verbsud;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.IbUdName;
import org.jfabric.SocketName;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;

import java.util.Arrays;

/**
 * Exchanges datagrams by RDMA devices: each endpoint has a queue pair, each message is one packet.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdLink extends Link {
    /** Stands for the address of those who are in no address vector; no address has this form. */
    static final String STRANGERS = "unknown senders";
    /** Label of the counter of datagrams that found no room. */
    static final String LOST = "verbsud: datagrams lost without a receive";

    private static final int POLL_BATCH = 32;

    private final LinkServices services;
    /** Made with the first endpoint: they are no matter of drivers without one. */
    private WorkCompletions completions;
    private long lostCounter;
    private VerbsUdEndpoint[] endpoints = new VerbsUdEndpoint[0];

    VerbsUdLink(LinkServices services) {
        this.services = services;
    }

    @Override
    public String name() {
        return VerbsUdLinkProvider.NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return IbUdName.isName(remoteAddress) || isGroup(remoteAddress);
    }

    private static boolean isGroup(String address) {
        return SocketName.isName(address) && SocketName.parse(address).inetAddress().isMulticastAddress();
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        if (!(endpoint.bound() instanceof VerbsUdPort port)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                "the endpoint " + endpoint.address() + " has no queue pair", "Open it for the link verbsud alone.");
        }
        if (completions == null) {
            completions = new WorkCompletions(POLL_BATCH);
            lostCounter = services.counterAddress(LOST);
        }
        endpoints = Arrays.copyOf(endpoints, endpoints.length + 1);
        endpoints[endpoints.length - 1] = new VerbsUdEndpoint(
            endpoint, port, services, VerbsUdLinkProvider.limits(port.place().packetBytes()), lostCounter);
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        VerbsUdEndpoint found = find(endpoint);
        if (found != null) {
            endpoints = Arrays.stream(endpoints).filter(other -> other != found).toArray(VerbsUdEndpoint[]::new);
            found.detach();
        }
    }

    @Override
    public void onInserted(LocalEndpoint endpoint, String address) {
        VerbsUdEndpoint found = find(endpoint);
        if (found != null && reaches(address)) {
            found.introduce(address);
        }
    }

    @Override
    public void join(LocalEndpoint endpoint, BoundAddress group) {
        VerbsUdEndpoint found = find(endpoint);
        if (found == null) {
            group.close();
        } else {
            found.join((VerbsUdGroup) group);
        }
    }

    @Override
    public void leave(LocalEndpoint endpoint, String group) {
        VerbsUdEndpoint found = find(endpoint);
        if (found != null) {
            found.leave(group);
        }
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return find(endpoint).open(remoteAddress, handler);
    }

    @Override
    public int poll(int limit) {
        VerbsUdEndpoint[] all = endpoints;
        int work = 0;
        for (int i = 0; i < all.length; i++) {
            work += all[i].poll(completions, limit);
        }
        return work;
    }

    @Override
    public boolean arm() {
        boolean armed = true;
        for (VerbsUdEndpoint endpoint : endpoints) {
            armed &= endpoint.arm();
        }
        return armed;
    }

    @Override
    public void close() {
        for (VerbsUdEndpoint endpoint : endpoints) {
            endpoint.close();
        }
        endpoints = new VerbsUdEndpoint[0];
        if (completions != null) {
            completions.close();
            completions = null;
        }
    }

    private VerbsUdEndpoint find(LocalEndpoint endpoint) {
        for (VerbsUdEndpoint candidate : endpoints) {
            if (candidate.local() == endpoint) {
                return candidate;
            }
        }
        return null;
    }
}
