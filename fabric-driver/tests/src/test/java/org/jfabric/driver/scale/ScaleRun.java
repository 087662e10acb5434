package org.jfabric.driver.scale;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.driver.metrics.OpenMetricsText;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.jfabric.tool.CncView;

/**
 * One endpoint over link tcp with many peers that it has inserted: some are endpoints of another driver, most are
 * {@link StubPeersMain}. All connect at once, flood it, are sent to in turn, lose their connections at once, and find
 * their way back beside a crowd that connects from one address. Prints figures; throws if a message is lost or a peer
 * is kept out.
 */
public final class ScaleRun implements AutoCloseable {
    private static final int LENGTH = 64;
    private static final int RECEIVES = 1024;
    private static final int SENDS = 256;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final int LONG_LENGTH = 4096;
    private static final int FLOOD_MESSAGES = 4;
    private static final int ROUND_TRIPS = 500;
    private static final double NS_PER_S = 1e9;
    private static final String REFUSED = "tcp: connections refused because of limits";
    private static final String LONGEST = "longest duty cycle ns";

    /** Counts of all stubs, with which their process answers a command; reached have a message since a reset. */
    private record Stubs(long connected, long received, long refused, long cut, long reached) {
    }

    private final int realCount;
    private final int stubCount;
    private final PrintStream out;
    private final Path base = TestDirectory.create();
    private final FabricDriver driver;
    private final DriverView view;
    private final FabricNode node;
    private final TestProcess stubs;
    private final TestProcess reals;
    private final List<Long> addresses = new ArrayList<>();
    private long received;
    private long sendsLeft;
    private long failed;
    private long cancelled;
    private boolean receivesAgain = true;

    /** Starts all that connects later. */
    public ScaleRun(int realCount, int stubCount, PrintStream out) {
        this.realCount = realCount;
        this.stubCount = stubCount;
        this.out = out;
        Path directory = base.resolve("driver");
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(directory)
            .threadingMode(ThreadingMode.SHARED).set("jfabric.tcp.interface", "lo").build());
        view = new DriverView(directory);
        node = new FabricNode(driver.fabric(), "tcp", new Info().caps(Flags.TAGGED | Flags.MSG),
            2 * (SENDS + RECEIVES), 0, () -> { });
        String name = node.endpoint.name();
        String port = name.substring(name.lastIndexOf(':') + 1);
        stubs = TestJvm.start(List.of("-Xmx512m"), StubPeersMain.class, "127.0.0.1", port);
        reals = TestJvm.start(List.of("-Xmx1g"), RealPeersMain.class, base.resolve("real").toString(), name,
            Integer.toString(realCount));
    }

    /** All of it. */
    public void run() throws IOException {
        Memory alone = Memory.now();
        for (int i = 0; i < realCount; i++) {
            addresses.add(node.av.insert(reals.hear("name")));
        }
        int port = Integer.parseInt(stubs.hear("port"));
        for (int i = 0; i < stubCount; i++) {
            addresses.add(node.av.insert("fi_sockaddr_in://" + StubPeersMain.host(i) + ':' + port));
        }
        Memory inserted = Memory.now();
        for (int i = 0; i < RECEIVES; i++) {
            receive();
        }
        long begin = System.nanoTime();
        reals.say("begin");
        await("real peers", () -> received == realCount);
        said("%d endpoints of another driver connected and sent a message: %.2f s", realCount, seconds(begin));
        double few = roundTripUs();
        storm();
        Memory idle = Memory.now();
        said("heap of each peer: %.1f KiB inserted, %.1f KiB more connected and idle; kernel %.1f KiB a socket",
            (inserted.heap - alone.heap) / 1024.0 / peers(), (idle.heap - inserted.heap) / 1024.0 / peers(),
            (idle.kernel - inserted.kernel) / 1024.0 / 2 / peers());
        double many = roundTripUs();
        said("round trip with one of them: %.1f us beside %d idle, %.1f us beside %d", few, realCount - 1, many,
            peers() - 1);
        broadcast();
        flood();
        restart();
        besideCrowd("asking");
        besideCrowd("silent");
        try (CncView cnc = CncView.open(base.resolve("driver"))) {
            long pageNs = System.nanoTime();
            int page = OpenMetricsText.of(MetricsSnapshot.of(cnc.counters())).length();
            said("page of metrics: %.1f ms, %d KiB; longest duty cycle of all: %.1f ms",
                (System.nanoTime() - pageNs) / 1e6, page >> 10, view.counter(LONGEST) / 1e6);
        }
        view.assertExplained();
    }

    private int peers() {
        return realCount + stubCount;
    }

    private void said(String format, Object... values) {
        out.println("scale: " + String.format(Locale.ROOT, format, values));
    }

    private static double seconds(long beginNs) {
        return (System.nanoTime() - beginNs) / NS_PER_S;
    }

    /** All stubs connect at once, and then each sends a message. */
    private void storm() {
        long begin = System.nanoTime();
        Stubs state = awaitConnected("connect " + stubCount);
        said("%d stubs connected at once: %.2f s, %d refused, %d cut off; longest duty cycle so far %.1f ms",
            stubCount, seconds(begin), state.refused, state.cut, view.counter(LONGEST) / 1e6);
        check(state.refused == 0, "peers of the address vector were refused: " + state);
        received = 0;
        begin = System.nanoTime();
        ask("send 1 " + LENGTH);
        await("a message of each stub", () -> received == stubCount);
        said("a message of each of them received: %.0f ms", seconds(begin) * 1e3);
    }

    /** With the first real peer, in the mean. */
    private double roundTripUs() {
        long begin = System.nanoTime();
        for (int i = 0; i < ROUND_TRIPS; i++) {
            long before = received;
            send(addresses.getFirst());
            await("the echo", () -> received == before + 1);
        }
        return seconds(begin) * 1e6 / ROUND_TRIPS;
    }

    private void broadcast() {
        int before = (int) ask("state").received;
        received = 0;
        int rounds = 5;
        long begin = System.nanoTime();
        for (int round = 0; round < rounds; round++) {
            addresses.forEach(this::send);
        }
        await("the ends of all sends", () -> sendsLeft == 0);
        double took = seconds(begin);
        await("messages at all peers",
            () -> received == (long) rounds * realCount && ask("state").received == before + rounds * stubCount);
        said("a message to each of %d peers in turn, %d times: %.0f ns a message", peers(), rounds,
            took * 1e9 / rounds / peers());
        check(failed == 0, failed + " sends failed");
    }

    /** Far more than the budget of messages without a receive, while a message with a real peer has its own. */
    private void flood() {
        receivesAgain = false;
        for (int i = 0; i < RECEIVES; i++) {
            await("room to cancel", () -> node.endpoint.cancel(RECEIVE) == 0);
        }
        await("no receives", () -> cancelled == RECEIVES);
        received = 0;
        ask("send " + FLOOD_MESSAGES + ' ' + LONG_LENGTH);
        long begin = System.nanoTime();
        int echoes = 100;
        for (int i = 0; i < echoes; i++) {
            long before = received;
            check(node.endpoint.trecv(node.memory.address(), LENGTH, addresses.getFirst(), 0, 0, RECEIVE) == 0, "recv");
            send(addresses.getFirst());
            await("the echo beside the flood", () -> received == before + 1);
        }
        said("round trip with a real peer while %d MiB of others' messages wait: %.1f us",
            (long) FLOOD_MESSAGES * LONG_LENGTH * stubCount >> 20, seconds(begin) * 1e6 / echoes);
        begin = System.nanoTime();
        receivesAgain = true;
        received = 0;
        for (int i = 0; i < RECEIVES; i++) {
            receive();
        }
        await("the flood", () -> received == (long) FLOOD_MESSAGES * stubCount);
        said("all of them received: %.2f s", seconds(begin));
    }

    /** All connections to stubs break at once; both sides want them back. */
    private void restart() {
        long begin = System.nanoTime();
        ask("reset");
        ask("connect " + stubCount);
        long again = begin;
        Deadline deadline = Deadline.in(60);
        Stubs state = ask("state");
        while (state.reached < stubCount) {
            deadline.check("a message at each stub", () -> ask("state"));
            if (System.nanoTime() - again >= 0) {
                addresses.subList(realCount, peers()).forEach(this::send);
                again = System.nanoTime() + (long) (2 * NS_PER_S);
            }
            poll();
            state = ask("state");
        }
        said("all connections lost at once, both sides connect again and each stub has a new message: %.2f s",
            seconds(begin));
        await("the ends of all sends", () -> sendsLeft == 0);
        said("of it %d sends ended with an error, %d of our requests were rejected", failed, state.refused);
        failed = 0;
    }

    /** The same while one address makes as many connections as it can. */
    private void besideCrowd(String kind) {
        ask("crowd 3000 " + kind);
        ask("reset");
        long begin = System.nanoTime();
        long before = ask("state").cut;
        Stubs state = awaitConnected("connect " + stubCount);
        said("beside 3000 %s connections of one address all connected again: %.2f s, %d cut off on the way; %d of"
            + " the crowd refused", kind, seconds(begin), state.cut - before, view.counter(REFUSED));
        ask("crowd 0 " + kind);
    }

    private Stubs awaitConnected(String command) {
        Deadline deadline = Deadline.in(60);
        for (Stubs state = ask(command);; state = ask("state")) {
            if (state.connected == stubCount) {
                return state;
            }
            Stubs last = state;
            deadline.check("connections of all stubs", () -> last);
            poll();
        }
    }

    private Stubs ask(String command) {
        stubs.say(command);
        String[] words = stubs.hear("state").split(" ");
        return new Stubs(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
            Long.parseLong(words[3]), Long.parseLong(words[4]));
    }

    private void receive() {
        check(node.endpoint.trecv(
            node.memory.address(), LONG_LENGTH, FabricAddress.ADDR_UNSPEC, 0, -1L, RECEIVE) == 0, "recv");
    }

    private void send(long address) {
        int result = node.endpoint.tsend(node.memory.address(), LENGTH, address, 0, SEND);
        Deadline deadline = Deadline.in(60);
        while (result == -FabricErrno.EAGAIN) {
            deadline.check("room for a send", () -> sendsLeft + " outstanding");
            poll();
            result = node.endpoint.tsend(node.memory.address(), LENGTH, address, 0, SEND);
        }
        check(result == 0, "send: " + result);
        sendsLeft++;
    }

    private void poll() {
        for (FabricNode.Entry entry = node.poll(); entry != null; entry = node.poll()) {
            if (entry.context() == SEND) {
                sendsLeft--;
                failed += entry.err() == 0 ? 0 : 1;
            } else if (entry.err() == FabricErrno.ECANCELED) {
                cancelled++;
            } else if (entry.err() == 0) {
                received++;
                if (receivesAgain) {
                    receive();
                }
            }
        }
    }

    private void await(String what, BooleanSupplier condition) {
        Deadline deadline = Deadline.in(60);
        while (!condition.getAsBoolean()) {
            poll();
            // where cores are few, those that are waited for need this one
            Thread.yield();
            deadline.check(what, () -> received + " received, " + sendsLeft + " sends left, " + failed + " failed, "
                + view.errors());
        }
    }

    private static void check(boolean isRight, String what) {
        if (!isRight) {
            throw new AssertionError(what);
        }
    }

    /** In bytes, after a collection. */
    private record Memory(long heap, long kernel) {
        static Memory now() throws IOException {
            Runtime runtime = Runtime.getRuntime();
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            long kernel = 0;
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("Slab:")) {
                    kernel = Long.parseLong(line.replaceAll("\\D", "")) << 10;
                }
            }
            return new Memory(runtime.totalMemory() - runtime.freeMemory(), kernel);
        }
    }

    @Override
    public void close() {
        stubs.close();
        reals.close();
        node.close();
        view.close();
        driver.close();
        TestDirectory.delete(base);
    }
}
