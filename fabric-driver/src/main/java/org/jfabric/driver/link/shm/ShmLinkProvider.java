package org.jfabric.driver.link.shm;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.driver.stream.ReplaySecurity;
import org.jfabric.driver.stream.net.StreamSockets;
import org.jfabric.info.Flags;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;

/**
 * Provider of the shm link.
 */
public final class ShmLinkProvider extends ReliableLinkProvider {
    public static final String NAME = "shm";

    private static final int SCORE = 90;

    /** Makes a provider, which has no state. */
    public ShmLinkProvider() {
        super(NAME, Protocol.JFABRIC_SHM, SCORE);
    }

    @Override
    public Link open(LinkServices services, DriverConfig config) {
        return new ShmLink(services, config, limits(config), NAME, false);
    }

    /**
     * Opens the link between the progress threads of one driver: each thread is to the others as another driver.
     *
     * @param name     of the link that reaches endpoints of the same thread; endpoints use both as one.
     * @return the link, which reaches endpoints of the other threads only.
     */
    public Link openBetweenThreads(LinkServices services, DriverConfig config, String name) {
        return new ShmLink(services, config, limits(config), name, true);
    }

    /**
     * Joins the link between threads and that to other drivers, of one thread: groups reach both.
     *
     * @param between from {@link #openBetweenThreads}.
     * @param links   all of the thread.
     */
    public static void shareGroups(Link between, List<Link> links) {
        for (Link link : links) {
            if (link != between && link instanceof ShmLink shm) {
                shm.reachThreads((ShmLink) between);
            }
        }
    }

    /**
     * Has groups reach other hosts.
     *
     * @param security of the connections for logs, if keys seal what is sent besides; or null.
     */
    public static void reachHosts(List<Link> links, StreamSockets sockets, ReplaySecurity security) {
        for (Link link : links) {
            if (link instanceof ShmLink shm && shm.namesGroups()) {
                shm.groups().reachHosts(sockets, security);
            }
        }
    }

    @Override
    protected Reason unreachable(String destination, String driverName) {
        return FabricName.driverOf(destination) != null ? null : new Reason(
            "destination",
            destination,
            FabricName.of("<driver>", "<endpoint>"),
            "Shm reaches endpoints of this user's drivers on this host only");
    }

    @Override
    protected long remoteCaps() {
        return REMOTE_CAPS;
    }

    @Override
    protected long groupCaps() {
        return Flags.MULTICAST;
    }

    @Override
    protected boolean namesContexts() {
        return true;
    }

    @Override
    protected ChannelLimits limits(DriverConfig config) {
        return limits(config, config.get(ShmConfig.SEGMENT_LENGTH_BYTES));
    }
}
