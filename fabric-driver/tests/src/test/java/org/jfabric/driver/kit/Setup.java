package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.stream.Stream;
import org.jfabric.Endpoint;
import org.jfabric.info.BestName;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;

/** Where the two endpoints of a conformance test live. */
public enum Setup {
    /** Both in one embedded driver, whose cycles their calls run. */
    LOOPBACK_EMBEDDED("loopback", false),
    /** Each in an embedded driver of its own. */
    SHM_EMBEDDED("shm", false),
    /** Two clients of one driver process. */
    LOOPBACK_DAEMON("loopback", true),
    /** Clients of two driver processes. */
    SHM_DAEMON("shm", true),
    /** Each in an embedded driver of its own, over a link of networks. */
    NETWORK_EMBEDDED(Network.LINK, false),
    /** Clients of two driver processes, over a link of networks. */
    NETWORK_DAEMON(Network.LINK, true),
    /** Each in an embedded driver of its own, over TLS: for a part of the tests. */
    TLS_EMBEDDED("tls", false),
    /** The same with rxm. */
    TLSRXM_EMBEDDED("tlsrxm", false),
    /**
     * Several links under one address, each in an embedded driver of its own: peers are reached by shared memory. For
     * a part of the tests.
     */
    BEST_SHM_EMBEDDED(BestNodes.LINK, "shm", false),
    /** The same, but shared memory is refused, so that every peer is connected by the next link. */
    BEST_NEXT_EMBEDDED(BestNodes.LINK, "tcp", false);

    private static final long OWN_ORDER = Order.STRICT | Order.RMA_RAR | Order.RMA_RAW | Order.RMA_WAR
        | Order.RMA_WAW | Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAR | Order.ATOMIC_WAW;

    /** That endpoints are asked for. */
    public final String link;
    public final boolean daemon;
    /** The link by which the endpoints reach each other. */
    private final String wire;

    Setup(String link, boolean daemon) {
        this(link, !link.equals(BestNodes.LINK) ? link : Network.HAS_DEVICE ? "verbsrxm" : "tcp", daemon);
    }

    Setup(String link, String wire, boolean daemon) {
        this.link = link;
        this.wire = wire;
        this.daemon = daemon;
    }

    /** Those that this run is for. */
    public static Stream<Setup> wanted() {
        return Stream.of(values()).filter(setup -> setup.isWanted() && setup.isUsual());
    }

    /** Those with TLS, unless this run is for a certain link. */
    static Stream<Setup> encrypted() {
        return Network.IS_CHOSEN ? Stream.empty() : Stream.of(TLS_EMBEDDED, TLSRXM_EMBEDDED);
    }

    /** Those with several links of which shared memory is the first, unless this run is for another link. */
    static Stream<Setup> several() {
        return Network.IS_CHOSEN && !Network.LINK.equals(BestNodes.LINK) ? Stream.empty()
            : Stream.of(BEST_SHM_EMBEDDED, BEST_NEXT_EMBEDDED);
    }

    /** Options of its drivers, as NAME=VALUE. */
    public List<String> options() {
        return isSeveral() ? Network.options("tcp") : isForeign() ? Network.options(link) : Network.OPTIONS;
    }

    private boolean isWanted() {
        return !isForPart() && (!Network.IS_CHOSEN || isForeign()) && (!Network.IS_EMBEDDED || !daemon);
    }

    /**
     * Whether the usual build repeats tests with it. It has each link with embedded drivers, and the way of a client to
     * a daemon over shared memory; a daemon does the same as an embedded driver with the messages of its links.
     */
    private boolean isUsual() {
        return Effort.ALL || !daemon || this == SHM_DAEMON || Network.IS_CHOSEN;
    }

    /** Whether only the tests that ask for it are repeated with it. */
    private boolean isForPart() {
        return isSeveral() || this == TLS_EMBEDDED || this == TLSRXM_EMBEDDED;
    }

    private boolean isSeveral() {
        return this == BEST_SHM_EMBEDDED || this == BEST_NEXT_EMBEDDED;
    }

    /** Whether the drivers are to refuse connections by shared memory. */
    boolean refusesSharedMemory() {
        return this == BEST_NEXT_EMBEDDED;
    }

    /** Skips what other runs show, if this one is for a certain link or for embedded drivers. */
    public void assumeWanted() {
        assumeTrue(isForPart() || isWanted(), () -> "this run is for link " + Network.LINK
            + (Network.IS_EMBEDDED ? " and embedded drivers" : ""));
    }

    /** The link of connected endpoints, over which the one of reliable datagrams may go. */
    public String connectedLink() {
        return switch (link) {
            case "rxm", "best" -> "tcp";
            case "tlsrxm" -> "tls";
            case "verbsrxm" -> "verbs";
            default -> link;
        };
    }

    /** The link by which the endpoints reach each other. */
    public String reachingLink() {
        return wire;
    }

    /** An endpoint's address as its peers see it, and what names peers shows it: by the link that reaches it. */
    public String seen(Endpoint endpoint) {
        String name = endpoint.name();
        return BestName.isName(name) ? BestName.parse(name).way(wire) : name;
    }

    /** Whether an endpoint's address is that of its socket, and its protocol libfabric's. */
    public boolean hasSocketNames() {
        return isForeign() && !link.equals(BestNodes.LINK);
    }

    /** Whether endpoints have all that our own wire has: with several links they have what all of these have. */
    public boolean hasAllOfOwn() {
        return !isForeign() && !isSeveral();
    }

    /** Whether the wire is libfabric's, which has no announcements, no matching, no keys; names are of sockets. */
    public boolean isForeign() {
        return !wire.equals("loopback") && !wire.equals("shm");
    }

    /** The completion level that says most of those that the link gives. */
    public long strongestLevel() {
        return hasAllOfOwn() ? Flags.MATCH_COMPLETE
            : hasDeliveryBeforeMatch() ? Flags.DELIVERY_COMPLETE : Flags.INJECT_COMPLETE;
    }

    /** Length of a message that stays at its sender, as {@link #heldFlags()} say, until a receive takes it. */
    public int heldLength() {
        // over tcp nothing is announced: what is more than the receiver's driver keeps is not read off the wire;
        // rxm announces what is too long for its segments
        return isForeign() && hasDeliveryBeforeMatch() ? 6 << 20 : 1 << 20;
    }

    /** Flags of the call that sends such a message, so that its end tells that it was taken. */
    public long heldFlags() {
        return isForeign() && hasDeliveryBeforeMatch() ? Flags.DELIVERY_COMPLETE : 0;
    }

    /**
     * Skips a test of what only our own wire has: announcements, so that a long payload stays at the sender until a
     * receive takes it, and its send does not end before. Over tcp it goes as it is, and is stored by the receiver.
     */
    public void assumeAnnouncements() {
        assumeTrue(!isForeign(),
            "libfabric's wire has no announcements: long payloads go at once, their sends end when they are written");
    }

    /** Skips a test that knows by a later message between other endpoints that earlier ones are here. */
    public void assumeSharedConnection() {
        assumeTrue(!isForeign(),
            "over tcp each pair of endpoints has a connection of its own: nothing tells when another one's are here");
    }

    /** Whether the wire tells of a delivery that no receive has matched: rxm confirms only what a receive has taken. */
    private boolean hasDeliveryBeforeMatch() {
        return !isForeign() || isStream();
    }

    /** Whether a receive has the message when the peer confirms it, at any level: so it is over rxm. */
    public boolean confirmsMatches() {
        return isForeign() && wire.endsWith("rxm");
    }

    /** Skips a test whose endpoints of all types have addresses of one kind. */
    public void assumeOneLink() {
        assumeTrue(!link.equals(BestNodes.LINK), "with several links an address is not that of a connected endpoint");
    }

    /** Skips a test that names the plain link. */
    public void assumePlain() {
        assumeTrue(!connectedLink().equals("tls"), "the test names link tcp");
    }

    /** Skips a test that counts garbage. */
    public void assumeNoGarbage() {
        assumeTrue(!connectedLink().equals("tls"), "the JDK's engine allocates for each record");
    }

    /** Skips a test of messages that are delivered before a receive takes them. */
    public void assumeDeliveryBeforeMatch() {
        assumeTrue(hasDeliveryBeforeMatch(), "rxm confirms a message only when a receive has taken it");
    }

    /** Skips a test of connected endpoints with tags, where a message is nothing but its bytes. */
    public void assumeCarried(Info connected) {
        assumeTrue(!connectedLink().equals("verbs") || (connected.caps() & Flags.TAGGED) == 0,
            "messages of connected endpoints over verbs have no tags");
    }

    /** Skips a test of sends that wait for the peer before they have begun. */
    public void assumeSendsWait() {
        assumeTrue(
            hasDeliveryBeforeMatch(), "over rxm every long message is announced at once, so that all have begun");
    }

    /** Skips a test of what is not there without RDMA devices. */
    public void assumeNoDevice() {
        assumeTrue(!link.startsWith("verbs"), "the drivers have RDMA devices here");
    }

    /** Whether sends may wait until the message is matched. */
    public boolean offersMatchLevel() {
        return hasAllOfOwn() || confirmsMatches();
    }

    /** Skips a test of a level that tcp cannot tell of. */
    public void assumeMatchLevel() {
        assumeTrue(offersMatchLevel(), "the wire cannot tell of a match: the level is refused");
    }

    /** Skips a test of fences that wait until all earlier messages are matched. */
    public void assumeFencedMatch() {
        assumeTrue(hasAllOfOwn(), "libfabric's wire cannot tell when earlier messages are matched");
    }

    /** Skips a test of {@link Flags#RMA_EVENT}. */
    public void assumeRemoteEvents() {
        assumeTrue(!isForeign() || isStream(), "the link reports no accesses to their target");
    }

    /** Skips a test of remote memory access, which these links do not have. */
    public void assumeRemoteMemory() {
        assumeTrue(!isForeign() || isStream(connectedLink()), "the link has no remote memory access");
    }

    /** Whether cards read and write remote memory, under keys and addresses of their own. */
    public boolean isByCard() {
        return link.equals("verbsrxm");
    }

    /** Skips a test of atomic operations, which libfabric's tcp does not have. */
    public void assumeAtomics() {
        assumeTrue(hasAllOfOwn() || link.endsWith("rxm"), "the wire has no atomic operations");
    }

    /** Skips a test of writes that end when they are on stable storage. */
    public void assumeCommits() {
        assumeTrue(offersCommits(), "rxm, verbs and best have no commits");
    }

    /** Whether writes can end when they are on stable storage. */
    public boolean offersCommits() {
        return hasAllOfOwn() || isStream(connectedLink()) && !isSeveral();
    }

    /** Skips a test of accesses that are refused with an errno of their own. */
    public void assumeErrorReplies() {
        assumeTrue(!isForeign(), "libfabric's wire has no answer with an errno: a refused access ends the connection");
    }

    /** Skips a test of writes and messages that stay behind an earlier read. */
    public void assumeOrderBehindReads() {
        assumeTrue(hasAllOfOwn(), "libfabric's links offer neither WAR nor SAR");
    }

    /** The orders of remote accesses and messages that the link offers. */
    public long messageOrder() {
        return hasAllOfOwn() ? OWN_ORDER
            : OWN_ORDER & ~(Order.WAR | Order.SAR | Order.RMA_WAR | Order.ATOMIC_WAR
                | (hasNoAtomics() ? Order.ATOMIC_RAR | Order.ATOMIC_RAW | Order.ATOMIC_WAW : 0));
    }

    private boolean hasNoAtomics() {
        return isSeveral() || isStream();
    }

    /** Skips a test of what only our own wire has: authorization keys. */
    public void assumeKeys() {
        assumeTrue(hasAllOfOwn(), "libfabric's wire carries no authorization key: the tcp link refuses them");
    }

    /** Skips a test of names that the driver gives: an endpoint of tcp is called by the address of its socket. */
    public void assumeNames() {
        assumeTrue(hasAllOfOwn(), "endpoints of the tcp link are named by their sockets, not by their driver");
    }

    /** Whether reliable datagrams go by libfabric's tcp, encrypted or not, without rxm above it. */
    public boolean isStream() {
        return isStream(reachingLink());
    }

    private static boolean isStream(String name) {
        return name.equals("tcp") || name.equals("tls");
    }

    /** Whether each endpoint has a driver of its own. */
    public boolean hasTwoDrivers() {
        return !link.equals("loopback");
    }

    @Override
    public String toString() {
        return "link=" + link + (isSeveral() ? " by=" + wire : "") + " mode=" + (daemon ? "daemon" : "embedded");
    }
}
