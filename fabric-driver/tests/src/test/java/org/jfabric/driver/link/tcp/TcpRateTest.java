package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Peers that send more than they may, in time that the test makes pass: they wait, and nothing is lost. */
@Timeout(60)
class TcpRateTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int RATE = 1_000_000;
    /** As much as one read takes beyond the limit: a payload, and what is read ahead. */
    private static final int COARSE = 20_000 + (16 << 10);

    @TempDir
    private Path folder;
    private final List<TcpNode> nodes = new ArrayList<>();

    @AfterEach
    void close() {
        for (TcpNode node : nodes) {
            node.close();
            assertTrue(node.link.rates() == null || node.link.rates().size() <= 1);
        }
    }

    private TcpNode add(TcpNode node) {
        nodes.add(node);
        return node;
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0,
                () -> "not reached; errors " + nodes.stream().map(node -> node.errors.toString()).toList());
            step();
        }
    }

    private void step() {
        for (TcpNode node : nodes) {
            node.step();
        }
    }

    private TcpNode receiver(boolean isEncrypted, String option, int limit) {
        String[] options = {"jfabric.tcp." + option, Integer.toString(limit)};
        TcpNode node = isEncrypted ? TcpNode.tls(TestKeys.files(folder, "b", "a"), options)
            : new TcpNode("127.0.0.1", options);
        node.frozenNs = System.nanoTime();
        return add(node);
    }

    private TcpNode sender(boolean isEncrypted) {
        return add(isEncrypted ? TcpNode.tls(TestKeys.files(folder, "a", "b")) : new TcpNode());
    }

    private Recorder up(TcpNode from, TcpNode to) {
        Recorder handler = from.connect(to.address());
        await(() -> handler.ups == 1 && to.handler(from.address()).ups == 1);
        return handler;
    }

    private static long bytes(Recorder recorder) {
        return recorder.messages.stream().mapToLong(message -> message.length).sum();
    }

    @ParameterizedTest
    @CsvSource({"false, 0", "true, 0", "false, 20000", "true, 20000"})
    void shouldTakeNoMoreThanTheRateAndLoseNothing(boolean isEncrypted, int longest) {
        TcpNode right = receiver(isEncrypted, "peerRateBytes", RATE);
        TcpNode left = sender(isEncrypted);
        Recorder there = up(left, right);
        Recorder here = right.handler(left.address());
        int count = longest == 0 ? 4000 : 200;
        int length = longest == 0 ? 1000 : longest;
        int sent = 0;
        long beginNs = right.frozenNs;
        int waits = 0;
        while (here.messages.size() < count) {
            while (sent < count && left.send(there.channel, sent, length, sent) >= 0) {
                sent++;
            }
            long before = bytes(here);
            step();
            double seconds = (right.frozenNs - beginNs) / (double) SECOND_NS;
            assertTrue(bytes(here) <= RATE * (seconds + 0.1) + COARSE, "after " + seconds + " s: " + bytes(here));
            // no time passes for as long as it takes anything
            if (bytes(here) == before) {
                waits++;
                right.frozenNs += SECOND_NS / 50;
            }
        }
        assertTrue((right.frozenNs - beginNs) / (double) SECOND_NS < 4.5, "waits " + waits);
        assertTrue(waits > 100, "waits " + waits);
        for (int i = 0; i < count; i++) {
            assertEquals(i, here.tags.get(i));
            assertArrayEquals(TcpNode.payload(length, i), here.messages.get(i));
        }
        // the other direction has no limit
        right.send(here.channel, 1, 100_000, 1);
        await(() -> there.messages.size() == 1);
        assertEquals(0, here.downs + there.downs);
    }

    @Test
    void shouldCountMessagesAndShareTheRateOfAHost() {
        TcpNode right = receiver(false, "peerRateMessages", 1000);
        TcpNode one = sender(false);
        TcpNode two = sender(false);
        Recorder ofOne = up(one, right);
        Recorder ofTwo = up(two, right);
        for (int i = 0; i < 1000; i++) {
            assertTrue(one.send(ofOne.channel, i, 10, i) >= 0);
            assertTrue(two.send(ofTwo.channel, i, 10, i) >= 0);
        }
        Recorder fromOne = right.handler(one.address());
        Recorder fromTwo = right.handler(two.address());
        long beginNs = right.frozenNs;
        for (int i = 0; i < 100 && fromOne.messages.size() + fromTwo.messages.size() < 2000; i++) {
            step();
            int taken = fromOne.messages.size() + fromTwo.messages.size();
            double seconds = (right.frozenNs - beginNs) / (double) SECOND_NS;
            // 64 messages of one connection are processed in one step
            assertTrue(taken <= 1000 * (seconds + 0.1) + 64, "after " + seconds + " s: " + taken);
            right.frozenNs += SECOND_NS / 10;
        }
        assertEquals(2000, fromOne.messages.size() + fromTwo.messages.size());
    }

    /** What a peer has sent before its end is read at its rate, and the end is the one that it was. */
    @Test
    void shouldTakeTheRestOfAPeerThatHasEnded() {
        TcpNode right = receiver(false, "peerRateMessages", 100);
        TcpNode left = sender(false);
        Recorder there = up(left, right);
        Recorder here = right.handler(left.address());
        for (int i = 0; i < 500; i++) {
            assertTrue(left.send(there.channel, i, 10, i) >= 0);
        }
        await(() -> here.messages.size() >= 10);
        nodes.remove(left);
        left.step();
        left.close();
        for (int i = 0; i < 100 && here.downs == 0; i++) {
            step();
            right.frozenNs += SECOND_NS / 10;
        }
        assertEquals(500, here.messages.size());
        assertEquals(1, here.downs);
    }
}
