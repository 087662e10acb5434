package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.codec.stream.DataDecoder;
import org.jfabric.codec.stream.DataEncoder;
import org.jfabric.codec.stream.GoneEncoder;
import org.jfabric.codec.stream.LostEncoder;
import org.jfabric.codec.stream.MessageHeaderDecoder;
import org.jfabric.codec.stream.MessageHeaderEncoder;
import org.jfabric.codec.stream.NakEncoder;
import org.jfabric.codec.stream.RefuseEncoder;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.kit.NumberedMessages;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What Debian's tshark shows with the script for Wireshark, of captures that are made here. */
@Timeout(120)
class DissectorTest {
    private static final Path TSHARK = Path.of("/usr/bin/tshark");
    private static final Path SCRIPT = Path.of("..", "config", "wireshark", "jfabric.lua");
    private static final int ETHERNET = 1;
    private static final int UDP = 17;
    private static final int TCP = 6;
    private static final int CLIENT = 40_001;
    private static final int SERVER = 40_002;
    private static final long SEED = 4711;

    private final Path base = TestDirectory.create();
    private final ByteArrayOutputStream capture = new ByteArrayOutputStream();
    private int packets;

    @BeforeEach
    void begin() {
        assumeTrue(Files.isExecutable(TSHARK), "no tshark here; Debian's package of that name has it");
        write(header(24).putInt(0xa1b2c3d4).putShort((short) 2).putShort((short) 4).putLong(0).putInt(0xffff)
            .putInt(ETHERNET));
    }

    @AfterEach
    void end() {
        TestDirectory.delete(base);
    }

    // ---- the capture ----

    private static ByteBuffer header(int length) {
        return ByteBuffer.allocate(length);
    }

    private void write(ByteBuffer bytes) {
        capture.writeBytes(bytes.array());
    }

    /** Adds a packet, with headers of ethernet, IP and what is above. */
    private void packet(int protocol, byte[] above) {
        int length = 14 + 20 + above.length;
        write(header(16 + 14 + 20).putInt(packets / 1000).putInt(packets % 1000 * 1000).putInt(length).putInt(length)
            .putLong(0x0200_0000_0001_0200L).putInt(0x0000_0002).putShort((short) 0x0800)
            .put((byte) 0x45).put((byte) 0).putShort((short) (20 + above.length)).putInt(0).put((byte) 64)
            .put((byte) protocol).putShort((short) 0).putInt(0x0a000001).putInt(0x0a000002));
        capture.writeBytes(above);
        packets++;
    }

    private void udp(byte[] datagram) {
        packet(UDP, header(8 + datagram.length).putShort((short) CLIENT).putShort((short) SERVER)
            .putShort((short) (8 + datagram.length)).putShort((short) 0).put(datagram).array());
    }

    private void tcp(boolean isClient, int sequence, byte[] bytes) {
        packet(TCP, header(20 + bytes.length).putShort((short) (isClient ? CLIENT : SERVER))
            .putShort((short) (isClient ? SERVER : CLIENT)).putInt(sequence).putInt(1).put((byte) 0x50)
            .put((byte) 0x18).putShort((short) 0xffff).putInt(0).put(bytes).array());
    }

    /** A line of fields for each packet, which are separated by bars. */
    private List<String> show(String... fields) throws Exception {
        return showAs(null, fields);
    }

    private List<String> showAs(String protocol, String... fields) throws Exception {
        Path file = base.resolve("capture.pcap");
        Files.createDirectories(base);
        Files.write(file, capture.toByteArray());
        List<String> command = new ArrayList<>(List.of(TSHARK.toString(), "-n", "-r", file.toString(), "-X",
            "lua_script:" + SCRIPT, "-T", "fields", "-E", "separator=|", "-E", "aggregator=,"));
        if (protocol != null) {
            command.addAll(List.of("-d", "udp.port==" + SERVER + ',' + protocol));
        }
        for (String field : fields) {
            command.addAll(List.of("-e", field));
        }
        Path errors = base.resolve("errors");
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = Files.readString(errors);
        assertEquals(0, process.waitFor(), err);
        assertTrue(!err.contains("Lua"), err);
        List<String> lines = out.lines().toList();
        assertEquals(packets, lines.size(), out);
        return lines;
    }

    // ---- streams ----

    @Test
    void shouldShowEachFieldOfAStream() throws Exception {
        UnsafeBuffer memory = new UnsafeBuffer(new byte[1024]);
        MessageHeaderEncoder header = new MessageHeaderEncoder();
        new DataEncoder().wrapAndApplyHeader(memory, 0, header).stream(0xabcL).position(41).count(2).isRepair(1);
        memory.putInt(32, 5);
        memory.putInt(36, 3);
        memory.putLong(40, 0x77);
        memory.putLong(48, 0x88);
        memory.putStringWithoutLengthAscii(56, "hello");
        memory.putInt(64, 2);
        memory.putStringWithoutLengthAscii(72, "ab");
        udp(bytes(memory, 80));
        NakEncoder nak = new NakEncoder().wrapAndApplyHeader(memory, 0, header).member(0x55L);
        nak.rangesCount(2).next().first(7).end(9).firstByte(0).endByte(0).next().first(12).end(12).firstByte(0)
            .endByte(1400);
        udp(bytes(memory, MessageHeaderEncoder.ENCODED_LENGTH + nak.encodedLength()));
        new LostEncoder().wrapAndApplyHeader(memory, 0, header).stream(0xabcL).first(3).last(8).isRecorded(1);
        udp(bytes(memory, 40));
        new GoneEncoder().wrapAndApplyHeader(memory, 0, header).member(0x55L).reserved(0);
        udp(bytes(memory, 24));
        new RefuseEncoder().wrapAndApplyHeader(memory, 0, header).reader(1).timeNs(2).logIdHigh(3).logIdLow(4)
            .oldest(50).next(60).term(7).errno(61).flags(4).reserved(0);
        udp(bytes(memory, 72));
        udp("no datagram of a stream".getBytes(StandardCharsets.US_ASCII));
        assertEquals(List.of(
            "JFabric|Data position=41 count=2 (repair)|1|41|41,42|5,2|0x0000000000000077|0x0000000000000088"
                + "|68656c6c6f,6162||||",
            "JFabric|Nak ranges=2|10|||||||7,12|9,12|0,0|0,1400",
            "JFabric|Lost first=3 last=8|5||||||||||",
            "JFabric|Gone|8||||||||||",
            "JFabric|Refuse oldest=50 next=60 errno=61|15||||||||||"),
            show("_ws.col.Protocol", "_ws.col.Info", "jfabric_stream.type", "jfabric_stream.position",
                "jfabric_stream.message_position", "jfabric_stream.message_length", "jfabric_stream.message_tag",
                "jfabric_stream.message_data", "jfabric_stream.payload", "jfabric_stream.range_first",
                "jfabric_stream.range_end", "jfabric_stream.range_first_byte", "jfabric_stream.range_end_byte")
                .subList(0, 5));
        assertTrue(show("_ws.col.Protocol").getLast().equals("UDP"));
    }

    @Test
    void shouldNameSealedDatagramsOfAPort() throws Exception {
        udp(header(40 + 24).putLong(0x0102030405060708L).putLong(0x1112131415161718L).putLong(300)
            .put(new byte[24]).putLong(0x2122232425262728L).putLong(0x3132333435363738L).array());
        UnsafeBuffer memory = new UnsafeBuffer(new byte[24]);
        new GoneEncoder().wrapAndApplyHeader(memory, 0, new MessageHeaderEncoder()).member(0x55L).reserved(0);
        udp(bytes(memory, 24));
        assertEquals(List.of(
            "JFabric|sealed number=300 bytes=24|01020304050607081112131415161718|300"
                + "|000000000000000000000000000000000000000000000000|21222324252627283132333435363738",
            "JFabric|Gone||||"),
            showAs("jfabric_sealed", "_ws.col.Protocol", "_ws.col.Info", "jfabric_sealed.session",
                "jfabric_sealed.number", "jfabric_sealed.datagram", "jfabric_sealed.tag"));
    }

    private static byte[] bytes(UnsafeBuffer memory, int length) {
        byte[] result = new byte[length];
        memory.getBytes(0, result);
        memory.setMemory(0, memory.capacity(), (byte) 0);
        return result;
    }

    @Tag("slow") // runs drivers
    @Test
    void shouldShowWhatTwoDriversSayToEachOther() throws Exception {
        List<byte[]> datagrams = Collections.synchronizedList(new ArrayList<>());
        long read;
        try (DriverProcess alpha = launch("alpha"); DriverProcess beta = launch("beta");
            Fabric writing = connect(alpha); Fabric reading = connect(beta)) {
            int port = NumberedMessages.freePort();
            try (LossyRelay relay = new LossyRelay(port, SEED, 50)) {
                relay.tap(datagrams::add);
                Publication publication = Publication.on(writing, "jfabric://alpha/quotes")
                    .onNetwork("127.0.0.1:" + port).open();
                Subscription subscription = Subscription.on(
                    reading, "stream://127.0.0.1:" + relay.port() + "/quotes").open();
                read = stream(publication, subscription, datagrams);
                subscription.close();
                publication.close();
            }
        }
        assertTrue(read > 0, () -> "seed " + SEED);
        Set<String> expected = new TreeSet<>();
        List<byte[]> all = List.copyOf(datagrams);
        all.forEach(this::udp);
        List<String> lines = show("jfabric_stream.type", "jfabric_stream.position", "jfabric_stream.message_position",
            "jfabric_stream.group", "jfabric_stream.reader_name");
        UnsafeBuffer memory = new UnsafeBuffer(new byte[0]);
        DataDecoder data = new DataDecoder();
        for (int i = 0; i < all.size(); i++) {
            memory.wrap(all.get(i));
            int type = new MessageHeaderDecoder().wrap(memory, 0).templateId();
            String[] shown = lines.get(i).split("\\|", -1);
            assertEquals(String.valueOf(type), shown[0], lines.get(i));
            expected.add(shown[0]);
            if (type == DataDecoder.TEMPLATE_ID) {
                data.wrapAndApplyHeader(memory, 0, new MessageHeaderDecoder());
                assertEquals(String.valueOf(data.position()), shown[1], lines.get(i));
                assertEquals(data.count(), shown[2].split(",").length, lines.get(i));
            } else if (shown[0].equals("12")) {
                assertEquals("quotes|beta", shown[3] + '|' + shown[4], lines.get(i));
            }
        }
        assertTrue(expected.containsAll(Set.of("1", "3", "7", "9", "10", "12", "13", "14")), expected::toString);
    }

    private DriverProcess launch(String name) {
        return DriverProcess.launch(base.resolve(name), "jfabric.link.enabled=loopback,shm,tcp,udp");
    }

    private static Fabric connect(DriverProcess driver) {
        return Fabric.connect(new FabricConfig().directory(driver.awaitReady().directory()));
    }

    /** Sends short and long messages until some were asked for again. */
    private static long stream(Publication publication, Subscription subscription, List<byte[]> datagrams) {
        UnsafeBuffer message = new UnsafeBuffer(new byte[4_000]);
        long[] seen = new long[1];
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        boolean isAsked = false;
        for (int i = 0; !isAsked || seen[0] < 300; i++) {
            if (publication.position() < 100_000) {
                publication.offer(message, 0, i % 20 == 0 ? 4_000 : 50);
            }
            subscription.poll((buffer, offset, length, header) -> seen[0]++, 16);
            if (i % 100 == 0) {
                isAsked = List.copyOf(datagrams).stream().anyMatch(each -> each[2] == 10);
            }
            assertTrue(System.nanoTime() - deadline < 0, () -> "seed " + SEED + ", read " + seen[0]);
        }
        return seen[0];
    }

    // ---- libfabric over TCP ----

    private static ByteBuffer little(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] setup(int type, byte[] data) {
        return little(32 + data.length).put((byte) 3).put((byte) type).put((byte) 0).put((byte) data.length)
            .putLong(24, 1).position(32).put(data).array();
    }

    private static byte[] message(ByteOrder order, int op, int flags, int opData, long[] words, byte[] payload) {
        int header = 16 + 8 * words.length;
        ByteBuffer bytes = ByteBuffer.allocate(header + payload.length).order(order).put((byte) 3).put((byte) op)
            .putShort((short) flags).put((byte) opData).put((byte) (op == 2 ? 1 : 0)).put((byte) header).put((byte) 0)
            .putLong(header + payload.length);
        for (long word : words) {
            bytes.putLong(word);
        }
        return bytes.put(payload).array();
    }

    private static byte[] rxm(int type, int op, long tag, byte[] payload) {
        return little(64 + payload.length).put(0, (byte) 4).put(1, (byte) type).putLong(8, 6).putLong(16, 9)
            .put(32, (byte) 2).put(34, (byte) op).putLong(40, payload.length).putLong(56, tag)
            .position(64).put(payload).array();
    }

    @Test
    void shouldShowWhatLinksTcpAndRxmSay() throws Exception {
        byte[] text = "hello".getBytes(StandardCharsets.US_ASCII);
        byte[] request = setup(0, little(24).put((byte) 1).put((byte) 2).put((byte) 4).put((byte) 3)
            .putShort((short) 5000).putShort((short) 0).putInt(16_384).putInt(4096).putLong(0x1_0000_0007L).array());
        byte[] response = setup(1, little(16).putLong(0x2_0000_0006L).array());
        tcp(true, 1, request);
        tcp(false, 1, response);
        int at = 1 + request.length;
        // two in one segment, and one in two
        byte[] eager = message(ByteOrder.LITTLE_ENDIAN, 0, 0, 0, new long[0], rxm(0, 1, 0x1234, text));
        byte[] tagged = message(ByteOrder.LITTLE_ENDIAN, 1, 1, 0, new long[] {0x99, 0x77}, text);
        tcp(true, at, ByteBuffer.allocate(eager.length + tagged.length).put(eager).put(tagged).array());
        at += eager.length + tagged.length;
        byte[] read = message(ByteOrder.LITTLE_ENDIAN, 2, 0, 0, new long[] {0x1000, 64, 0x80}, new byte[0]);
        tcp(true, at, Arrays.copyOf(read, 10));
        tcp(true, at + 10, Arrays.copyOfRange(read, 10, read.length));
        tcp(false, 1 + response.length, message(ByteOrder.BIG_ENDIAN, 1, 0, 0, new long[] {0x55}, text));
        tcp(false, 1 + response.length + 29, message(ByteOrder.LITTLE_ENDIAN, 0, 0, 2, new long[0], new byte[0]));
        List<String> lines = show("_ws.col.Protocol", "libfabric_tcp.setup", "libfabric_tcp.op", "libfabric_tcp.tag",
            "libfabric_tcp.cq_data", "libfabric_tcp.range_length", "libfabric_rxm.type", "libfabric_rxm.op",
            "libfabric_rxm.tag", "libfabric_rxm.payload", "libfabric_rxm.port", "libfabric_rxm.connection",
            "_ws.col.Info");
        Map<Integer, String> expected = Map.of(
            0, "libfabric|0|||||||||5000|0x0000000100000007| connection request",
            1, "libfabric|1||||||||||0x0000000200000006| connection response",
            2, "libfabric||0,1|0x0000000000000077|0x0000000000000099||0|1|0x0000000000001234|68656c6c6f||"
                + "0x0000000000000006| rxm eager tagged length=5 tag=0x0000000000001234 tagged length=37"
                + " tag=0x0000000000000077",
            4, "libfabric||2|||64|||||||" + " read request length=40",
            5, "libfabric||1|0x0000000000000055||||||||| tagged length=29 tag=0x0000000000000055",
            6, "libfabric||0|||||||||| acknowledgement");
        expected.forEach((line, text1) -> assertEquals(text1, lines.get(line)));
    }
}
