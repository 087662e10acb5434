package org.jfabric.driver.link.rxm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.SendRequest;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer of the test's own making, which speaks rxm over a socket and does not keep to what C peers do. */
@Timeout(60)
class RxmFaultTest {
    private static final int BUDGET = 64 << 10;
    private static final int CM_HEADER = 32;
    private static final int EAGER = 8000;
    private static final int LONG = 100_000;
    private static final long RENDEZVOUS_TAG = 1;
    private static final long EAGER_TAG = 2;
    private static final long CONTEXT = 77;

    private final UnsafeBuffer packet =
        new UnsafeBuffer(ByteBuffer.allocateDirect(RxmPacket.HEADER_LENGTH + (16 << 10)));
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
    private final CompletionError error = new CompletionError();
    @TempDir
    private Path directory;
    private FabricDriver driver;
    private CompletionQueue queue;
    private AddressVector addresses;
    private MemoryRegion region;
    private Endpoint endpoint;
    private Socket peer;
    /** What the endpoint calls each connection; packets for it say so. */
    private final Map<Socket, Long> numbers = new HashMap<>();

    @BeforeEach
    void open() throws IOException {
        open(new String[0]);
    }

    private void reopen(String... options) throws IOException {
        close();
        open(options);
    }

    private void open(String... options) throws IOException {
        DriverConfig.Builder builder = DriverConfig.builder();
        for (int i = 0; i < options.length; i += 2) {
            builder.set(options[i], options[i + 1]);
        }
        driver = FabricDriver.launchEmbedded(builder.directory(directory.resolve("driver"))
            .threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", "rxm")
            .set("jfabric.tcp.interface", "127.0.0.1")
            .set("jfabric.engine.unexpectedBudgetBytes", Integer.toString(BUDGET))
            .set("jfabric.engine.creditWindowBytes", Integer.toString(16 << 10))
            .set("jfabric.engine.eagerLimitBytes", Integer.toString(8 << 10)).build());
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName("rxm");
        hints.epAttr().type(EndpointType.RDM);
        Domain domain = driver.fabric().domain(driver.fabric().info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        region = domain.allocate(4 * LONG);
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(addresses);
        endpoint.enable();
        peer = connect(5001);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        driver.close();
    }

    /** A connection of a peer that says it listens at that port. */
    private Socket connect(int port) throws IOException {
        Socket socket = ask(port, port);
        await(() -> available(socket) >= CM_HEADER + 16);
        byte[] answer = socket.getInputStream().readNBytes(CM_HEADER + 16);
        assertEquals(1, answer[1]);
        numbers.put(socket, ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).getLong(CM_HEADER));
        return socket;
    }

    private Socket ask(int port, int process) throws IOException {
        SocketName name = SocketName.parse(endpoint.name());
        Socket socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(name.inetAddress(), name.port()));
        long number = (long) process << 32;
        byte[] data = new RxmConnectData(port, RxmConnectData.FLOW_OFF, 16 << 10, 4096, number).toRequest();
        byte[] request = Arrays.copyOf(new byte[] {3, 0, 0, (byte) data.length}, CM_HEADER + data.length);
        request[24] = 1;
        System.arraycopy(data, 0, request, CM_HEADER, data.length);
        socket.getOutputStream().write(request);
        return socket;
    }

    /** The reason of a refusal. */
    private int refusal(Socket socket) throws IOException {
        await(() -> available(socket) >= CM_HEADER + 2);
        byte[] answer = socket.getInputStream().readNBytes(CM_HEADER + 2);
        assertEquals(6, answer[1]);
        return RxmConnectData.reason(Arrays.copyOfRange(answer, CM_HEADER, answer.length));
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not reached");
            // runs a cycle
            queue.read(entry, 0, 0);
            Thread.yield();
        }
    }

    private static int available(Socket socket) {
        try {
            return socket.getInputStream().available();
        } catch (IOException e) {
            return -1;
        }
    }

    private void send(Socket socket, int length) throws IOException {
        byte[] bytes = new byte[16 + length];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(3).putInt(16 << 16).putLong(16 + length);
        packet.getBytes(0, bytes, 16, length);
        socket.getOutputStream().write(bytes);
    }

    private void sendEager(Socket socket, int number, long tag, int length) throws IOException {
        RxmPacket.begin(packet.addressOffset(), RxmPacket.EAGER, numbers.get(socket));
        RxmPacket.message(packet.addressOffset(), true, false, number, length, 0, tag);
        packet.setMemory(RxmPacket.HEADER_LENGTH, length, (byte) number);
        send(socket, RxmPacket.HEADER_LENGTH + length);
    }

    private void announce(Socket socket) throws IOException {
        RemotePayload payload = new RemotePayload();
        payload.set(0, LONG, 0x8000_0000L, 0, 0);
        RxmPacket.begin(packet.addressOffset(), RxmPacket.RENDEZVOUS, numbers.get(socket));
        RxmPacket.message(packet.addressOffset(), true, false, 0, LONG, 0, RENDEZVOUS_TAG);
        RxmDescriptors.write(packet.addressOffset() + RxmPacket.HEADER_LENGTH, payload);
        send(socket, RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH);
    }

    private void postForTheLongOne() {
        assertEquals(0, endpoint.trecv(region.address(), LONG, -1, RENDEZVOUS_TAG, 0, CONTEXT));
    }

    /** Takes the one successful entry and returns its length. */
    private long next(long context) {
        await(() -> queue.read(entry, 0, 1) == 1);
        assertEquals(context, entry.getLong(0));
        return entry.getLong(16);
    }

    /** Messages without a receive stand in front of the payload that a receive waits for: they must be taken. */
    @Test
    void shouldTakeMessagesInFrontOfAPayloadThatItWaitsFor() throws IOException {
        postForTheLongOne();
        announce(peer);
        await(() -> available(peer) >= 40);
        assertEquals(2, peer.getInputStream().readNBytes(40)[1], "a read of our memory");
        // more than a stranger may have, and less than a window more
        int count = 0;
        for (int bytes = 0; bytes + EAGER <= BUDGET / 2 + (12 << 10); bytes += EAGER + 64) {
            sendEager(peer, 1 + count++, EAGER_TAG, EAGER);
        }
        byte[] answer = new byte[16 + LONG];
        Arrays.fill(answer, 16, answer.length, (byte) 5);
        ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).putInt(0x303).putInt(16 << 16).putLong(16 + LONG);
        peer.getOutputStream().write(answer);
        assertEquals(LONG, next(CONTEXT));
        assertEquals(5, region.buffer(LONG - 1, 1).getByte(0));
        for (int i = 0; i < count; i++) {
            assertEquals(0, endpoint.trecv(region.address(LONG), EAGER, -1, EAGER_TAG, 0, i));
            assertEquals(EAGER, next(i));
            assertEquals(1 + i, region.buffer(LONG, 1).getByte(0));
        }
    }

    /** A peer whose early messages nobody takes is not read on; what waits is whole later, and others go on. */
    @Test
    void shouldHoldBackOnlyThePeerThatSendsTooMuch() throws IOException {
        Socket other = connect(5002);
        int count = 100;
        Socket held = peer;
        Thread sender = new Thread(() -> {
            try {
                RxmFaultTest own = new RxmFaultTest();
                own.numbers.putAll(numbers);
                for (int i = 0; i < count; i++) {
                    own.sendEager(held, i, EAGER_TAG, EAGER);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        sender.start();
        for (int i = 0; i < 2000; i++) {
            queue.read(entry, 0, 0);
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(0, endpoint.trecv(region.address(), EAGER, -1, 3, 0, 200 + i));
            sendEager(other, i, 3, 100);
            assertEquals(100, next(200 + i));
        }
        for (int i = 0; i < count; i++) {
            assertEquals(0, endpoint.trecv(region.address(LONG), EAGER, -1, EAGER_TAG, 0, i));
            assertEquals(EAGER, next(i));
            assertEquals((byte) i, region.buffer(LONG, 1).getByte(0));
        }
        await(() -> !sender.isAlive());
        other.close();
    }

    /** Breaks off in each place of the exchange: the receive that has begun ends with an error, nothing else does. */
    @ParameterizedTest
    @ValueSource(ints = {10, 16, 5000, 16 + LONG - 1})
    void shouldEndTheReceiveWhoseSenderBreaksOff(int sent) throws IOException {
        Socket other = connect(5003);
        postForTheLongOne();
        announce(peer);
        await(() -> available(peer) >= 40);
        byte[] answer = new byte[16 + LONG];
        ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).putInt(0x303).putInt(16 << 16).putLong(16 + LONG);
        peer.getOutputStream().write(answer, 0, sent);
        for (int i = 0; i < 500; i++) {
            queue.read(entry, 0, 0);
        }
        peer.setSoLinger(true, 0);
        peer.close();
        await(() -> queue.read(entry, 0, 1) == -FabricErrno.EAVAIL);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(CONTEXT, error.opContext());
        assertEquals(FabricErrno.ECONNRESET, error.err());
        assertEquals(0, endpoint.trecv(region.address(), EAGER, -1, 3, 0, 300));
        sendEager(other, 1, 3, 100);
        assertEquals(100, next(300));
        other.close();
    }

    /** A part of a message comes and no more: the receive that it fills is given back with an error. */
    @ParameterizedTest
    @ValueSource(strings = {"segment", "answer", "packet"})
    void shouldEndAnUnknownPeerThatStopsInsideOfAMessage(String what) throws IOException {
        reopen("jfabric.tcp.unknownPeerTimeoutNs", "200ms");
        postForTheLongOne();
        long address = packet.addressOffset();
        switch (what) {
            case "segment" -> {
                RxmPacket.begin(address, RxmPacket.SEGMENT, numbers.get(peer));
                RxmPacket.message(address, true, false, 7, LONG, 0, RENDEZVOUS_TAG);
                RxmPacket.segment(address, 0, EAGER, RxmPacket.FIRST);
                send(peer, RxmPacket.HEADER_LENGTH + EAGER);
            }
            case "answer" -> announce(peer);
            default -> {
                // as libfabric 1.17 sends short tagged messages: without a header of the protocol
                byte[] half = new byte[24 + EAGER / 2];
                ByteBuffer.wrap(half).order(ByteOrder.LITTLE_ENDIAN).putInt(0x103).putInt(24 << 16)
                    .putLong(24 + EAGER).putLong(RENDEZVOUS_TAG);
                peer.getOutputStream().write(half);
            }
        }
        peer.setSoTimeout(1);
        await(() -> queue.read(entry, 0, 1) == -FabricErrno.EAVAIL);
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(CONTEXT, error.opContext());
        assertEquals(FabricErrno.ETIMEDOUT, error.err());
        await(() -> isEnded(peer));
    }

    /** A peer in C that exits with the last message: its provider has acknowledged it, and processes no packet more. */
    @Test
    void shouldReportTheDeliveryOfAnEmptyMessageWhenThePeerLeavesAtOnce() throws IOException {
        long toPeer = addresses.insert("fi_sockaddr_in://127.0.0.1:5001");
        SendRequest empty = new SendRequest().destAddr(toPeer).tag(1).opContext(CONTEXT)
            .flags(Flags.DELIVERY_COMPLETE | Flags.COMPLETION);
        assertEquals(0, endpoint.messages().tsendmsg(empty));
        int header = 16;
        await(() -> available(peer) >= header + RxmPacket.HEADER_LENGTH);
        byte[] message = peer.getInputStream().readNBytes(header + RxmPacket.HEADER_LENGTH);
        assertEquals(4, message[2] & 4, "asks for an acknowledgement of the connection");
        byte[] acknowledgement = new byte[header];
        ByteBuffer.wrap(acknowledgement).order(ByteOrder.LITTLE_ENDIAN).putInt(3).putInt(16 << 16 | 2).putLong(16);
        peer.getOutputStream().write(acknowledgement);
        peer.close();
        next(CONTEXT);
    }

    /** What they have left behind is not received; their places are there for others all the same. */
    @Test
    void shouldGiveThePlacesOfThoseThatHaveLeftToOthers() throws IOException {
        reopen("jfabric.tcp.unknownPeersPerHost", "2");
        Socket second = connect(5005);
        assertEquals(RxmConnectData.REASON_REFUSED, refusal(ask(5006, 5006)));
        for (Socket socket : new Socket[] {peer, second}) {
            for (int i = 0; i < 2 + BUDGET / EAGER; i++) {
                sendEager(socket, i, EAGER_TAG, EAGER);
            }
            socket.close();
        }
        // a peer of libfabric asks again too
        boolean[] isTaken = new boolean[1];
        await(() -> {
            try (Socket socket = ask(5007, 5007)) {
                await(() -> available(socket) >= CM_HEADER + 2);
                isTaken[0] = socket.getInputStream().readNBytes(2)[1] == 1;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return isTaken[0];
        });
    }

    @Tag("slow") // waits for the kernel's questions, a second apart at least
    @Test
    void shouldKeepThePlaceOfALivingPeerAndGiveThatOfADeadOneToItsSuccessor() throws IOException {
        Socket other = ask(5001, 8);
        Socket third = ask(5001, 9);
        Socket leaving = ask(5001, 10);
        leaving.close();
        assertEquals(RxmConnectData.REASON_ALREADY, refusal(third), "one is held at a time");
        assertEquals(RxmConnectData.REASON_ALREADY, refusal(other));
        assertEquals(0, endpoint.trecv(region.address(), EAGER, -1, EAGER_TAG, 0, 1));
        sendEager(peer, 1, EAGER_TAG, 100);
        assertEquals(100, next(1));

        peer.close();
        Socket successor = ask(5001, 11);
        await(() -> available(successor) >= CM_HEADER + 16);
        assertEquals(1, successor.getInputStream().readNBytes(2)[1]);

        reopen("jfabric.tcp.takeover", "NEVER");
        assertEquals(RxmConnectData.REASON_ALREADY, refusal(ask(5001, 8)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"version", "type", "long", "short", "segment", "descriptors", "twice"})
    void shouldEndAPeerThatBreaksTheProtocol(String what) throws IOException {
        Socket other = connect(5004);
        long address = packet.addressOffset();
        RxmPacket.begin(address, RxmPacket.EAGER, numbers.get(peer));
        RxmPacket.message(address, true, false, 1, 10, 0, EAGER_TAG);
        int length = RxmPacket.HEADER_LENGTH + 10;
        switch (what) {
            case "version" -> packet.putByte(0, (byte) 9);
            case "type" -> packet.putByte(1, (byte) 77);
            case "long" -> packet.putLong(40, 1L << 62);
            case "short" -> length = 20;
            case "segment" -> {
                packet.putByte(1, (byte) RxmPacket.SEGMENT);
                RxmPacket.segment(address, 3, 10, RxmPacket.LAST);
            }
            case "descriptors" -> {
                packet.putByte(1, (byte) RxmPacket.RENDEZVOUS);
                length = RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH;
            }
            default -> {
                announce(peer);
                RxmPacket.begin(address, RxmPacket.RENDEZVOUS, numbers.get(peer));
                RxmPacket.message(address, true, false, 0, LONG, 0, RENDEZVOUS_TAG);
                length = RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH;
            }
        }
        send(peer, length);
        peer.setSoTimeout(1);
        await(() -> isEnded(peer));
        assertEquals(0, endpoint.trecv(region.address(), EAGER, -1, 3, 0, 400));
        sendEager(other, 1, 3, 100);
        assertEquals(100, next(400));
        other.close();
    }

    private static boolean isEnded(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (java.net.SocketTimeoutException notYet) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }
}
