package org.jfabric.tool;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.DirectBuffer;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/**
 * Writes the messages of a log as packets of a pcapng file, which Wireshark reads. A packet is the payload alone, so
 * that a dissector of the application's messages fits; position and the like are its comment.
 */
final class PacketFile implements StreamListener, AutoCloseable {
    private static final int SECTION_HEADER = 0x0A0D0D0A;
    private static final int BYTE_ORDER = 0x1A2B3C4D;
    private static final int INTERFACE = 1;
    private static final int PACKET = 6;
    /** Reserved for private use, so no dissector of a network is applied. */
    private static final int LINK_TYPE_USER0 = 147;
    private static final int COMMENT = 1;
    private static final int INTERFACE_NAME = 2;
    private static final int TIME_RESOLUTION = 9;
    private static final byte NANOSECONDS = 9;
    /** Wireshark takes a file with a longer packet for a damaged one. */
    private static final int MAX_CAPTURED = 262_144;
    private static final int MAX_TEXT = 4_096;

    private final Path file;
    private final OutputStream out;
    private final ByteBuffer block =
        ByteBuffer.allocate(MAX_CAPTURED + 2 * MAX_TEXT).order(ByteOrder.LITTLE_ENDIAN);
    private String gap = "";
    private long lastTimeNs;

    /**
     * Makes the file; one that is there is not replaced.
     *
     * @param log whose group is the name of the packets' interface.
     */
    PacketFile(Path file, LogReader log) {
        this.file = file;
        try {
            // a pipe may be written, too
            boolean isNew = !Files.exists(file) || Files.isRegularFile(file);
            out = new BufferedOutputStream(Files.newOutputStream(
                file, isNew ? StandardOpenOption.CREATE_NEW : StandardOpenOption.WRITE));
        } catch (IOException e) {
            throw new ToolException(file + " cannot be made: " + e + "; name a file that is not there yet.", e);
        }
        begin(SECTION_HEADER).putInt(BYTE_ORDER).putShort((short) 1).putShort((short) 0).putLong(-1);
        option(COMMENT, "JFabric log " + log.logId() + " of group " + log.group());
        end();
        begin(INTERFACE).putShort((short) LINK_TYPE_USER0).putShort((short) 0).putInt(0);
        option(INTERFACE_NAME, log.group());
        block.putShort((short) TIME_RESOLUTION).putShort((short) 1).put(NANOSECONDS);
        pad();
        end();
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        lastTimeNs = header.timeNs();
        writeGap();
        packet(buffer, offset, length, "position " + header.position() + ", " + LogCommand.origin(header)
            + ", flags 0x" + Long.toHexString(header.flags())
            + (length > MAX_CAPTURED ? ", the first " + MAX_CAPTURED + " bytes" : ""));
    }

    /** A gap has no time of its own: it gets that of the message behind it. */
    @Override
    public void onGap(long firstPosition, long lastPosition) {
        writeGap();
        gap = LogCommand.gap(firstPosition, lastPosition);
    }

    private void writeGap() {
        if (!gap.isEmpty()) {
            packet(null, 0, 0, gap);
            gap = "";
        }
    }

    private void packet(DirectBuffer buffer, int offset, int length, String comment) {
        int captured = Math.min(length, MAX_CAPTURED);
        begin(PACKET).putInt(0).putInt((int) (lastTimeNs >>> Integer.SIZE)).putInt((int) lastTimeNs)
            .putInt(captured).putInt(length);
        if (captured > 0) {
            buffer.getBytes(offset, block.array(), block.position(), captured);
            block.position(block.position() + captured);
        }
        pad();
        option(COMMENT, comment);
        end();
    }

    private ByteBuffer begin(int type) {
        return block.clear().putInt(type).putInt(0);
    }

    private void option(int code, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        block.putShort((short) code).putShort((short) bytes.length).put(bytes);
        pad();
    }

    private void pad() {
        while ((block.position() & Integer.BYTES - 1) != 0) {
            block.put((byte) 0);
        }
    }

    /** Ends options and block. */
    private void end() {
        int length = block.putInt(0).position() + Integer.BYTES;
        block.putInt(length).putInt(Integer.BYTES, length);
        try {
            out.write(block.array(), 0, length);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private ToolException failed(IOException cause) {
        return new ToolException(file + " cannot be written: " + cause.getMessage() + '.', cause);
    }

    @Override
    public void close() {
        try (out) {
            writeGap();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
