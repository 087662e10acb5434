package org.jfabric.driver.link.udp.packet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricAddress;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Frames between two hosts: over a cable, in a VLAN, after the death of a peer and of the cable. */
@Tag("slow")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PacketHostsTest {
    private static final String FIRST = "fi_sockaddr_in://" + TwoHosts.FIRST_ADDRESS + ":7001";
    private static final String SECOND = "fi_sockaddr_in://" + TwoHosts.SECOND_ADDRESS + ":7002";
    private static final String FIRST_VLAN = "fi_sockaddr_in://198.18.78.1:7001";
    private static final String SECOND_VLAN = "fi_sockaddr_in://198.18.78.2:7002";
    private static final String FIRST_IN6 = "fi_sockaddr_in6://[fd77::1]:7001";
    private static final String SECOND_IN6 = "fi_sockaddr_in6://[fd77::2]:7002";

    /** Asks or answers for ever. Links, own address, addresses of the other sides, and whether it asks. */
    static final class Side {
        private static final long SILENCE_NS = 300_000_000L;
        private static final int DIRECT = 200;

        public static void main(String[] arguments) {
            Path base = TestDirectory.create();
            FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("side"))
                .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", arguments[0]).build());
            try (FabricNode node = new FabricNode(driver.fabric(), arguments[0],
                    DatagramPair.hints().srcAddr(arguments[1]), 64, 0, driver::cycle);
                 DriverView view = new DriverView(base.resolve("side"))) {
                System.out.println("open " + node.endpoint.name() + " up to " + node.info.epAttr().maxMsgSize());
                long other = FabricAddress.ADDR_UNSPEC;
                for (String peer : arguments[2].split(",")) {
                    other = node.av.insert(peer);
                }
                if (arguments[3].equals("asks")) {
                    ask(node, view, other);
                } else {
                    answer(node);
                }
            }
        }

        private static void ask(FabricNode node, DriverView view, long other) {
            int inOrder = 0;
            long bySocket = -1;
            long number = 0;
            while (true) {
                long count = view.counters().getOrDefault("packet: datagrams sent by the system's socket", 0L);
                inOrder = count == bySocket ? inOrder : 0;
                bySocket = count;
                node.fill(0, 100, (int) ++number);
                post(node);
                node.endpoint.inject(node.memory.buffer(), 0, 100, other);
                long beganNs = System.nanoTime();
                FabricNode.Entry entry = null;
                while (entry == null && System.nanoTime() - beganNs < SILENCE_NS) {
                    // there are more sides than processors
                    Thread.yield();
                    entry = node.poll();
                }
                if (entry == null || entry.err() != 0) {
                    inOrder = 0;
                    System.out.println("silent");
                    java.util.concurrent.locks.LockSupport.parkNanos(entry == null ? 0 : SILENCE_NS);
                } else if (entry.len() != 100) {
                    System.out.println("wrong " + entry);
                } else if (++inOrder % DIRECT == 0) {
                    System.out.println("direct");
                }
                // a send that has failed leaves the receive posted
                isPosted = entry == null || entry.err() != 0;
            }
        }

        private static boolean isPosted;

        private static void post(FabricNode node) {
            if (!isPosted) {
                node.endpoint.recv(node.memory.address() + 4096, 4096, FabricAddress.ADDR_UNSPEC, 2);
            }
        }

        private static void answer(FabricNode node) {
            while (true) {
                node.endpoint.recv(node.memory.address(), 4096, FabricAddress.ADDR_UNSPEC, 2);
                FabricNode.Entry entry;
                do {
                    Thread.yield();
                    entry = node.poll();
                } while (entry == null);
                node.endpoint.inject(node.memory.buffer(), 0, (int) entry.len(), entry.source());
            }
        }
    }

    private static TestProcess first(TwoHosts hosts, String link, String own, String other) {
        return TwoHosts.java(hosts.first(), Side.class, link, own, other, "answers");
    }

    private static TestProcess second(TwoHosts hosts, String own, String other) {
        return TwoHosts.java(hosts.second(), Side.class, "packet", own, other, "asks");
    }

    private static void ip(String... arguments) {
        assertEquals(0, TestProcess.start(
            Stream.concat(Stream.of("ip"), List.of(arguments).stream()).toList())
            .ended().status(), () -> String.join(" ", arguments));
    }

    private static long packetSockets(long pid) throws IOException {
        List<String> all = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/net/packet"))) {
            all.add("socket:[" + line.substring(line.lastIndexOf(' ') + 1) + ']');
        }
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return descriptors.map(PacketHostsTest::target).filter(all::contains).count();
        }
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException closed) {
            return "";
        }
    }

    /** Lines that came before do not count. */
    private static void awaitNew(TestProcess process, String line) {
        int seen = process.lines().size();
        long deadlineNs = System.nanoTime() + Deadline.ns(30);
        for (List<String> lines = process.lines(); !lines.subList(seen, lines.size()).contains(line);
            lines = process.lines()) {
            if (System.nanoTime() - deadlineNs > 0 || !process.isAlive()) {
                throw new AssertionError("no \"" + line + "\" in " + process.output());
            }
            java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void shouldSendFramesOverACableAndOutliveItsPeerAndTheCable() throws Exception {
        try (TwoHosts hosts = TwoHosts.make();
             TestProcess one = first(hosts, "packet", FIRST, SECOND)) {
            assertEquals("open " + FIRST + " up to 1472", one.awaitLine("open"));
            try (TestProcess two = second(hosts, SECOND, FIRST)) {
                awaitNew(two, "direct");
                one.kill();
                awaitNew(two, "silent");
                try (TestProcess again = first(hosts, "packet", FIRST, SECOND)) {
                    again.awaitLine("open");
                    awaitNew(two, "direct");
                    hosts.pullOut();
                    awaitNew(two, "silent");
                    ip("-n", hosts.second(), "link", "set", TwoHosts.INTERFACE, "up");
                    awaitNew(two, "direct");
                    // another card has the address from now on, and announces itself
                    assertEquals(0, TestProcess.run("ip", "netns", "exec", hosts.first(), "sh", "-c",
                        "echo 1 > /proc/sys/net/ipv4/conf/" + TwoHosts.INTERFACE + "/arp_notify").status());
                    ip("-n", hosts.first(), "link", "set", TwoHosts.INTERFACE, "address", "02:00:00:00:77:77");
                    awaitNew(two, "direct");
                }
                // the other side has plain sockets
                try (TestProcess plain = first(hosts, "udp", FIRST, SECOND)) {
                    plain.awaitLine("open");
                    awaitNew(two, "direct");
                }
            }
        }
    }

    @Test
    void shouldSendFramesByTheInterfaceThatReplacesAnother() throws Exception {
        try (TwoHosts hosts = TwoHosts.make();
             TestProcess one = first(hosts, "packet", FIRST, SECOND)) {
            one.awaitLine("open");
            try (TestProcess two = second(hosts, SECOND, FIRST)) {
                for (int i = 0; i < 3; i++) {
                    awaitNew(two, "direct");
                    hosts.replaceCable();
                }
                awaitNew(two, "direct");
                // a ring for each direction, and one sender: those of interfaces that are gone are closed
                Deadline deadline = Deadline.usual();
                for (long seen = packetSockets(two.pid()); seen != 3; seen = packetSockets(two.pid())) {
                    deadline.check("3 packet sockets instead of " + seen, two::toString);
                    awaitNew(two, "direct");
                }
            }
        }
    }

    /** An endpoint with the host's address has peers on the same host and on others, at the same time. */
    @Test
    void shouldAnswerPeersOnBothSidesOfTheHostsAddress() throws Exception {
        String third = "fi_sockaddr_in://" + TwoHosts.FIRST_ADDRESS + ":7003";
        String fourth = "fi_sockaddr_in://" + TwoHosts.FIRST_ADDRESS + ":7004";
        try (TwoHosts hosts = TwoHosts.make()) {
            ip("-n", hosts.first(), "link", "set", "lo", "up");
            try (TestProcess one = first(hosts, "packet", FIRST, String.join(",", SECOND, third, fourth))) {
                one.awaitLine("open");
                try (TestProcess two = second(hosts, SECOND, FIRST);
                     TestProcess beside = TwoHosts.java(hosts.first(), Side.class, "packet", third, FIRST, "asks");
                     TestProcess plain = TwoHosts.java(hosts.first(), Side.class, "udp", fourth, FIRST, "asks")) {
                    for (int i = 0; i < 3; i++) {
                        awaitNew(two, "direct");
                        awaitNew(beside, "direct");
                        awaitNew(plain, "direct");
                    }
                }
            }
        }
    }

    @Test
    void shouldSendFramesInAVlan() throws Exception {
        try (TwoHosts hosts = TwoHosts.make()) {
            String vlan = TwoHosts.INTERFACE + ".100";
            int last = 1;
            for (String host : List.of(hosts.first(), hosts.second())) {
                TestProcess added = TestProcess.run("ip", "-n", host, "link", "add", "link", TwoHosts.INTERFACE, "name",
                    vlan, "type", "vlan", "id", "100");
                assumeTrue(added.status() == 0, "this system has no interfaces of VLANs: " + added.output());
                ip("-n", host, "addr", "add", "198.18.78." + last++ + "/24", "dev", vlan);
                ip("-n", host, "link", "set", vlan, "mtu", "1400", "up");
            }
            try (TestProcess one = first(hosts, "packet", FIRST_VLAN, SECOND_VLAN)) {
                assertEquals("open " + FIRST_VLAN + " up to 1372", one.awaitLine("open"));
                try (TestProcess two = second(hosts, SECOND_VLAN, FIRST_VLAN)) {
                    awaitNew(two, "direct");
                }
            }
        }
    }

    @Test
    void shouldSendFramesOfIpv6() throws Exception {
        try (TwoHosts hosts = TwoHosts.make()) {
            int last = 1;
            for (String host : List.of(hosts.first(), hosts.second())) {
                ip("-n", host, "addr", "add", "fd77::" + last++ + "/64", "dev", TwoHosts.INTERFACE, "nodad");
            }
            try (TestProcess one = first(hosts, "packet", FIRST_IN6, SECOND_IN6)) {
                one.awaitLine("open");
                try (TestProcess two = second(hosts, SECOND_IN6, FIRST_IN6)) {
                    awaitNew(two, "direct");
                }
            }
        }
    }
}
