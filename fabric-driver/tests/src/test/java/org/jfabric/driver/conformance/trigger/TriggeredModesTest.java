package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Endpoint;
import org.jfabric.ReceiveRequest;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.EventType;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Triggered operations of endpoints of every kind and mode. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class TriggeredModesTest {
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldPostAMultiReceiveBuffer(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup, Flags.MULTI_RECV)) {
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            ReceiveRequest request = new ReceiveRequest().memory(pair.a.memory.address(), 4096).opContext(7)
                .flags(Flags.MULTI_RECV);
            assertEquals(0, pair.a.endpoint.messages().recvmsg(request.trigger(at1)));
            assertEquals(0, pair.a.endpoint.messages().recvmsg(request.opContext(8)));
            assertEquals(0, pair.a.endpoint.cancel(8));
            pair.assertFailed(8, FabricErrno.ECANCELED);
            assertEquals(-FabricErrno.ENOSYS, pair.a.domain.queueWork(
                pair.work.trigger(pair.counter, 1).recv(pair.a.endpoint, request.trigger(null))));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().trecvmsg(request.trigger(at1)));
            assertEquals(0, pair.counter.add(1));
            pair.b.fill(0, 104, 2);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), 104, pair.toA, 1));
                FabricNode.Entry entry = pair.a.await(7);
                assertEquals(104, entry.len());
                assertEquals(pair.a.memory.address(104L * i), entry.buf());
                pair.a.assertFilled(104L * i, 104, 2);
                pair.b.await(1);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldPostATaggedReceiveWithBufferedReceives(Setup setup) {
        Info hints = new Info().caps(TriggerPair.CAPS).mode(Mode.BUFFERED_RECV);
        try (TriggerPair pair = new TriggerPair(new FabricPair(setup, hints, 512))) {
            TriggeredContext at1 = new TriggeredContext().threshold(pair.counter, 1);
            ReceiveRequest request = new ReceiveRequest().tag(5).opContext(7);
            assertEquals(-FabricErrno.EOPNOTSUPP, pair.a.endpoint.messages().recvmsg(request.trigger(at1)));
            assertEquals(-FabricErrno.ENOSYS, pair.a.domain.queueWork(
                pair.work.trigger(pair.counter, 1).trecv(pair.a.endpoint, request.trigger(null))));
            assertEquals(0, pair.a.endpoint.messages().trecvmsg(request.trigger(at1)));
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 64, pair.toA, 5, 1));
            for (int i = 0; i < TriggerPair.QUIET; i++) {
                pair.a.assertQuiet(1);
            }
            assertEquals(0, pair.counter.add(1));
            FabricNode.Entry entry = pair.a.await();
            assertEquals(64, entry.len());
            assertEquals(5, entry.tag());
        }
    }

    /** In strict order an operation has its place when it starts, and does not hold up those that start before. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTakeItsPlaceInStrictOrderWhenItStarts(Setup setup) {
        Info hints = new Info().caps(TriggerPair.CAPS);
        hints.txAttr().compOrder(Order.STRICT);
        try (TriggerPair pair = new TriggerPair(new FabricPair(setup, hints, 512))) {
            pair.expect(3);
            assertEquals(0, pair.sendAt(1, 1, 1));
            assertEquals(0, pair.sendAt(2, 2, 2));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 3, 3));
            assertEquals(3, pair.nextTag());
            pair.a.await(3);
            assertEquals(0, pair.a.endpoint.cancel(1));
            pair.assertFailed(1, FabricErrno.ECANCELED);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 4, 4));
            assertEquals(4, pair.nextTag());
            pair.a.await(4);
            assertEquals(0, pair.counter.add(2));
            assertEquals(2, pair.nextTag());
            pair.a.await(2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldServeConnectionsAndFailBehindTheirEnd(Setup setup) {
        Info hints = ConnectionSide.hints();
        hints.caps(hints.caps() | Flags.TRIGGER);
        hints.epAttr().type(EndpointType.MSG);
        FabricPair pair = new FabricPair(setup, new Info().caps(TriggerPair.CAPS), 512);
        try (Connected connected = new Connected(pair, hints)) {
            Counter counter = pair.a.domain.openCounter(new CounterAttr());
            TriggeredContext trigger = new TriggeredContext();
            long buf = pair.a.memory.address();
            SendRequest send = new SendRequest().memory(buf, 8).opContext(1);
            ReceiveRequest receive = new ReceiveRequest().memory(buf, 8).opContext(2);
            Endpoint endpoint = connected.endpointA;
            assertEquals(0, connected.endpointB.recv(pair.b.memory.address(), 8, ANY, 3));
            assertEquals(0, endpoint.messages().sendmsg(send.trigger(trigger.threshold(counter, 1))));
            assertEquals(0, endpoint.messages().recvmsg(receive.trigger(trigger.threshold(counter, 2))));
            assertEquals(0, counter.add(1));
            assertEquals(3, connected.b.completion().context());
            assertEquals(1, connected.a.completion().context());
            connected.endpointB.close();
            connected.a.next(EventType.SHUTDOWN, endpoint);
            // it waits on, and fails when it starts
            assertEquals(0, counter.add(1));
            ConnectionSide.Entry entry = connected.a.completion();
            assertEquals(2, entry.context());
            assertEquals(FabricErrno.ENOTCONN, entry.err());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldSendAndReceiveDatagrams(DatagramSetup setup) {
        Info hints = DatagramPair.hints();
        hints.caps(hints.caps() | Flags.TRIGGER);
        try (DatagramPair pair = new DatagramPair(setup, hints)) {
            Counter counter = pair.a.domain.openCounter(new CounterAttr());
            Counter done = pair.a.domain.openCounter(new CounterAttr());
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 1));
            SendRequest send = new SendRequest().memory(pair.a.memory.address(), 64).destAddr(pair.toB);
            assertEquals(0, pair.a.domain.queueWork(new DeferredWork().trigger(counter, 1).completionCounter(done)
                .send(pair.a.endpoint, send)));
            for (int i = 0; i < TriggerPair.QUIET; i++) {
                pair.a.assertQuiet(1);
                pair.b.assertQuiet(1);
            }
            pair.a.fill(0, 64, 6);
            assertEquals(0, counter.add(1));
            FabricNode.Entry entry = null;
            while (entry == null) {
                done.read();
                entry = pair.b.poll();
            }
            assertEquals(64, entry.len());
            pair.b.assertFilled(0, 64, 6);
            Deadline.await("the count of the message", () -> done.read() == 1, done::toString);
        }
    }
}
