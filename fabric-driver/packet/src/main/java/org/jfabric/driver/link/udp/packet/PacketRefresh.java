package org.jfabric.driver.link.udp.packet;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.PacketSocket;
import org.jfabric.info.SocketName;

/**
 * Finds the next hops of routes, and opens a socket for each interface that has none. Made again for each look-up; the
 * port has one at a time.
 */
final class PacketRefresh extends ResourceTask {
    private final PacketPort port;
    private final InetAddress own;
    private final List<PacketRoute> routes;
    private final Set<Integer> open;
    private final List<SocketName> peers = new ArrayList<>();
    private final Map<Integer, Integer> opened = new HashMap<>();
    private List<PacketHop> hops;

    /** A look-up. */
    PacketRefresh(PacketPort port, InetAddress own, List<PacketRoute> routes, Set<Integer> open) {
        this.port = port;
        this.own = own;
        this.routes = routes;
        this.open = open;
        routes.forEach(route -> peers.add(route.peer));
    }

    @Override
    protected void execute() {
        hops = PacketHops.find(own, peers);
        for (PacketHop hop : hops) {
            if (hop != null && !open.contains(hop.interfaceIndex()) && !opened.containsKey(hop.interfaceIndex())) {
                int fd = PacketSocket.openSender(hop.interfaceIndex());
                if (fd >= 0) {
                    opened.put(hop.interfaceIndex(), fd);
                }
            }
        }
    }

    @Override
    protected void onDone() {
        port.onFound(routes, hops, opened);
    }

    @Override
    protected void onFailed(Throwable cause) {
        port.onNotFound(cause);
    }
}
