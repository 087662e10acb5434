package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.PacketPrivilege;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Times of messages over a cable are those that tshark sees at its ends. */
@Tag("slow")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TimestampCaptureTest {
    private static final Path TSHARK = Path.of("/usr/bin/tshark");
    private static final int MESSAGE = 8;
    private static final long RESOLUTION_NS = 1_000;
    private static final int ENOUGH = 300;

    /** Sends numbers until a line is said to it, or receives them; says number and time of each. */
    static final class Side {
        private static final long ANY = FabricAddress.ADDR_UNSPEC;
        private static final long PAUSE_NS = 200_000;

        public static void main(String[] arguments) {
            String link = arguments[0];
            Path base = TestDirectory.create();
            FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("side"))
                .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", link).build());
            Info hints = link.equals("tcp") ? new Info() : DatagramPair.hints();
            hints.caps(Flags.MSG | Flags.SOURCE | Flags.TIMESTAMP).srcAddr(arguments[1]);
            try (FabricNode node = new FabricNode(driver.fabric(), link, hints, 64, 0, driver::cycle)) {
                System.out.println("open");
                long other = node.av.insert(arguments[2]);
                if (arguments[3].equals("sends")) {
                    send(node, other);
                } else {
                    receive(node);
                }
            }
        }

        private static long[] next(FabricNode node) {
            long[] seen = {-1};
            CompletionHandler handler = entry -> seen[0] = entry.timeNs();
            int result = -FabricErrno.EAGAIN;
            while (result == -FabricErrno.EAGAIN) {
                result = node.cq.poll(handler, 1);
            }
            return seen;
        }

        private static void send(FabricNode node, long other) {
            AtomicBoolean isOver = new AtomicBoolean();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    isOver.set(System.in.read() >= 0);
                } catch (java.io.IOException e) {
                    isOver.set(true);
                }
            });
            for (long number = 1; !isOver.get(); number++) {
                node.memory.buffer().putLong(0, number, ByteOrder.BIG_ENDIAN);
                node.endpoint.send(node.memory.address(), MESSAGE, other, number);
                System.out.println("left " + number + ' ' + next(node)[0]);
                LockSupport.parkNanos(PAUSE_NS);
            }
            System.out.println("over");
        }

        private static void receive(FabricNode node) {
            while (true) {
                node.endpoint.recv(node.memory.address(), MESSAGE, ANY, 1);
                long timeNs = next(node)[0];
                System.out.println("arrived " + node.memory.buffer().getLong(0, ByteOrder.BIG_ENDIAN) + ' ' + timeNs);
            }
        }
    }

    private static TestProcess capture(String namespace, String link) {
        String protocol = link.equals("tcp") ? "tcp" : "udp";
        return TestProcess.start(List.of("ip", "netns", "exec", namespace, TSHARK.toString(), "-l", "-n", "-i",
            TwoHosts.INTERFACE, "-f", protocol + " dst port 7002", "-Y", protocol + ".payload", "-T", "fields",
            "-E", "separator=/s", "-e", "frame.time_epoch", "-e", protocol + ".payload"));
    }

    /** Times by the number at the end of the payload. */
    private static Map<Long, Long> captured(TestProcess capture) {
        Map<Long, Long> times = new HashMap<>();
        for (String line : capture.lines()) {
            String[] words = line.split(" ");
            if (words.length == 2 && words[0].matches("\\d+\\.\\d{9}") && words[1].matches("[0-9a-f]{16,}")) {
                times.putIfAbsent(Long.parseUnsignedLong(words[1].substring(words[1].length() - 2 * MESSAGE), 16),
                    Long.parseLong(words[0].replace(".", "")));
            }
        }
        return times;
    }

    private static Map<Long, Long> said(TestProcess side, String word) {
        Map<Long, Long> times = new HashMap<>();
        for (String line : side.lines()) {
            String[] words = line.split(" ");
            if (words[0].equals(word) && !words[2].equals("0")) {
                times.put(Long.parseLong(words[1]), Long.parseLong(words[2]));
            }
        }
        return times;
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp", "packet", "tcp"})
    void shouldSayTheTimesThatACaptureHas(String link) {
        assumeTrue(Files.isExecutable(TSHARK), "no tshark here; Debian's package of that name has it");
        if (link.equals("packet")) {
            PacketPrivilege.assume();
        }
        String first = "fi_sockaddr_in://" + TwoHosts.FIRST_ADDRESS + ":7001";
        String second = "fi_sockaddr_in://" + TwoHosts.SECOND_ADDRESS + ":7002";
        try (TwoHosts hosts = TwoHosts.make();
             TestProcess leaving = capture(hosts.first(), link);
             TestProcess arriving = capture(hosts.second(), link);
             TestProcess receiver = TwoHosts.java(hosts.second(), Side.class, link, second, first, "receives")) {
            receiver.awaitLine("open");
            try (TestProcess sender = TwoHosts.java(hosts.first(), Side.class, link, first, second, "sends")) {
                // frames of link packet leave past the place where the sender's packets are captured
                Deadline.await("captured messages", () -> (!link.equals("udp") || captured(leaving).size() > ENOUGH)
                        && captured(arriving).size() > ENOUGH && said(receiver, "arrived").size() > ENOUGH,
                    () -> leaving + "\n" + arriving + "\n" + sender + "\n" + receiver);
                sender.say("end");
                sender.awaitLine("over");
                if (link.equals("tcp")) {
                    checkReads(captured(arriving), said(receiver, "arrived"));
                } else {
                    check(captured(arriving), said(receiver, "arrived"));
                }
                if (link.equals("udp")) {
                    check(captured(leaving), said(sender, "left"), said(receiver, "arrived"));
                }
            }
        }
    }

    private static void check(Map<Long, Long> captured, Map<Long, Long> said) {
        captured.keySet().retainAll(said.keySet());
        assertTrue(captured.size() > ENOUGH / 2, () -> captured.size() + " of " + said.size());
        captured.forEach((number, timeNs) -> assertTrue(Math.abs(said.get(number) - timeNs) <= RESOLUTION_NS,
            () -> "message " + number + " has arrived at " + said.get(number) + ", captured at " + timeNs));
        report("arrivals", captured, said);
    }

    /**
     * Messages that one read has brought have the time of the last of them. On this cable the kernel takes it behind
     * the capture, because a packet of TCP carries the time for which its sender has planned it until IP hands it over.
     */
    private static void checkReads(Map<Long, Long> captured, Map<Long, Long> said) {
        said.keySet().retainAll(captured.keySet());
        assertTrue(said.size() > ENOUGH / 2, () -> said.size() + " of " + captured.size());
        TreeMap<Long, Long> numbers = new TreeMap<>();
        captured.forEach((number, timeNs) -> numbers.put(timeNs, number));
        Map<Long, Long> ofReads = new HashMap<>();
        said.forEach((number, timeNs) -> {
            Map.Entry<Long, Long> last = numbers.floorEntry(timeNs);
            assertTrue(last != null && last.getValue() >= number, () -> "message " + number + " has arrived at "
                + timeNs + ", captured at " + captured.get(number) + ", before that " + last);
            ofReads.put(number, last.getKey());
        });
        report("arrivals behind the last packet of the read", ofReads, said);
    }

    /** The capture has the time at which the packet is queued, the entry that at which it is on the cable. */
    private static void check(Map<Long, Long> captured, Map<Long, Long> left, Map<Long, Long> arrived) {
        captured.keySet().retainAll(left.keySet());
        assertTrue(captured.size() > ENOUGH / 2, () -> captured.size() + " of " + left.size());
        captured.forEach((number, timeNs) -> assertTrue(
            timeNs <= left.get(number) && left.get(number) <= arrived.getOrDefault(number, Long.MAX_VALUE),
            () -> "message " + number + " has left at " + left.get(number) + ", captured at " + timeNs
                + ", arrived at " + arrived.get(number)));
        report("departures", captured, left);
    }

    private static void report(String what, Map<Long, Long> captured, Map<Long, Long> said) {
        long[] differences = captured.entrySet().stream().filter(each -> said.containsKey(each.getKey()))
            .mapToLong(each -> said.get(each.getKey()) - each.getValue()).sorted().toArray();
        System.out.println(what + ": " + differences.length + " captured, difference in ns: least " + differences[0]
            + ", median " + differences[differences.length / 2] + ", most " + differences[differences.length - 1]);
    }
}
