package org.jfabric.driver.link.udp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.DatagramEndpoint;
import org.jfabric.driver.link.udp.dtls.DtlsLinks;
import org.jfabric.driver.link.udp.dtls.DtlsResources;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/** A udp or dtls link with one endpoint, on the loopback interface, stepped by the test in virtual time. */
final class UdpNode extends SteppedServices implements AutoCloseable {
    /** The time of several nodes. */
    static final class Clock {
        long nowNs = 1;
    }

    /** The engine's side of a channel. */
    static final class Handler extends ChannelHandler {
        final List<byte[]> messages = new ArrayList<>();
        final Map<Long, Integer> sent = new HashMap<>();
        Channel channel;
        int downs;
        int downErrno;
        int writables;

        @Override
        public int onOpening() {
            return 0;
        }

        @Override
        public void onUp(Channel newChannel) {
            channel = newChannel;
        }

        @Override
        public void onDown(int errno) {
            channel = null;
            downs++;
            downErrno = errno;
        }

        @Override
        public void onWritable() {
            writables++;
        }

        @Override
        public void onMessage(long flags, long tag, long data, long address, int length) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) {
                bytes[i] = UnsafeApi.getByte(address + i);
            }
            messages.add(bytes);
        }

        @Override
        public void onSent(long operation, int errno) {
            sent.put(operation, errno);
        }
    }

    final UdpLink link;
    final BoundAddress bound;
    final LocalEndpoint endpoint;
    int posted = 1000;
    private final DtlsResources resources;
    private final Map<String, Handler> handlers = new HashMap<>();
    private final Set<String> known = new HashSet<>();
    private final Clock clock;

    private static UdpLinkProvider dtls() {
        return (UdpLinkProvider) new DtlsLinks().links(List.of()).getFirst();
    }

    /** A node of the dtls link. */
    static UdpNode dtls(Clock clock, TestKeys.Folder keys, String... options) {
        String[] all = Arrays.copyOf(keys.options(), keys.options().length + options.length);
        System.arraycopy(options, 0, all, keys.options().length, options.length);
        return new UdpNode(dtls(), clock, null, all);
    }

    /** The same at an address that was used before. */
    static UdpNode dtlsAt(Clock clock, String address, TestKeys.Folder keys) {
        return new UdpNode(dtls(), clock, address, keys.options());
    }

    static UdpNode plain(Clock clock, String... options) {
        return new UdpNode(new UdpLinkProvider(), clock, null, options);
    }

    private UdpNode(UdpLinkProvider provider, Clock clock, String address, String... options) {
        this.clock = clock;
        DriverConfig.Builder builder = DriverConfig.builder().set("jfabric.udp.interface", "127.0.0.1");
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        link = (UdpLink) provider.open(this, config);
        resources = (DtlsResources) link.dtls();
        bound = provider.bind(new Info().srcAddr(address), config);
        endpoint = new Local(bound) {
            @Override
            public int postedReceives() {
                return posted;
            }

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

    Handler handler(String remote) {
        return handlers.computeIfAbsent(remote, each -> new Handler());
    }

    /** That of all senders that are not inserted. */
    Handler unknown() {
        return handler(DatagramEndpoint.UNKNOWN_SENDERS);
    }

    /** Into the address vector. */
    Handler insert(String remote) {
        known.add(remote);
        link.onInserted(endpoint, remote);
        return handler(remote);
    }

    /** Opens a channel again that has gone down. */
    void connect(String remote) {
        link.connect(endpoint, remote, handler(remote));
    }

    /** Sends, or returns the refusal. */
    int send(Handler to, int length, int seed) {
        return to.channel.send(operation(Flags.MSG, 0, length, seed), 0);
    }

    int sessions() {
        return resources.sessions();
    }

    int handshakes() {
        return resources.incoming();
    }

    int step() {
        runTasks();
        int work = 0;
        // also a quiet socket, which is not read in each poll
        for (int i = 0; i < 40; i++) {
            work += link.poll(64);
        }
        return work;
    }

    @Override
    public void close() {
        link.close();
        runTasks();
        free();
    }

    @Override
    public long nowNs() {
        return clock.nowNs;
    }
}
