package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A payload that begins at a page, behind bytes of other messages that were not sent yet. */
@Timeout(60)
class TcpAlignedPayloadTest {
    private static final int PAGE = 4096;
    private static final int LENGTH = 100_000;
    private static final int HEADER_BYTES = 24;

    private final List<TcpNode> nodes = new ArrayList<>();

    @AfterEach
    void close() {
        nodes.forEach(TcpNode::close);
    }

    /** The bytes before it are a little more than a multiple of a page, from one page to all that is written behind. */
    @ParameterizedTest
    @EnumSource(Sockets.class)
    void shouldSendItBehindAnyNumberOfBytes(Sockets kind) {
        TcpNode left = new TcpNode(
            "127.0.0.1", "jfabric.tcp.writeBehindBytes", "64k", "jfabric.tcp.sockets", kind.name());
        TcpNode right = new TcpNode();
        nodes.addAll(List.of(left, right));
        Recorder here = left.connect(right.address());
        Recorder there = right.handler(left.address());
        await(left, right, () -> here.ups == 1 && there.ups == 1);
        long memory = UnsafeApi.allocateMemory(LENGTH + 2 * PAGE);
        long page = memory + PAGE - 1 & -PAGE;
        try {
            for (int pages = 1; pages <= 15; pages++) {
                for (int distance = 0; distance <= 40; distance += 8) {
                    there.messages.clear();
                    // each of a page with its header; the last one so that the next header ends where it is to
                    for (int i = 1; i <= pages; i++) {
                        int length = PAGE - HEADER_BYTES - (i == pages ? HEADER_BYTES - distance : 0);
                        assertEquals(0, here.channel.send(left.operation(Flags.TAGGED | Flags.MORE, i, length, i), 0));
                    }
                    TransmitOperation last = left.operation(Flags.TAGGED, 2, LENGTH, pages);
                    UnsafeApi.copyMemory(last.address, page, LENGTH);
                    last.address = page;
                    int result = here.channel.send(last, 0);
                    int count = pages + 1;
                    String at = "behind " + pages + " pages and " + distance + " bytes: " + result;
                    await(left, right, () -> there.messages.size() == count || here.downs != 0);
                    assertEquals(0, here.downs, at);
                    assertArrayEquals(TcpNode.payload(LENGTH, pages), there.messages.getLast(), at);
                }
            }
        } finally {
            UnsafeApi.freeMemory(memory);
        }
    }

    private static void await(TcpNode left, TcpNode right, BooleanSupplier condition) {
        Deadline deadline = Deadline.usual();
        while (!condition.getAsBoolean()) {
            left.step();
            right.step();
            deadline.check("the messages", () -> left.errors.toString() + right.errors);
        }
    }
}
