package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import org.jfabric.codec.wire.ConnectAnswerDecoder;
import org.jfabric.codec.wire.ConnectDecoder;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.engine.EnginePassiveEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections over the real shm link, and frames of them that no correct driver writes. */
class ShmConnectionTest extends ThreeShmNodes {
    private static final int LINE = 64;
    private static final byte[] DATA = {1, 2, 3};
    private static final String LISTENER = FabricName.of("beta", "listener");

    private int nextId = 10;

    private String event(ShmNode node) {
        for (int i = 0; i < 100_000; i++) {
            if (!node.connectionEvents.isEmpty()) {
                return node.connectionEvents.removeFirst();
            }
            steps(1);
        }
        throw new AssertionError("no event; errors " + alpha.services.errors + " and " + beta.services.errors);
    }

    private EnginePassiveEndpoint listen(int backlog) {
        EnginePassiveEndpoint passive = beta.listen(nextId++, "listener", backlog);
        assertEquals("listening at " + LISTENER, event(beta));
        return passive;
    }

    private EngineEndpoint ask(ShmNode node) {
        EngineEndpoint asking = node.addConnecting(nextId, "asking-" + nextId);
        nextId++;
        asking.connect(LISTENER, DATA);
        return asking;
    }

    private EngineEndpoint accept() {
        EngineEndpoint accepting = beta.addConnecting(nextId, "accepting-" + nextId);
        nextId++;
        accepting.accept(beta.lastRequest, DATA);
        return accepting;
    }

    /** One life of a connection with a message. */
    private void assertConnects(ShmNode node) {
        EngineEndpoint asking = ask(node);
        String address = asking.settings().address();
        assertEquals("request of " + address, event(beta));
        EngineEndpoint accepting = accept();
        assertEquals("connected to " + address, event(beta));
        assertEquals("connected to " + LISTENER, event(node));
        assertEquals(0, accepting.receive(ShmNode.TAGGED, beta.buf(0), 8, -1, 1, 0, 5));
        assertEquals(0, asking.send(ShmNode.TAGGED, node.buf(0), 8, 0x77, 1, 0, 6));
        assertEquals(5, await(beta).context());
        assertEquals(6, await(node).context());
        asking.shutdown();
        assertEquals("ended 0", event(beta));
        node.engine.removeEndpoint(asking);
        beta.engine.removeEndpoint(accepting);
        steps(20);
        assertTrue(node.connectionEvents.isEmpty(), () -> node.connectionEvents.toString());
    }

    /** Something done to a record. */
    private interface Alteration {
        void apply(ByteBuffer ring, int at);
    }

    /** Alters alpha's request before beta reads it, which must end alpha's connection only. */
    private void assertBetaEndsAlpha(String reason, Alteration alteration) throws IOException {
        listen(8);
        assertConnects(gamma);
        assertConnects(alpha);
        ask(alpha);
        alpha.step();
        ByteBuffer ring = ring("alpha", ShmFrameReader.CONNECT);
        alteration.apply(ring, last(ring, ShmFrameReader.CONNECT));
        String failed = event(alpha);
        assertTrue(failed.startsWith("failed "), failed);
        String errors = beta.services.errors.toString();
        assertTrue(errors.contains(reason), errors);
        assertTrue(beta.connectionEvents.isEmpty(), () -> beta.connectionEvents.toString());
        assertConnects(gamma);
        // a new connection of the two drivers is as good as the first
        assertConnects(alpha);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 23, 24, 27, 40})
    void shouldEndOnlyTheDriverWhoseRequestIsTooShort(int length) throws IOException {
        int total = Math.max(WORD_LENGTH, length);
        assertBetaEndsAlpha("type 16", (ring, at) -> ring.putInt(at, total));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 200, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void shouldEndOnlyTheDriverWhoseTextsDoNotFitItsRequest(int length) throws IOException {
        assertBetaEndsAlpha("type 16",
            (ring, at) -> ring.putInt(at + WORD_LENGTH + ConnectDecoder.BLOCK_LENGTH, length));
    }

    @Test
    void shouldEndOnlyTheDriverThatAsksTwiceForOneConnection() throws IOException {
        listen(8);
        assertConnects(gamma);
        EngineEndpoint first = ask(alpha);
        assertEquals("request of " + first.settings().address(), event(beta));
        ByteBuffer ring = ring("alpha", ShmFrameReader.CONNECT);
        int source = ring.getInt(last(ring, ShmFrameReader.CONNECT) + WORD_LENGTH);
        ask(alpha);
        alpha.step();
        ring.putInt(last(ring, ShmFrameReader.CONNECT) + WORD_LENGTH, source);
        assertTrue(event(alpha).startsWith("failed "));
        assertTrue(event(alpha).startsWith("failed "));
        assertTrue(beta.services.errors.toString().contains("requested connection " + source + " twice"));
        // the request that beta holds has no peer any more
        accept();
        assertEquals("failed " + FabricErrno.ECONNABORTED, event(beta));
        assertConnects(gamma);
        assertConnects(alpha);
    }

    @ParameterizedTest
    @CsvSource({"0,", "4,", "8,", "20,4", "20,-1", "20,2147483647"})
    void shouldEndOnlyTheDriverWhoseAnswerDoesNotFitItsRecord(int cut, Integer dataLength) throws IOException {
        listen(8);
        assertConnects(gamma);
        ask(alpha);
        event(beta);
        EngineEndpoint accepting = accept();
        beta.step();
        ByteBuffer ring = ring("beta", ShmFrameReader.CONNECT_ANSWER);
        int at = last(ring, ShmFrameReader.CONNECT_ANSWER);
        if (dataLength == null) {
            ring.putInt(at, WORD_LENGTH + cut);
        } else {
            ring.putInt(at + WORD_LENGTH + ConnectAnswerDecoder.BLOCK_LENGTH, dataLength);
        }
        assertTrue(event(alpha).startsWith("failed "));
        assertTrue(alpha.services.errors.toString().contains("type 17"));
        assertEquals("connected to asking", event(beta).replaceAll("jfabric://alpha/|-\\d+", ""));
        assertTrue(event(beta).startsWith("ended "), "of " + accepting);
        assertConnects(gamma);
        assertConnects(alpha);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 0x7FFF_FFFF, 0x0010_0001})
    void shouldCloseWhatWasAcceptedForANumberThatNobodyHas(int channel) throws IOException {
        listen(8);
        EngineEndpoint asking = ask(alpha);
        event(beta);
        accept();
        beta.step();
        ByteBuffer ring = ring("beta", ShmFrameReader.CONNECT_ANSWER);
        ring.putInt(last(ring, ShmFrameReader.CONNECT_ANSWER) + WORD_LENGTH, channel);
        assertTrue(event(beta).startsWith("connected to "));
        assertEquals("ended 0", event(beta));
        // the one that asked still waits, and can give up
        assertTrue(alpha.connectionEvents.isEmpty());
        alpha.engine.removeEndpoint(asking);
        assertConnects(alpha);
        assertEquals(0, alpha.services.errors.size());
    }

    @Test
    void shouldNotTakeTheAnswerToAnotherKindOfRequest() throws IOException {
        listen(8);
        EngineEndpoint asking = ask(alpha);
        event(beta);
        accept();
        beta.step();
        ByteBuffer ring = ring("beta", ShmFrameReader.CONNECT_ANSWER);
        // the same fields, for a connectionless endpoint
        ring.putInt(last(ring, ShmFrameReader.CONNECT_ANSWER) + Integer.BYTES, ShmFrameReader.OPEN_ACK);
        assertTrue(event(beta).startsWith("connected to "));
        assertTrue(event(beta).startsWith("ended "));
        steps(50);
        assertTrue(alpha.connectionEvents.isEmpty(), () -> alpha.connectionEvents.toString());
        assertEquals(0, alpha.peersDown.size());
        alpha.engine.removeEndpoint(asking);
        assertConnects(alpha);
    }

    @Test
    void shouldKeepRequestsAndAnswersUntilTheRingHasRoom() {
        listen(64);
        EngineEndpoint first = ask(alpha);
        event(beta);
        accept();
        event(beta);
        event(alpha);
        // beta does not run: alpha's ring fills up with messages, then requests and withdrawals have to wait
        int sent = 0;
        for (int i = 0; i < 5_000; i++) {
            if (first.send(ShmNode.TAGGED, alpha.buf(0), 1 << 20, 0, 1, 0, i) == 0) {
                sent++;
            }
            alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 8192, toBeta, 1, 0, i);
            alpha.step();
        }
        assertTrue(sent > 0);
        EngineEndpoint[] asking = new EngineEndpoint[32];
        for (int i = 0; i < asking.length; i++) {
            asking[i] = ask(alpha);
            alpha.step();
        }
        for (int i = 0; i < asking.length; i += 2) {
            alpha.engine.removeEndpoint(asking[i]);
        }
        int requests = 0;
        for (int i = 0; i < 20_000; i++) {
            steps(1);
            while (!beta.connectionEvents.isEmpty()) {
                assertTrue(beta.connectionEvents.removeFirst().startsWith("request of "));
                requests++;
            }
            while (alpha.poll() != null) {
                continue;
            }
        }
        assertTrue(requests >= asking.length / 2 && requests <= asking.length, "requests " + requests);
    }

    /**
     * The ring of a driver in which a record of that type stands that the other one of alpha and beta is to read: the
     * one made last, because gamma and beta meet first where gamma takes part.
     */
    private ByteBuffer ring(String driver, int type) throws IOException {
        ByteBuffer found = null;
        try (var files = Files.list(base.resolve(driver))) {
            for (Path name : files.filter(file -> file.toString().endsWith(".ring")).sorted(
                Comparator.comparingLong(ShmConnectionTest::number)).toList()) {
                try (FileChannel file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    ByteBuffer ring = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size())
                        .order(ByteOrder.LITTLE_ENDIAN);
                    found = last(ring, type) >= 0 ? ring : found;
                }
            }
        }
        assertNotNull(found, "no record of type " + type);
        return found;
    }

    private static long number(Path ring) {
        return Long.parseLong(ring.getFileName().toString().replace(".ring", ""));
    }

    /** Where the latest record of that type stands, or -1. */
    private static int last(ByteBuffer ring, int type) {
        int found = -1;
        for (int at = RecordRingDescriptor.HEADER_LENGTH; at < ring.capacity(); at += LINE) {
            if (ring.getInt(at + Integer.BYTES) == type && ring.getInt(at) > 0) {
                found = at;
            }
        }
        return found;
    }
}
