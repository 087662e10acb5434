package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.link.tcp.tls.TlsResources;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two links in one thread: reliable datagrams over TLS, and peers that do not prove who they are. */
@Timeout(60)
class TlsLinkTest {
    @TempDir
    private Path folder;
    private final List<TcpNode> nodes = new ArrayList<>();
    private final List<Relay> relays = new ArrayList<>();

    @AfterEach
    void close() {
        relays.forEach(Relay::close);
        for (TcpNode node : nodes) {
            node.close();
            assertEquals(0, node.link.readPool().taken() + node.link.writePool().taken());
            assertEquals(0, node.link.tls() instanceof TlsResources shared ? shared.taken() : 0);
        }
    }

    private TcpNode add(TcpNode node) {
        nodes.add(node);
        return node;
    }

    private TcpNode node(String key, String... trusted) {
        return add(TcpNode.tls(TestKeys.files(folder, key, trusted)));
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0,
                () -> "not reached; errors " + nodes.stream().map(node -> node.errors.toString()).toList());
            int work = 0;
            for (TcpNode node : nodes) {
                work += node.step();
            }
            if (work == 0) {
                Thread.yield();
            }
        }
    }

    private Recorder up(TcpNode from, TcpNode to) {
        Recorder handler = from.connect(to.address());
        await(() -> handler.ups == 1 && to.handler(from.address()).ups == 1);
        return handler;
    }

    private static String log(TcpNode node) {
        return node.errors.toString();
    }

    @Test
    void shouldCarryMessagesOfEveryLengthInBothDirections() {
        TcpNode left = node("a", "b");
        TcpNode right = node("b", "a");
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        int[] lengths = {0, 1, 64, 4096, 4097, 16_384, 20_000, 65_536, 1_000_003};
        for (int i = 0; i < lengths.length; i++) {
            int count = i + 1;
            assertTrue(left.send(here.channel, i, lengths[i], i) >= 0);
            assertTrue(right.send(there.channel, i, lengths[i], 100 + i) >= 0);
            await(() -> there.messages.size() == count && here.messages.size() == count);
            assertArrayEquals(TcpNode.payload(lengths[i], i), there.messages.get(i));
            assertArrayEquals(TcpNode.payload(lengths[i], 100 + i), here.messages.get(i));
            assertEquals(i, there.tags.get(i));
        }
        assertEquals("[][]", log(left) + log(right));
    }

    @Test
    void shouldKeepTheOrderWhileTheSocketIsFull() {
        TcpNode left = node("a", "b");
        TcpNode right = node("b", "a");
        Recorder here = up(left, right);
        Recorder there = right.handler(left.address());
        Random random = new Random(11);
        int[] lengths = random.ints(400, 0, 70_000).toArray();
        int sent = 0;
        // the receiver is not stepped until the sender has to wait, several times
        for (int full = 0; sent < lengths.length; full++) {
            while (sent < lengths.length && left.send(here.channel, sent, lengths[sent], sent) >= 0) {
                sent++;
            }
            left.step();
            if (full % 8 == 7) {
                right.step();
            }
        }
        await(() -> there.messages.size() == lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertEquals(i, there.tags.get(i));
            assertArrayEquals(TcpNode.payload(lengths[i], i), there.messages.get(i));
        }
    }

    @Test
    void shouldKeepOneConnectionWhenBothSidesBegin() {
        Random random = new Random(7);
        for (int round = 0; round < 10; round++) {
            TcpNode left = node("a", "b");
            TcpNode right = node("b", "a");
            Recorder here = left.connect(right.address());
            Recorder there = right.connect(left.address());
            long deadline = System.nanoTime() + Deadline.ns(20);
            while (here.ups == 0 || there.ups == 0) {
                (random.nextBoolean() ? left : right).step();
                assertTrue(System.nanoTime() - deadline < 0, "round " + round);
            }
            left.send(here.channel, 1, 100, round);
            right.send(there.channel, 2, 10_000, round);
            await(() -> there.messages.size() == 1 && here.messages.size() == 1);
            assertEquals(2, here.ups + here.downs + there.ups + there.downs, "round " + round);
        }
    }

    /** The side that finds the certificate wrong is the one that connects, or the other one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseAPeerWhoseCertificateIsNotTrusted(boolean isByClient) {
        TcpNode left = isByClient ? node("a", "c") : node("a", "b");
        TcpNode right = isByClient ? node("b", "a") : node("b", "c");
        Recorder here = left.connect(right.address());
        await(() -> here.downs == 1 && !left.errors.isEmpty() && !right.errors.isEmpty());
        assertEquals(FabricErrno.EKEYREJECTED, here.downErrno);
        assertEquals(0, right.handler(left.address()).ups);
        assertTrue(log(isByClient ? left : right).contains("has a certificate that no trusted one proves"),
            log(left) + log(right));
        assertTrue(log(isByClient ? right : left).contains("refuses this driver"), log(left) + log(right));
    }

    @Test
    void shouldRefuseAPlainPeer() {
        TcpNode plain = add(new TcpNode());
        TcpNode right = node("b", "a");
        Recorder here = plain.connect(right.address());
        await(() -> here.downs == 1 && !right.errors.isEmpty());
        assertEquals(FabricErrno.ECONNREFUSED, here.downErrno);
        assertTrue(log(right).contains("speaks plain, and TLS is required here"), log(right));
        assertEquals(1, right.counter("tcp: connections closed because TLS did not prove the peer"));
    }

    @Test
    void shouldBeRefusedByAPlainPeer() {
        TcpNode left = node("a", "b");
        TcpNode plain = add(new TcpNode());
        Recorder here = left.connect(plain.address());
        await(() -> here.downs == 1 && !plain.errors.isEmpty());
        assertEquals(FabricErrno.ECONNREFUSED, here.downErrno);
        assertTrue(log(plain).contains("a handshake of TLS"), log(plain));
        assertTrue(log(left).contains("it speaks plain, or does not admit this driver"), log(left));
    }

    /** Bytes that were changed on the way, at different places of a record. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 5, 40, 80})
    void shouldEndTheConnectionAtAChangedByte(int place) throws IOException {
        TcpNode left = node("a", "b");
        TcpNode right = node("b", "a");
        Relay relay = relay(right);
        Recorder here = left.connect(relay.address());
        await(() -> here.ups == 1 && right.handler(left.address()).ups == 1);
        Recorder there = right.handler(left.address());
        left.send(here.channel, 1, 64, 1);
        await(() -> there.messages.size() == 1);
        relay.change(place);
        left.send(here.channel, 2, 64, 2);
        // a length that was made greater waits for bytes that come with the next messages
        await(() -> {
            if (there.downs == 0 && here.channel != null) {
                left.send(here.channel, 3, 4096, 3);
            }
            return there.downs == 1 && here.downs == 1;
        });
        assertEquals(FabricErrno.EIO, there.downErrno);
        assertEquals(1, there.messages.size());
        assertTrue(log(right).contains("sent bytes that are no records of this connection"), log(right));
    }

    /** The bytes end after a part of a record, or between two records; the end is not the peer's own. */
    @ParameterizedTest
    @ValueSource(ints = {0, 30})
    void shouldReportAReset(int place) throws IOException {
        TcpNode left = node("a", "b");
        TcpNode right = node("b", "a");
        Relay relay = relay(right);
        Recorder here = left.connect(relay.address());
        await(() -> here.ups == 1 && right.handler(left.address()).ups == 1);
        Recorder there = right.handler(left.address());
        relay.cut(place);
        left.send(here.channel, 2, 64, 2);
        await(() -> there.downs == 1 && here.downs == 1);
        assertEquals(FabricErrno.ECONNRESET, there.downErrno);
        assertEquals(FabricErrno.ECONNRESET, here.downErrno);
        assertEquals(0, there.messages.size());
    }

    /** Of a connected endpoint only the peer's own last record makes the end an orderly one, also between messages. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReportAnOrderlyEndOnlyIfThePeerHasAnnouncedIt(boolean isAnnounced) throws IOException {
        byte[] none = {};
        TcpNode left = node("a", "b");
        TcpNode right = node("b", "a");
        TcpConnectionsTest.Incoming incoming = new TcpConnectionsTest.Incoming();
        right.link.connections().listen("fi_sockaddr_in://127.0.0.1:0", none, 5, incoming);
        await(() -> incoming.address != null);
        Relay relay = new Relay(SocketName.parse(incoming.address));
        relays.add(relay);
        TcpConnectionsTest.Connecting here = new TcpConnectionsTest.Connecting();
        TcpConnectionsTest.Connecting there = new TcpConnectionsTest.Connecting();
        left.link.connections().connect(left.endpoint, relay.address(), none, here);
        await(() -> incoming.requests.size() == 1);
        incoming.requests.removeFirst().accept(right.endpoint, none, there);
        await(() -> here.recorder.ups == 1 && there.recorder.ups == 1);
        left.send(here.recorder.channel, 1, 64, 1);
        right.send(there.recorder.channel, 1, 64, 1);
        await(() -> there.recorder.messages.size() == 1 && here.recorder.messages.size() == 1);
        if (isAnnounced) {
            here.recorder.channel.close(FabricErrno.ESHUTDOWN);
        } else {
            relay.end();
            await(() -> here.recorder.downs == 1);
            assertEquals(FabricErrno.ECONNRESET, here.recorder.downErrno);
        }
        await(() -> there.recorder.downs == 1);
        assertEquals(isAnnounced ? FabricErrno.ESHUTDOWN : FabricErrno.ECONNRESET, there.recorder.downErrno);
    }

    @Test
    void shouldUseChangedFilesForNewConnections() {
        TestKeys.Folder files = TestKeys.files(folder, "a", "b");
        TcpNode left = add(TcpNode.tls(files));
        TcpNode right = node("b", "a");
        TcpNode newer = node("b", "c");
        Recorder old = up(left, right);
        Recorder refused = newer.connect(left.address());
        await(() -> refused.downs == 1);
        files.key("c");
        Recorder admitted = newer.connect(left.address());
        await(() -> admitted.ups == 1);
        left.send(old.channel, 1, 64, 1);
        await(() -> right.handler(left.address()).messages.size() == 1);
        // a key of another certificate, as in the middle of a replacement: the last good pair stays
        files.key("c", "b");
        TcpNode third = node("b", "c");
        Recorder still = third.connect(left.address());
        await(() -> still.ups == 1);
        assertTrue(log(left).contains("has a key that is not the one of the certificate"), log(left));
    }

    @Test
    void shouldTakeAKeyFromAStore() {
        TcpNode left = add(TcpNode.tls(TestKeys.files(folder, "a", "b").store("c")));
        TcpNode right = node("b", "c");
        up(left, right);
    }

    @Test
    void shouldRefuseAKeyThatOthersCanRead() throws IOException {
        TestKeys.Folder files = TestKeys.files(folder, "a", "b");
        Files.setPosixFilePermissions(files.folder().resolve("key"), PosixFilePermissions.fromString("rw-r-----"));
        FabricException refused = assertThrows(FabricException.class, () -> TcpNode.tls(files));
        assertEquals(FabricErrno.EACCES, refused.errno());
        assertTrue(refused.getMessage().contains("chmod 600"), refused.getMessage());
    }

    private Path access(String... lines) throws IOException {
        Path file = Files.createTempFile(folder, "access", "");
        Files.write(file, List.of(lines));
        return file;
    }

    private static String fingerprint(String key) {
        return TlsIdentity.fingerprint(TestKeys.key(key).certificate());
    }

    @Test
    void shouldAdmitOnlyPeersOfTheAccessList() throws IOException {
        Path file = access("# one key of a network", "127.0.0.0/8 " + fingerprint("c"));
        TcpNode right = add(TcpNode.tls(TestKeys.files(folder, "b", "a", "c"), "jfabric.tcp.accessFile",
            file.toString()));
        TcpNode left = node("a", "b");
        Recorder refused = left.connect(right.address());
        await(() -> refused.downs == 1 && !right.errors.isEmpty());
        assertEquals(FabricErrno.ECONNREFUSED, refused.downErrno);
        assertTrue(log(right).contains("127.0.0.1 with the key " + fingerprint("a") + " is not in the access list"),
            log(right));
        assertEquals(1, right.counter("tcp: connections refused by the access list"));
        up(node("c", "b"), right);
        // the list is read again for the next connection
        Path next = access("* " + fingerprint("a"));
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        up(node("a", "b"), right);
    }

    /** The side that connects demands the right key at the address, too. */
    @Test
    void shouldConnectOnlyToPeersOfTheAccessList() throws IOException {
        TcpNode right = node("b", "a");
        TcpNode left = add(TcpNode.tls(TestKeys.files(folder, "a", "b"), "jfabric.tcp.accessFile",
            access("* " + fingerprint("c")).toString()));
        Recorder refused = left.connect(right.address());
        await(() -> refused.downs == 1);
        assertEquals(FabricErrno.EACCES, refused.downErrno);
        assertEquals(0, right.handler(left.address()).ups);
    }

    @Test
    void shouldAdmitPlainPeersByTheirNetworkAlone() throws IOException {
        Path file = access("127.0.0.1 " + fingerprint("a"), "192.0.2.0/24 *", "::1 *");
        TcpNode right = add(new TcpNode("127.0.0.1", "jfabric.tcp.accessFile", file.toString()));
        TcpNode left = add(new TcpNode());
        Recorder refused = left.connect(right.address());
        await(() -> refused.downs == 1);
        assertEquals(FabricErrno.ECONNREFUSED, refused.downErrno);
        Files.writeString(file, "127.0.0.1 *\n");
        up(add(new TcpNode()), right);
        // a list that cannot be read leaves the last one in use
        Files.writeString(file, "127.0.0.1/33 *\n");
        up(add(new TcpNode()), right);
        assertTrue(log(right).contains("line 1 of the access list"), log(right));
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.0.0.0/8", "10.0.0.0/33 *", "host.example *", "* sha256:12", "* * *"})
    void shouldRefuseAWrongAccessList(String line) throws IOException {
        Path file = access("# first line", line);
        FabricException refused = assertThrows(FabricException.class,
            () -> new TcpNode("127.0.0.1", "jfabric.tcp.accessFile", file.toString()));
        assertEquals(FabricErrno.EINVAL, refused.errno());
        assertTrue(refused.getMessage().contains("line 2"), refused.getMessage());
    }

    private Relay relay(TcpNode to) throws IOException {
        Relay relay = new Relay(SocketName.parse(to.address()));
        relays.add(relay);
        return relay;
    }
}
