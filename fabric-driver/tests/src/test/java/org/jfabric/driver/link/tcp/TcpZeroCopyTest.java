package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.ffi.Epoll;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Payloads that the system is not to copy: with its own reports, and with reports that the test makes. */
@Timeout(60)
class TcpZeroCopyTest {
    private static final String[] ON = {"jfabric.tcp.zeroCopyBytes", "64k"};
    private static final String OFF = "tcp: connections without zero copy because the system copies";
    private static final String LACK = "tcp: writes copied because optmem_max or memlock is used up";
    private static final int LENGTH = 1_000_003;

    private final List<TcpNode> nodes = new ArrayList<>();
    private final WithheldReports network = new WithheldReports();

    private TcpNode add(TcpNode node) {
        nodes.add(node);
        return node;
    }

    private TcpNode withheld() {
        return add(new TcpNode(new TcpLinkProvider(network), "127.0.0.1", ON));
    }

    @AfterEach
    void close() {
        nodes.forEach(TcpNode::close);
        nodes.forEach(node -> assertEquals(List.of(), node.errors));
        nodes.forEach(node -> assertEquals(0, node.link.readPool().taken() + node.link.writePool().taken()));
    }

    private int step() {
        int work = 0;
        for (TcpNode node : nodes) {
            work += node.step();
        }
        return work;
    }

    private void await(BooleanSupplier condition) {
        Deadline deadline = Deadline.usual();
        while (!condition.getAsBoolean()) {
            deadline.check("the condition", () -> nodes.stream().map(each -> each.errors).toList().toString());
            if (step() == 0) {
                Thread.yield();
            }
        }
    }

    private Recorder up(TcpNode from, TcpNode to) {
        Recorder handler = from.connect(to.address());
        await(() -> handler.ups == 1 && to.handler(from.address()).ups == 1);
        return handler;
    }

    private void report(int first, int last) {
        network.port().reports.add(new WithheldReports.Report(first, last, false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldStopOnAConnectionWhoseBytesTheSystemCopies(String host) {
        TcpNode left = add(new TcpNode(host, ON));
        TcpNode right = add(new TcpNode(host, ON));
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        int[] lengths = {65_535, 65_536, LENGTH, 8, 3 * LENGTH};
        int pending = 0;
        for (int i = 0; i < lengths.length; i++) {
            int count = i + 1;
            int result = left.send(here.channel, i, lengths[i], i);
            assertTrue(result >= 0);
            pending += result == Channel.PENDING ? 1 : 0;
            int ended = pending;
            await(() -> there.messages.size() == count && here.sent.size() == ended);
            assertArrayEquals(TcpNode.payload(lengths[i], i), there.messages.get(i));
            assertEquals(i == 0 ? 0 : 1, left.counter(OFF), "after " + lengths[i]);
        }
        assertTrue(right.send(there.channel, 9, LENGTH, 9) >= 0);
        await(() -> here.messages.size() == 1 && there.sent.size() == 1);
        assertArrayEquals(TcpNode.payload(LENGTH, 9), here.messages.getFirst());
        assertEquals(1, right.counter(OFF));
    }

    @Test
    void shouldEndAMessageWhenAllItsSendsAreReported() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        assertTrue(left.send(here.channel, 1, 8 * LENGTH, 1) >= 0);
        await(() -> there.messages.size() == 1);
        assertArrayEquals(TcpNode.payload(8 * LENGTH, 1), there.messages.getFirst());
        int sends = network.port().sends;
        assertTrue(sends > 1, () -> "the socket takes it in pieces: " + sends);
        step();
        assertEquals(List.of(), here.sent);
        assertEquals(-FabricErrno.EAGAIN, left.send(here.channel, 2, 8, 2));
        // the last first; then ranges that are of no send; then the rest
        report(sends - 1, sends - 1);
        report(sends, sends + 5);
        report(-1, 0);
        step();
        assertEquals(List.of(), here.sent);
        report(0, sends - 2);
        await(() -> here.sent.size() == 1 && here.writables == 1);
        assertTrue(left.send(here.channel, 2, LENGTH, 2) >= 0);
        await(() -> there.messages.size() == 2);
        assertArrayEquals(TcpNode.payload(LENGTH, 2), there.messages.get(1));
        step();
        assertEquals(1, here.sent.size());
        report(sends, network.port().sends - 1);
        await(() -> here.sent.size() == 2);
        assertEquals(0, left.counter(OFF));
    }

    @Test
    void shouldHoldTheAcknowledgementOfAMessageThatIsNotReleased() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        TransmitOperation operation = left.operation(Flags.TAGGED | Flags.TRANSMIT_COMPLETE, 1, LENGTH, 1);
        assertTrue(here.channel.send(operation, 0) >= 0);
        await(() -> there.messages.size() == 1);
        // the acknowledgement is in front of this message
        assertTrue(right.send(there.channel, 2, 8, 2) >= 0);
        await(() -> here.messages.size() == 1);
        assertEquals(List.of(), here.sent);
        report(0, network.port().sends - 1);
        await(() -> here.sent.size() == 1);
        step();
        assertEquals(List.of(operation.id()), here.sent);
        assertEquals(0, here.downs);
    }

    @Test
    void shouldCopyWhereTheSystemHasNoMemoryForReports() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        network.port().lackEvery = 2;
        assertTrue(left.send(here.channel, 1, 8 * LENGTH, 1) >= 0);
        Recorder there = right.handler(left.address());
        await(() -> there.messages.size() == 1);
        assertArrayEquals(TcpNode.payload(8 * LENGTH, 1), there.messages.getFirst());
        assertTrue(left.counter(LACK) > 0);
        report(0, network.port().sends - 1);
        await(() -> here.sent.size() == 1);
        assertEquals(0, left.counter(OFF));
    }

    @Test
    void shouldResetTheConnectionIfItsMemoryIsStillUsed() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        assertTrue(left.send(here.channel, 1, LENGTH, 1) >= 0);
        await(() -> there.messages.size() == 1);
        here.channel.close(0);
        assertTrue(network.port().isAborted);
        assertEquals(-1, network.port().fd());
        await(() -> there.downs == 1);
        assertEquals(FabricErrno.ECONNRESET, there.downErrno);
    }

    @Test
    void shouldEndWithAPeerThatIsKilledInTheMiddle() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        right.handler(left.address()).pauses = true;
        assertTrue(left.send(here.channel, 1, 64 * LENGTH, 1) >= 0);
        await(() -> network.port().sends > 0 && right.handler(left.address()).placeCalls > 0);
        nodes.remove(right);
        right.close();
        await(() -> here.downs == 1);
        assertEquals(FabricErrno.ECONNRESET, here.downErrno);
        assertEquals(List.of(), here.sent);
        assertTrue(network.port().isAborted);
    }

    @Test
    void shouldNotTakeAReportForTheEndOfAConnectionThatIsNotRead() {
        TcpNode left = add(new TcpNode("127.0.0.1", ON));
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        here.pauses = true;
        assertTrue(right.send(there.channel, 1, 100, 1) >= 0);
        await(() -> here.placeCalls > 0);
        assertTrue(left.send(here.channel, 2, 65_536, 2) >= 0);
        // the next poll asks for events first, among them that of the error queue
        left.link.arm();
        await(() -> there.messages.size() == 1 && here.sent.size() == 1);
        here.pauses = false;
        await(() -> here.messages.size() == 1);
        assertEquals(0, here.downs);
        assertEquals(1, left.counter(OFF));
    }

    @Test
    void shouldNotTakeTheEventOfAReportForAnEnd() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        here.pauses = true;
        assertTrue(right.send(there.channel, 1, 100, 1) >= 0);
        await(() -> here.channel.isPaused());
        assertTrue(left.send(here.channel, 2, LENGTH, 2) >= 0);
        ((TcpChannel) here.channel).connection().onEvents(Epoll.EPOLLERR);
        await(() -> there.messages.size() == 1);
        report(0, network.port().sends - 1);
        await(() -> here.sent.size() == 1);
        here.pauses = false;
        await(() -> here.messages.size() == 1);
        assertEquals(0, here.downs);
    }

    @Test
    void shouldCopyShorterPayloads() {
        TcpNode left = withheld();
        TcpNode right = add(new TcpNode());
        Recorder here = up(left, right);
        assertTrue(left.send(here.channel, 1, 65_535, 1) >= 0);
        await(() -> right.handler(left.address()).messages.size() == 1);
        assertEquals(0, network.port().sends);
        assertFalse(network.port().isAborted);
    }
}
