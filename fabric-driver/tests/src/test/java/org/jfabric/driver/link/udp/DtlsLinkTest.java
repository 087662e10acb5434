package org.jfabric.driver.link.udp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.driver.tls.TlsIdentity;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two links in one thread and in virtual time: datagrams over DTLS, and peers that do not prove who they are. */
@Timeout(120)
class DtlsLinkTest {
    private static final int LONGEST = 1472 - 38;
    private static final int LONGEST_OF_A_RECORD = (16 << 10) - 1;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long TICK_NS = 5_000_000L;
    private static final long LIMIT_NS = 120 * SECOND_NS;

    @TempDir
    private Path folder;
    private final UdpNode.Clock clock = new UdpNode.Clock();
    private final List<UdpNode> nodes = new ArrayList<>();
    private final List<DatagramRelay> relays = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (UdpNode node : nodes) {
            node.close();
        }
        for (DatagramRelay relay : relays) {
            relay.close();
        }
    }

    private UdpNode add(UdpNode node) {
        nodes.add(node);
        return node;
    }

    private UdpNode node(String key, String... trusted) {
        return add(UdpNode.dtls(clock, TestKeys.files(folder, key, trusted)));
    }

    private DatagramRelay relay(UdpNode target) throws IOException {
        DatagramRelay relay = new DatagramRelay(target.address());
        relays.add(relay);
        return relay;
    }

    private int step() {
        int work = 0;
        try {
            for (UdpNode node : nodes) {
                work += node.step();
            }
            for (DatagramRelay relay : relays) {
                work += relay.step();
            }
        } catch (IOException ex) {
            throw new AssertionError(ex);
        }
        clock.nowNs += TICK_NS;
        return work;
    }

    private void await(BooleanSupplier condition) {
        long deadlineNs = clock.nowNs + LIMIT_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(clock.nowNs < deadlineNs,
                () -> "not reached; errors " + nodes.stream().map(node -> node.errors.toString()).toList());
            step();
        }
    }

    /** Lets time pass. */
    private void pass(long durationNs) {
        for (long end = clock.nowNs + durationNs; clock.nowNs < end;) {
            step();
        }
    }

    /** Sends as soon as there is a session. */
    private void send(UdpNode from, UdpNode.Handler to, int length, int seed) {
        await(() -> {
            assertEquals(0, to.downs, () -> from.errors.toString());
            return from.send(to, length, seed) >= 0;
        });
    }

    /** Tries to send until that fails; returns the errno. */
    private int refusal(UdpNode from, UdpNode.Handler to) {
        await(() -> to.downs > 0 || from.send(to, 8, 0) >= 0 && false);
        return to.downErrno;
    }

    private void exchange(UdpNode from, UdpNode.Handler to, UdpNode.Handler at, int length, int seed) {
        int before = at.messages.size();
        send(from, to, length, seed);
        await(() -> at.messages.size() > before);
        assertArrayEquals(UdpNode.payload(length, seed), at.messages.get(before));
    }

    private static String log(UdpNode node) {
        return node.errors.toString();
    }

    private static long forged(UdpNode node) {
        return node.counter("dtls: datagrams dropped because they were changed or repeated");
    }

    @Test
    void shouldCarryMessagesOfEveryLengthInBothDirections() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        UdpNode.Handler there = left.insert(right.address());
        UdpNode.Handler here = right.insert(left.address());
        int[] lengths = {0, 1, 2, 63, 64, 1000, LONGEST - 1, LONGEST};
        for (int i = 0; i < lengths.length; i++) {
            exchange(left, there, here, lengths[i], i);
            exchange(right, here, there, lengths[i], 100 + i);
        }
        assertEquals("[][]", log(left) + log(right));
        assertEquals(2, left.sessions() + right.sessions());
        assertEquals(0, left.handshakes() + right.handshakes());
        assertEquals(LONGEST, there.channel.limits().maxMessageBytes());
    }

    /** A record has at most 16 KiB, whatever the datagrams may have. */
    @Test
    void shouldCarryTheLongestRecord() {
        String[] options = {"jfabric.udp.maxMessageBytes", "65507"};
        UdpNode left = add(UdpNode.dtls(clock, TestKeys.files(folder, "a", "b"), options));
        UdpNode right = add(UdpNode.dtls(clock, TestKeys.files(folder, "b", "a"), options));
        UdpNode.Handler there = left.insert(right.address());
        UdpNode.Handler here = right.insert(left.address());
        exchange(left, there, here, 1, 1);
        assertEquals(LONGEST_OF_A_RECORD, there.channel.limits().maxMessageBytes());
        exchange(left, there, here, LONGEST_OF_A_RECORD, 2);
    }

    @Test
    void shouldDeliverMessagesOfPeersThatAreNotInserted() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        UdpNode.Handler there = left.insert(right.address());
        exchange(left, there, right.unknown(), 100, 1);
        UdpNode.Handler here = right.insert(left.address());
        exchange(left, there, here, 100, 2);
        exchange(right, here, there, 100, 3);
    }

    /** Many at once go by one system call; all arrive in order. */
    @Test
    void shouldSealMessagesThatAreSentTogether() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        UdpNode.Handler there = left.insert(right.address());
        UdpNode.Handler here = right.insert(left.address());
        exchange(left, there, here, 1, 0);
        for (int i = 0; i < 200; i++) {
            assertTrue(left.send(there, i * 7, i) >= 0);
        }
        await(() -> here.messages.size() == 201);
        for (int i = 0; i < 200; i++) {
            assertArrayEquals(UdpNode.payload(i * 7, i), here.messages.get(i + 1));
        }
    }

    @Test
    void shouldKeepWhatArrivesBeforeItsReceive() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        right.posted = 0;
        UdpNode.Handler there = left.insert(right.address());
        UdpNode.Handler here = right.insert(left.address());
        for (int i = 0; i < 20; i++) {
            send(left, there, 100 + i, i);
        }
        pass(SECOND_NS / 2);
        assertEquals(0, here.messages.size());
        right.posted = 1000;
        await(() -> here.messages.size() == 20);
        for (int i = 0; i < 20; i++) {
            assertArrayEquals(UdpNode.payload(100 + i, i), here.messages.get(i));
        }
        // no more than the buffer holds is kept
        right.posted = 0;
        for (int i = 0; i < 3000; i++) {
            send(left, there, LONGEST, i);
            if (i % 50 == 0) {
                step();
            }
        }
        pass(SECOND_NS);
        assertTrue(right.counter("dtls: datagrams dropped because no receive was posted") > 0);
    }

    @Test
    void shouldHaveOneSessionWhenBothSidesBegin() {
        Random random = new Random(5);
        for (int round = 0; round < 20; round++) {
            UdpNode left = node("a", "b");
            UdpNode right = node("b", "a");
            UdpNode.Handler there = left.insert(right.address());
            UdpNode.Handler here = right.insert(left.address());
            int ready = 0;
            for (int steps = 0; ready != 3; steps++) {
                assertTrue(steps < 20_000, "round " + round + log(left) + log(right));
                boolean isLeft = random.nextBoolean();
                assertEquals(0, there.downs + here.downs, "round " + round + log(left) + log(right));
                ready |= isLeft && left.send(there, 10, round) >= 0 ? 1 : 0;
                ready |= !isLeft && right.send(here, 10, round) >= 0 ? 2 : 0;
                (isLeft ? left : right).step();
                clock.nowNs += TICK_NS;
            }
            pass(SECOND_NS);
            exchange(left, there, here, 64, round);
            exchange(right, here, there, 64, round);
            assertEquals(2, left.sessions() + right.sessions());
            assertEquals("[][]", log(left) + log(right));
            left.close();
            right.close();
            nodes.clear();
        }
    }

    /** The side that finds the certificate wrong is the one that begins, or the other one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseAPeerWhoseCertificateIsNotTrusted(boolean isByClient) {
        UdpNode left = isByClient ? node("a", "c") : node("a", "b");
        UdpNode right = isByClient ? node("b", "a") : node("b", "c");
        UdpNode.Handler there = left.insert(right.address());
        assertEquals(FabricErrno.EKEYREJECTED, refusal(left, there));
        await(() -> !right.errors.isEmpty());
        assertTrue(log(isByClient ? left : right).contains("has a certificate that no trusted one proves"),
            log(left) + log(right));
        assertTrue(log(isByClient ? right : left).contains("refuses this driver"), log(left) + log(right));
        assertEquals(0, right.unknown().messages.size());
        assertEquals(0, left.sessions() + right.sessions());
        assertEquals(1, right.counter("dtls: handshakes that did not prove the peer"));
    }

    @Test
    void shouldDropMessagesOfAPlainPeer() {
        UdpNode plain = add(UdpNode.plain(clock));
        UdpNode right = node("b", "a");
        UdpNode.Handler there = plain.insert(right.address());
        for (int i = 0; i < 5; i++) {
            send(plain, there, i * 20, i);
        }
        await(() -> right.counter("dtls: datagrams dropped because they are plain") == 5);
        assertEquals(0, right.unknown().messages.size());
        assertTrue(log(right).contains("speaks plain, and DTLS is required here"), log(right));
        assertEquals(0, right.handshakes());
    }

    @Test
    void shouldFailSendsToAPlainPeer() {
        UdpNode left = node("a", "b");
        UdpNode plain = add(UdpNode.plain(clock));
        UdpNode.Handler there = left.insert(plain.address());
        assertEquals(FabricErrno.ETIMEDOUT, refusal(left, there));
        assertTrue(log(left).contains("did not answer the handshake of DTLS"), log(left));
    }

    /** Bytes that were changed on the way, at different places of a record: that message is lost, and no other. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 4, 10, 12, 13, 30, 100})
    void shouldDropAChangedDatagram(int place) throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        UdpNode.Handler here = right.insert(relay.backAddress());
        exchange(left, there, here, 64, 1);
        relay.filter = (datagram, isToTarget) -> {
            byte[] changed = datagram.clone();
            changed[place] ^= 0x10;
            return List.of(changed);
        };
        send(left, there, 64, 2);
        pass(SECOND_NS / 10);
        relay.filter = DatagramRelay.ALL;
        exchange(left, there, here, 64, 3);
        exchange(right, here, there, 64, 4);
        assertEquals(2, here.messages.size());
        assertEquals(1, right.sessions());
    }

    @Test
    void shouldDeliverARepeatedDatagramOnce() throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        UdpNode.Handler here = right.insert(relay.backAddress());
        List<byte[]> recorded = new ArrayList<>();
        relay.filter = (datagram, isToTarget) -> {
            if (isToTarget) {
                recorded.add(datagram);
            }
            return List.of(datagram);
        };
        for (int i = 0; i < 50; i++) {
            exchange(left, there, here, 64, i);
        }
        // the whole handshake, too
        for (byte[] datagram : List.copyOf(recorded)) {
            relay.inject(datagram);
        }
        await(() -> forged(right) >= 50);
        exchange(left, there, here, 64, 51);
        assertEquals(51, here.messages.size());
        assertEquals(1, right.sessions());
    }

    /** Datagrams may overtake each other as far as the window reaches. */
    @Test
    void shouldDeliverWhatWasOvertaken() throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        UdpNode.Handler here = right.insert(relay.backAddress());
        exchange(left, there, here, 64, 0);
        List<byte[]> kept = new ArrayList<>();
        relay.filter = (datagram, isToTarget) -> {
            kept.add(datagram);
            return List.of();
        };
        for (int i = 1; i <= 40; i++) {
            send(left, there, 64, i);
        }
        await(() -> kept.size() == 40);
        for (byte[] datagram : kept.reversed()) {
            relay.inject(datagram);
        }
        await(() -> here.messages.size() == 41);
        assertEquals(0, forged(right));
    }

    /** Datagrams of handshakes are lost, repeated and changed in both directions. */
    @Test
    void shouldEndTheHandshakeWhateverIsLost() throws IOException {
        for (int seed = 0; seed < 12; seed++) {
            Random random = new Random(seed);
            UdpNode left = node("a", "b");
            UdpNode right = node("b", "a");
            DatagramRelay relay = relay(right);
            relay.filter = (datagram, isToTarget) -> switch (random.nextInt(10)) {
                case 0, 1, 2 -> List.of();
                case 3 -> List.of(datagram, datagram);
                default -> List.of(datagram);
            };
            UdpNode.Handler there = left.insert(relay.address());
            UdpNode.Handler here = right.insert(relay.backAddress());
            int shown = seed;
            await(() -> {
                if (there.channel == null) {
                    left.connect(addressOf(relay));
                } else {
                    left.send(there, 10, shown);
                }
                return !here.messages.isEmpty();
            });
            relay.close();
            relays.clear();
            left.close();
            right.close();
            nodes.clear();
        }
    }

    private static String addressOf(DatagramRelay relay) {
        try {
            return relay.address();
        } catch (IOException ex) {
            throw new AssertionError(ex);
        }
    }

    /** A peer that begins again at the same address proves itself; only then its old session ends. */
    @Test
    void shouldReplaceTheSessionOfARestartedPeerOnceItHasProvedItself() throws IOException {
        UdpNode right = node("b", "a", "c");
        DatagramRelay relay = relay(right);
        UdpNode left = node("a", "b");
        UdpNode.Handler there = left.insert(relay.address());
        UdpNode.Handler here = right.insert(relay.backAddress());
        exchange(left, there, here, 64, 1);
        // without a trusted key
        UdpNode forger = node("d", "b");
        UdpNode.Handler refused = forger.insert(relay.address());
        assertEquals(FabricErrno.EKEYREJECTED, refusal(forger, refused));
        exchange(left, there, here, 64, 2);
        // a hello alone
        relay.inject(hello());
        pass(SECOND_NS);
        exchange(left, there, here, 64, 3);
        exchange(right, here, there, 64, 4);
        // with one
        UdpNode restarted = node("c", "b");
        UdpNode.Handler again = restarted.insert(relay.address());
        exchange(restarted, again, here, 64, 5);
        exchange(right, here, again, 64, 6);
        assertEquals(1, right.sessions());
    }

    /** The first datagram of a handshake. */
    private byte[] hello() throws IOException {
        UdpNode other = node("a", "b");
        try (DatagramChannel socket = DatagramChannel.open()) {
            socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
            socket.configureBlocking(false);
            UdpNode.Handler there =
                other.insert(SocketName.of((InetSocketAddress) socket.getLocalAddress()).toString());
            ByteBuffer got = ByteBuffer.allocate(2000);
            await(() -> {
                other.send(there, 1, 1);
                try {
                    return socket.receive(got) != null;
                } catch (IOException ex) {
                    throw new AssertionError(ex);
                }
            });
            byte[] hello = new byte[got.position()];
            got.get(0, hello);
            return hello;
        } finally {
            nodes.remove(other);
            other.close();
        }
    }

    /** A receiver that was killed and started again has no session; the sender finds out by itself. */
    @Test
    void shouldBeginANewSessionWithAPeerThatHasLostTheOldOne() throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        exchange(left, there, right.unknown(), 64, 1);
        // its last words are lost with it
        relay.filter = (datagram, isToTarget) -> List.of();
        nodes.remove(right);
        right.close();
        step();
        relay.filter = DatagramRelay.ALL;
        UdpNode restarted = add(UdpNode.dtlsAt(clock, right.address(), TestKeys.files(folder, "b", "a")));
        await(() -> {
            left.send(there, 64, 2);
            return !restarted.unknown().messages.isEmpty();
        });
        assertTrue(restarted.counter("dtls: datagrams dropped because there was no session") > 0);
        assertEquals(1, left.sessions());
    }

    /** Messages in one direction alone are no reason for another handshake. */
    @Test
    void shouldKeepTheSessionWithAPeerThatNeverSends() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        UdpNode.Handler there = left.insert(right.address());
        exchange(left, there, right.unknown(), 64, 1);
        for (int i = 0; i < 100; i++) {
            exchange(left, there, right.unknown(), 64, i);
            pass(SECOND_NS / 2);
            assertEquals(0, right.handshakes());
        }
        assertEquals("[][]", log(left) + log(right));
    }

    @Test
    void shouldFailWhenThePeerIsGone() throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        exchange(left, there, right.unknown(), 64, 1);
        relay.filter = (datagram, isToTarget) -> List.of();
        assertEquals(FabricErrno.ETIMEDOUT, refusal(left, there));
        assertEquals(0, left.sessions());
        // the other side has sent nothing, and forgets it later
        pass(LIMIT_NS);
        assertEquals(1, right.sessions());
        pass(5 * LIMIT_NS);
        assertEquals(0, right.sessions());
        // both find each other again
        relay.filter = DatagramRelay.ALL;
        there.downs = 0;
        left.connect(relay.address());
        await(() -> there.channel != null);
        exchange(left, there, right.unknown(), 64, 2);
    }

    @Test
    void shouldEndTheSessionWithItsEndpoint() {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        UdpNode.Handler there = left.insert(right.address());
        exchange(left, there, right.unknown(), 64, 1);
        nodes.remove(left);
        left.close();
        await(() -> right.sessions() == 0);
    }

    @Test
    void shouldUseChangedFilesForNewSessions() {
        TestKeys.Folder files = TestKeys.files(folder, "a", "b");
        UdpNode left = add(UdpNode.dtls(clock, files));
        UdpNode right = node("b", "a");
        UdpNode newer = node("b", "c");
        UdpNode.Handler there = left.insert(right.address());
        exchange(left, there, right.unknown(), 64, 1);
        assertEquals(FabricErrno.EKEYREJECTED, refusal(newer, newer.insert(left.address())));
        files.key("c");
        UdpNode other = node("b", "c");
        exchange(other, other.insert(left.address()), left.unknown(), 64, 2);
        exchange(left, there, right.unknown(), 64, 3);
        // a key of another certificate, as in the middle of a replacement: the last good pair stays
        files.key("c", "b");
        UdpNode third = node("b", "c");
        exchange(third, third.insert(left.address()), left.unknown(), 64, 4);
        assertTrue(log(left).contains("has a key that is not the one of the certificate"), log(left));
    }

    @Test
    void shouldAdmitOnlyPeersOfTheAccessList() throws IOException {
        Path file = Files.createTempFile(folder, "access", "");
        String keyOfC = TlsIdentity.fingerprint(TestKeys.key("c").certificate());
        String keyOfA = TlsIdentity.fingerprint(TestKeys.key("a").certificate());
        Files.writeString(file, "127.0.0.0/8 " + keyOfC + '\n');
        UdpNode right = add(UdpNode.dtls(clock, TestKeys.files(folder, "b", "a", "c"), "jfabric.dtls.accessFile",
            file.toString()));
        UdpNode left = node("a", "b");
        UdpNode.Handler there = left.insert(right.address());
        assertEquals(FabricErrno.ECONNREFUSED, refusal(left, there));
        assertTrue(log(right).contains("127.0.0.1 with the key " + keyOfA + " is not in the access list"), log(right));
        assertEquals(0, left.sessions());
        UdpNode admitted = node("c", "b");
        exchange(admitted, admitted.insert(right.address()), right.unknown(), 64, 1);
        // this side's own handshakes need a rule, too
        assertEquals(FabricErrno.EACCES, refusal(right, right.insert(left.address())));
        // no rule for the host: no handshake at all
        Path next = Files.createTempFile(folder, "access", "");
        Files.writeString(next, "10.0.0.0/8 *\n");
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        UdpNode late = node("c", "b");
        UdpNode.Handler refused = late.insert(right.address());
        // the first handshake reads the list, further ones do not begin
        assertEquals(FabricErrno.ECONNREFUSED, refusal(late, refused));
        refused.downs = 0;
        late.connect(right.address());
        await(() -> refused.channel != null);
        assertEquals(FabricErrno.ETIMEDOUT, refusal(late, refused));
        assertEquals(1, right.unknown().messages.size());
        assertTrue(right.counter("dtls: handshakes refused by the access list") >= 3);
    }

    /** Hellos of many sources, which nothing follows, keep no memory and keep no other peer out. */
    @Test
    void shouldAdmitAPeerDuringAFloodOfHellos() throws IOException {
        UdpNode right = add(UdpNode.dtls(clock, TestKeys.files(folder, "b", "a"),
            "jfabric.dtls.handshakeLimit", "6", "jfabric.dtls.handshakesPerHost", "4"));
        byte[] hello = hello();
        UdpNode left = node("a", "b");
        UdpNode.Handler there = left.insert(right.address());
        SocketName target = SocketName.parse(right.address());
        List<DatagramChannel> sources = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            DatagramChannel source = DatagramChannel.open();
            source.bind(new InetSocketAddress(InetAddress.getByName(i % 2 == 0 ? "127.0.0.1" : "127.0.0." + i), 0));
            sources.add(source);
        }
        int[] flooded = {0};
        await(() -> {
            try {
                // the peer's own datagrams stand between them
                sources.get(flooded[0]++ % sources.size()).send(ByteBuffer.wrap(hello),
                    new InetSocketAddress(target.inetAddress(), target.port()));
            } catch (IOException ex) {
                throw new AssertionError(ex);
            }
            assertTrue(right.handshakes() <= 6, () -> "handshakes " + right.handshakes());
            left.send(there, 10, 1);
            return !right.unknown().messages.isEmpty();
        });
        assertTrue(right.counter("dtls: handshakes refused because of limits") > 0);
        pass(20 * SECOND_NS);
        assertEquals(0, right.handshakes());
        assertEquals(1, right.sessions());
        for (DatagramChannel source : sources) {
            source.close();
        }
    }

    /** A cookie that was sent to one address proves nothing of another: no certificates are sent there. */
    @Test
    void shouldSendLittleToAnAddressThatHasNotProvedToReceive() throws IOException {
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        List<byte[]> hellos = new ArrayList<>();
        relay.filter = (datagram, isToTarget) -> {
            if (isToTarget && hellos.size() < 2) {
                hellos.add(datagram);
            }
            return List.of(datagram);
        };
        exchange(left, there, right.unknown(), 64, 1);
        assertTrue(hellos.get(1).length > hellos.get(0).length, "the second one has the cookie");
        SocketName target = SocketName.parse(right.address());
        try (DatagramChannel forger = DatagramChannel.open()) {
            forger.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0));
            forger.configureBlocking(false);
            ByteBuffer got = ByteBuffer.allocate(1 << 16);
            int sent = 0;
            int answered = 0;
            for (int i = 0; i < 40; i++) {
                byte[] hello = hellos.get(i % 2);
                sent += forger.send(
                    ByteBuffer.wrap(hello), new InetSocketAddress(target.inetAddress(), target.port()));
                pass(SECOND_NS / 4);
                while (forger.receive(got.clear()) != null) {
                    assertTrue(got.position() < 100, () -> "answered " + got.position() + " bytes");
                    answered += got.position();
                }
            }
            assertTrue(answered > 0 && answered < sent, answered + " bytes for " + sent);
        }
    }

    @Test
    void shouldEndTheSessionThatWasUsedLeastRecently() {
        UdpNode right = add(UdpNode.dtls(clock, TestKeys.files(folder, "b", "a"), "jfabric.dtls.sessionLimit", "3"));
        List<UdpNode> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            UdpNode other = node("a", "b");
            others.add(other);
            exchange(other, other.insert(right.address()), right.unknown(), 64, i);
        }
        assertEquals(3, right.sessions());
        await(() -> others.get(0).sessions() == 0 && others.get(1).sessions() == 0);
        // it begins again
        exchange(others.get(0), others.get(0).handler(right.address()), right.unknown(), 64, 9);
        assertEquals(3, right.sessions());
    }

    /** What a peer sends beyond its rate is dropped and counted; other peers are not concerned. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldDropWhatIsBeyondTheRateOfItsPeer(boolean isEncrypted) {
        String[] rate = {"jfabric.udp.peerRateMessages", "100"};
        UdpNode right = add(isEncrypted ? UdpNode.dtls(clock, TestKeys.files(folder, "b", "a"), rate)
            : UdpNode.plain(clock, rate));
        UdpNode left = isEncrypted ? node("a", "b") : add(UdpNode.plain(clock));
        UdpNode other = isEncrypted ? node("a", "b") : add(UdpNode.plain(clock));
        UdpNode.Handler there = left.insert(right.address());
        UdpNode.Handler here = right.insert(left.address());
        UdpNode.Handler modest = other.insert(right.address());
        UdpNode.Handler ofModest = right.insert(other.address());
        exchange(left, there, here, 10, 0);
        exchange(other, modest, ofModest, 10, 0);
        pass(SECOND_NS);
        here.messages.clear();
        int sent = 0;
        // two seconds of virtual time, twice the rate
        for (long end = clock.nowNs + 2 * SECOND_NS; clock.nowNs < end; sent++) {
            assertTrue(left.send(there, 10, sent) >= 0);
            step();
        }
        String label = "udp: datagrams dropped because of the rate of their peer";
        assertEquals(sent, here.messages.size() + right.counter(label));
        assertTrue(here.messages.size() >= 200 && here.messages.size() <= 212, () -> "taken " + here.messages.size());
        exchange(other, modest, ofModest, 10, 1);
    }

    @Test
    void shouldRefuseGroups() {
        UdpNode left = node("a", "b");
        SocketName group = SocketName.parse("fi_sockaddr_in://239.1.2.3:5000");
        assertEquals(FabricErrno.EOPNOTSUPP,
            assertThrows(FabricException.class, () -> left.bound.join(group)).errno());
        left.connect(group.toString());
        UdpNode.Handler handler = left.handler(group.toString());
        await(() -> handler.downs == 1);
        assertEquals(FabricErrno.ENETUNREACH, handler.downErrno);
    }

    @RepeatedTest(10)
    void shouldNotBreakAtRandomBytes() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        UdpNode left = node("a", "b");
        UdpNode right = node("b", "a");
        DatagramRelay relay = relay(right);
        UdpNode.Handler there = left.insert(relay.address());
        UdpNode.Handler here = right.insert(relay.backAddress());
        byte[] hello = hello();
        exchange(left, there, here, 64, 0);
        for (int i = 1; i < 400; i++) {
            byte[] datagram = random.nextBoolean() ? hello.clone() : new byte[random.nextInt(200)];
            for (int changes = random.nextInt(6); changes > 0 && datagram.length > 0; changes--) {
                datagram[random.nextInt(datagram.length)] = (byte) random.nextInt();
            }
            if (datagram.length > 13 && random.nextBoolean()) {
                datagram[0] = (byte) (20 + random.nextInt(4));
                datagram[1] = (byte) 0xfe;
                datagram[2] = (byte) 0xfd;
                datagram[3] = 0;
                datagram[4] = (byte) random.nextInt(3);
                datagram[11] = 0;
                datagram[12] = (byte) random.nextInt(datagram.length - 13);
            }
            relay.inject(datagram);
            if (i % 20 == 0) {
                int before = here.messages.size();
                exchange(left, there, here, 64, i);
                assertEquals(before + 1, here.messages.size(), "seed " + seed);
            }
        }
    }
}
