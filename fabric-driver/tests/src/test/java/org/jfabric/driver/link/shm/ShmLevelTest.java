package org.jfabric.driver.link.shm;

import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jfabric.codec.wire.AcknowledgeDecoder;
import org.jfabric.codec.wire.EagerToAcknowledgeDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages to acknowledge over the real shm link, and acknowledgements that no correct driver writes. */
class ShmLevelTest extends ThreeShmNodes {
    private static final long DELIVERY = ShmNode.TAGGED | Flags.DELIVERY_COMPLETE;
    private static final long MATCH = ShmNode.TAGGED | Flags.MATCH_COMPLETE;
    private static final int LINE = 64;

    private void exchange(long tag) {
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toBeta, tag, 0, tag));
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 8, -1, tag, 0, tag));
        assertEquals(0, await(alpha).err());
        assertEquals(0, await(beta).err());
    }

    /** The ring that a driver writes; its peers are distinguished by the order in which they were connected. */
    private ByteBuffer ring(String driver) throws IOException {
        Path name;
        try (var files = Files.list(base.resolve(driver))) {
            name = files.filter(file -> file.toString().endsWith(".ring")).sorted().findFirst().orElseThrow();
        }
        try (FileChannel file = FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    /** Where the last record of a type stands that has this value in a field. */
    private static int find(ByteBuffer ring, int type, int field, long value) {
        int found = -1;
        for (int at = RecordRingDescriptor.HEADER_LENGTH; at < ring.capacity(); at += LINE) {
            if (ring.getInt(at + Integer.BYTES) == type && ring.getLong(at + WORD_LENGTH + field) == value) {
                found = at;
            }
        }
        assertTrue(found >= 0, "no record of type " + type);
        return found;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 16, 17, 100, 8192, 8193, 100_000})
    void shouldAcknowledgeMessagesOfEveryLength(int length) {
        alpha.fill(0, length, 9);
        for (long data = 0; data < 2; data++) {
            long flags = data == 0 ? 0 : Flags.REMOTE_CQ_DATA;
            assertEquals(0, alpha.endpoint.send(MATCH | flags, alpha.buf(0), length, toBeta, 7, data, 1));
            steps(200);
            assertNull(alpha.poll());
            assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 100_000, -1, 7, 0, 2));
            assertEquals(1, await(alpha).context());
            ShmNode.Entry received = beta.poll();
            assertEquals(length, received.length());
            assertEquals(Flags.RECV | Flags.TAGGED | flags, received.flags());
            assertTrue(beta.isFilled(0, length, 9));
        }
    }

    @Test
    void shouldWaitForThePeersDutyCycleWhenDeliveryIsAsked() {
        exchange(1);
        assertEquals(0, alpha.endpoint.send(DELIVERY, alpha.buf(0), 8, toBeta, 7, 0, 1));
        for (int i = 0; i < 1000; i++) {
            alpha.step();
        }
        assertNull(alpha.poll());
        assertEquals(1, await(alpha).context());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, Flags.FENCE, Flags.DELIVERY_COMPLETE | Flags.FENCE,
        Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE})
    void shouldEndOnlyTheDriverThatAsksForImpossibleLevels(long levels) throws IOException {
        exchange(1);
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toBeta, 77, 0, 1));
        ByteBuffer ring = ring("alpha");
        int at = find(ring, EagerToAcknowledgeDecoder.TEMPLATE_ID, EagerToAcknowledgeDecoder.tagEncodingOffset(), 77);
        ring.putLong(at + WORD_LENGTH + EagerToAcknowledgeDecoder.flagsEncodingOffset(), Flags.TAGGED | levels);
        assertBetaEndsAlpha("levels");
    }

    @Test
    void shouldEndOnlyTheDriverWhoseRecordIsTooShort() throws IOException {
        exchange(1);
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toBeta, 77, 0, 1));
        ByteBuffer ring = ring("alpha");
        int at = find(ring, EagerToAcknowledgeDecoder.TEMPLATE_ID, EagerToAcknowledgeDecoder.tagEncodingOffset(), 77);
        ring.putInt(at, WORD_LENGTH + EagerToAcknowledgeDecoder.BLOCK_LENGTH - 1);
        assertBetaEndsAlpha("EAGER_TO_ACKNOWLEDGE with only");
    }

    @Test
    void shouldEndOnlyTheDriverWhoseAcknowledgementIsTooShort() throws IOException {
        assertNotEquals(0, answerAltered((ring, at) -> ring.putInt(at, WORD_LENGTH + 8)).err());
        assertTrue(alpha.services.errors.toString().contains("ACKNOWLEDGE with only"));
    }

    @Test
    void shouldEndOnlyTheChannelWhoseAcknowledgementNamesNoOperation() throws IOException {
        int operation = WORD_LENGTH + AcknowledgeDecoder.operationEncodingOffset();
        assertNotEquals(0, answerAltered((ring, at) -> ring.putLong(at + operation, 0x7777_0000_0001L)).err());
        assertTrue(alpha.services.errors.toString().contains("sent an acknowledgement that was not requested"));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1, Flags.DELIVERY_COMPLETE, Flags.FENCE, Flags.MATCH_COMPLETE | Flags.COMMIT_COMPLETE})
    void shouldEndOnlyTheChannelWhoseAcknowledgementHasOtherLevels(long levels) throws IOException {
        int field = WORD_LENGTH + AcknowledgeDecoder.levelsEncodingOffset();
        assertNotEquals(0, answerAltered((ring, at) -> ring.putLong(at + field, levels)).err());
        assertTrue(alpha.services.errors.toString().contains("sent an acknowledgement that was not requested"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, -1, 5, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void shouldFailOnlyTheOperationWhenTheAnswerIsAnError(int errno) throws IOException {
        int field = WORD_LENGTH + AcknowledgeDecoder.errnoEncodingOffset();
        int reported = answerAltered((ring, at) -> ring.putInt(at + field, errno)).err();
        assertEquals(errno == 1 || errno == 5 ? errno : FabricErrno.EIO, reported);
        assertEquals(0, alpha.services.errors.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellTheSenderWhenTheReceiversMemoryWasCut(boolean stored) throws IOException {
        exchange(1);
        if (!stored) {
            assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(1 << 20), 4096, -1, 77, 0, 2));
        }
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 4096, toBeta, 77, 0, 66));
        if (stored) {
            steps(100);
        }
        Path region = base.resolve("beta").resolve(FileType.MEMORY_REGION.fileName(beta.regionNumber));
        try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
            file.truncate(8192);
        }
        if (stored) {
            assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(1 << 20), 4096, -1, 77, 0, 2));
        }
        // compiled code may report the failed access late, when the entry of a success was written; it must not be
        // reported to the other driver, which runs on the same thread here
        for (int i = 0; i < 100; i++) {
            beta.step();
        }
        int received = await(beta).err();
        ShmNode.Entry entry = await(alpha);
        assertEquals(66, entry.context());
        assertTrue(received == 0 || received == FabricErrno.EIO, "receive: " + received);
        assertTrue(entry.err() == FabricErrno.EIO || entry.err() == 0 && received == 0, received + ", " + entry);
        assertEquals(0, alpha.services.errors.size(), () -> alpha.services.errors.toString());
        exchange(3);
    }

    /** Something done to a record. */
    private interface Alteration {
        void apply(ByteBuffer ring, int at);
    }

    private ShmNode.Entry answerAltered(Alteration alteration) throws IOException {
        exchange(1);
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toGamma, 5, 0, 55));
        steps(1000);
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 8, -1, 77, 0, 1));
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toBeta, 77, 0, 66));
        beta.step();
        ByteBuffer ring = ring("beta");
        alteration.apply(ring, find(ring, AcknowledgeDecoder.TEMPLATE_ID, AcknowledgeDecoder.levelsEncodingOffset(),
            Flags.MATCH_COMPLETE));
        ShmNode.Entry ended = await(alpha);
        assertEquals(66, ended.context());
        assertEquals(0, await(beta).err());
        assertGammaGoesOn();
        steps(100);
        exchange(3);
        return ended;
    }

    private void assertBetaEndsAlpha(String reason) {
        assertEquals(0, alpha.endpoint.send(MATCH, alpha.buf(0), 8, toGamma, 5, 0, 55));
        ShmNode.Entry failed = await(alpha);
        assertEquals(1, failed.context());
        assertNotEquals(0, failed.err());
        assertTrue(beta.services.errors.toString().contains(reason), beta.services.errors.toString());
        assertGammaGoesOn();
        steps(100);
        exchange(3);
    }

    private void assertGammaGoesOn() {
        assertEquals(0, gamma.endpoint.receive(ShmNode.TAGGED, gamma.buf(0), 8, -1, 5, 0, 56));
        ShmNode.Entry matched = await(alpha);
        assertEquals(55, matched.context());
        assertEquals(0, matched.err());
        assertEquals(0, await(gamma).err());
    }
}
