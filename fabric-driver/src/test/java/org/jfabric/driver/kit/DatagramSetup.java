package org.jfabric.driver.kit;

import java.util.List;

/** Where the datagram endpoints of a conformance test live. */
public enum DatagramSetup {
    /** Each in an embedded driver of its own. */
    EMBEDDED("127.0.0.1", "native", false),
    /** The same with the JDK's sockets. */
    EMBEDDED_NIO("127.0.0.1", "nio", false),
    /** The same with IPv6. */
    EMBEDDED_IPV6("::1", "native", false),
    /** Clients of two driver processes. */
    DAEMON("127.0.0.1", "native", true),
    /** Embedded drivers with rings; skipped without the privilege. */
    PACKET_EMBEDDED("packet", "127.0.0.1", "native", false),
    /** The same with IPv6. */
    PACKET_IPV6("packet", "::1", "native", false),
    /** Clients of two driver processes with rings. */
    PACKET_DAEMON("packet", "127.0.0.1", "native", true);

    public final String link;
    public final String host;
    public final String sockets;
    public final boolean daemon;

    DatagramSetup(String host, String sockets, boolean daemon) {
        this("udp", host, sockets, daemon);
    }

    DatagramSetup(String link, String host, String sockets, boolean daemon) {
        this.link = link;
        this.host = host;
        this.sockets = sockets;
        this.daemon = daemon;
    }

    /** Options of the drivers, as NAME=VALUE. */
    public List<String> options() {
        return List.of("jfabric.link.enabled=loopback,shm," + link, "jfabric.udp.sockets=" + sockets);
    }

    @Override
    public String toString() {
        return "link=" + link + " mode=" + (daemon ? "daemon" : "embedded") + " host=" + host + " sockets=" + sockets;
    }
}
