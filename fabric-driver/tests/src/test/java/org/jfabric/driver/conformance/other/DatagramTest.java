package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.Protocol;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Unreliable endpoints: messages are datagrams, whole or not there at all. */
@Tag("conformance")
@Timeout(120)
class DatagramTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    /** Of the longest ones: 8 MB, where the driver asks the kernel for 2 MiB, and the kernel gives twice that. */
    private static final int FLOOD = 6_000;

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    @Requirement("EP-121")
    void shouldKeepTheBoundariesOfMessagesUpToTheLargestThatAFrameHolds(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            assertEquals(EndpointType.DGRAM, pair.a.info.epAttr().type());
            assertEquals(Protocol.UDP, pair.a.info.epAttr().protocol());
            assertEquals(setup.longest(), pair.a.info.epAttr().maxMsgSize());
            int[] lengths = {0, 1, 2, 63, 64, 65, 1000, setup.longest() - 1, setup.longest()};
            int received = 0;
            for (int round = 0; round < 20; round++) {
                for (int length : lengths) {
                    received += exchange(pair, length, round);
                }
            }
            // loss is allowed, but one host that waits for each message has no reason to lose any
            assertEquals(20 * lengths.length, received);
            assertEquals(-FabricErrno.EINVAL,
                pair.a.endpoint.send(pair.a.memory.address(), setup.longest() + 1, pair.toB, 1));
        }
    }

    private static int exchange(DatagramPair pair, int length, int seed) {
        pair.a.fill(0, length, seed);
        assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 2));
        assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), length, pair.toB, 1));
        assertEquals(Flags.SEND | Flags.MSG, pair.a.await(1).flags());
        FabricNode.Entry entry = pair.b.await(2);
        assertEquals(length, entry.len());
        assertEquals(Flags.RECV | Flags.MSG, entry.flags());
        assertEquals(pair.toA, entry.source());
        pair.b.assertFilled(0, length, seed);
        return 1;
    }

    /** At the default level: the kernel has it when the call returns, and no cycle of the driver is needed. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, names = {"EMBEDDED", "PACKET_EMBEDDED"})
    void shouldSendTheFirstDatagramOfACycleWithinTheCall(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup); DatagramSocket plain = new DatagramSocket(
                new InetSocketAddress(InetAddress.getByName(setup.host), 0))) {
            plain.setSoTimeout(Deadline.ms(20));
            DatagramPacket taken = new DatagramPacket(new byte[100], 100);
            long peer = pair.a.av.insert(SocketName.of((InetSocketAddress) plain.getLocalSocketAddress()).toString());
            // opens the channel
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 63, peer, 1));
            pair.a.await(1);
            plain.receive(taken);
            pair.pump();
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 64, peer, 2));
            plain.receive(taken);
            assertEquals(64, taken.getLength());
            pair.a.await(2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = "DTLS_.*")
    @Requirement("CL-011")
    void shouldCompleteASendThatNobodyReceives(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            SocketName gone = SocketName.parse(pair.b.endpoint.name());
            pair.b.close();
            long absent = pair.a.av.insert(gone.toString());
            for (int i = 0; i < 10; i++) {
                assertEquals(0, pair.a.endpoint.messages().sendmsg(
                    pair.a.memory.address(), 64, 0, absent, i, Flags.TRANSMIT_COMPLETE | Flags.COMPLETION));
                pair.a.await(i);
            }
            pair.a.assertQuiet(100);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    @Requirement("CL-016")
    void shouldRefuseLevelsThatNobodyCanTell(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            long buf = pair.a.memory.address();
            for (long level : new long[] {Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE, Flags.COMMIT_COMPLETE}) {
                assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().sendmsg(buf, 8, 0, pair.toB, 1, level));
                assertEquals(FabricErrno.EBADFLAGS, assertThrows(FabricException.class,
                    () -> pair.a.endpoint.setOpFlags(Flags.TRANSMIT | level)).errno());
                Info hints = DatagramPair.hints();
                hints.txAttr().opFlags(level);
                assertEquals(List.of(), pair.a.fabric.info(hints).matches());
            }
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                buf, 8, 0, pair.toB, 1, Flags.INJECT_COMPLETE | Flags.COMPLETION));
            pair.a.await(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    @Requirement("TX-035")
    void shouldCompleteSendsInTheOrderOfSubmissionWhereverTheyGo(DatagramSetup setup) throws Exception {
        Info strict = DatagramPair.hints();
        strict.txAttr().compOrder(Order.STRICT);
        try (DatagramPair pair = new DatagramPair(setup, strict)) {
            assertEquals(Order.STRICT, pair.a.info.txAttr().compOrder());
            FabricNode third = pair.sibling(pair.b, DatagramPair.hints());
            long toThird = pair.a.av.insert(third.endpoint.name());
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 50; i++) {
                    int length = i * 17 % setup.longest();
                    assertEquals(0, pair.a.endpoint.send(
                        pair.a.memory.address(), length, i % 3 == 0 ? toThird : pair.toB, i));
                }
                for (int i = 0; i < 50; i++) {
                    pair.a.await(i);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = "DTLS_.*")
    @Requirement("EP-128")
    void shouldExchangeDatagramsWithAPlainSocket(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup); DatagramChannel plain = DatagramChannel.open()) {
            SocketName here = SocketName.parse(pair.address(0));
            plain.bind(new InetSocketAddress(here.inetAddress(), 0));
            SocketName name = SocketName.of((InetSocketAddress) plain.getLocalAddress());
            SocketName ours = SocketName.parse(pair.a.endpoint.name());
            assertEquals(0, pair.a.endpoint.recv(pair.a.memory.address(), 100, ANY, 7));
            plain.send(ByteBuffer.wrap(new byte[] {1, 2, 3}), new InetSocketAddress(ours.inetAddress(), ours.port()));
            FabricNode.Entry fromStranger = pair.a.await(7);
            assertEquals(3, fromStranger.len());
            assertEquals(FabricAddress.ADDR_NOTAVAIL, fromStranger.source());
            assertEquals(2, pair.a.memory.buffer().getByte(1));

            long peer = pair.a.av.insert(name.toString());
            assertEquals(0, pair.a.endpoint.inject(new UnsafeBuffer(new byte[] {9, 8}), 0, 2, peer));
            pair.a.assertQuiet(1);
            plain.configureBlocking(true);
            ByteBuffer answer = ByteBuffer.allocate(100);
            InetSocketAddress from = (InetSocketAddress) plain.receive(answer);
            assertEquals(ours, SocketName.of(from));
            assertArrayEquals(new byte[] {9, 8}, java.util.Arrays.copyOf(answer.array(), answer.position()));

            assertEquals(0, pair.a.endpoint.recv(pair.a.memory.address(), 100, ANY, 8));
            plain.send(ByteBuffer.allocate(0), new InetSocketAddress(ours.inetAddress(), ours.port()));
            FabricNode.Entry known = pair.a.await(8);
            assertEquals(0, known.len());
            assertEquals(peer, known.source());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldKeepWhatComesBeforeItsReceive(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            for (int i = 0; i < 8; i++) {
                pair.a.fill(0, 100 + i, i);
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 100 + i, pair.toB, i));
                pair.a.await(i);
            }
            pair.b.assertQuiet(10);
            for (int i = 0; i < 8; i++) {
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, i));
                assertEquals(100 + i, pair.b.await(i).len());
                pair.b.assertFilled(0, 100 + i, i);
            }
        }
    }

    /**
     * More than any buffer of the kernel holds, to an endpoint that does not receive. Nothing holds the sender back:
     * what finds no room is dropped, no send says so, and the rest is received as before.
     */
    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    @Requirement("RX-017")
    void shouldDropWhatFindsNoRoomAndGoOnAfterAFlood(DatagramSetup setup) throws Exception {
        Info hints = DatagramPair.hints();
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        hints.rxAttr().totalBufferedRecv(0);
        try (DatagramPair pair = new DatagramPair(setup, hints)) {
            assertEquals(ResourceManagement.DISABLED, pair.b.info.domainAttr().resourceManagement());
            int sent = 0;
            int ended = 0;
            while (ended < FLOOD) {
                // without resource management the application counts its entries
                if (sent < FLOOD && sent - ended < 64
                    && pair.a.endpoint.send(pair.a.memory.address(), setup.longest(), pair.toB, sent) == 0) {
                    sent++;
                    continue;
                }
                pair.a.await(ended++);
            }
            pair.b.assertQuiet(20);
            // a short one now and then gets through as soon as the others were taken
            int taken = 0;
            long length;
            do {
                if (taken % 64 == 0) {
                    assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 5, pair.toB, 1));
                    pair.a.await(1);
                }
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1));
                length = pair.b.await(1).len();
                taken++;
            } while (length != 5);
            assertTrue(taken < FLOOD, taken + " datagrams were kept");
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldGatherAndScatterPieces(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            pair.a.fill(0, 300, 3);
            long from = pair.a.memory.address();
            long to = pair.b.memory.address();
            IoVec out = new IoVec().add(from, 100).add(from + 100, 0).add(from + 100, 150).add(from + 250, 50);
            IoVec in = new IoVec().add(to, 7).add(to + 7, 293);
            assertEquals(0, pair.b.endpoint.messages().recvv(in, ANY, 2));
            assertEquals(0, pair.a.endpoint.messages().sendv(out, pair.toB, 1));
            pair.a.await(1);
            assertEquals(300, pair.b.await(2).len());
            pair.b.assertFilled(0, 300, 3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldSayThatAMessageWasCut(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(), 10, ANY, 2));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 25, pair.toB, 1));
            FabricNode.Entry cut = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, cut.err());
            assertEquals(10, cut.len());
            assertEquals(15, cut.olen());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldFailSendsThatADatagramCannotCarry(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            long buf = pair.a.memory.address();
            assertEquals(0, pair.a.endpoint.messages().senddata(buf, 8, 1, pair.toB, 1));
            assertEquals(FabricErrno.EOPNOTSUPP, pair.a.await().err());
            assertEquals(0, pair.a.endpoint.tsend(buf, 8, pair.toB, 1, 2));
            assertEquals(FabricErrno.EOPNOTSUPP, pair.a.await().err());
            assertEquals(-FabricErrno.EOPNOTSUPP, pair.a.endpoint.trecv(buf, 8, ANY, 1, 0, 3));
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().recvmsg(buf, 8, ANY, 3, Flags.PEEK));
            assertEquals(0, pair.a.endpoint.send(1, 8, pair.toB, 4));
            assertEquals(FabricErrno.EFAULT, pair.a.await().err());
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldTellWhatItOffers(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            Info offer = pair.a.info;
            assertEquals(pair.setup.host.contains(":") ? AddressFormat.SOCKADDR_IN6 : AddressFormat.SOCKADDR_IN,
                offer.addrFormat());
            assertEquals(Flags.MSG | Flags.SEND, offer.txAttr().caps() & ~Flags.LOCAL_COMM);
            assertEquals(Flags.MSG | Flags.RECV | Flags.SOURCE, offer.rxAttr().caps() & ~Flags.LOCAL_COMM);
            for (long missing : new long[] {Flags.TAGGED, Flags.RMA, Flags.ATOMIC, Flags.DIRECTED_RECV, Flags.FENCE,
                Flags.SOURCE_ERR, Flags.MULTI_RECV}) {
                assertEquals(List.of(), pair.a.fabric.info(DatagramPair.hints().caps(missing)).matches());
            }
            for (AddressFormat format : List.of(AddressFormat.ADDR_STR, AddressFormat.SOCKADDR)) {
                assertEquals(1, pair.a.fabric.info(DatagramPair.hints().addrFormat(format)).matches().size());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldFindHostsByNodeAndService(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            SocketName other = SocketName.parse(pair.b.endpoint.name());
            String service = Integer.toString(other.port());
            Info match = pair.a.fabric.info(DatagramPair.hints(), setup.host, service, 0).best();
            assertEquals(other.toString(), match.destAddr());
            Info source = pair.a.fabric.info(DatagramPair.hints(), setup.host, "0", Flags.SOURCE).best();
            assertEquals(pair.address(0), source.srcAddr());
            assertEquals(pair.toB, pair.a.av.insertService(setup.host, service));
            assertEquals(other.toString(), pair.a.av.lookup(pair.toB));
            assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class,
                () -> pair.a.av.insertService("no-such-host.invalid", "1")).errno());
            assertEquals(List.of(), pair.a.fabric.info(
                DatagramPair.hints(), "localhost", service, Flags.NUMERICHOST).matches());
        }
    }

    /** Addresses of a vector that is shared, inserted before and after the endpoint is enabled, name their messages. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldNameSourcesWheneverTheyAreInserted(DatagramSetup setup) throws Exception {
        try (DatagramPair pair = new DatagramPair(setup)) {
            List<FabricNode> others = new ArrayList<>();
            for (int i = 0; i < Effort.rounds(4, 20); i++) {
                FabricNode other = pair.sibling(pair.b, DatagramPair.hints());
                others.add(other);
                long toA = other.av.insert(pair.a.endpoint.name());
                send(pair, other, toA, FabricAddress.ADDR_NOTAVAIL);
                long known = pair.a.av.insert(other.endpoint.name());
                send(pair, other, toA, known);
                if (i % 2 == 0) {
                    pair.a.av.remove(known);
                    send(pair, other, toA, FabricAddress.ADDR_NOTAVAIL);
                    send(pair, other, toA, pair.a.av.insert(other.endpoint.name()));
                }
            }
        }
    }

    private static void send(DatagramPair pair, FabricNode from, long toA, long expectedSource) {
        assertEquals(0, pair.a.endpoint.recv(pair.a.memory.address(), 64, ANY, 2));
        assertEquals(0, from.endpoint.send(from.memory.address(), 8, toA, 1));
        from.await(1);
        assertEquals(expectedSource, pair.a.await(2).source());
    }
}
