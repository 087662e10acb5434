package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.wire.ShortEncoder;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The record of a plain message: its bytes, when the longer one is used instead, and whom its number names. */
class ShmShortRecordTest extends ThreeShmNodes {
    private static final int LENGTH = 48;
    private static final int LINE = 64;
    private static final long TAG = 0x1122_3344_5566_7788L;

    private void transfer(ShmNode sender, ShmNode receiver, long destination, long tag) {
        assertEquals(0, receiver.endpoint.receive(ShmNode.TAGGED, receiver.buf(0), LENGTH, -1, tag, 0, 1));
        sender.fill(0, LENGTH, (int) tag);
        assertEquals(0, sender.endpoint.send(ShmNode.TAGGED, sender.buf(0), LENGTH, destination, tag, 0, 2));
        ShmNode.Entry entry = await(receiver);
        assertEquals(0, entry.err());
        assertEquals(LENGTH, entry.length());
        assertEquals(tag, entry.tag());
        assertTrue(receiver.isFilled(0, LENGTH, (int) tag));
        assertEquals(2, await(sender).context());
    }

    /** All records of the rings that a driver writes whose second word is that tag, or whose third one is it. */
    private List<ByteBuffer> records(String driver, int tagOffset, long tag) throws IOException {
        List<ByteBuffer> found = new ArrayList<>();
        try (var files = Files.list(base.resolve(driver))) {
            for (Path name : files.filter(file -> file.toString().endsWith(".ring")).toList()) {
                ByteBuffer ring = ByteBuffer.allocate((int) Files.size(name)).order(ByteOrder.LITTLE_ENDIAN);
                try (FileChannel file = FileChannel.open(name)) {
                    while (ring.hasRemaining()) {
                        assertTrue(file.read(ring) > 0, "the file ends early");
                    }
                }
                for (int at = RecordRingDescriptor.HEADER_LENGTH; at < ring.capacity(); at += LINE) {
                    if (ring.getLong(at + tagOffset) == tag) {
                        found.add(ring.slice(at, LINE).order(ByteOrder.LITTLE_ENDIAN));
                    }
                }
            }
        }
        return found;
    }

    @Test
    void shouldWriteTheBytesThatTheCodecWrites() throws IOException {
        transfer(alpha, beta, toBeta, 1);
        transfer(alpha, beta, toBeta, TAG);
        List<ByteBuffer> records = records("alpha", ShortEncoder.tagEncodingOffset(), TAG);
        assertEquals(1, records.size());
        ByteBuffer record = records.getFirst();
        int header = ShortEncoder.BLOCK_LENGTH;
        UnsafeBuffer expected = new UnsafeBuffer(new byte[LINE]);
        // a channel begins with this credit, and half of it has to be used before it changes
        new ShortEncoder().wrap(expected, 0).lengthAndType(header + LENGTH | 2L << 24).channel(1)
            .grant((64 << 10) / LINE).tag(TAG);
        alpha.fill(0, LENGTH, (int) TAG);
        for (int i = 0; i < LENGTH; i++) {
            expected.putByte(header + i, (byte) ((int) TAG + i * 7));
        }
        byte[] written = new byte[LINE];
        record.get(0, written);
        assertArrayEquals(expected.byteArray(), written, "a message of 48 bytes fills its line");
    }

    @Test
    void shouldSayMoreCreditThanTheShortRecordCanCountInALongOne() throws IOException {
        long toAlpha = beta.addresses.insert(ShmNode.address("alpha"));
        transfer(beta, alpha, toAlpha, 1);
        transfer(beta, alpha, toAlpha, 2);
        int tagOfEager = RecordRingDescriptor.WORD_LENGTH + Long.BYTES;
        ShmChannel channel = ((ShmLink) beta.link).connection(ShmNode.address("alpha")).shortChannel(1);
        int grant = 64 << 10;
        for (int more = LINE; more <= 4 << 20; more <<= 1) {
            grant += more;
            assertEquals(0, alpha.endpoint.receive(ShmNode.TAGGED, alpha.buf(0), LENGTH, -1, more, 0, 1));
            assertEquals(Channel.DONE, channel.sendShort(Flags.TAGGED, more, beta.memory, LENGTH, grant));
            assertEquals(more, await(alpha).tag());
            boolean isEager = records("beta", tagOfEager, more).stream().anyMatch(ShmShortRecordTest::isEager);
            assertEquals(more >= 2 << 20, isEager, more + " more");
        }
        // alpha knows the whole credit
        for (int i = 0; i < 4_000; i++) {
            assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toBeta, 5, 0, 2));
            // the ring gets more memory meanwhile
            assertEquals(2, await(alpha).context());
        }
    }

    /** Alters the word of alpha's next message before beta reads it. */
    private void alterNextWord(long word) throws IOException {
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toBeta, TAG, 0, 2));
        try (var files = Files.list(base.resolve("alpha"))) {
            for (Path name : files.filter(file -> file.toString().endsWith(".ring")).toList()) {
                try (FileChannel file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                    ByteBuffer ring = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size())
                        .order(ByteOrder.LITTLE_ENDIAN);
                    for (int at = RecordRingDescriptor.HEADER_LENGTH; at < ring.capacity(); at += LINE) {
                        if (ring.getLong(at + ShortEncoder.tagEncodingOffset()) == TAG) {
                            ring.putLong(at, word);
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "64, 5, short type 5", "31, 3, SHORT_WRITE with only 31 bytes", "15, 4, PLACED with only 15 bytes",
        "15, 2, SHORT with only 15 bytes", "7, 1, length 7 and short type 1",
        "1048577, 2, length 1048577 and short type 2", "16777215, 255, short type 255"})
    void shouldEndOnlyTheConnectionThatShortRecordsAreImpossibleOf(int length, int type, String reason)
        throws IOException {
        for (boolean quick : new boolean[] {false, true}) {
            int errors = beta.services.errors.size();
            transfer(alpha, beta, toBeta, 1);
            transfer(gamma, beta, gamma.addresses.insert(ShmNode.address("beta")), 2);
            steps(100);
            if (quick) {
                beta.engine.findQuick();
            }
            alterNextWord(RecordRingDescriptor.shortWord(length, type, 0x1000_0001));
            await(alpha);
            steps(10);
            assertEquals(errors + 1, beta.services.errors.size(), () -> "errors " + beta.services.errors);
            String error = beta.services.errors.getLast().toString();
            assertTrue(error.contains(reason), error);
            transfer(gamma, beta, gamma.addresses.insert(ShmNode.address("beta")), 3);
        }
    }

    @Test
    void shouldPassOverAShortRecordThatNamesNoChannel() throws IOException {
        transfer(alpha, beta, toBeta, 1);
        alterNextWord(RecordRingDescriptor.shortWord(LINE, ShmFrameReader.SHORT_TAGGED, 0x1000_0000 | 0xFFFF));
        await(alpha);
        steps(10);
        assertNull(beta.poll());
        transfer(alpha, beta, toBeta, 2);
    }

    private static boolean isEager(ByteBuffer record) {
        return record.getInt(Integer.BYTES) == ShmFrameReader.EAGER_TAGGED;
    }

    @Test
    void shouldNotGiveMessagesForAClosedEndpointToItsSuccessor() {
        EngineEndpoint first = beta.addEndpoint(2, "first");
        long toFirst = alpha.addresses.insert(FabricName.of("beta", "first"));
        long toSecond = alpha.addresses.insert(FabricName.of("beta", "second"));
        assertEquals(0, first.receive(ShmNode.TAGGED, beta.buf(0), LENGTH, -1, 1, 0, 1));
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toFirst, 1, 0, 2));
        assertEquals(1, await(beta).context());
        assertEquals(2, await(alpha).context());

        // alpha does not know yet that first was closed
        beta.engine.removeEndpoint(first);
        EngineEndpoint second = beta.addEndpoint(3, "second");
        for (int i = 0; i < 10; i++) {
            beta.step();
        }
        assertEquals(0, second.receive(Flags.TAGGED | Flags.COMPLETION, beta.buf(0), LENGTH, -1, 0, -1L, 3));
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toSecond, 5, 0, 4));
        for (int i = 0; i < 3; i++) {
            assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toFirst, 6, 0, 10 + i));
        }
        ShmNode.Entry entry = await(beta);
        assertEquals(3, entry.context());
        assertEquals(5, entry.tag(), "the message for the successor");
        int refused = 0;
        for (int i = 0; i < 4; i++) {
            ShmNode.Entry sent = await(alpha);
            assertTrue(sent.context() != 4 || sent.err() == 0);
            refused += sent.err() == FabricErrno.ECONNREFUSED || sent.err() == FabricErrno.ECONNRESET ? 1 : 0;
        }
        assertTrue(refused <= 3, "only those to the closed endpoint");
    }
}
