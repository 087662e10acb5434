package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How connections, drivers and devices end, and what is left of the memory that was used. */
@Timeout(60)
class VerbsEndTest {
    private static final byte[] DATA = "data".getBytes(StandardCharsets.US_ASCII);
    private static final long AWAITED = Flags.MSG | Flags.TRANSMIT_COMPLETE;
    private static final int LONG = 8192;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final VerbsNode a = new VerbsNode(network, "10.0.0.1", VerbsSettings::ofMessages);
    private final VerbsNode b = new VerbsNode(network, "10.0.0.2", VerbsSettings::ofMessages);
    private final List<String> released = new ArrayList<>();
    private Told here;
    private Told there;
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

    private void connect() {
        here = new Told();
        there = new Told();
        int before = b.requests.size();
        VerbsNode.await(a, b, () -> "", () -> b.address != null);
        channel = a.link.connections().connect(a.endpoint, b.address, DATA, here.connecting);
        await(() -> b.requests.size() > before);
        b.requests.getLast().accept(b.endpoint, DATA, there.connecting);
        await(() -> here.ups == 1 && there.ups == 1);
    }

    /** A message that the card sends from the application's memory. */
    private TransmitOperation longMessage() {
        long memory = a.memory(LONG, 5);
        RegisteredRegion region = a.region(memory, LONG, released);
        TransmitOperation operation = new TransmitOperation(77, 0);
        operation.flags = AWAITED;
        operation.address = memory;
        operation.length = LONG;
        operation.region = region;
        assertEquals(-FabricErrno.EAGAIN, channel.send(operation, 0), "the region is registered first");
        await(() -> here.writables == 1);
        return operation;
    }

    /** The engine tells its clients between the two calls. */
    @Test
    void shouldTakeNothingFromTheApplicationsMemoryOnceTheEndIsAboutToBeTold() {
        connect();
        TransmitOperation operation = longMessage();
        a.verbs.dataPath.holdsSends = true;
        operation.region.retain();
        assertEquals(Channel.PENDING, channel.send(operation, 0));
        channel.quiesce();
        UnsafeApi.setMemory(operation.address, LONG, (byte) 0);
        a.verbs.dataPath.release();
        assertEquals(1, a.verbs.calls.stream().filter("ibv_modify_qp to error"::equals).count());
        channel.close(FabricErrno.ESHUTDOWN);
        operation.region.release();
        await(() -> there.downErrno != 0 && a.verbs.dataPath.queuePairs() == 0);
        assertTrue(there.messages.isEmpty());
        assertEquals(1, a.verbs.calls.stream().filter("ibv_modify_qp to error"::equals).count());
    }

    /** It is opened on the resource thread while the engine changes its mind. */
    @Test
    void shouldLetGoOfADeviceWhoseOnlyConnectionWasGivenUp() {
        VerbsNode.await(a, b, () -> "", () -> b.address != null);
        here = new Told();
        there = new Told();
        a.link.connections().connect(a.endpoint, b.address, DATA, here.connecting);
        await(() -> !b.requests.isEmpty());
        b.holdsTasks = true;
        Channel accepted = b.requests.getLast().accept(b.endpoint, DATA, there.connecting);
        accepted.close(FabricErrno.ECONNABORTED);
        b.holdsTasks = false;
        settle();
        b.listener.close();
        settle();
        b.verbs.replaceUntold();
        await(() -> b.verbs.leftAtEnd().stream().noneMatch("context"::equals));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeNothingFromTheApplicationsMemoryBehindTheEnd(boolean isHandedOver) {
        connect();
        TransmitOperation operation = longMessage();
        a.verbs.dataPath.holdsSends = true;
        if (!isHandedOver) {
            // what follows in the same cycle waits for the next one
            channel.send(a.operation(AWAITED, 10, 1), 0);
        }
        operation.region.retain();
        assertEquals(Channel.PENDING, channel.send(operation, 0));
        channel.close(FabricErrno.ESHUTDOWN);
        // the engine has told that it is cancelled
        UnsafeApi.setMemory(operation.address, LONG, (byte) 0);
        operation.region.release();
        a.verbs.dataPath.release();
        await(() -> there.downErrno != 0);
        assertTrue(there.messages.stream().noneMatch(message -> message.length == LONG));
        await(() -> a.verbs.dataPath.queuePairs() == 0);
    }

    @Test
    void shouldKeepRegionsRegisteredUntilRequestsHaveComeBack() {
        connect();
        TransmitOperation operation = longMessage();
        a.verbs.dataPath.holdsSends = true;
        a.verbs.dataPath.holdsFlushes = true;
        operation.region.retain();
        assertEquals(Channel.PENDING, channel.send(operation, 0));
        channel.close(FabricErrno.ESHUTDOWN);
        operation.region.release();
        operation.region.close();
        for (int i = 0; i < 10; i++) {
            a.step();
            b.step();
        }
        // the device would have said that it has a request with the key
        assertEquals(List.of(), a.errors);
        assertEquals(List.of(), released);
        a.verbs.dataPath.release();
        await(() -> !released.isEmpty());
    }

    @Test
    void shouldSendWhatWasToldToBeSentAlsoIfTheDriverEnds() {
        connect();
        a.verbs.dataPath.holdsSends = true;
        for (int i = 0; i < 3; i++) {
            assertEquals(Channel.DONE, channel.send(a.operation(Flags.MSG, 100, i), 0));
        }
        channel.close(FabricErrno.ESHUTDOWN);
        a.verbs.dataPath.pollsToRelease = 10;
        a.close();
        VerbsNode.await(b, b, () -> "there " + there.order, () -> there.downErrno != 0);
        assertEquals(List.of("connected", "up", "message", "message", "message", "down"), there.order);
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(VerbsNode.payload(100, i), there.messages.get(i));
        }
    }

    @Test
    void shouldEndWithItsDeviceAndConnectAgainOverTheOneThatComesBack() {
        connect();
        TransmitOperation operation = longMessage();
        operation.region.close();
        a.verbs.replace();
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.ENODEV, here.downErrno);
        await(() -> there.downErrno != 0);
        assertEquals(FabricErrno.ENODEV, a.listenErrno, "nobody reaches it any more");
        // what was made of the old one has gone with its context, while that was open
        await(() -> a.verbs.dataPath.queuePairs() == 0 && !released.isEmpty());
        await(() -> a.verbs.leftAtEnd().stream().noneMatch("context"::equals));
        connect();
        assertEquals(Channel.PENDING, channel.send(a.operation(AWAITED, 100, 3), 0));
        await(() -> there.messages.size() == 1 && here.sent.size() == 1);
        assertTrue(sleeps(a), "no descriptor of the old one is looked at");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLearnThatADeviceIsGoneThatHasNoConnection(boolean hasEvent) {
        connect();
        channel.close(FabricErrno.ESHUTDOWN);
        await(() -> a.verbs.dataPath.queuePairs() == 0 && there.downErrno != 0);
        a.listener.close();
        if (hasEvent) {
            a.verbs.replace();
        } else {
            a.verbs.replaceUntold();
        }
        await(() -> a.verbs.leftAtEnd().stream().noneMatch("context"::equals));
        connect();
    }

    @Test
    void shouldLetGoOfADeviceWhoseMessagesNobodyTakes() {
        connect();
        there.pauses = true;
        assertEquals(Channel.DONE, channel.send(a.operation(Flags.MSG, 100, 1), 0));
        channel.close(FabricErrno.ESHUTDOWN);
        // the peer is gone, which is told behind its message
        await(() -> a.verbs.dataPath.queuePairs() == 0);
        settle();
        assertEquals(0, there.downErrno);
        b.verbs.replace();
        await(() -> b.verbs.dataPath.queuePairs() == 0);
        assertEquals(FabricErrno.ENODEV, there.downErrno);
        assertEquals(1, there.aborted);
    }

    /** Only the receives that connections share are lost, and the device can be used as before. */
    @Tag("slow") // waits for a second to pass
    @Test
    void shouldHearOfADeviceThatWasUsedBeforeAnotherOneLetGoOfIt() {
        connect();
        // never the time to give up waiting for requests
        a.aheadNs = -3_600_000_000_000L;
        a.verbs.dataPath.holdsSends = true;
        a.verbs.dataPath.holdsFlushes = true;
        assertEquals(Channel.DONE, channel.send(a.operation(Flags.MSG, 100, 1), 0));
        a.verbs.happen(VerbsConstants.EVENT_SRQ_ERR, 0);
        await(() -> here.downErrno != 0);
        connect();
        assertEquals(2, a.verbs.dataPath.queuePairs());
        a.verbs.dataPath.release();
        await(() -> a.verbs.dataPath.queuePairs() == 1);
        settle();
        a.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.ENODEV, here.downErrno);
    }

    @Test
    void shouldTellAllConnectionsAlsoIfTheEngineFailsWithOne() {
        VerbsNode.await(a, b, () -> "", () -> b.address != null);
        Told failing = new Told();
        failing.fault = new InternalError("a client has cut its file");
        here = new Told();
        there = new Told();
        a.link.connections().connect(a.endpoint, b.address, DATA, failing.connecting);
        a.link.connections().connect(a.endpoint, b.address, DATA, here.connecting);
        await(() -> b.requests.size() == 2);
        b.requests.forEach(request -> request.accept(b.endpoint, DATA, new Told().connecting));
        // both answers are there when this side looks
        for (int i = 0; i < 10; i++) {
            b.step();
        }
        assertThrows(InternalError.class, () -> {
            for (int i = 0; i < 10; i++) {
                a.step();
            }
        });
        assertEquals(List.of("connected"), failing.order);
        await(() -> here.ups == 1);
    }

    private void settle() {
        for (int quiet = 0; quiet < 3;) {
            quiet = a.step() + b.step() == 0 ? quiet + 1 : 0;
        }
    }

    private static boolean sleeps(VerbsNode node) {
        for (int i = 0; i < 1000; i++) {
            if (node.link.arm()) {
                return true;
            }
            node.step();
        }
        return false;
    }

    @Test
    void shouldNotSleepWhereTheCardDoesNotTellOfCompletions() {
        connect();
        a.verbs.dataPath.armErrno = FabricErrno.EIO;
        assertFalse(sleeps(a));
        a.verbs.dataPath.armErrno = 0;
        assertTrue(sleeps(a));
    }

    @Test
    void shouldTellOfAQueueThatIsFoundToBeLostBeforeItSleeps() {
        connect();
        assertTrue(sleeps(a));
        a.verbs.dataPath.pollErrno = FabricErrno.EIO;
        assertFalse(a.link.arm());
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.EIO, here.downErrno);
        a.verbs.dataPath.pollErrno = 0;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLetPeersWriteOnlyWhereAnswersToReadsAreWrites(boolean isIwarp) {
        a.verbs.isIwarp = isIwarp;
        connect();
        longMessage();
        int access = a.verbs.accesses.getLast();
        assertEquals(isIwarp, (access & VerbsConstants.ACCESS_REMOTE_WRITE) != 0);
        assertTrue((access & VerbsConstants.ACCESS_LOCAL_WRITE) != 0);
    }
}
