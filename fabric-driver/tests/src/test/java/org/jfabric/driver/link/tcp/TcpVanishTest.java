package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.info.FabricErrno;
import org.jfabric.net.TwoHosts;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A host that is gone from one moment to the next says nothing, not even that it ends. */
@Tag("slow")
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TcpVanishTest {

    /** One side, in a process of its own: only ever receives, or sends one message, or answers it with many. */
    static final class Side {
        public static void main(String[] arguments) throws IOException {
            boolean sends = arguments[0].startsWith("fi_");
            boolean isTalking = arguments[0].equals("talk");
            try (TcpNode node = new TcpNode("cable0",
                Arrays.copyOfRange(arguments, sends || isTalking ? 1 : 0, arguments.length))) {
                System.out.println(node.address());
                if (sends) {
                    Recorder to = node.connect(arguments[0]);
                    while (to.ups == 0) {
                        node.step();
                    }
                    node.send(to.channel, 7, 100, 1);
                }
                while (node.handlers.values().stream().allMatch(each -> each.downs == 0 && each.messages.isEmpty())) {
                    pause(node);
                }
                System.out.println("received");
                Recorder other = node.handlers.values().iterator().next();
                for (int sent = 0; other.downs == 0; pause(node)) {
                    // one after the other, so that some are under way whenever the cable is pulled out
                    if (isTalking && sent < 50_000) {
                        node.send(other.channel, 7, 10, 1);
                        sent++;
                    }
                }
                System.out.println(node.handlers.values().iterator().next().downErrno);
            }
        }

        private static void pause(TcpNode node) {
            if (node.step() == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    @Test
    void shouldNoticeThatTheSendersHostIsGoneWhileItOnlyReceives() throws Exception {
        pullOut("jfabric.tcp.keepaliveIdleNs", "1s", "jfabric.tcp.keepaliveIntervalNs", "1s",
            "jfabric.tcp.keepaliveProbes", "1");
    }

    /** The system alone would try for 15 minutes while bytes are under way. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndWithinThePeerTimeoutWhetherBytesAreUnderWayOrNot(boolean isTalking) throws Exception {
        String[] options = {"jfabric.tcp.peerTimeoutNs", "2s"};
        pullOut(isTalking ? new String[] {"talk", options[0], options[1]} : options);
    }

    private static void pullOut(String... arguments) throws Exception {
        try (TwoHosts hosts = TwoHosts.make()) {
            TestProcess receiver = TwoHosts.java(hosts.first(), Side.class, arguments);
            TestProcess sender = null;
            try {
                String address = receiver.awaitLine("fi_");
                assertTrue(address.startsWith("fi_sockaddr_in://" + TwoHosts.FIRST_ADDRESS), address);
                sender = TwoHosts.java(hosts.second(), Side.class, address);
                receiver.awaitLine("received");
                hosts.pullOut();
                int errno = Integer.parseInt(receiver.awaitLine(""));
                // the kernel also says what it has heard of the way, if it has; and it says the reason once, perhaps
                // to a write that does not ask for it
                assertTrue(Set.of(FabricErrno.ETIMEDOUT, FabricErrno.EHOSTUNREACH).contains(errno)
                    || errno == FabricErrno.ECONNRESET && arguments[0].equals("talk"), "errno " + errno);
                receiver.succeeded();
            } finally {
                receiver.close();
                if (sender != null) {
                    sender.close();
                }
            }
        }
    }
}
