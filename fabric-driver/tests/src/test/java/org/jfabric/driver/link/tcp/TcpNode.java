package org.jfabric.driver.link.tcp;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.tcp.tls.TlsLinks;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;

/** A tcp link with one endpoint, on the loopback interface, stepped by the test. */
final class TcpNode extends SteppedServices implements AutoCloseable {
    /** Of nodes made from now on: some test classes run with each kind. */
    private static Sockets sockets = Sockets.NATIVE;

    final Map<String, Recorder> handlers = new HashMap<>();
    private final Set<String> known = new HashSet<>();
    final TcpLink link;
    final LocalEndpoint endpoint;
    final BoundAddress bound;
    /** Added to the true time. */
    long aheadNs;
    /** The time, if it is not the true one. */
    long frozenNs;

    static void use(Sockets kind) {
        sockets = kind;
    }

    TcpNode() {
        this("127.0.0.1");
    }

    TcpNode(String address, String... options) {
        this(new TcpLinkProvider(), address, options);
    }

    /** A node of the tls link. */
    static TcpNode tls(TestKeys.Folder keys, String... options) {
        String[] all = Arrays.copyOf(keys.options(), keys.options().length + options.length);
        System.arraycopy(options, 0, all, keys.options().length, options.length);
        return new TcpNode((TcpLinkProvider) new TlsLinks().links(List.of()).getFirst(), "127.0.0.1", all);
    }

    TcpNode(TcpLinkProvider provider, String address, String... options) {
        DriverConfig.Builder builder = DriverConfig.builder().set("jfabric.tcp.interface", address)
            .set("jfabric.tcp.sockets", sockets.name());
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        link = (TcpLink) provider.open(this, config);
        bound = provider.bind(new org.jfabric.info.Info(), config);
        endpoint = new Local(bound) {
            @Override
            public boolean knows(String remoteAddress) {
                return known.contains(remoteAddress);
            }

            @Override
            public ChannelHandler handlerFor(String remoteAddress) {
                return handler(remoteAddress);
            }
        };
        link.attach(endpoint);
    }

    String address() {
        return bound.address();
    }

    SocketName name() {
        return SocketName.parse(address());
    }

    Recorder handler(String remote) {
        return handlers.computeIfAbsent(remote, each -> new Recorder());
    }

    /** Into the address vector. */
    void insert(String remote) {
        known.add(remote);
        link.onInserted(endpoint, remote);
    }

    Recorder connect(String remote) {
        Recorder handler = handler(remote);
        link.connect(endpoint, remote, handler);
        return handler;
    }

    /** System calls of the link that have written. */
    long writes() {
        return counter("tcp: writes to sockets");
    }

    int step() {
        runTasks();
        int work = 0;
        // also everything that the link checks only in some polls
        for (int i = 0; i < 40; i++) {
            work += link.poll(64);
        }
        return work;
    }

    int send(Channel channel, long tag, int length, int seed) {
        return channel.send(operation(Flags.TAGGED, tag, length, seed), 0);
    }

    @Override
    public void close() {
        link.close();
        free();
    }

    @Override
    public long nowNs() {
        return frozenNs != 0 ? frozenNs : System.nanoTime() + aheadNs;
    }
}
