package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.MarkedAddress;
import org.jfabric.driver.resource.ReadPlace;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.info.Reason;
import org.jfabric.info.TimestampClock;

/**
 * The links of one endpoint: the endpoint as they see it, which of them reaches a peer, and the groups in them.
 *
 * <p>Owner: progress agent, unless a method says otherwise.
 */
public final class EndpointWays {
    private final EngineEndpoint endpoint;
    private final Engine engine;
    private final AddressTable addresses;
    private final LocalEndpoint local;
    private final List<Way> ways;

    EndpointWays(EngineEndpoint endpoint, Engine engine, List<Link> links, AddressTable addresses) {
        EndpointSettings settings = endpoint.settings();
        this.endpoint = endpoint;
        this.engine = engine;
        this.addresses = addresses;
        this.local = new Local(settings.address(), settings.bound(), "");
        boolean isOfSeveral = BestName.isName(settings.address());
        this.ways = links.stream()
            .map(link -> isOfSeveral ? way(settings.bound(), link, links) : new Way(link, local, "")).toList();
    }

    /** A link of an endpoint that has an address for each. */
    private Way way(BoundAddress bound, Link link, List<Link> all) {
        boolean isMarked = bound.of(link.name()) != null && all.stream()
            .skip(all.indexOf(link) + 1).anyMatch(later -> bound.of(later.name()) != null);
        String mark = isMarked ? MarkedAddress.mark(link.name()) : "";
        return new Way(link, new Local(bound.address(link.name()), bound.of(link.name()), mark), mark);
    }

    /** The links, the preferred one first. */
    List<Way> ways() {
        return ways;
    }

    /** The endpoint as links see it that share its address. */
    LocalEndpoint local() {
        return local;
    }

    void attach() {
        for (Way way : ways) {
            way.link().attach(way.local());
        }
    }

    void detach() {
        for (Way way : ways) {
            way.link().detach(way.local());
        }
    }

    /**
     * Joins a multicast group.
     *
     * @param group   the bound address that receives its messages, or null to send only; owned by the endpoint then.
     * @return the group's {@code fi_addr}, or a negative fabric errno.
     */
    public long join(String address, BoundAddress group) {
        if (group != null) {
            ways.forEach(way -> way.link().join(way.local(), group));
        }
        return addresses.insert(address);
    }

    /**
     * Joins a group by its name.
     *
     * @param flags   {@code Flags.SEND}, {@code Flags.RECV} or both.
     * @param inPlace whether the client reads the ring itself; with {@code Flags.RECV} alone.
     * @param handler gets the result, perhaps inside this call.
     */
    public void join(GroupName group, long flags, LogPosition from, boolean inPlace, GroupHandler handler) {
        engine.leaveQuick();
        boolean isClosed = endpoint.isClosed();
        for (Way way : ways) {
            if (way.link().namesGroups() && !isClosed) {
                way.link().join(way.local(), group, flags, from, inPlace, handler);
                return;
            }
        }
        String address = endpoint.settings().address();
        handler.onFailed(new FabricException(isClosed ? FabricErrno.EOPBADSTATE : FabricErrno.EOPNOTSUPP,
            isClosed ? "the endpoint " + address + " is closed"
                : "the links of endpoint " + address + " have no groups",
            "Open an endpoint with FI_MULTICAST and a match of link shm."));
    }

    /** Leaves a group that was joined by its name and has no number. */
    public void leave(GroupName group) {
        engine.leaveQuick();
        ways.forEach(way -> way.link().leave(way.local(), group.address()));
    }

    /**
     * Leaves a multicast group; its {@code fi_addr} stays, for sends.
     *
     * @param fiAddr from {@link #join}.
     */
    public void leave(long fiAddr) {
        String address = addresses.address(fiAddr);
        if (address != null) {
            engine.leaveQuick();
            ways.forEach(way -> way.link().leave(way.local(), address));
        }
    }

    /** The names of the links, the preferred one first. */
    public List<String> names() {
        return ways.stream().map(way -> way.link().name()).distinct().toList();
    }

    /** The name of the first link that reaches a peer, as a channel is opened. */
    String to(String address) {
        for (Way way : ways) {
            if (way.reaches(address)) {
                return way.link().name();
            }
        }
        return ways.isEmpty() ? "none" : ways.getFirst().link().name();
    }

    /**
     * The links that reach an address.
     *
     * @param address of a peer, inserted or not.
     * @return names; the first one is used, or the one that is used after the first could not be connected.
     */
    public List<String> reaching(String address) {
        List<String> names = new ArrayList<>();
        for (String each : endpoint.peers().addresses(address)) {
            ways.stream().filter(way -> way.reaches(each)).map(way -> way.link().name()).forEach(names::add);
        }
        String used = to(endpoint.peers().current(address));
        if (names.remove(used)) {
            names.addFirst(used);
        }
        return names;
    }

    /**
     * Whether one of the links reaches an address. Any thread of the driver.
     *
     * @param address of a peer, inserted or not.
     * @return true if a connection can be tried.
     */
    public boolean reach(String address) {
        PeerWays choice = endpoint.peers().choice();
        List<String> candidates = choice == null ? List.of(address) : choice.choose(address);
        return candidates.stream().anyMatch(each -> ways.stream().anyMatch(way -> way.reaches(each)));
    }

    /**
     * Why links cannot be tried for a peer that has an address for each of its links. Any thread of the driver.
     *
     * @param address of a peer, inserted or not.
     * @return reasons by name of the link; empty for other addresses.
     */
    public Map<String, Reason> obstacles(String address) {
        PeerWays choice = endpoint.peers().choice();
        return choice == null ? Map.of() : choice.obstacles(address);
    }

    /** Why links that were tried for such a peer are not used. */
    public Map<String, Reason> refusals(String address) {
        PeerWays choice = endpoint.peers().choice();
        return choice == null ? Map.of() : choice.refusals(address);
    }

    private final class Local extends LocalEndpoint {
        private final String address;
        private final BoundAddress boundAddress;
        /** As in {@link Way}. */
        private final String mark;

        Local(String address, BoundAddress boundAddress, String mark) {
            this.address = address;
            this.boundAddress = boundAddress;
            this.mark = mark;
        }

        @Override
        public String name() {
            return endpoint.settings().name();
        }

        @Override
        public String address() {
            return address;
        }

        @Override
        public byte[] authKey() {
            return endpoint.settings().authKey();
        }

        @Override
        public BoundAddress bound() {
            return boundAddress;
        }

        @Override
        public int trafficClass() {
            return endpoint.settings().tclass();
        }

        @Override
        public TimestampClock arrivals() {
            return endpoint.settings().arrivals();
        }

        @Override
        public Object memoryDomain(long accesses) {
            EndpointSettings settings = endpoint.settings();
            return settings.hasAny(accesses) ? endpoint.session().regions().keys(settings.domain()) : null;
        }

        @Override
        public ReadPlace readPlace() {
            return endpoint.readPlace();
        }

        @Override
        public int postedReceives() {
            return endpoint.receiver().scan().postedUntagged();
        }

        @Override
        public boolean knows(String remoteAddress) {
            String name = ContextName.endpoint(mark.concat(remoteAddress));
            return endpoint.peers().source(name) != Peer.UNKNOWN_SOURCE;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return endpoint.peers().inbound(mark.concat(remoteAddress));
        }
    }
}
