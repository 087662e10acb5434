package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.Endpoint;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.LibfabricPeer;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tagged messages of connections between endpoints of this project and C programs of libfabric 1.17, on both sides with
 * a shared receive context: libfabric's providers have tags on connections only with one.
 */
@Tag("slow")
@Timeout(120)
class LibfabricSharedContextTest {
    private static final long ANY = -1L;
    private static final int[] LENGTHS = {1, 100, 5000, 90_000, 1_500_000};
    private static final int LONGEST = 2 << 20;

    @ParameterizedTest(name = "{0} {1}")
    @CsvSource({"net, NETWORK_EMBEDDED", "tcp, NETWORK_EMBEDDED", "net, NETWORK_DAEMON"})
    void shouldExchangeTaggedMessagesOfConnections(String provider, Setup setup) {
        try (FabricPair fabrics = FabricPair.withOwnDaemons(
                setup, new Info().caps(Flags.MSG | Flags.TAGGED), 512);
            LibfabricPeer first = LibfabricPeer.start(provider, "srx", fabrics::pump);
            LibfabricPeer second = LibfabricPeer.start(provider, "srx", fabrics::pump)) {
            ConnectionSide side = new ConnectionSide(fabrics, fabrics.a);
            Endpoint context = fabrics.a.domain.openSharedReceiveContext(new RxAttr(), 0);
            PassiveEndpoint passive = side.listen(-1);
            List<LibfabricPeer> peers = List.of(first, second);
            List<Endpoint> endpoints = new ArrayList<>();
            List<QueueReader> queues = new ArrayList<>();
            for (LibfabricPeer peer : peers) {
                peer.tellToConnect(passive.name());
                Info accepted = side.next(EventType.CONNREQ, passive).info();
                accepted.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
                Endpoint endpoint = fabrics.a.domain.openEndpoint(accepted);
                QueueReader queue = QueueReader.open(fabrics, fabrics.a.domain, 64);
                endpoint.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(side.events, 0);
                endpoint.bind(context, 0);
                endpoint.accept();
                side.next(EventType.CONNECTED, endpoint);
                peer.answer("connected");
                endpoints.add(endpoint);
                queues.add(queue);
            }
            for (int i = 0; i < 2 * LENGTHS.length; i++) {
                int length = LENGTHS[i / 2];
                int from = i % 2;
                receive(fabrics, context, peers.get(from), queues.get(from), length, i);
                send(fabrics, endpoints.get(from), peers.get(from), queues.get(from), length, i);
            }
        }
    }

    /** Once posted before the message, once after it. */
    private static void receive(
        FabricPair fabrics, Endpoint context, LibfabricPeer peer, QueueReader queue, int length, int tag) {
        long to = fabrics.a.memory.address();
        peer.ask("fill 0 0 " + length + ' ' + tag, "ok");
        for (boolean isExpected : new boolean[] {true, false}) {
            fabrics.a.memory.buffer().setMemory(0, length, (byte) 0);
            if (isExpected) {
                assertEquals(0, context.trecv(to, LONGEST, ANY, tag, 0, 7));
            }
            peer.ask("tsend " + length + ' ' + tag, "done");
            if (!isExpected) {
                assertEquals(0, context.trecv(to, LONGEST, ANY, tag, 0, 7));
            }
            var entry = queue.await();
            assertEquals(0, entry.err());
            assertEquals(7, entry.context());
            assertEquals(length, entry.len());
            assertEquals(tag, entry.tag());
            for (int i = 0; i < length; i++) {
                assertEquals((byte) (tag + 7 * i), fabrics.a.memory.buffer().getByte(i), "byte");
            }
        }
    }

    private static void send(
        FabricPair fabrics, Endpoint endpoint, LibfabricPeer peer, QueueReader queue, int length, int tag) {
        fabrics.a.fill(0, length, tag);
        peer.ask("treceive " + LONGEST + ' ' + tag, "ok");
        assertEquals(0, endpoint.tsend(fabrics.a.memory.address(), length, 0, tag, 8));
        assertEquals(8, queue.await().context());
        String entry = peer.ask("await");
        assertTrue(entry.endsWith(' ' + Integer.toString(length) + " 0x0"), entry);
        byte[] seen = peer.bytes(0, 0, length);
        for (int i = 0; i < length; i++) {
            assertEquals(fabrics.a.memory.buffer().getByte(i), seen[i], "byte");
        }
    }
}
