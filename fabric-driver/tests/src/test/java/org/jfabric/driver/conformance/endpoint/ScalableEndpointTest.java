package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.PassiveEndpoint;
import org.jfabric.PortedCalls;
import org.jfabric.ScalableEndpoint;
import org.jfabric.SharedTransmitContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.ScalableSide;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.RxAttr;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** Scalable endpoints: what is opened, bound, refused and closed, and that each context stands for itself. */
@Tag("conformance")
@Tag("link")
class ScalableEndpointTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    private static final int RECEIVE = FabricNode.MEMORY / 2;

    private static FabricPair pair(Setup setup) {
        return new FabricPair(setup, ScalableSide.hints(), 512);
    }

    private static int errno(Runnable call) {
        return assertThrows(FabricException.class, call::run).errno();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-002", "EP-019", "SEP-020"})
    void shouldBeOfferedWhereTheLinkSaysSo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long most = pair.a.info.domainAttr().maxEpTxCtx();
            assertEquals(most, pair.a.info.domainAttr().maxEpRxCtx());
            Info hints = pair.a.info.copy();
            hints.epAttr().txCtxCnt(2).rxCtxCnt(3);
            if (setup.isForeign()) {
                assertEquals(1, most, "the wire names no contexts");
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
                assertEquals(FabricErrno.ENOSYS, errno(() -> pair.a.domain.openScalableEndpoint(hints)));
                Info named = new Info().caps(Flags.NAMED_RX_CTX).linkName(setup.link);
                assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(named).best()));
                return;
            }
            assertTrue(most > 1);
            Info match = pair.a.fabric.info(hints).best();
            assertEquals(2, match.epAttr().txCtxCnt());
            assertEquals(3, match.epAttr().rxCtxCnt());
            try (ScalableEndpoint scalable = pair.a.domain.openScalableEndpoint(match, 7)) {
                assertEquals(FidClass.SEP, scalable.fidClass());
                assertEquals(7, scalable.context());
                assertEquals(2, scalable.info().epAttr().txCtxCnt());
                assertEquals(3, scalable.info().epAttr().rxCtxCnt());
                assertEquals(match.caps(), scalable.info().caps());
            }
            Info ordinary = pair.a.info.copy().srcAddr(null);
            try (Endpoint active = pair.a.domain.openEndpoint(ordinary)) {
                assertEquals(FidClass.EP, active.fidClass());
                assertEquals(ordinary.caps(), active.info().caps());
            }
            Info msg = new Info().caps(Flags.MSG).linkName(setup.link);
            msg.epAttr().type(EndpointType.MSG);
            Info listening = pair.a.fabric.info(msg).best();
            try (PassiveEndpoint passive = pair.a.fabric.openPassiveEndpoint(listening)) {
                assertEquals(FidClass.PEP, passive.fidClass());
                assertEquals(listening.caps(), passive.info().caps());
            }
            Info most1 = hints.copy();
            most1.epAttr().txCtxCnt(most + 1);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(most1).best()));
            for (long count : new long[] {most + 1, -2L, Long.MAX_VALUE}) {
                Info wrong = hints.copy();
                wrong.epAttr().rxCtxCnt(count);
                assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openScalableEndpoint(wrong)));
                // a client that claims more than there is
                wrong.domainAttr().maxEpRxCtx(Long.MAX_VALUE);
                assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openScalableEndpoint(wrong)));
            }
            Info connected = hints.copy();
            connected.epAttr().type(EndpointType.MSG);
            assertEquals(FabricErrno.ENOSYS, errno(() -> pair.a.domain.openScalableEndpoint(connected)));
            Endpoint several = pair.a.domain.openEndpoint(hints);
            several.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            several.bind(pair.a.av);
            assertEquals(FabricErrno.EINVAL, errno(several::enable), "an ordinary endpoint has one of each");
            several.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-010", "SEP-011", "SEP-012", "SEP-018", "SEP-022", "SEP-005", "EP-028"})
    void shouldOpenEachContextOnceAndCloseAfterThem(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup)) {
            ScalableEndpoint scalable =
                pair.a.domain.openScalableEndpoint(ScalableSide.info(pair.a, 2, 3));
            for (int index : new int[] {-1, 2, Integer.MAX_VALUE}) {
                assertEquals(FabricErrno.EINVAL, errno(() -> scalable.txContext(index)));
            }
            for (int index : new int[] {-1, 3, Integer.MIN_VALUE}) {
                assertEquals(FabricErrno.EINVAL, errno(() -> scalable.rxContext(index)));
            }
            Endpoint[] contexts = {
                scalable.txContext(0), scalable.txContext(1, null, 8), scalable.rxContext(0), scalable.rxContext(1),
                scalable.rxContext(2, null, 9)};
            assertEquals(FabricErrno.EBUSY, errno(() -> scalable.txContext(0)));
            assertEquals(FabricErrno.EBUSY, errno(() -> scalable.rxContext(2)));
            assertEquals(FidClass.TX_CTX, contexts[1].fidClass());
            assertEquals(8, contexts[1].context());
            assertEquals(FidClass.RX_CTX, contexts[4].fidClass());
            assertEquals(9, contexts[4].context());
            Endpoint alias = contexts[1].alias(Flags.TRANSMIT);
            assertEquals(FidClass.TX_CTX, alias.fidClass());
            assertEquals(FabricErrno.EBUSY, errno(contexts[1]::close), "it has an alias");
            alias.close();
            // down to one of those that send, then with one of those that receive alone
            for (int i = contexts.length - 1; i > 0; i--) {
                contexts[i].close();
                assertEquals(FabricErrno.EBUSY, errno(scalable::close));
            }
            Endpoint last = scalable.rxContext(1);
            contexts[0].close();
            assertEquals(FabricErrno.EBUSY, errno(scalable::close));
            assertTrue(scalable.isOpen() && last.isOpen());
            assertEquals(FabricErrno.EBUSY, errno(pair.a.domain::close));
            last.close();
            scalable.close();
            assertFalse(scalable.isOpen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-028", "SEP-005", "SEP-001"})
    void shouldKeepItsNameUntilItIsClosed(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup)) {
            Info info = ScalableSide.info(pair.a, 2, 2);
            info.srcAddr("jfabric://" + pair.a.fabric.driverName() + "/many-" + System.nanoTime());
            ScalableSide side = new ScalableSide(pair, pair.a, info);
            String name = side.scalable.name();
            assertEquals(info.srcAddr(), name);
            for (Endpoint each : side.tx) {
                assertEquals(name, each.name());
            }
            for (Endpoint each : side.rx) {
                assertEquals(name, each.name());
                assertEquals(FabricErrno.EOPBADSTATE, errno(() -> each.setname(name + 'x')));
            }
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[128]);
            int[] length = {128};
            assertEquals(0, PortedCalls.getname(side.scalable, bytes, 0, length));
            assertEquals(name, bytes.getStringWithoutLengthAscii(0, length[0]));
            assertEquals(FabricErrno.EADDRINUSE, errno(() -> pair.a.domain.openScalableEndpoint(info)));
            Endpoint closed = side.rx.removeLast();
            closed.close();
            assertEquals(FabricErrno.EADDRINUSE, errno(() -> pair.a.domain.openScalableEndpoint(info)));
            side.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(side.scalable::name));
            assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.getname(side.scalable, bytes, 0, length));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> side.scalable.txContext(0)));
            side.scalable.close();
            pair.a.domain.openScalableEndpoint(info).close();
            info.srcAddr("jfabric://" + pair.a.fabric.driverName() + "/a#rx1");
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openScalableEndpoint(info)));
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.av.insert(name + "#rx1")), "drivers only know these");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-011", "SEP-022"})
    void shouldOpenAContextAgainWhoseEnablingFailed(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup); ScalableSide side = new ScalableSide(pair, pair.a, 1, 2)) {
            side.rx.get(1).close();
            assertEquals(FabricErrno.EBADFLAGS,
                errno(() -> side.scalable.rxContext(1, new RxAttr().opFlags(Flags.FENCE), 0)));
            Endpoint refused = side.scalable.rxContext(1);
            assertEquals(FabricErrno.ENOCQ, errno(refused::enable));
            assertEquals(FabricErrno.ENOCQ, errno(refused::enable));
            refused.close();
            side.rx.set(1, ScalableSide.enabled(side.scalable.rxContext(1), side.rxCq.get(1), Flags.RECV));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-017"})
    void shouldReceiveIntoMemoryOfTheDriverThroughContexts(Setup setup) {
        setup.assumeNames();
        Info hints = new Info().caps(Flags.TAGGED | Flags.NAMED_RX_CTX).mode(Mode.BUFFERED_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
            ScalableSide a = new ScalableSide(pair, pair.a, 1, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, 2)) {
            assertEquals(0, a.tx.getFirst().info().mode());
            long toB = FabricAddress.rxAddr(a.av.insert(b.scalable.name()), 1, ScalableSide.BITS);
            assertEquals(0, b.rx.get(1).trecv(0, 0, ANY, 4, 0, 9));
            assertEquals(0, a.tx.getFirst().tsend(pair.a.memory.address(), LENGTH, toB, 4, 1));
            a.await(a.txCq.getFirst(), 1);
            assertEquals(LENGTH, b.await(b.rxCq.get(1)).len());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-006"})
    void shouldHaveASharedContextOfOneDirectionBesideSeveralOfTheOther(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup)) {
            Info info = ScalableSide.info(pair.a, 1, 2);
            info.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT);
            ScalableEndpoint sends = pair.a.domain.openScalableEndpoint(info);
            assertEquals(FabricAddress.SHARED_CONTEXT, sends.info().epAttr().txCtxCnt());
            sends.bind(pair.a.av);
            SharedTransmitContext limit = pair.a.domain.openSharedTransmitContext(info.txAttr(), 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> sends.txContext(1)));
            Endpoint tx = sends.txContext(0);
            tx.bind(pair.a.cq, Flags.TRANSMIT);
            assertEquals(FabricErrno.EINVAL, errno(tx::enable), "without the shared context");
            tx.bind(limit, 0);
            tx.enable();
            Endpoint first = ScalableSide.enabled(sends.rxContext(0), pair.a.cq, Flags.RECV);
            Endpoint second = ScalableSide.enabled(sends.rxContext(1), pair.a.cq, Flags.RECV);

            Info other = ScalableSide.info(pair.a, 2, 1);
            other.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            other.caps(other.caps() & ~Flags.MULTI_RECV);
            ScalableEndpoint receives = pair.a.domain.openScalableEndpoint(other);
            receives.bind(pair.a.av);
            Endpoint shared = pair.a.domain.openSharedReceiveContext(new RxAttr(), 0);
            Endpoint rx = receives.rxContext(0);
            rx.bind(pair.a.cq, Flags.RECV);
            rx.bind(shared, 0);
            rx.enable();
            Endpoint[] tx2 = {
                ScalableSide.enabled(receives.txContext(0), pair.a.cq, Flags.TRANSMIT),
                ScalableSide.enabled(receives.txContext(1), pair.a.cq, Flags.TRANSMIT)};

            long to = pair.a.av.insert(receives.name());
            for (Endpoint sender : new Endpoint[] {tx, tx2[0], tx2[1]}) {
                assertEquals(0, shared.trecv(pair.a.memory.address(), LENGTH, ANY, 3, 0, 1));
                assertEquals(0, sender.tsend(pair.a.memory.address(RECEIVE), LENGTH, to, 3, 2));
                assertEquals(3, pair.a.await().context() + pair.a.await().context());
            }
            for (Endpoint each : new Endpoint[] {tx, first, second, rx, tx2[0], tx2[1]}) {
                each.close();
            }
            sends.close();
            receives.close();
            shared.close();
            limit.close();
        }
    }

    @Test
    @Requirement({"SEP-001"})
    void shouldGiveTheNameBackWithItsClient() {
        var base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve("alpha")).threadingMode(ThreadingMode.INVOKER).build())) {
            for (int i = 0; i < 3; i++) {
                // closed with everything that is open
                try (Fabric fabric = driver.fabric()) {
                    Info hints = ScalableSide.hints().linkName("loopback");
                    hints.epAttr().txCtxCnt(2).rxCtxCnt(2);
                    Info info = fabric.info(hints).best().srcAddr("jfabric://alpha/many");
                    Domain domain = fabric.domain(info);
                    ScalableEndpoint scalable = domain.openScalableEndpoint(info);
                    scalable.bind(domain.openAddressVector(new AddressVectorAttr()));
                    CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
                    Endpoint context = ScalableSide.enabled(scalable.rxContext(1), queue, Flags.RECV);
                    assertEquals("jfabric://alpha/many", context.name());
                }
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-058"})
    void shouldServeAllContextsByTheVectorOfTheEndpoint(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup);
            CompletionQueue queue = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(64))) {
            ScalableEndpoint scalable = pair.a.domain.openScalableEndpoint(ScalableSide.info(pair.a, 2, 1));
            Endpoint early = scalable.txContext(0);
            early.bind(queue, Flags.TRANSMIT);
            assertEquals(FabricErrno.ENOAV, errno(early::enable));
            Endpoint receives = scalable.rxContext(0);
            receives.bind(queue, Flags.RECV);
            assertEquals(FabricErrno.ENOAV, errno(receives::enable));
            assertEquals(FabricErrno.ENOAV, errno(scalable::enable));
            assertEquals(FabricErrno.EINVAL, errno(() -> early.bind(pair.a.av)));
            assertEquals(FabricErrno.EINVAL, errno(() -> scalable.bind(queue, Flags.TRANSMIT)));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> scalable.bind(pair.a.av, 1)));
            if (pair.a.fabric != pair.b.fabric) {
                assertEquals(FabricErrno.EDOMAIN, errno(() -> scalable.bind(pair.b.av)));
            }
            var vector = pair.a.domain.openAddressVector(new AddressVectorAttr());
            scalable.bind(vector);
            scalable.enable();
            assertEquals(FabricErrno.EINVAL, errno(() -> scalable.bind(pair.a.av)));
            assertEquals(FabricErrno.EBUSY, errno(vector::close));
            early.enable();
            receives.enable();
            Endpoint late = scalable.txContext(1);
            late.bind(queue, Flags.TRANSMIT);
            late.enable();
            long toB = vector.insert(pair.b.endpoint.name());
            for (Endpoint context : new Endpoint[] {early, late}) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
                assertEquals(0, context.tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
                assertEquals(LENGTH, pair.b.await(1).len());
            }
            early.close();
            receives.close();
            late.close();
            assertEquals(FabricErrno.EBUSY, errno(vector::close), "the scalable endpoint has it");
            scalable.close();
            vector.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-004", "SEP-007", "SEP-016"})
    void shouldSendOnlyOrReceiveOnly(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup); ScalableSide side = new ScalableSide(pair, pair.a, 1, 1)) {
            Set<String> calls = Set.of("send", "recv", "tsend", "trecv", "sendmsg", "inject", "remoteMemory");
            for (Method method : ScalableEndpoint.class.getMethods()) {
                assertFalse(calls.contains(method.getName()), "the endpoint itself transfers nothing");
            }
            long toB = side.av.insert(pair.b.endpoint.name());
            long buf = pair.a.memory.address();
            Endpoint tx = side.tx.getFirst();
            assertEquals(-FabricErrno.EOPNOTSUPP, tx.recv(buf, LENGTH, ANY, 1));
            assertEquals(-FabricErrno.EOPNOTSUPP, tx.trecv(buf, LENGTH, ANY, 1, 0, 1));
            assertEquals(-FabricErrno.EOPNOTSUPP, tx.rxSizeLeft());
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> tx.bind(pair.a.memory, 0)), "enabled from the start");
            Endpoint rx = side.rx.getFirst();
            assertEquals(-FabricErrno.EOPNOTSUPP, rx.send(buf, LENGTH, toB, 1));
            assertEquals(-FabricErrno.EOPNOTSUPP, rx.tsend(buf, LENGTH, toB, 1, 1));
            assertEquals(-FabricErrno.EOPNOTSUPP, rx.txSizeLeft());
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, 1));
            assertEquals(0, tx.send(buf, LENGTH, toB, 2));
            side.await(side.txCq.getFirst(), 2);
            pair.b.await(1);
            assertEquals(0, rx.recv(buf, LENGTH, ANY, 3));
            long toA = pair.b.av.insert(side.scalable.name());
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), LENGTH, toA, 4));
            side.await(side.rxCq.getFirst(), 3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-006", "SEP-009", "SEP-015"})
    void shouldReportToTheQueueAndCounterOfTheContext(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, 3, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, 3)) {
            long toB = a.av.insert(b.scalable.name());
            for (int i = 0; i < 3; i++) {
                long named = FabricAddress.rxAddr(toB, i, ScalableSide.BITS);
                for (int n = 0; n < 4; n++) {
                    long at = (long) (4 * i + n) * LENGTH;
                    pair.a.fill(at, LENGTH, (int) at);
                    assertEquals(0, a.tx.get(i).tsend(pair.a.memory.address(at), LENGTH, named, n, 10 * i + n));
                }
            }
            for (int i = 2; i >= 0; i--) {
                // the order within a context is kept, whatever the others do
                for (int n = 0; n < 4; n++) {
                    assertEquals(0, b.rx.get(i).trecv(pair.b.memory.address(
                        RECEIVE + (long) (4 * i + n) * LENGTH), LENGTH, ANY, 0, -1L, 20 * i + n));
                }
                for (int n = 0; n < 4; n++) {
                    assertEquals(n, b.await(b.rxCq.get(i), 20 * i + n).tag());
                    a.await(a.txCq.get(i), 10 * i + n);
                    long at = (long) (4 * i + n) * LENGTH;
                    pair.b.assertFilled(RECEIVE + at, LENGTH, (int) at);
                }
                b.assertQuiet(b.rxCq.get(i), 5);
            }
            a.txCq.forEach(each -> a.assertQuiet(each, 5));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-009", "SEP-018", "EP-151"})
    void shouldShareAQueueAndCountersWhereTheyAreBoundSo(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = pair(setup)) {
            ScalableEndpoint scalable = pair.a.domain.openScalableEndpoint(ScalableSide.info(pair.a, 2, 2));
            scalable.bind(pair.a.av);
            var counts = pair.a.domain.openCounter(new CounterAttr());
            Endpoint[] tx = {scalable.txContext(0), scalable.txContext(1)};
            Endpoint[] rx = {scalable.rxContext(0), scalable.rxContext(1)};
            tx[1].bind(counts, Flags.SEND);
            for (int i = 0; i < 2; i++) {
                ScalableSide.enabled(tx[i], pair.a.cq, Flags.TRANSMIT);
                ScalableSide.enabled(rx[i], pair.a.cq, Flags.RECV);
            }
            for (int i = 0; i < 2; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 5, 0, 1));
                assertEquals(0, tx[i].tsend(pair.a.memory.address(), LENGTH, pair.toB, 5, 40 + i));
                pair.a.await(40 + i);
                pair.b.await(1);
            }
            assertEquals(1, counts.read(), "of one context only");
            Arrays.stream(tx).forEach(Endpoint::close);
            Arrays.stream(rx).forEach(Endpoint::close);
            scalable.close();
            counts.close();
        }
    }
}
