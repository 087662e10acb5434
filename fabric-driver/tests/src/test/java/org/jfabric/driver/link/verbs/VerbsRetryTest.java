package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.VerbsErrno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections that could not be made or that the card has ended, and those that come after them. */
@Timeout(60)
class VerbsRetryTest {
    private static final byte[] DATA = "data".getBytes(StandardCharsets.US_ASCII);
    private static final long AWAITED = Flags.MSG | Flags.TRANSMIT_COMPLETE;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final VerbsNode a = new VerbsNode(network, "10.0.0.1", VerbsSettings::ofMessages);
    private final VerbsNode b = new VerbsNode(network, "10.0.0.2", VerbsSettings::ofMessages);
    private final Told there = new Told();
    private Told here;
    private Channel channel;

    @AfterEach
    void close() {
        a.close();
        b.close();
        assertEquals(List.of(), a.verbs.leftAtEnd());
        assertEquals(List.of(), b.verbs.leftAtEnd());
    }

    private void await(BooleanSupplier condition) {
        VerbsNode.await(a, b, () -> " here " + here.order + " there " + there.order, condition);
    }

    private void request() {
        here = new Told();
        await(() -> b.address != null);
        channel = a.link.connections().connect(a.endpoint, b.address, DATA, here.connecting);
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

    private void connected() {
        int before = b.requests.size();
        request();
        await(() -> b.requests.size() > before);
        b.requests.getLast().accept(b.endpoint, DATA, there.connecting);
        await(() -> here.ups == 1 && there.ups == 1);
    }

    @Test
    void shouldTellThatThereIsNoIdentifierForAConnection() {
        await(() -> b.address != null);
        a.verbs.refusedIds = 1;
        request();
        await(() -> here.failedErrno != 0);
        assertEquals(FabricErrno.ENOMEM, here.failedErrno);
        connected();
    }

    @Test
    void shouldHandNothingOverOfAConnectionThatWasClosedWhileItWasMade() {
        request();
        await(() -> b.requests.size() == 1);
        Channel back = b.requests.getFirst().accept(b.endpoint, DATA, there.connecting);
        // b's side is made, and a's is up and sends, before b has looked for its own event
        while (here.ups == 0) {
            while (!b.tasks.isEmpty()) {
                b.runTask().complete();
            }
            a.step();
        }
        assertEquals(0, there.ups);
        channel.send(a.operation(AWAITED, 100, 1), 0);
        back.close(0);
        await(() -> b.verbs.dataPath.queuePairs() == 0);
        assertEquals(0, there.messages.size());
        assertEquals(List.of(), b.errors);
    }

    @Test
    void shouldSayWhatTheDeviceSaysOfAQueuePairWhoseRequestsCameBackFirst() {
        connected();
        a.verbs.dataPath.failQueuePair();
        a.verbs.happen(VerbsConstants.EVENT_QP_FATAL, a.verbs.dataPath.queuePair());
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.EIO, here.downErrno);
        assertEquals(VerbsErrno.ofEvent(VerbsConstants.EVENT_QP_FATAL), channel.provErrno());
        assertTrue(a.errors.getLast().getMessage().contains("the queue pair is lost"), a.errors::toString);
    }

    @Test
    void shouldEndAConnectionWhoseRequestsCameBackWithoutAnEvent() {
        connected();
        a.verbs.dataPath.failQueuePair();
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.ECONNRESET, here.downErrno);
        assertEquals(1, a.errors.size(), a.errors::toString);
    }

    @Tag("slow") // waits for a second to pass
    @Test
    void shouldMakeTheNextConnectionWithAnotherCompletionQueueThanTheLostOne() {
        connected();
        a.verbs.happen(VerbsConstants.EVENT_CQ_ERR, a.verbs.dataPath.queue());
        await(() -> here.downErrno != 0 && there.downErrno != 0 && a.verbs.dataPath.queuePairs() == 0
            && b.verbs.dataPath.queuePairs() == 0);
        there.ups = 0;
        assertEquals(1, a.verbs.dataPath.queues());
        connected();
        assertEquals(2, a.verbs.dataPath.queues());
        channel.send(a.operation(AWAITED, 100, 1), 0);
        await(() -> !here.sent.isEmpty() && !there.messages.isEmpty());
    }

    @Test
    void shouldGiveARegionBackWhoseLastConnectionIsGone() {
        connected();
        List<String> released = new ArrayList<>();
        TransmitOperation operation = a.operation(AWAITED, 8192, 5);
        operation.region = a.region(operation.address, 8192, released);
        channel.send(operation, 0);
        await(() -> here.writables == 1);
        channel.close(0);
        a.listener.close();
        await(() -> a.verbs.dataPath.queuePairs() == 0);
        operation.region.close();
        await(() -> !released.isEmpty());
        assertTrue(a.verbs.calls.contains("ibv_dereg_mr"), a.verbs.calls::toString);
    }
}
