package org.jfabric.driver.kit;

import java.util.ArrayList;
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
    /** Embedded drivers, with DTLS. */
    DTLS_EMBEDDED("dtls", "127.0.0.1", "native", false),
    /** The same with the JDK's sockets and IPv6. */
    DTLS_NIO_IPV6("dtls", "::1", "nio", false),
    /** Clients of two driver processes, with DTLS. */
    DTLS_DAEMON("dtls", "127.0.0.1", "native", true),
    /** Embedded drivers with rings; skipped without the privilege. */
    PACKET_EMBEDDED("packet", "127.0.0.1", "native", false),
    /** The same with IPv6. */
    PACKET_IPV6("packet", "::1", "native", false),
    /** Clients of two driver processes with rings. */
    PACKET_DAEMON("packet", "127.0.0.1", "native", true);

    /** An Ethernet frame less the headers of IPv4 and UDP. */
    private static final int FRAME_BYTES = 1472;
    /** Of a record with AES-GCM, and the kind of a message. */
    private static final int RECORD_BYTES = 38;

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
        List<String> options = new ArrayList<>(
            List.of("jfabric.link.enabled=loopback,shm," + link, "jfabric.udp.sockets=" + sockets));
        if (isEncrypted()) {
            options.addAll(TestKeys.shared().assignments());
        }
        return options;
    }

    public boolean isEncrypted() {
        return link.equals("dtls");
    }

    /** Length of the longest message. */
    public int longest() {
        return FRAME_BYTES - (isEncrypted() ? RECORD_BYTES : 0);
    }

    @Override
    public String toString() {
        return "link=" + link + " mode=" + (daemon ? "daemon" : "embedded") + " host=" + host + " sockets=" + sockets;
    }
}
