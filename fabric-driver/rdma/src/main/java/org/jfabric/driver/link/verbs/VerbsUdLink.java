package org.jfabric.driver.link.verbs;

import java.util.function.IntFunction;
import org.jfabric.driver.ffi.WorkCompletions;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.DatagramLink;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.IbUdName;
import org.jfabric.info.SocketName;

/**
 * Exchanges datagrams over RDMA devices: each endpoint has a queue pair, each message is one packet.
 *
 * <p>Owner: progress agent.
 */
final class VerbsUdLink extends DatagramLink<VerbsUdEndpoint> {
    /** Label of the counter of datagrams that were lost for lack of room. */
    static final String LOST = "verbsud: datagrams lost without a receive";

    private static final int POLL_BATCH = 32;

    private final LinkServices services;
    /** Limits for a packet length in bytes. */
    private final IntFunction<ChannelLimits> limits;
    /** Made with the first endpoint, so that drivers without endpoints of this link do not have them. */
    private WorkCompletions completions;
    private long lostCounter;

    VerbsUdLink(LinkServices services, IntFunction<ChannelLimits> limits) {
        this.services = services;
        this.limits = limits;
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
        add(new VerbsUdEndpoint(
            endpoint, port, services, limits.apply(port.place().packetBytes()), completions, lostCounter));
    }

    @Override
    public void close() {
        super.close();
        if (completions != null) {
            completions.close();
            completions = null;
        }
    }
}
