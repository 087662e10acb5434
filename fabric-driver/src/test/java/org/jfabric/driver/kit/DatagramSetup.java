package org.jfabric.driver.kit;

/** Where the datagram endpoints of a conformance test live. */
public enum DatagramSetup {
    /** Each in an embedded driver of its own. */
    EMBEDDED("127.0.0.1", "native", false),
    /** The same with the JDK's sockets. */
    EMBEDDED_NIO("127.0.0.1", "nio", false),
    /** The same with IPv6. */
    EMBEDDED_IPV6("::1", "native", false),
    /** Clients of two driver processes. */
    DAEMON("127.0.0.1", "native", true);

    public final String host;
    public final String sockets;
    public final boolean daemon;

    DatagramSetup(String host, String sockets, boolean daemon) {
        this.host = host;
        this.sockets = sockets;
        this.daemon = daemon;
    }

    @Override
    public String toString() {
        return "link=udp mode=" + (daemon ? "daemon" : "embedded") + " host=" + host + " sockets=" + sockets;
    }
}
