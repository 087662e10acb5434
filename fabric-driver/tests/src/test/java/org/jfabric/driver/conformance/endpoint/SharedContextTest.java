package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jfabric.AddressVector;
import org.jfabric.Counter;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fid;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.PassiveEndpoint;
import org.jfabric.SharedTransmitContext;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared contexts: several endpoints of the first node use one; the endpoint of the second node sends to them. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class SharedContextTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    private static final int SLOT = 1 << 10;

    /** An endpoint of the first node with a queue of its own, and its place in the second node's address vector. */
    private record User(Endpoint endpoint, QueueReader queue, long to) {
        static User open(FabricPair pair, Info info, long flags, Fid... contexts) {
            Endpoint endpoint = pair.a.domain.openEndpoint(info);
            QueueReader queue = QueueReader.open(pair, pair.a.domain, 64);
            endpoint.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV | flags);
            endpoint.bind(pair.a.av);
            for (Fid context : contexts) {
                endpoint.bind(context, 0);
            }
            endpoint.enable();
            return new User(endpoint, queue, pair.b.av.insert(endpoint.name()));
        }
    }

    private static Info sharing(FabricPair pair, boolean transmits, boolean receives) {
        Info info = pair.a.info.copy();
        info.epAttr().txCtxCnt(transmits ? FabricAddress.SHARED_CONTEXT : 1)
            .rxCtxCnt(receives ? FabricAddress.SHARED_CONTEXT : 1);
        return info;
    }

    private static Endpoint receives(FabricPair pair, int size) {
        return pair.a.domain.openSharedReceiveContext(new RxAttr().size(size), 7);
    }

    private static List<User> users(FabricPair pair, Endpoint context, int count) {
        Info info = small(sharing(pair, false, true));
        return IntStream.range(0, count).mapToObj(i -> User.open(pair, info, 0, context)).toList();
    }

    /** With a receive queue of no more than the contexts of these tests have. */
    private static Info small(Info info) {
        info.rxAttr().size(2);
        return info;
    }

    private static void post(FabricPair pair, Endpoint context, int slot, long tag) {
        assertEquals(0, context.trecv(at(pair, slot), SLOT, ANY, tag, 0, 100 + slot));
    }

    private static long at(FabricPair pair, int slot) {
        return pair.a.memory.address((long) slot * SLOT);
    }

    private static void send(FabricPair pair, User to, long tag, int seed) {
        pair.b.fill(0, LENGTH, seed);
        assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to.to, tag, seed));
        pair.b.await(seed);
    }

    private static int errno(Runnable call) {
        return assertThrows(FabricException.class, call::run).errno();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SHR-001", "SHR-013", "SHR-015"})
    void shouldTakeMessagesToAnyOfItsEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            List<User> users = users(pair, context, 3);
            for (int i = 0; i < 6; i++) {
                post(pair, context, i, 5);
            }
            int[] order = {2, 0, 1, 1, 2, 0};
            for (int i = 0; i < order.length; i++) {
                send(pair, users.get(order[i]), 5, 40 + i);
                // messages of different peers have no order, so that one is awaited before the next is sent
                FabricNode.Entry entry = users.get(order[i]).queue.await();
                assertEquals(100 + i, entry.context(), "the oldest receive");
                assertEquals(LENGTH, entry.len());
                pair.a.assertFilled((long) i * SLOT, LENGTH, 40 + i);
            }
            users.forEach(user -> assertNull(user.queue.poll()));
            for (User user : users) {
                assertEquals(0, user.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 6, 9));
                assertEquals(9, user.queue.await().context());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("SHR-002")
    void shouldHaveOneQueueOfReceivesForAll(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 2);
            List<User> users = users(pair, context, 3);
            post(pair, context, 0, 5);
            post(pair, context, 1, 5);
            assertEquals(-FabricErrno.EAGAIN, context.trecv(at(pair, 2), SLOT, ANY, 5, 0, 1));
            assertEquals(0, context.rxSizeLeft());
            send(pair, users.get(0), 5, 1);
            send(pair, users.get(1), 5, 2);
            users.get(0).queue.await();
            users.get(1).queue.await();
            // both were used up by the first two endpoints: the message to the third waits
            send(pair, users.get(2), 5, 3);
            pair.pump();
            assertNull(users.get(2).queue.poll());
            post(pair, context, 2, 5);
            assertEquals(102, users.get(2).queue.await().context());
            pair.a.assertFilled(2L * SLOT, LENGTH, 3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldMatchWaitingMessagesOfAnyLengthAndKind(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            List<User> users = users(pair, context, 2);
            int length = 1 << 20;
            pair.b.fill(0, length, 8);
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), length, users.get(0).to, 3, 31));
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), LENGTH, users.get(1).to, 32));
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, users.get(1).to, 4, 33));
            assertEquals(0, context.trecv(pair.a.memory.address(2 << 20), length, ANY, 4, 0, 41));
            assertEquals(41, users.get(1).queue.await().context());
            assertEquals(0, context.recv(pair.a.memory.address(4 << 20), length, ANY, 42));
            FabricNode.Entry untagged = users.get(1).queue.await();
            assertEquals(42, untagged.context());
            assertEquals(Flags.MSG | Flags.RECV, untagged.flags());
            assertEquals(0, context.trecv(pair.a.memory.address(6 << 20), length, ANY, 0, ~0L, 43));
            FabricNode.Entry tagged = users.get(0).queue.await();
            assertEquals(43, tagged.context());
            assertEquals(3, tagged.tag());
            assertEquals(length, tagged.len());
            pair.a.assertFilled(6 << 20, length, 8);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.await().err());
            }
            assertEquals(0, context.trecv(pair.a.memory.address(), LENGTH / 2, ANY, 9, 0, 44));
            send(pair, users.get(0), 9, 60);
            assertEquals(FabricErrno.ETRUNC, users.get(0).queue.await().err());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SHR-004", "SHR-005"})
    void shouldShareEachDirectionByItself(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            SharedTransmitContext transmits = pair.a.domain.openSharedTransmitContext(new TxAttr(), 3);
            List<User> users = List.of(
                User.open(pair, sharing(pair, false, false), 0),
                User.open(pair, sharing(pair, true, false), 0, transmits),
                User.open(pair, small(sharing(pair, true, true)), 0, transmits, context),
                User.open(pair, small(sharing(pair, false, true)), 0, context));
            for (int i = 0; i < users.size(); i++) {
                User user = users.get(i);
                post(pair, i < 2 ? user.endpoint : context, i, 20 + i);
                send(pair, user, 20 + i, 50 + i);
                assertEquals(100 + i, user.queue.await().context());
                pair.a.assertFilled((long) i * SLOT, LENGTH, 50 + i);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(SLOT), LENGTH, ANY, 30 + i, 0, 70 + i));
                assertEquals(0, user.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 30 + i, 80 + i));
                assertEquals(80 + i, user.queue.await().context(), "only in its own queue");
                pair.b.await(70 + i);
            }
            users.forEach(user -> assertNull(user.queue.poll()));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-007", "SHR-009", "SHR-010"})
    void shouldSendThroughTheEndpointsOfASharedTransmitContext(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            SharedTransmitContext context = pair.a.domain.openSharedTransmitContext(new TxAttr(), 3);
            assertEquals(FidClass.STX_CTX, context.fidClass());
            assertEquals(3, context.context());
            Info info = sharing(pair, true, false);
            User first = User.open(pair, info, 0, context);
            User second = User.open(pair, info, 0, context);
            assertEquals(0, first.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, 11));
            assertEquals(11, first.queue.await().context());
            assertNull(second.queue.poll());

            Endpoint third = pair.a.domain.openEndpoint(info);
            third.bind(context, 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> third.bind(context, 0)));
            SharedTransmitContext other = pair.a.domain.openSharedTransmitContext(new TxAttr(), 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> third.bind(other, 0)));
            assertEquals(FabricErrno.EBADFLAGS, errno(() -> third.bind(other, 1)));
            assertEquals(FabricErrno.EINVAL, errno(() -> context.bind(pair.a.cq, Flags.TRANSMIT)));
            Counter counter = pair.a.domain.openCounter(new CounterAttr());
            assertEquals(FabricErrno.EINVAL, errno(() -> context.bind(counter, Flags.SEND)));
            Endpoint receives = receives(pair, 4);
            assertEquals(FabricErrno.EINVAL, errno(() -> receives.bind(pair.a.cq, Flags.RECV)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldCloseASharedTransmitContextWithItsFabric(Setup setup) {
        SharedTransmitContext context;
        try (FabricPair pair = new FabricPair(setup)) {
            context = pair.a.domain.openSharedTransmitContext(new TxAttr(), 0);
            assertTrue(context.isOpen());
        }
        assertFalse(context.isOpen());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-008", "EP-035"})
    void shouldEnableNoEndpointWithoutItsContext(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (boolean transmits : new boolean[] {true, false}) {
                Endpoint endpoint = pair.a.domain.openEndpoint(small(sharing(pair, transmits, !transmits)));
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.a.av);
                assertEquals(FabricErrno.EINVAL, errno(endpoint::enable));
                if (transmits) {
                    endpoint.bind(pair.a.domain.openSharedTransmitContext(new TxAttr(), 0), 0);
                } else {
                    endpoint.bind(receives(pair, 4), 0);
                }
                endpoint.enable();
            }
            // and the other way round: an endpoint that has not asked for one takes none
            Endpoint own = pair.a.domain.openEndpoint(sharing(pair, false, false));
            Endpoint context = receives(pair, 4);
            assertEquals(FabricErrno.EINVAL, errno(() -> own.bind(context, 0)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-031")
    void shouldBindEveryKindOfObjectAndNoOther(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Domain domain = pair.a.domain;
            Endpoint endpoint = domain.openEndpoint(small(sharing(pair, true, true)));
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            Counter counter = domain.openCounter(new CounterAttr());
            endpoint.bind(counter, Flags.SEND | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.bind(pair.a.fabric.openEventQueue(new EventQueueAttr()), 0);
            endpoint.bind(domain.openSharedTransmitContext(new TxAttr(), 0), 0);
            endpoint.bind(receives(pair, 4), 0);
            MemoryRegion region = domain.allocate(64, new MemoryRegionAttr().flags(Flags.RMA_EVENT));
            endpoint.bind(region, 0);
            assertEquals(FabricErrno.EBUSY, errno(region::close), "bound to an endpoint that is open");
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(region, 0)), "bound already");
            assertEquals(FabricErrno.EDOMAIN, errno(() -> endpoint.bind(pair.b.memory, 0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(domain, 0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(pair.a.endpoint, 0)));
            endpoint.enable();
            MemoryRegion late = domain.allocate(64, new MemoryRegionAttr().flags(Flags.RMA_EVENT));
            endpoint.bind(late, 0);
            late.enable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-014", "SHR-016"})
    void shouldTakeReceivesOnlyInTheContext(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 4);
            assertEquals(FidClass.SRX_CTX, context.fidClass());
            Endpoint user = users(pair, context, 1).getFirst().endpoint;
            assertEquals(-FabricErrno.ENOSYS, user.recv(at(pair, 0), SLOT, ANY, 1));
            assertEquals(-FabricErrno.ENOSYS, user.trecv(at(pair, 0), SLOT, ANY, 1, 0, 1));
            assertEquals(-FabricErrno.ENOSYS, user.rxSizeLeft());
            assertEquals(4, context.rxSizeLeft());
            assertEquals(-FabricErrno.EOPNOTSUPP, context.tsend(at(pair, 0), SLOT, pair.toB, 1, 1));

            Endpoint second = pair.a.domain.openEndpoint(small(sharing(pair, false, true)));
            second.bind(context, 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> second.bind(context, 0)));
            Endpoint other = receives(pair, 4);
            assertEquals(FabricErrno.EINVAL, errno(() -> second.bind(other, 0)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("SHR-017")
    void shouldHaveOneAddressVectorForAllEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 4);
            Endpoint first = users(pair, context, 1).getFirst().endpoint;
            AddressVector other = pair.a.domain.openAddressVector(new AddressVectorAttr());
            Endpoint second = pair.a.domain.openEndpoint(small(sharing(pair, false, true)));
            second.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            second.bind(other);
            second.bind(context, 0);
            assertEquals(FabricErrno.EINVAL, errno(second::enable));
            second.close();
            first.close();
            // without endpoints it may have another one
            Endpoint third = pair.a.domain.openEndpoint(small(sharing(pair, false, true)));
            third.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            third.bind(other);
            third.bind(context, 0);
            third.enable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-011", "SHR-018"})
    void shouldStayOpenWhileEndpointsUseIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint receives = pair.a.domain.openSharedReceiveContext(new RxAttr(), 7);
            SharedTransmitContext transmits = pair.a.domain.openSharedTransmitContext(new TxAttr(), 3);
            assertEquals(7, receives.context());
            User user = User.open(pair, sharing(pair, true, true), 0, transmits, receives);
            assertEquals(FabricErrno.EBUSY, errno(receives::close));
            assertEquals(FabricErrno.EBUSY, errno(transmits::close));
            user.endpoint.close();
            receives.close();
            transmits.close();
            assertFalse(receives.isOpen());
            assertFalse(transmits.isOpen());
            assertEquals(-FabricErrno.EOPBADSTATE, receives.trecv(at(pair, 0), SLOT, ANY, 5, 0, 1));
            Endpoint late = pair.a.domain.openEndpoint(sharing(pair, true, true));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> late.bind(receives, 0)));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> late.bind(transmits, 0)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-012", "SHR-019"})
    void shouldRefuseEndpointsThatAskForMoreThanItHas(Setup setup) {
        setup.assumeRemoteMemory();
        // with several orders and default flags, so that a context can have a part of them
        Info hints = FabricPair.usualHints();
        hints.caps(hints.caps() | Flags.RMA).txAttr().opFlags(Flags.COMPLETION);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            Domain domain = pair.a.domain;
            Info info = sharing(pair, true, true);
            info.txAttr().size(8).injectSize(32);
            info.rxAttr().size(8);
            Endpoint endpoint = domain.openEndpoint(info);
            for (TxAttr less : List.of(new TxAttr().size(7), new TxAttr().injectSize(31),
                new TxAttr().caps(Flags.MSG | Flags.RMA), new TxAttr().opFlags(Flags.COMPLETION),
                new TxAttr().msgOrder(Order.SAS), new TxAttr().iovLimit(1))) {
                SharedTransmitContext context = domain.openSharedTransmitContext(less, 0);
                assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(context, 0)), less::toString);
            }
            SharedTransmitContext enough = domain.openSharedTransmitContext(new TxAttr().size(8).injectSize(32), 0);
            Info pieces = info.copy();
            pieces.txAttr().rmaIovLimit(enough.attr().rmaIovLimit() + 1);
            Endpoint other = domain.openEndpoint(pieces);
            assertEquals(FabricErrno.EINVAL, errno(() -> other.bind(enough, 0)));
            endpoint.bind(enough, 0);
            assertEquals(8, enough.attr().size());

            for (RxAttr less : List.of(new RxAttr().size(7), new RxAttr().caps(Flags.MSG),
                new RxAttr().msgOrder(Order.SAS), new RxAttr().iovLimit(1))) {
                Endpoint context = domain.openSharedReceiveContext(less, 0);
                assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.bind(context, 0)), less::toString);
            }
            endpoint.bind(receives(pair, 8), 0);
            assertEquals(FabricErrno.EINVAL, errno(() -> domain.openSharedReceiveContext(
                new RxAttr().caps(Flags.MSG | Flags.MULTICAST), 0)), "beyond the domain");
            long much = domain.info().rxAttr().size() + 1;
            assertEquals(FabricErrno.EINVAL, errno(() -> receives(pair, (int) much)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SHR-003", "EP-152", "EP-154"})
    void shouldBeOfferedByTheDomainThatSaysSo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertTrue(pair.a.info.domainAttr().maxEpStxCtx() > 1);
            assertTrue(pair.a.info.domainAttr().maxEpSrxCtx() > 1);
            Info hints = new Info().caps(pair.a.info.caps()).linkName(setup.link);
            hints.epAttr().txCtxCnt(FabricAddress.SHARED_CONTEXT).rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            Info match = pair.a.fabric.info(hints).best();
            assertEquals(FabricAddress.SHARED_CONTEXT, match.epAttr().txCtxCnt());
            assertEquals(FabricAddress.SHARED_CONTEXT, match.epAttr().rxCtxCnt());
            Info none = pair.a.info.copy();
            none.domainAttr().maxEpStxCtx(0).maxEpSrxCtx(0);
            Domain without = pair.a.fabric.domain(none);
            assertEquals(FabricErrno.ENOSYS, errno(() -> without.openSharedReceiveContext(new RxAttr(), 0)));
            assertEquals(FabricErrno.ENOSYS, errno(() -> without.openSharedTransmitContext(new TxAttr(), 0)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldHoldBackOnlyTheEndpointWhoseQueueIsUnread(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int slots = 16;
            int more = 5;
            Endpoint context = receives(pair, 64);
            List<User> users = users(pair, context, 2);
            for (int i = 0; i < slots + more + 1; i++) {
                post(pair, context, i, i <= slots + more ? i % (slots + more + 1) : 0);
            }
            for (int i = 0; i < slots + more; i++) {
                send(pair, users.get(0), i, 30 + i);
            }
            send(pair, users.get(1), slots + more, 90);
            assertEquals(100 + slots + more, users.get(1).queue.await().context(), "of the other queue");
            for (int i = 0; i < slots + more; i++) {
                assertEquals(100 + i, users.get(0).queue.await().context());
                pair.a.assertFilled((long) i * SLOT, LENGTH, 30 + i);
            }
            users.forEach(user -> assertNull(user.queue.poll()));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGoOnWhenOneOfItsEndpointsIsClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            List<User> users = users(pair, context, 2);
            send(pair, users.get(0), 5, 1);
            send(pair, users.get(1), 5, 2);
            post(pair, context, 0, 6);
            send(pair, users.get(0), 6, 3);
            users.get(0).queue.await();
            // its waiting message goes with it
            users.get(0).endpoint.close();
            users.get(0).queue.cq().close();
            post(pair, context, 1, 5);
            assertEquals(101, users.get(1).queue.await().context());
            pair.a.assertFilled(SLOT, LENGTH, 2);
            User third = users(pair, context, 1).getFirst();
            post(pair, context, 2, 5);
            send(pair, third, 5, 4);
            assertEquals(102, third.queue.await().context());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReportCancelledReceivesToTheFirstEndpoint(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 4);
            post(pair, context, 0, 5);
            assertEquals(0, context.cancel(100), "without endpoints there is no entry");
            while (context.rxSizeLeft() != 4) {
                pair.pump();
            }
            List<User> users = users(pair, context, 2);
            post(pair, context, 1, 5);
            post(pair, context, 2, 5);
            assertEquals(0, users.get(1).endpoint.cancel(101), "not one of the endpoint's");
            assertEquals(0, context.cancel(102));
            FabricNode.Entry cancelled = users.get(0).queue.await();
            assertEquals(FabricErrno.ECANCELED, cancelled.err());
            assertEquals(102, cancelled.context());
            send(pair, users.get(1), 5, 3);
            assertEquals(101, users.get(1).queue.await().context());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldWriteEntriesAsTheEndpointsQueueIsBound(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            Info info = small(sharing(pair, false, true));
            User selective = User.open(pair, info, Flags.SELECTIVE_COMPLETION, context);
            User all = User.open(pair, info, 0, context);
            post(pair, context, 0, 5);
            send(pair, selective, 5, 1);
            assertEquals(0, context.messages().trecvmsg(at(pair, 1), SLOT, ANY, 5, 0, 101, Flags.COMPLETION));
            send(pair, selective, 5, 2);
            assertEquals(101, selective.queue.await().context());
            pair.a.assertFilled(0, LENGTH, 1);
            post(pair, context, 2, 5);
            send(pair, all, 5, 3);
            assertEquals(102, all.queue.await().context());
            assertNull(selective.queue.poll());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("SHR-013")
    void shouldServeManyConnections(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            ConnectionSide clients = new ConnectionSide(pair, pair.b);
            ConnectionSide server = new ConnectionSide(pair, pair.a);
            PassiveEndpoint passive = server.listen(-1);
            Endpoint context = receives(pair, 8);
            List<Endpoint> asking = new ArrayList<>();
            List<Endpoint> serving = new ArrayList<>();
            List<QueueReader> queues = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Endpoint client = clients.open(50 + i);
                client.connect(passive.name());
                Info accepted = small(server.next(EventType.CONNREQ, passive).info());
                accepted.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
                Endpoint served = pair.a.domain.openEndpoint(accepted, 60 + i);
                QueueReader queue = QueueReader.open(pair, pair.a.domain, 64);
                served.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV);
                served.bind(server.events, 0);
                served.bind(context, 0);
                served.enable();
                served.accept();
                clients.next(EventType.CONNECTED, client);
                server.next(EventType.CONNECTED, served);
                asking.add(client);
                serving.add(served);
                queues.add(queue);
            }
            for (int i = 0; i < 6; i++) {
                post(pair, context, i, 5);
            }
            for (int i = 0; i < 5; i++) {
                int from = i % 3;
                if (i == 3) {
                    // the receives that wait are not those of this connection
                    asking.get(0).shutdown(0);
                    server.next(EventType.SHUTDOWN, serving.get(0));
                    from = 1;
                }
                pair.b.fill(0, LENGTH, i);
                assertEquals(0, asking.get(from).tsend(pair.b.memory.address(), LENGTH, ANY, 5, i));
                assertEquals(100 + i, queues.get(from).await().context());
                pair.a.assertFilled((long) i * SLOT, LENGTH, i);
            }
            assertEquals(8 - 1, context.rxSizeLeft());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldPeekAtMessagesToAnyOfItsEndpoints(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint context = receives(pair, 8);
            List<User> users = users(pair, context, 2);
            QueueReader first = users.get(0).queue;
            QueueReader second = users.get(1).queue;
            assertEquals(0, peek(context, 5, 11, Flags.PEEK));
            assertEquals(FabricErrno.ENOMSG, first.await().err(), "nothing is there: reported to the first endpoint");
            assertEquals(0, peek(context, 5, 12, Flags.CLAIM));
            assertEquals(FabricErrno.EINVAL, first.await().err(), "nothing is claimed");

            send(pair, users.get(1), 5, 1);
            send(pair, users.get(1), 6, 2);
            assertEquals(13, found(pair, context, 5, 13, Flags.PEEK, users));
            assertEquals(14, found(pair, context, 5, 14, Flags.PEEK | Flags.CLAIM, users));
            assertEquals(0, context.messages().trecvmsg(at(pair, 0), SLOT, ANY, 5, 0, 14, Flags.CLAIM));
            assertEquals(14, second.await().context());
            pair.a.assertFilled(0, LENGTH, 1);
            assertEquals(15, found(pair, context, 6, 15, Flags.PEEK | Flags.DISCARD, users));
            assertEquals(0, peek(context, 6, 16, Flags.PEEK));
            assertEquals(FabricErrno.ENOMSG, first.await().err());

            // a claim outlives the endpoint that its message came to, without the message
            send(pair, users.get(1), 7, 3);
            assertEquals(17, found(pair, context, 7, 17, Flags.PEEK | Flags.CLAIM, users));
            users.get(1).endpoint.close();
            assertEquals(0, context.messages().trecvmsg(at(pair, 0), SLOT, ANY, 7, 0, 17, Flags.CLAIM));
            assertEquals(FabricErrno.ECONNRESET, first.await().err());
            assertEquals(8, context.rxSizeLeft());
        }
    }

    /** The last one finds one free slot: none may be lost with it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAnswerPeeksThatFindNothingHoweverOftenTheyUseUpAllSlots(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int slots = 16;
            Endpoint context = receives(pair, 2 * slots);
            QueueReader first = users(pair, context, 2).getFirst().queue;
            for (int round = 0; round <= slots; round++) {
                for (int i = 0; i < slots; i++) {
                    assertEquals(0, peek(context, 5, i, Flags.PEEK));
                }
                for (int i = 0; i < slots; i++) {
                    FabricNode.Entry entry = first.await();
                    assertEquals(i + " FI_ENOMSG", entry.context() + " " + FabricErrno.name(entry.err()));
                }
            }
            assertEquals(2 * slots, context.rxSizeLeft());
        }
    }

    private static int peek(Endpoint context, long tag, long opContext, long flags) {
        return context.messages().trecvmsg(0, 0, ANY, tag, 0, opContext, flags);
    }

    /** Peeks until the message has come, and returns the context of the entry. */
    private static long found(
        FabricPair pair, Endpoint context, long tag, long opContext, long flags, List<User> users) {
        Deadline deadline = Deadline.usual();
        FabricNode.Entry entry = null;
        while (entry == null) {
            assertEquals(0, peek(context, tag, opContext, flags));
            FabricNode.Entry nothing = null;
            while (nothing == null && entry == null) {
                deadline.check("the entry of a peek", context::toString);
                nothing = users.get(0).queue.poll();
                entry = users.get(1).queue.poll();
                pair.pump();
            }
            assertTrue(nothing == null || nothing.err() == FabricErrno.ENOMSG);
        }
        assertEquals(0, entry.err());
        assertEquals(LENGTH, entry.len());
        assertEquals(tag, entry.tag());
        return entry.context();
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldTakeDatagramsToAnyOfItsEndpoints(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            Endpoint context = pair.a.domain.openSharedReceiveContext(new RxAttr().size(4), 0);
            Info info = small(pair.a.info.copy().srcAddr(pair.address(0)));
            info.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            QueueReader[] queues = new QueueReader[2];
            long[] to = new long[2];
            for (int i = 0; i < 2; i++) {
                queues[i] = new QueueReader(pair.a.domain.openCompletionQueue(
                    new CompletionQueueAttr().size(64).format(CompletionFormat.TAGGED)), pair::pump);
                Endpoint endpoint = pair.a.domain.openEndpoint(info);
                endpoint.bind(queues[i].cq(), Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.a.av);
                endpoint.bind(context, 0);
                endpoint.enable();
                to[i] = pair.b.av.insert(endpoint.name());
            }
            for (int i = 0; i < 4; i++) {
                assertEquals(0, context.recv(pair.a.memory.address((long) i * SLOT), SLOT, ANY, 100 + i));
            }
            pair.a.awaitRead(4);
            for (int i = 0; i < 4; i++) {
                pair.b.fill(0, LENGTH, i);
                assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(), LENGTH, to[i % 2], i));
                assertEquals(100 + i, queues[i % 2].await().context());
                pair.a.assertFilled((long) i * SLOT, LENGTH, i);
                pair.b.await(i);
            }
        }
    }
}
