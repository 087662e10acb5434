package org.jfabric.driver.link.verbs;

import org.jfabric.Flags;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.Channel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Connections that could not be made, and those that come after them. */
@Timeout(60)
class VerbsRetryTest {
    private static final byte[] DATA = "data".getBytes(StandardCharsets.US_ASCII);
    private static final long AWAITED = Flags.MSG | Flags.TRANSMIT_COMPLETE;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final VerbsNode a = new VerbsNode(network, "10.0.0.1", VerbsSettings::ofMessages);
    private final VerbsNode b = new VerbsNode(network, "10.0.0.2", VerbsSettings::ofMessages);
    private final Told there = new Told();
    private Told here;

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertEquals(List.of(), a.verbs.leftAtEnd());
        assertEquals(List.of(), b.verbs.leftAtEnd());
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; errors " + a.errors + b.errors
                + " here " + here.order + " there " + there.order + a.verbs.calls);
            if (a.step() + b.step() == 0) {
                Thread.yield();
            }
        }
    }

    private void request() {
        here = new Told();
        await(() -> b.address != null);
        a.link.connections().connect(a.endpoint, b.address, DATA, here.connecting);
    }

    /** The first channel is that of the check at start, the second the device's own. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldOpenADeviceAgainOfWhichAPartWasRefused(int channelsBefore) {
        a.verbs.channelsBefore = channelsBefore;
        a.verbs.refusedChannels = 1;
        request();
        await(() -> here.failedErrno != 0);
        assertTrue(a.errors.toString().contains("EMFILE"), a.errors::toString);
        a.errors.clear();
        request();
        // the end of the test finds what the first attempt has left
        await(() -> b.requests.size() == 1);
    }

    @Test
    void shouldNotTakeWhatIsLeftOfAConnectionForTheNextOneInItsPlace() {
        a.verbs.dataPath.leavesEntries = true;
        request();
        await(() -> b.requests.size() == 1);
        b.requests.getFirst().reject(DATA);
        await(() -> here.failedErrno != 0);
        // its queue pair goes, and its place is free, before anybody has looked at the completion queue
        while (!a.tasks.isEmpty()) {
            a.runTask().complete();
        }
        request();
        await(() -> b.requests.size() == 2);
        Channel back = b.requests.getLast().accept(b.endpoint, DATA, there.connecting);
        await(() -> here.ups == 1 && there.ups == 1);
        int receives = a.verbs.dataPath.receiveBatches.stream().mapToInt(Integer::intValue).sum();
        assertEquals(Channel.PENDING, back.send(b.operation(AWAITED, 100, 1), 0));
        await(() -> here.messages.size() == 1);
        assertEquals(List.of(), a.errors);
        // only the receive of the message is posted again: none of the others was taken for one that came back
        assertEquals(receives + 1, a.verbs.dataPath.receiveBatches.stream().mapToInt(Integer::intValue).sum());
    }
}
