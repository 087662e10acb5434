package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.kit.SteppedServices;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;

/** A verbsud link with one endpoint over a device in memory, stepped by the test. */
final class UdNode extends SteppedServices implements AutoCloseable {
    final FakeVerbs verbs;
    final VerbsUdLink link;
    final VerbsUdPort port;
    final Own endpoint;
    /** Receives that wait for a message. */
    int posted = 1000;
    /** Operations that have ended, in that order. */
    final List<Long> ended = new ArrayList<>();
    private final Map<String, UdTold> told = new HashMap<>();

    UdNode(FakeVerbs.Network network, String host, String... options) {
        verbs = new FakeVerbs(network, host);
        DriverConfig.Builder builder = DriverConfig.builder();
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        DriverConfig config = builder.build();
        VerbsUdLinkProvider provider = new VerbsUdLinkProvider(verbs::libraries);
        link = (VerbsUdLink) provider.open(this, config);
        port = (VerbsUdPort) provider.bind(new Info().srcAddr(SocketName.IN_SCHEME + host + ":0"), config);
        endpoint = new Own();
        link.attach(endpoint);
    }

    String address() {
        return port.address();
    }

    /** As an insertion into the address vector. */
    UdTold insert(String address) {
        link.onInserted(endpoint, address);
        return told.get(address);
    }

    UdTold strangers() {
        return told.get(VerbsUdEndpoint.UNKNOWN_SENDERS);
    }

    long lost() {
        return counter(VerbsUdLink.LOST);
    }

    int step() {
        runTasks();
        return link.poll(64);
    }

    /** Steps so often that the link looks at its descriptors too. */
    void steps() {
        for (int i = 0; i < 40; i++) {
            step();
        }
    }

    @Override
    public void close() {
        link.close();
        free();
    }

    @Override
    public long nowNs() {
        return System.nanoTime();
    }

    /** The endpoint. */
    final class Own extends Local {
        Own() {
            super(port);
        }

        @Override
        public int postedReceives() {
            return posted;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return told.containsKey(remoteAddress);
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return told.computeIfAbsent(remoteAddress, address -> new UdTold(UdNode.this, address));
        }

        Channel connect(String remoteAddress) {
            return link.connect(this, remoteAddress, handlerFor(remoteAddress));
        }
    }
}
