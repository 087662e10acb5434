package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.ScalableEndpoint;
import org.jfabric.SendClaim;
import org.jfabric.SharedTransmitContext;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.Order;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What contexts refuse when they are opened or bound, and the limit that endpoints of a shared one have together. */
@Tag("conformance")
@Tag("link")
class ContextLimitsTest {
    private static final int SIZE = 8;
    /** Longer than what a link takes before there is a receive. */
    private static final int LENGTH = 1 << 20;

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }

    private static Endpoint open(FabricPair pair, QueueReader queue, SharedTransmitContext context) {
        Info info = pair.a.info.copy();
        info.txAttr().size(SIZE);
        info.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT);
        Endpoint endpoint = pair.a.domain.openEndpoint(info);
        endpoint.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.a.av);
        endpoint.bind(context, 0);
        endpoint.enable();
        return endpoint;
    }

    private static int send(FabricPair pair, Endpoint endpoint, int number) {
        return endpoint.messages().tsendmsg(pair.a.memory.address(), LENGTH, 0, pair.toB, number, number,
            Flags.COMPLETION | Flags.DELIVERY_COMPLETE);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("SHR-002")
    void shouldHaveNoMoreOperationsOutstandingThanTheSharedContextHas(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            SharedTransmitContext context = pair.a.domain.openSharedTransmitContext(new TxAttr().size(SIZE), 0);
            QueueReader queue = QueueReader.open(pair, pair.a.domain, 64);
            List<Endpoint> endpoints = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                endpoints.add(open(pair, queue, context));
            }
            for (int i = 0; i < SIZE; i++) {
                assertEquals(SIZE - i, endpoints.get(0).txSizeLeft());
                assertEquals(0, send(pair, endpoints.get(i % 3), i));
            }
            for (Endpoint each : endpoints) {
                assertFull(pair, each);
            }
            // operations that end with their endpoint leave their places, and so does a claim
            endpoints.get(2).close();
            assertEquals(2, endpoints.get(0).txSizeLeft());
            SendClaim claim = new SendClaim();
            assertEquals(0, endpoints.get(0).tryClaim(8, claim));
            assertEquals(1, endpoints.get(1).txSizeLeft());
            claim.abort();
            assertEquals(2, endpoints.get(1).txSizeLeft());
            assertEquals(-FabricErrno.EINVAL,
                endpoints.get(0).tinject(pair.a.memory.buffer(), 0, 8, FabricAddress.ADDR_UNSPEC, 99));
            assertEquals(0, send(pair, endpoints.get(0), SIZE));
            assertEquals(0, send(pair, endpoints.get(1), SIZE + 1));
            assertFull(pair, endpoints.get(0));
            // the place that one has had is the other one's
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, -1, 0, 0, 7));
            pair.b.await(7);
            assertEquals(0, queue.await().err());
            assertEquals(0, send(pair, endpoints.get(1), SIZE + 2));
        }
    }

    private static void assertFull(FabricPair pair, Endpoint endpoint) {
        long buf = pair.a.memory.address();
        assertEquals(0, endpoint.txSizeLeft());
        assertEquals(-FabricErrno.EAGAIN, send(pair, endpoint, 99));
        assertEquals(-FabricErrno.EAGAIN, endpoint.tinject(pair.a.memory.buffer(), 0, 8, pair.toB, 99));
        assertEquals(-FabricErrno.EAGAIN, endpoint.messages().tsendmsg(buf, 8, 0, pair.toB, 99, 99, Flags.INJECT));
        assertEquals(-FabricErrno.EAGAIN, endpoint.tryClaim(8, new SendClaim()));
    }

    /** Its receives are kept in no stricter order than the context's. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("SHR-012")
    void shouldRefuseAnEndpointWhoseOrderOfCompletionsTheContextDoesNotKeep(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Domain domain = pair.a.domain;
            Info info = pair.a.info.copy();
            info.txAttr().compOrder(Order.STRICT);
            info.rxAttr().compOrder(Order.STRICT).size(2);
            info.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT).rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            Endpoint strict = domain.openEndpoint(info);
            assertEquals(Order.NONE, domain.info().rxAttr().compOrder());
            Endpoint loose = domain.openSharedReceiveContext(new RxAttr().size(4), 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> strict.bind(loose, 0)));
            SharedTransmitContext looseToo = domain.openSharedTransmitContext(new TxAttr(), 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> strict.bind(looseToo, 0)));
            strict.bind(domain.openSharedReceiveContext(new RxAttr().size(4).compOrder(Order.STRICT), 0), 0);
            strict.bind(domain.openSharedTransmitContext(new TxAttr().compOrder(Order.STRICT), 0), 0);
            info.txAttr().compOrder(Order.NONE);
            info.rxAttr().compOrder(Order.NONE).opFlags(Flags.COMPLETION);
            Endpoint flagged = domain.openEndpoint(info);
            assertEquals(FabricErrno.EINVAL, errno(() -> flagged.bind(loose, 0)), "default flags of its receives");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("SEP-014")
    void shouldOpenNoContextWithAttributesThatNoLinkOffers(Setup setup) {
        List<TxAttr> ofSends = List.of(new TxAttr().mode(Mode.CONTEXT), new TxAttr().mode(1L << 58),
            new TxAttr().tclass(7), new TxAttr().compOrder(Order.DATA), new TxAttr().compOrder(1L << 40));
        List<RxAttr> ofReceives = List.of(new RxAttr().mode(Mode.CONTEXT), new RxAttr().mode(1L << 58),
            new RxAttr().compOrder(Order.DATA), new RxAttr().compOrder(1L << 40));
        try (FabricPair pair = new FabricPair(setup)) {
            for (TxAttr each : ofSends) {
                assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openSharedTransmitContext(each, 0)),
                    each::toString);
            }
            for (RxAttr each : ofReceives) {
                assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openSharedReceiveContext(each, 0)),
                    each::toString);
            }
            SharedTransmitContext like = pair.a.domain.openSharedTransmitContext(new TxAttr(), 0);
            assertEquals(pair.a.domain.info().domainAttr().tclass(), like.attr().tclass());
            if (pair.a.info.domainAttr().maxEpTxCtx() > 1) {
                assertNoContextOfAScalableEndpoint(pair, ofSends, ofReceives);
            }
        }
    }

    private static void assertNoContextOfAScalableEndpoint(
        FabricPair pair, List<TxAttr> ofSends, List<RxAttr> ofReceives) {
        Info info = pair.a.info.copy();
        info.epAttr().txCtxCnt(2).rxCtxCnt(2);
        try (ScalableEndpoint scalable = pair.a.domain.openScalableEndpoint(info)) {
            for (TxAttr each : ofSends) {
                assertEquals(FabricErrno.EINVAL, errno(() -> scalable.txContext(0, each, 0)), each::toString);
            }
            for (RxAttr each : ofReceives) {
                assertEquals(FabricErrno.EINVAL, errno(() -> scalable.rxContext(0, each, 0)), each::toString);
            }
            assertEquals(FabricErrno.EBADFLAGS,
                errno(() -> scalable.txContext(0, new TxAttr().opFlags(Flags.MULTI_RECV), 0)));
            assertEquals(FabricErrno.EBADFLAGS,
                errno(() -> scalable.rxContext(0, new RxAttr().opFlags(Flags.INJECT), 0)));
            TxAttr strict = new TxAttr().compOrder(Order.STRICT);
            scalable.txContext(0, strict, 0).close();
            assertEquals(Order.STRICT, strict.compOrder());
        }
    }
}
