package org.jfabric.driver.link.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;

/**
 * Joins endpoints of this driver.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackLink extends Link {
    private static final int LINE = 64;

    private final LinkServices services;
    private final ChannelLimits limits;
    /** Buffer for a short message that is gathered. */
    private final MemorySegment gathered;
    /** Path of the driver's directory. */
    private final byte[] directory;
    private final Map<String, LocalEndpoint> endpoints = new HashMap<>();
    private final List<Opening> openings = new ArrayList<>();
    private final LoopbackConnections connections;
    /** Whether work waits for the next cycle; most cycles read only this field. */
    private boolean pending;

    /** A channel that waits for the next cycle to be joined. */
    private record Opening(LocalEndpoint local, String remoteAddress, LoopbackChannel channel) {
    }

    LoopbackLink(LinkServices services, ChannelLimits limits) {
        this.services = services;
        this.limits = limits;
        this.gathered = Arena.ofAuto().allocate(Math.max(Long.BYTES, limits.eagerLimitBytes()), LINE);
        this.directory = services.directory().toAbsolutePath().toString().getBytes(StandardCharsets.UTF_8);
        this.connections = new LoopbackConnections(this, limits, gathered.address(), directory);
    }

    @Override
    public String name() {
        return LoopbackLinkProvider.NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        if (!services.driverName().equals(FabricName.driverOf(remoteAddress))) {
            return false;
        }
        // endpoints of other progress threads are reached by the link between these
        int thread = services.threadOf(remoteAddress);
        return thread < 0 || thread == services.thread();
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        endpoints.put(endpoint.name(), endpoint);
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        endpoints.remove(endpoint.name(), endpoint);
        openings.removeIf(opening -> opening.local == endpoint);
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        LoopbackChannel channel = new LoopbackChannel(limits, handler, gathered.address(), directory);
        openings.add(new Opening(endpoint, remoteAddress, channel));
        pending();
        return channel;
    }

    @Override
    public int poll(int limit) {
        return pending ? step() : 0;
    }

    /** Marks that there is work for the next cycle. */
    void pending() {
        pending = true;
    }

    private int step() {
        pending = false;
        return join() + connections.poll();
    }

    @Override
    public boolean isIdle() {
        return !pending;
    }

    @Override
    public boolean arm() {
        return !pending;
    }

    @Override
    public boolean hasTimers() {
        return false;
    }

    @Override
    public ConnectionManager connections() {
        return connections;
    }

    @Override
    public void close() {
        openings.clear();
        endpoints.clear();
        connections.close();
    }

    private int join() {
        int work = 0;
        while (!openings.isEmpty()) {
            Opening opening = openings.removeFirst();
            LocalEndpoint remote = endpoints.get(FabricName.endpointOf(opening.remoteAddress));
            if (remote == null) {
                opening.channel.handler().onDown(FabricErrno.ECONNREFUSED);
            } else if (!remote.admits(opening.local.authKey())) {
                opening.channel.handler().onDown(FabricErrno.EKEYREJECTED);
            } else {
                up(opening, remote);
            }
            work++;
        }
        return work;
    }

    private void up(Opening opening, LocalEndpoint remote) {
        LoopbackChannel here = opening.channel;
        LoopbackChannel there = here;
        if (remote != opening.local) {
            there = takeOpposite(opening, remote);
            if (there == null) {
                there = new LoopbackChannel(
                    limits, remote.handlerFor(opening.local.address()), gathered.address(), directory);
            }
        }
        here.join(there);
        there.join(here);
        int grantHere = here.handler().onOpening();
        int grantThere = there == here ? grantHere : there.handler().onOpening();
        here.frameHandler().onGrant(grantThere);
        here.handler().onUp(here);
        if (there != here) {
            there.frameHandler().onGrant(grantHere);
            there.handler().onUp(there);
        }
    }

    /** Both ends may have begun in the same cycle; then they share one pair of channels. */
    private LoopbackChannel takeOpposite(Opening opening, LocalEndpoint remote) {
        for (int i = 0; i < openings.size(); i++) {
            Opening other = openings.get(i);
            if (other.local == remote && other.remoteAddress.equals(opening.local.address())) {
                openings.remove(i);
                return other.channel;
            }
        }
        return null;
    }
}
