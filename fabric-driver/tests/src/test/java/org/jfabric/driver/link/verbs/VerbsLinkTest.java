package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.VerbsErrno;
import org.jfabric.info.TrafficClass;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two links in one thread, over devices in memory that check every work request. */
@Timeout(60)
class VerbsLinkTest {
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] WELCOME = "welcome".getBytes(StandardCharsets.US_ASCII);
    private static final long AWAITED = Flags.MSG | Flags.TRANSMIT_COMPLETE;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private VerbsNode a;
    private VerbsNode b;
    private Told here;
    private Told there;
    private MessageChannel channel;
    private MessageChannel back;

    private void nodes(String... options) {
        a = new VerbsNode(network, "10.0.0.1", VerbsSettings::ofMessages, options);
        b = new VerbsNode(network, "10.0.0.2", VerbsSettings::ofMessages, options);
    }

    @AfterEach
    void close() {
        if (a != null) {
            a.close();
            b.close();
            assertEquals(0, a.verbs.dataPath.queuePairs() + b.verbs.dataPath.queuePairs());
            assertEquals(List.of(), a.verbs.leftAtEnd());
            assertEquals(List.of(), b.verbs.leftAtEnd());
        }
    }

    private void await(BooleanSupplier condition) {
        VerbsNode.await(a, b, () -> " here " + here.order + " there " + (there == null ? "" : there.order), condition);
    }

    private void request() {
        here = new Told();
        await(() -> b.address != null);
        channel = (MessageChannel) a.link.connections().connect(a.endpoint, b.address, HELLO, here.connecting);
    }

    private void connect(String... options) {
        nodes(options);
        request();
        await(() -> b.requests.size() == 1);
        there = new Told();
        back = (MessageChannel) b.requests.getFirst().accept(b.endpoint, WELCOME, there.connecting);
        await(() -> here.ups == 1 && there.ups == 1);
    }

    /** Whoever asks says how packets are marked, before the address is resolved. */
    @Test
    void shouldMarkThePacketsOfAConnectionWithItsTrafficClass() {
        nodes();
        a.trafficClass = TrafficClass.dscpSet(34);
        b.trafficClass = TrafficClass.LOW_LATENCY.code();
        request();
        await(() -> b.requests.size() == 1);
        assertEquals(List.of("rdma_set_option TOS " + (34 << 2)),
            a.verbs.calls.stream().filter(call -> call.startsWith("rdma_set_option")).toList());
        assertEquals(List.of(), b.verbs.calls.stream().filter(call -> call.startsWith("rdma_set_option")).toList());
    }

    @Test
    void shouldExchangePrivateDataInItsEnvelope() {
        connect();
        assertArrayEquals(HELLO, b.requests.getFirst().cmData());
        assertArrayEquals(WELCOME, here.cmData);
        assertEquals(0, there.cmData.length);
        assertEquals(b.address, here.peer);
        assertTrue(there.peer.startsWith("fi_sockaddr_in://10.0.0.1:"), there.peer);
        assertEquals(List.of("connected", "up"), here.order);
        assertTrue(a.verbs.calls.contains("ibv_modify_qp 12"), a.verbs.calls::toString);
    }

    @Test
    void shouldTellOfARefusalWithItsData() {
        nodes();
        request();
        await(() -> b.requests.size() == 1);
        b.requests.getFirst().reject(WELCOME);
        await(() -> here.failedErrno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, here.failedErrno);
        assertArrayEquals(WELCOME, here.cmData);
        await(() -> a.verbs.left().isEmpty() || a.verbs.left().size() == 1);
    }

    @Test
    void shouldRefuseWhenTheBacklogIsFull() {
        nodes();
        b.isFull = true;
        request();
        await(() -> here.failedErrno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, here.failedErrno);
        assertEquals(0, here.cmData.length);
    }

    @Test
    void shouldTellThatNobodyListens() {
        nodes();
        await(() -> b.address != null);
        b.listener.close();
        request();
        await(() -> here.failedErrno != 0);
        assertEquals(FabricErrno.ECONNREFUSED, here.failedErrno);
    }

    @Test
    void shouldCarryMessagesOfAllLengthsInOrder() {
        connect();
        int[] lengths = {0, 1, 64, 256, 257, 4096};
        for (int i = 0; i < lengths.length; i++) {
            assertEquals(Channel.PENDING, channel.send(a.operation(AWAITED, lengths[i], i), 0));
        }
        await(() -> there.messages.size() == lengths.length && here.sent.size() == lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertArrayEquals(VerbsNode.payload(lengths[i], i), there.messages.get(i));
            assertEquals(i, here.sent.get(i));
        }
        assertTrue((a.verbs.dataPath.sendFlags.get(3) & VerbsConstants.SEND_INLINE) != 0);
        assertEquals(0, a.verbs.dataPath.sendFlags.get(4) & VerbsConstants.SEND_INLINE);
    }

    @Test
    void shouldCarryRemoteDataAsTheImmediateWord() {
        connect();
        TransmitOperation operation = a.operation(AWAITED | Flags.REMOTE_CQ_DATA, 10, 3);
        operation.data = 0xfedc_ba98L;
        channel.send(operation, 0);
        channel.send(a.operation(AWAITED, 10, 4), 0);
        await(() -> there.messages.size() == 2);
        assertEquals(List.of(0xfedc_ba98L, -1L), there.data);
    }

    @Test
    void shouldHandOverABatchWithOneCall() {
        connect("jfabric.verbs.signalEvery", "4");
        int before = a.verbs.dataPath.sendBatches.size();
        for (int i = 0; i < 11; i++) {
            assertEquals(Channel.DONE, channel.send(a.operation(Flags.MSG, 8, i), 0));
        }
        assertEquals(List.of(1), a.verbs.dataPath.sendBatches.subList(before, a.verbs.dataPath.sendBatches.size()),
            "the first one at once");
        await(() -> there.messages.size() == 11);
        assertEquals(List.of(1, 10),
            a.verbs.dataPath.sendBatches.subList(before, a.verbs.dataPath.sendBatches.size()));
        assertEquals(4, a.verbs.dataPath.signaled.size(), "the first, two by count, and the last");
    }

    @Test
    void shouldWaitForRoomInTheSendQueue() {
        connect("jfabric.verbs.sends", "16", "jfabric.verbs.signalEvery", "4");
        a.verbs.dataPath.holdsSends = true;
        for (int i = 0; i < 16; i++) {
            assertEquals(Channel.PENDING, channel.send(a.operation(AWAITED, 8, i), 0));
        }
        assertEquals(-FabricErrno.EAGAIN, channel.send(a.operation(AWAITED, 8, 16), 0));
        a.step();
        assertEquals(0, here.writables);
        a.verbs.dataPath.release();
        await(() -> here.writables == 1 && here.sent.size() == 16);
    }

    @Test
    void shouldHoldThePeerBackWhileTheEngineHasNoRoom() {
        connect("jfabric.verbs.receives", "4");
        there.pauses = true;
        for (int i = 0; i < 10; i++) {
            channel.send(a.operation(AWAITED, 100, i), 0);
        }
        for (int i = 0; i < 20; i++) {
            a.step();
            b.step();
        }
        assertEquals(0, there.messages.size());
        assertEquals(4, here.sent.size(), "as many as there are receives; no receiver ready for the others");
        there.pauses = false;
        await(() -> there.messages.size() == 10 && here.sent.size() == 10);
        for (int i = 0; i < 10; i++) {
            assertArrayEquals(VerbsNode.payload(100, i), there.messages.get(i));
        }
    }

    @Test
    void shouldSendLongMessagesFromTheirRegion() {
        connect();
        List<String> released = new ArrayList<>();
        long memory = a.memory(8192, 5);
        RegisteredRegion region = a.region(memory, 8192, released);
        TransmitOperation operation = new TransmitOperation(77, 0);
        operation.flags = AWAITED;
        operation.address = memory;
        operation.length = 8192;
        operation.region = region;
        assertEquals(-FabricErrno.EAGAIN, channel.send(operation, 0), "the region is registered first");
        await(() -> here.writables == 1);
        region.retain();
        assertEquals(Channel.PENDING, channel.send(operation, 0));
        await(() -> here.sent.contains(77L));
        assertArrayEquals(VerbsNode.payload(8192, 5), there.messages.getFirst());
        region.close();
        a.step();
        assertTrue(released.isEmpty(), "an operation has it still");
        region.release();
        await(() -> !released.isEmpty());
        assertTrue(a.verbs.calls.contains("ibv_dereg_mr"), a.verbs.calls::toString);
    }

    @Test
    void shouldFailALongMessageWhoseRegionCannotBeRegistered() {
        connect();
        a.verbs.registerErrno = FabricErrno.ENOMEM;
        TransmitOperation operation = new TransmitOperation(78, 0);
        operation.flags = AWAITED;
        operation.address = a.memory(8192, 1);
        operation.length = 8192;
        operation.region = a.region(operation.address, 8192, new ArrayList<>());
        assertEquals(-FabricErrno.EAGAIN, channel.send(operation, 0));
        await(() -> here.writables == 1);
        assertEquals(-FabricErrno.ENOMEM, channel.send(operation, 0));
        assertTrue(a.errors.getLast().getMessage().contains("locked memory"), a.errors::toString);
        assertEquals(0, here.downErrno);
    }

    @Test
    void shouldRegisterTheRegionOfAReceiveOnce() {
        RemotePayload exposed = expose();
        long memory = b.memory(300_000, 0);
        RegisteredRegion region = b.region(memory, 300_000, new ArrayList<>());
        assertEquals(-FabricErrno.EAGAIN, back.pull(exposed, region, memory, null, 100_000), "it is registered first");
        b.step();
        long before = calls("ibv_reg_mr");
        long given = calls("ibv_dereg_mr");
        for (int i = 0; i < 3; i++) {
            assertEquals(Channel.PENDING, back.pull(exposed, region, memory + 100_000L * i, null, 100_000));
            int pulled = i + 1;
            await(() -> there.pulled.size() == pulled);
        }
        assertEquals(before, calls("ibv_reg_mr"));
        assertEquals(given, calls("ibv_dereg_mr"), "it is the region's");
    }

    private long calls(String name) {
        return b.verbs.calls.stream().filter(name::equals).count();
    }

    /** Has connections for packets made, and a payload of a's exposed. */
    private RemotePayload expose() {
        a = new VerbsNode(network, "10.0.0.1", VerbsSettings::ofPackets);
        b = new VerbsNode(network, "10.0.0.2", VerbsSettings::ofPackets);
        request();
        await(() -> b.requests.size() == 1);
        there = new Told();
        back = (MessageChannel) b.requests.getFirst().accept(b.endpoint, WELCOME, there.connecting);
        await(() -> here.ups == 1 && there.ups == 1);
        TransmitOperation operation = new TransmitOperation(79, 0);
        operation.flags = AWAITED;
        operation.address = a.memory(100_000, 9);
        operation.length = 100_000;
        operation.region = a.region(operation.address, 100_000, new ArrayList<>());
        RemotePayload exposed = new RemotePayload();
        assertEquals(-FabricErrno.EAGAIN, channel.expose(operation, exposed));
        await(() -> here.writables == 1);
        assertEquals(Channel.DONE, channel.expose(operation, exposed));
        return exposed;
    }

    @Test
    void shouldReadExposedMemory() {
        RemotePayload exposed = expose();
        long to = b.memory(100_000, 0);
        assertEquals(-FabricErrno.EAGAIN, back.pull(exposed, null, to, null, 100_000), "it is registered first");
        b.step();
        assertEquals(Channel.PENDING, back.pull(exposed, null, to, null, 100_000));
        await(() -> there.pulled.size() == 1);
        assertEquals(79L, there.pulled.getFirst());
        byte[] read = new byte[100_000];
        for (int i = 0; i < read.length; i++) {
            read[i] = UnsafeApi.getByte(to + i);
        }
        assertArrayEquals(VerbsNode.payload(100_000, 9), read);
        await(() -> b.verbs.calls.getLast().equals("ibv_dereg_mr"));
    }

    @Test
    void shouldNotExposeToPeersOfMessages() {
        connect();
        assertEquals(-FabricErrno.EOPNOTSUPP, channel.expose(a.operation(AWAITED, 10, 1), new RemotePayload()));
    }

    @Test
    void shouldTellAShutdownBehindTheMessagesBeforeIt() {
        connect();
        channel.send(a.operation(AWAITED, 50, 1), 0);
        channel.close(FabricErrno.ESHUTDOWN);
        await(() -> there.downErrno != 0);
        assertEquals(List.of("connected", "up", "message", "down"), there.order);
        assertEquals(FabricErrno.ESHUTDOWN, there.downErrno);
        assertEquals(0, here.downErrno, "who closes is told nothing");
        assertEquals(0, back.provErrno(), "no request of its own has failed");
        await(() -> a.verbs.dataPath.queuePairs() + b.verbs.dataPath.queuePairs() == 0);
    }

    @Test
    void shouldSayWhatTheCardSaysOfAFailedSend() {
        connect();
        a.verbs.dataPath.nextStatus = VerbsConstants.WC_RETRY_EXC_ERR;
        a.verbs.dataPath.nextVendorError = 0x81;
        channel.send(a.operation(AWAITED, 50, 1), 0);
        channel.send(a.operation(AWAITED, 50, 2), 0);
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.ECONNRESET, here.downErrno);
        assertEquals(List.of(), here.sent);
        String text = a.errors.getLast().getMessage();
        assertTrue(text.contains("status 12, vendor's code 0x81") && text.contains("10.0.0.2"), text);
        assertEquals(VerbsErrno.ofCompletion(VerbsConstants.WC_RETRY_EXC_ERR, 0x81), channel.provErrno());
        await(() -> a.verbs.dataPath.queuePairs() == 0);
        assertEquals(0, a.verbs.dataPath.nextStatus);
    }

    @Test
    void shouldFailWhenAMessageIsLongerThanThePeersReceives() {
        connect();
        a.verbs.dataPath.nextStatus = VerbsConstants.WC_REM_INV_REQ_ERR;
        channel.send(a.operation(AWAITED, 50, 1), 0);
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.EMSGSIZE, here.downErrno);
    }

    @Test
    void shouldEndOnlyWhatUsesAQueuePairInError() {
        connect();
        a.verbs.happen(VerbsConstants.EVENT_QP_FATAL, a.verbs.dataPath.queuePair());
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.EIO, here.downErrno);
        assertTrue(a.errors.getLast().getMessage().contains("event 1"), a.errors::toString);
        assertEquals(VerbsErrno.ofEvent(VerbsConstants.EVENT_QP_FATAL), channel.provErrno());
    }

    @Tag("slow") // waits for a second to pass
    @Test
    void shouldEndEverythingOfALostQueueAndOfALostDevice() {
        connect();
        a.verbs.happen(VerbsConstants.EVENT_CQ_ERR, a.verbs.dataPath.queue());
        b.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
        await(() -> here.downErrno != 0 && there.downErrno != 0);
        assertEquals(FabricErrno.EIO, here.downErrno);
        assertEquals(FabricErrno.ENODEV, there.downErrno);
        assertEquals(VerbsErrno.ofEvent(VerbsConstants.EVENT_CQ_ERR), channel.provErrno());
        assertEquals(VerbsErrno.ofEvent(VerbsConstants.EVENT_DEVICE_FATAL), back.provErrno());
    }

    /** Two drivers in one process share its context of the device. */
    @Tag("slow") // waits for a second to pass
    @Test
    void shouldTellEveryLinkOfAProcessWhatHappensToItsDevice() {
        connect();
        try (VerbsNode twin = new VerbsNode(a.verbs, "10.0.0.1", VerbsSettings::ofMessages)) {
            Told beside = new Told();
            twin.link.connections().connect(twin.endpoint, b.address, HELLO, beside.connecting);
            await(() -> twin.step() >= 0 && b.requests.size() == 2);
            b.requests.getLast().accept(b.endpoint, WELCOME, new Told().connecting);
            await(() -> twin.step() >= 0 && beside.ups == 1);
            assertTrue(sleeps(a) && sleeps(twin));

            a.verbs.happen(VerbsConstants.EVENT_PORT_ERR, 1);
            await(() -> !a.errors.isEmpty());
            assertFalse(twin.link.arm(), "the event that the other one took wakes this one");
            await(() -> twin.step() >= 0 && !twin.errors.isEmpty());
            assertTrue(twin.errors.getLast().getMessage().contains("port 1 of fake0"), twin.errors::toString);

            a.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
            await(() -> twin.step() >= 0 && beside.downErrno != 0 && here.downErrno != 0);
            assertEquals(FabricErrno.ENODEV, beside.downErrno);
            assertEquals(FabricErrno.ENODEV, here.downErrno);
            long told = a.errors.stream().filter(error -> error.getMessage().contains("the device is lost")).count();
            assertEquals(1, told, a.errors::toString);
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
    void shouldReportAPortThatGoesDownAndGoOn() {
        connect();
        a.verbs.happen(VerbsConstants.EVENT_PORT_ERR, 1);
        await(() -> !a.errors.isEmpty());
        assertTrue(a.errors.getLast().getMessage().contains("port 1 of fake0"), a.errors::toString);
        channel.send(a.operation(AWAITED, 50, 1), 0);
        await(() -> there.messages.size() == 1);
    }

    @Test
    void shouldEndWhenTheCardTakesNoWorkRequest() {
        connect();
        a.verbs.dataPath.nextPostErrno = FabricErrno.ENOMEM;
        channel.send(a.operation(AWAITED, 50, 1), 0);
        await(() -> here.downErrno != 0);
        assertEquals(FabricErrno.EIO, here.downErrno);
    }

    @Test
    void shouldTakeAnotherQueueWhenOneIsFull() {
        nodes("jfabric.verbs.sends", "32", "jfabric.verbs.signalEvery", "8", "jfabric.verbs.receives", "32");
        a.verbs.maxCompletions = 100;
        b.verbs.maxCompletions = 100;
        List<Told> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            request();
            all.add(here);
            int wanted = i + 1;
            await(() -> b.requests.size() == wanted);
            there = new Told();
            b.requests.getLast().accept(b.endpoint, WELCOME, there.connecting);
            await(() -> here.ups == 1);
        }
        assertEquals(3, a.verbs.calls.stream().filter("ibv_create_cq 100"::equals).count(),
            () -> "64 of 100 entries are reserved for each; " + a.verbs.calls);
        assertTrue(all.stream().allMatch(told -> told.ups == 1));
    }

    @Test
    void shouldRefuseAConnectionThatNoQueueHasRoomFor() {
        nodes();
        a.verbs.maxCompletions = 100;
        request();
        await(() -> here.failedErrno != 0);
        assertEquals(FabricErrno.ENOSPC, here.failedErrno);
        assertTrue(a.errors.getLast().getMessage().contains("takes 100"), a.errors::toString);
    }

    @Test
    void shouldRefuseADeviceThatLacksAFunction() {
        nodes();
        a.verbs.lack("post_srq_recv");
        request();
        await(() -> here.failedErrno != 0);
        assertTrue(a.errors.getLast().getMessage().contains("ibv_context.ops.post_srq_recv"), a.errors::toString);
        assertEquals(0, a.verbs.dataPath.queuePairs());
    }

    @Test
    void shouldAskForLessInlineUntilTheDeviceTakesIt() {
        nodes();
        a.verbs.maxInline = 100;
        request();
        await(() -> a.verbs.calls.contains("rdma_create_qp inline 64"));
        assertTrue(a.verbs.calls.containsAll(
            Arrays.asList("rdma_create_qp inline 256", "rdma_create_qp inline 128")), a.verbs.calls::toString);
        // it is never answered, and given back all the same
        await(() -> b.requests.size() == 1);
    }

    @Test
    void shouldGiveBackWhatWasBuiltForAConnectionThatWasGivenUp() {
        nodes();
        request();
        a.holdsTasks = true;
        await(() -> a.tasks.size() == 1);
        channel.close(FabricErrno.ECONNABORTED);
        a.holdsTasks = false;
        for (int i = 0; i < 10; i++) {
            a.step();
            b.step();
        }
        assertEquals(0, a.verbs.dataPath.queuePairs());
        assertEquals(1, a.verbs.left().size(), () -> "the listener is left: " + a.verbs.left());
        assertEquals(List.of(), here.order);
    }

    /** The resource thread has the task, has done it, or both and its result is not applied. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldGiveBackARegistrationThatIsInFlightWhenTheDriverCloses(int tasksRun) {
        connect();
        List<String> released = new ArrayList<>();
        TransmitOperation operation = new TransmitOperation(80, 0);
        operation.flags = AWAITED;
        operation.address = a.memory(8192, 1);
        operation.length = 8192;
        operation.region = a.region(operation.address, 8192, released);
        assertEquals(-FabricErrno.EAGAIN, channel.send(operation, 0));
        assertEquals(1, a.tasks.size());
        List<ResourceTask> done = new ArrayList<>();
        for (int i = 0; i < tasksRun; i++) {
            done.add(a.runTask());
        }
        operation.region.close();
        a.close();
        done.forEach(ResourceTask::complete);
        assertEquals(List.of(), a.verbs.leftAtEnd());
        assertEquals(List.of("region"), released);
        assertEquals(List.of(), a.errors);
    }

    /** A deregistration that is in flight is done, once, and before its domain goes. */
    @Test
    void shouldFinishADeregistrationThatIsInFlightWhenTheDriverCloses() {
        connect();
        List<String> released = new ArrayList<>();
        TransmitOperation operation = new TransmitOperation(81, 0);
        operation.flags = AWAITED;
        operation.address = a.memory(8192, 1);
        operation.length = 8192;
        operation.region = a.region(operation.address, 8192, released);
        channel.send(operation, 0);
        await(() -> here.writables == 1);
        operation.region.close();
        a.holdsTasks = true;
        await(() -> !a.tasks.isEmpty());
        a.close();
        assertEquals(List.of(), a.verbs.leftAtEnd());
        assertEquals(List.of("region"), released);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldGiveBackAConnectionThatIsBeingMadeWhenTheDriverCloses(int tasksRun) {
        nodes();
        await(() -> b.address != null);
        request();
        a.holdsTasks = true;
        await(() -> a.tasks.size() == 1);
        List<ResourceTask> done = new ArrayList<>();
        for (int i = 0; i < tasksRun; i++) {
            done.add(a.runTask());
        }
        a.close();
        done.forEach(ResourceTask::complete);
        assertEquals(List.of(), a.verbs.leftAtEnd());
        assertEquals(0, a.verbs.dataPath.queuePairs());
    }

    @Test
    void shouldFindWhatCameBeforeTheQueueWasArmed() {
        connect();
        b.step();
        while (!b.link.arm()) {
            b.step();
        }
        assertTrue(b.isWatched());
        channel.send(a.operation(AWAITED, 50, 1), 0);
        assertFalse(b.link.arm(), "a message is there");
        await(() -> there.messages.size() == 1);
        assertNull(there.cmData.length == 0 ? null : there.cmData);
    }
}
