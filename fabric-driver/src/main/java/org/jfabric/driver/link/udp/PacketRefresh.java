package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.SocketName;

/** Finds the next hops of routes. Made again for each look-up; the port has one at a time. */
final class PacketRefresh extends ResourceTask {
    private final PacketPort port;
    private final InetAddress own;
    private final List<PacketRoute> routes;
    private final List<SocketName> peers = new ArrayList<>();
    private List<PacketHop> hops;

    PacketRefresh(PacketPort port, InetAddress own, List<PacketRoute> routes) {
        this.port = port;
        this.own = own;
        this.routes = routes;
        routes.forEach(route -> peers.add(route.peer));
    }

    @Override
    protected void execute() {
        hops = PacketHops.find(own, peers);
    }

    @Override
    protected void onDone() {
        port.onFound(routes, hops);
    }

    @Override
    protected void onFailed(Throwable cause) {
        port.onNotFound(cause);
    }
}
