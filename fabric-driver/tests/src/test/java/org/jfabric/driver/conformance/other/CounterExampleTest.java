package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.CountedNode.DEADLINE_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The code of docs/counters.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class CounterExampleTest {
    private static final int LENGTH = 64;

    private final List<String> said = new ArrayList<>();
    private CompletionQueue queue;
    private Counter sent;
    private Counter received;

    private Endpoint open(Domain domain, Info info, AddressVector vector) {
        // example: open
        sent = domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC));
        received = domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC));
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(256));

        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(sent, Flags.SEND);
        endpoint.bind(received, Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();
        // end of example
        return endpoint;
    }

    // example: await
    private long awaitSent(long count) {
        long failed = sent.readErr();
        int answer = 0;
        while (sent.read() + failed < count && answer != -FabricErrno.ENODEV) {
            // ends at once for a failure; one that came just before is found in the next round
            answer = sent.await(count - failed, 10_000_000);
            failed = sent.readErr();
        }
        return failed;
    }
    // end of example

    // example: errors
    private final CompletionError error = new CompletionError();

    private void sayWhatFailed() {
        while (queue.readErr(error, 0) == 1) {
            say("operation " + error.opContext() + ": " + FabricErrno.name(error.err()));
        }
    }
    // end of example

    private void say(String text) {
        said.add(text);
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-161", "REF-035"})
    void shouldRunAsThePageSays(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            FabricNode node = pair.a;
            Endpoint endpoint = open(node.domain, node.info, node.av);
            long self = node.av.insert(endpoint.name());
            for (int i = 1; i <= 20; i++) {
                // one of them names memory that nobody registered
                long buf = i == 4 ? 0 : node.memory.address();
                assertEquals(0, endpoint.trecv(
                    node.memory.address(1024), LENGTH, FabricAddress.ADDR_UNSPEC, 5, 0, i));
                assertEquals(0, endpoint.tsend(buf, LENGTH, self, 5, i));
            }
            assertEquals(1, awaitSent(20));
            sayWhatFailed();
            assertEquals(List.of("operation 4: FI_EFAULT"), said);
            assertEquals(0, received.await(19, DEADLINE_NS));
            assertEquals(-FabricErrno.ETIMEDOUT, received.await(20, 0));
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/counters.md", CounterExampleTest.class, 3);
    }
}
