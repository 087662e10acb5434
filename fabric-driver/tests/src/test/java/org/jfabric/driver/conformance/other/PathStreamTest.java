package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.NumberedMessages.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.AddressOfLoopback;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.driver.kit.NumberedMessages.Reader;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams to multicast groups, and over two paths. */
@Tag("conformance")
@Timeout(120)
class PathStreamTest {
    private static final String OTHERS = "streams: other writers of multicast groups";
    private static final long SEED = 4712;

    private static final Path BASE = TestDirectory.create();

    /** Of all tests: each opens streams of its own. */
    private static DriverProcess[] drivers;

    private final int port = NumberedMessages.freePort();
    private final int otherPort = NumberedMessages.freePort();
    private final NumberedMessages messages = new NumberedMessages();
    private final List<AutoCloseable> open = new ArrayList<>();
    private Fabric writing;
    private Fabric reading;
    private Fabric third;

    @BeforeAll
    static void start() {
        drivers = Stream.of("alpha", "beta", "gamma").map(name -> DriverProcess.launch(BASE.resolve(name),
            "jfabric.shm.groupRingLengthBytes=64k", "jfabric.link.enabled=loopback,shm,tcp,udp",
            "jfabric.udp.interface=lo")).toArray(DriverProcess[]::new);
    }

    @AfterAll
    static void stop() {
        for (DriverProcess driver : drivers) {
            driver.close();
        }
        TestDirectory.delete(BASE);
    }

    @BeforeEach
    void connect() {
        writing = connect(0);
        reading = connect(1);
        third = connect(2);
    }

    private Fabric connect(int driver) {
        return keep(Fabric.connect(new FabricConfig().directory(drivers[driver].awaitReady().directory())));
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T keep(T resource) {
        open.add(resource);
        return resource;
    }

    private Publication publish(String network) {
        return keep(Publication.on(writing, "jfabric://alpha/quotes").onNetwork(network).open());
    }

    private Reader read(Fabric fabric, String network) {
        return new Reader(keep(Subscription.on(fabric, "stream://" + network + "/quotes").open()));
    }

    private void finish(Publication publication, long until, Reader... readers) {
        publication.close();
        for (Reader reader : readers) {
            awaitEnd(reader, FabricErrno.ESHUTDOWN);
            assertEquals(until, reader.next, reader::toString);
            assertEquals(0, reader.gaps, reader::toString);
        }
    }

    private static String host(InetAddress address) {
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        String plain = scope < 0 ? text : text.substring(0, scope);
        return plain.indexOf(':') < 0 ? plain : '[' + plain + ']';
    }

    /** One reader at the group, others at groups of their own behind relays that lose. */
    private void multicast(InetAddress local, InetAddress... groups) {
        String on = "@" + local.getHostAddress();
        List<LossyRelay> relays = new ArrayList<>();
        for (int i = 1; i < groups.length; i++) {
            relays.add(keep(new LossyRelay(local, new InetSocketAddress(groups[0], port),
                new InetSocketAddress(groups[i], port), SEED + i, 20)));
        }
        Publication publication = publish(host(groups[0]) + ':' + port + on);
        Reader[] readers = {
            read(third, host(groups[0]) + ':' + port + on),
            read(reading, host(groups[1]) + ':' + port + on),
            read(third, host(groups[2]) + ':' + port + on)};
        messages.stream(publication, 10_000, readers);
        // the writer's own host can read the group, too
        Reader own = read(writing, host(groups[0]) + ':' + port + on);
        messages.stream(publication, 12_000, readers[0], readers[1], readers[2], own);
        finish(publication, 12_000, readers[0], readers[1], readers[2], own);
        relays.forEach(relay -> assertTrue(relay.lost() > 0, () -> "seed " + SEED));
    }

    @Test
    void shouldSendOnceToAMulticastGroupAndRepairWhatEachHostHasLost() throws UnknownHostException {
        multicast(InetAddress.getLoopbackAddress(), InetAddress.getByName("239.71.3.1"),
            InetAddress.getByName("239.71.3.2"), InetAddress.getByName("239.71.3.3"));
    }

    private static InetAddress multicastIn6() throws SocketException {
        return NetworkInterface.networkInterfaces().filter(PathStreamTest::hasMulticast)
            .flatMap(NetworkInterface::inetAddresses)
            .filter(each -> each instanceof Inet6Address && !each.isLinkLocalAddress()).findFirst().orElse(null);
    }

    private static boolean hasMulticast(NetworkInterface each) {
        try {
            return each.isUp() && each.supportsMulticast() && !each.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    @Test
    void shouldDoSoWithIpv6() throws UnknownHostException, SocketException {
        InetAddress local = multicastIn6();
        assumeTrue(local != null, "no interface has IPv6 and multicast");
        multicast(local, InetAddress.getByName("ff15::7103:1"), InetAddress.getByName("ff15::7103:2"),
            InetAddress.getByName("ff15::7103:3"));
    }

    @Test
    void shouldSendToHostsOfIpv6() {
        Publication publication = publish("[::1]:" + port);
        Reader reader = read(reading, "[::1]:" + port);
        messages.stream(publication, 5_000, reader);
        finish(publication, 5_000, reader);
    }

    /** Both drivers that write name the other; readers stay with the first. */
    @Test
    void shouldNameASecondWriterOfAMulticastGroup() {
        String group = "239.71.3.4:" + port;
        Publication first = publish(group);
        Reader reader = read(reading, group);
        messages.stream(first, 100, reader);
        Publication second = keep(Publication.on(third, "jfabric://gamma/quotes").onNetwork(group).open());
        // another stream of that group is no other writer of this one
        keep(Publication.on(third, "jfabric://gamma/others").onNetwork(group).open());
        awaitError(0, "another one of that name");
        awaitError(2, "another one of that name");
        for (int driver : new int[] {0, 2}) {
            try (DriverView view = new DriverView(drivers[driver].directory())) {
                assertEquals(1, view.counter(OTHERS));
            }
        }
        messages.offer(second);
        messages.stream(first, 2_000, reader);
        finish(first, 2_000, reader);
    }

    private void awaitError(int driver, String part) {
        try (DriverView view = new DriverView(drivers[driver].directory())) {
            Deadline.await("an error with " + part,
                () -> view.errors().stream().anyMatch(each -> each.contains(part)), () -> view.errors().toString());
        }
    }

    @Test
    void shouldReadFromTheFirstOfTwoPathsWhileTheOtherOneLosesEverything() {
        Publication publication = publish("127.0.0.1:" + port + ";127.0.0.1:" + otherPort);
        LossyRelay a = keep(new LossyRelay(port, SEED, 20));
        LossyRelay b = keep(new LossyRelay(otherPort, SEED + 1, 20));
        Reader reader = read(reading, "127.0.0.1:" + a.port() + ";127.0.0.1:" + b.port());
        // by one path alone
        Reader other = read(third, "127.0.0.1:" + otherPort);
        messages.stream(publication, 2_000, reader, other);
        a.cut(true);
        messages.stream(publication, 4_000, reader, other);
        a.cut(false);
        messages.stream(publication, 6_000, reader, other);
        b.cut(true);
        messages.stream(publication, 8_000, reader, other);
        b.cut(false);
        messages.stream(publication, 10_000, reader, other);
        finish(publication, 10_000, reader, other);
        assertTrue(a.lost() > 0 && b.lost() > 0, () -> "seed " + SEED);
    }

    @Test
    void shouldNameWhatNeitherPathHasBrought() {
        Publication publication = keep(Publication.on(writing, "jfabric://alpha/quotes?lossy")
            .onNetwork("127.0.0.1:" + port + ";127.0.0.1:" + otherPort).open());
        LossyRelay a = keep(new LossyRelay(port, SEED, 0));
        LossyRelay b = keep(new LossyRelay(otherPort, SEED, 0));
        Reader reader = read(reading, "127.0.0.1:" + a.port() + ";127.0.0.1:" + b.port());
        messages.stream(publication, 100, reader);
        a.cut(true);
        messages.stream(publication, 200, reader);
        assertEquals(0, reader.gaps, reader::toString);
        b.cut(true);
        Deadline.await("more than a ring", () -> {
            messages.offer(publication);
            return publication.position() >= 5_000;
        }, publication::toString);
        b.cut(false);
        messages.assertGapEnds(publication, reader);
    }

    @Test
    void shouldJoinWithOnePathWhenTheOtherOneIsSilent() {
        Publication publication = publish("127.0.0.1:" + port);
        Reader reader = read(reading, "127.0.0.1:" + otherPort + ";127.0.0.1:" + port);
        messages.stream(publication, 2_000, reader);
        // an interface that is not there is the same as one that fails
        Reader other = read(third, "127.0.0.1:" + port + ";127.0.0.1:" + otherPort + "@none");
        awaitError(2, "no interface called none");
        messages.stream(publication, 4_000, reader, other);
        finish(publication, 4_000, reader, other);
    }

    @Test
    void shouldUseAPathWhoseInterfaceComesLaterAndGoesAwayAndComesBack() {
        AddressOfLoopback address = keep(new AddressOfLoopback(0));
        Publication publication = publish("127.0.0.1:" + port + ";127.0.0.1:" + otherPort);
        LossyRelay other = keep(new LossyRelay(port, SEED, 0));
        Reader reader = read(reading, "127.0.0.1:" + other.port() + ";127.0.0.1:" + otherPort + '@' + address);
        awaitError(1, address.toString());
        messages.stream(publication, 1_000, reader);
        assumeTrue(address.add(), "no address can be added to lo: run the tests as root");
        other.cut(true);
        messages.stream(publication, 2_000, reader);
        other.cut(false);
        messages.stream(publication, 3_000, reader);
        assertTrue(address.remove());
        messages.stream(publication, 4_000, reader);
        assertTrue(address.add());
        other.cut(true);
        messages.stream(publication, 5_000, reader);
        finish(publication, 5_000, reader);
    }

    @Test
    void shouldReadTwoMulticastGroupsAsOneStream() {
        String network = "239.71.3.5:" + port + ";239.71.3.6:" + otherPort;
        Publication publication = publish(network);
        Reader both = read(reading, network);
        Reader one = read(third, "239.71.3.6:" + otherPort);
        messages.stream(publication, 5_000, both, one);
        finish(publication, 5_000, both, one);
    }

    @Test
    void shouldRefuseAPathThatLeadsToAnotherLogAndNameBoth() {
        Publication first = publish("127.0.0.1:" + port);
        Publication second = keep(
            Publication.on(third, "jfabric://gamma/quotes").onNetwork("127.0.0.1:" + otherPort).open());
        String network = "127.0.0.1:" + port + ";127.0.0.1:" + otherPort;
        Reader reader = read(reading, network);
        boolean isFirst = reader.subscription.next().logId().equals(first.next().logId());
        Publication joined = isFirst ? first : second;
        Publication refused = isFirst ? second : first;
        awaitError(1, "the stream is read of log " + joined.next().logId() + " term 1, but");
        awaitError(1, "has log " + refused.next().logId() + " term 1");
        messages.offer(refused);
        messages.stream(joined, 2_000, reader);
        finish(joined, 2_000, reader);
    }

    @Test
    void shouldRefuseWhatIsNoPath() {
        refusedToWrite("127.0.0.1:" + port + ";239.71.3.7:" + port, "is a multicast group");
        refusedToWrite("127.0.0.1:" + port + ";127.0.0.1:" + port, "are the same");
        refusedToWrite("127.0.0.1:1;127.0.0.1:2;127.0.0.1:3", "has 3 paths");
        refusedToWrite("127.0.0.1:" + port + "@lo", "Name the address of the interface alone");
        refusedToWrite("127.0.0.1:" + port + ";", "the socket of a stream is ");
        refusedToWrite("239.71.3.7:" + port + "@", "the socket of a stream is ");
        refusedToRead("127.0.0.1:" + port + ";127.0.0.1:" + port, "are the same");
        refusedToRead("127.0.0.1:1;127.0.0.1:2;127.0.0.1:3", "has 3 paths");
        // nothing of it stays behind
        Publication publication = publish("127.0.0.1:" + port);
        Reader reader = read(reading, "127.0.0.1:" + port);
        messages.stream(publication, 100, reader);
    }

    private void refusedToWrite(String network, String part) {
        refused(assertThrows(FabricException.class, () -> publish(network)), part);
    }

    private void refusedToRead(String network, String part) {
        refused(assertThrows(FabricException.class, () -> read(reading, network)), part);
    }

    private static void refused(FabricException refusal, String part) {
        assertEquals(FabricErrno.name(FabricErrno.EINVAL), FabricErrno.name(refusal.errno()), refusal::toString);
        assertTrue(refusal.getMessage().contains(part), refusal::toString);
    }
}
