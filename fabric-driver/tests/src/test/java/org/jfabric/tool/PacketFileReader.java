package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads a pcapng file by its specification, and fails where it has another form. */
final class PacketFileReader {
    record Packet(BigInteger timeNs, int originalLength, byte[] bytes, String comment) {
    }

    final List<Packet> all = new ArrayList<>();
    String interfaceName;
    int linkType;

    static PacketFileReader of(Path file) throws IOException {
        PacketFileReader reader = new PacketFileReader();
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file));
        assertEquals(0x0A0D0D0A, in.getInt(0), "type of the first block, the same in both byte orders");
        in.order(in.getInt(8) == 0x1A2B3C4D ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            int start = in.position();
            int type = in.getInt();
            int length = in.getInt();
            assertEquals(0, length % 4);
            assertEquals(length, in.getInt(start + length - 4), "length at the end of the block at " + start);
            reader.block(type, in.slice(start + 8, length - 12).order(in.order()));
            in.position(start + length);
        }
        return reader;
    }

    private void block(int type, ByteBuffer body) {
        switch (type) {
            case 0x0A0D0D0A -> {
                assertEquals(0x1A2B3C4D, body.getInt());
                assertEquals(1, body.getShort(), "major version");
                assertEquals(0, body.getShort(), "minor version");
                assertEquals(-1, body.getLong(), "length of the section, not given");
                options(body);
            }
            case 1 -> {
                linkType = Short.toUnsignedInt(body.getShort());
                body.getShort();
                assertEquals(0, body.getInt(), "no limit of a packet's length");
                Map<Integer, byte[]> options = options(body);
                interfaceName = new String(options.get(2), StandardCharsets.UTF_8);
                assertEquals(1, options.get(9).length);
                assertEquals(9, options.get(9)[0], "times are nanoseconds");
            }
            case 6 -> {
                assertEquals(0, body.getInt(), "number of the interface");
                BigInteger high = BigInteger.valueOf(Integer.toUnsignedLong(body.getInt()));
                BigInteger low = BigInteger.valueOf(Integer.toUnsignedLong(body.getInt()));
                byte[] bytes = new byte[body.getInt()];
                int original = body.getInt();
                body.get(bytes).position(body.position() + 3 & ~3);
                all.add(new Packet(high.shiftLeft(32).add(low), original, bytes,
                    new String(options(body).get(1), StandardCharsets.UTF_8)));
            }
            default -> throw new AssertionError("block of type " + type);
        }
        assertEquals(0, body.remaining());
    }

    private static Map<Integer, byte[]> options(ByteBuffer body) {
        Map<Integer, byte[]> options = new HashMap<>();
        while (true) {
            int code = Short.toUnsignedInt(body.getShort());
            byte[] value = new byte[Short.toUnsignedInt(body.getShort())];
            body.get(value).position(body.position() + 3 & ~3);
            if (code == 0) {
                return options;
            }
            options.put(code, value);
        }
    }
}
