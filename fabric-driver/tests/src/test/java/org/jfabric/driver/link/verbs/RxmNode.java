package org.jfabric.driver.link.verbs;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.rxm.RxmLink;
import org.jfabric.driver.link.rxm.RxmSettings;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.info.SocketName;

/** An endpoint for reliable datagrams over a device in memory, stepped by the test. */
final class RxmNode implements AutoCloseable {
    static final int EAGER = 1024;
    static final int SEGMENTED = 4 * EAGER;

    final VerbsNode node;
    final String address;
    /** The engine's side of each peer, in the order in which they came. */
    final Map<String, RxmTold> peers = new LinkedHashMap<>();
    private final RxmLink rxm;
    private final BoundAddress bound;
    private final LocalEndpoint endpoint = new Local();

    RxmNode(FakeVerbs.Network network, String host, String... options) {
        String[] all = new String[options.length + 2];
        System.arraycopy(options, 0, all, 2, options.length);
        all[0] = "jfabric.rxm.eagerLimitBytes";
        all[1] = Integer.toString(EAGER);
        node = new VerbsNode(network, host, VerbsSettings::ofPackets, all);
        rxm = new RxmLink("verbsrxm", node.link, node,
            new RxmSettings(EAGER, SEGMENTED, 5_000_000_000L, new UnknownPeers.Limits(100, 100),
                0, Takeover.PROBE));
        bound = VerbsAddress.open(node.verbs, SocketName.parse("fi_sockaddr_in://" + host + ":0"));
        address = bound.address();
        rxm.attach(endpoint);
    }

    /** A peer that this side connects to. */
    RxmTold connect(String remote) {
        RxmTold told = new RxmTold(this);
        peers.put(remote, told);
        told.channel = rxm.connect(endpoint, remote, told).payloads();
        return told;
    }

    /** One poll; what the link looks at only now and then included if asked for. */
    int step(boolean isWhole) {
        while (!node.tasks.isEmpty() && !node.holdsTasks) {
            node.runTask().complete();
        }
        int work = 0;
        for (int i = isWhole ? 40 : 1; i > 0; i--) {
            work += rxm.poll(64);
        }
        for (RxmTold told : peers.values()) {
            work += told.flush();
        }
        return work;
    }

    /** Whether the endpoint is gone, with its peers. */
    void detach() {
        rxm.detach(endpoint);
    }

    @Override
    public void close() {
        detach();
        node.close();
    }

    private final class Local extends LocalEndpoint {
        @Override
        public String name() {
            return "ep";
        }

        @Override
        public String address() {
            return address;
        }

        @Override
        public byte[] authKey() {
            return new byte[0];
        }

        @Override
        public BoundAddress bound() {
            return bound;
        }

        @Override
        public int trafficClass() {
            return 0;
        }

        @Override
        public int postedReceives() {
            return 0;
        }

        @Override
        public boolean knows(String remoteAddress) {
            return true;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return peers.computeIfAbsent(remoteAddress, name -> new RxmTold(RxmNode.this));
        }
    }
}
