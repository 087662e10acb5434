package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A system that refuses sends without a copy, because its limit of memory for reports is reached. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TcpZeroCopyLackTest {
    private static final String LACK = "tcp: writes copied because optmem_max or memlock is used up";

    /** Sends one long message to itself, and prints what became of it. */
    static final class Side {
        private static final int LENGTH = 8_000_021;

        public static void main(String[] arguments) {
            TcpNode left = new TcpNode("127.0.0.1", "jfabric.tcp.zeroCopyBytes", "64k");
            TcpNode right = new TcpNode();
            Recorder here = left.connect(right.address());
            Deadline deadline = Deadline.usual();
            while (here.ups == 0 || right.handler(left.address()).ups == 0) {
                step(left, right, deadline);
            }
            left.send(here.channel, 1, LENGTH, 1);
            Recorder there = right.handler(left.address());
            while (there.messages.isEmpty() || here.sent.isEmpty()) {
                step(left, right, deadline);
            }
            System.out.println("received " + Arrays.equals(TcpNode.payload(LENGTH, 1), there.messages.getFirst())
                + " lacked " + (left.counter(LACK) > 0) + " downs " + here.downs);
            left.close();
            right.close();
        }

        private static void step(TcpNode left, TcpNode right, Deadline deadline) {
            left.step();
            right.step();
            deadline.check("the message", () -> left.errors.toString() + right.errors);
        }
    }

    @Test
    void shouldCopyWhereTheSystemRefuses() throws Exception {
        try (TwoHosts hosts = TwoHosts.make()) {
            assertEquals(0, TestProcess.run("ip", "-n", hosts.first(), "link", "set", "lo", "up").status());
            for (String limit : new String[] {"1000000", "1"}) {
                assertEquals(0, TestProcess.run("ip", "netns", "exec", hosts.first(), "sh", "-c",
                    "echo " + limit + " > /proc/sys/net/core/optmem_max").status());
                try (TestProcess side = TwoHosts.java(hosts.first(), Side.class)) {
                    String line = side.awaitLine("received");
                    assertEquals("received true lacked " + limit.equals("1") + " downs 0", line);
                    assertTrue(side.ended().status() == 0, side::output);
                }
            }
        }
    }
}
