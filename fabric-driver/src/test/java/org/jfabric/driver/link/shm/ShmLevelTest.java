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
import org.jfabric.codec.wire.AnnounceDecoder;
import org.jfabric.codec.wire.EagerToAcknowledgeDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileType;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.test.Requirement;
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

    /**
     * Of the first version, before any feature was added to the wire: everything that it understands is used, for what
     * came later there is another way, or it is refused.
     */
    @Test
    @Requirement("EP-131")
    void shouldTalkToADriverOfTheFirstVersion() throws IOException {
        alpha.services.featuresOfPeers = 0;
        long toAlpha = greet();
        for (long levels : new long[] {0, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
            assertTalks(levels, toAlpha);
        }
        // it cannot say that a message was kept: only what a receive has taken is known to be delivered
        assertEquals(0, alpha.endpoint.send(DELIVERY, alpha.buf(0), 8, toBeta, 77, 0, 1));
        ByteBuffer ring = ring("alpha");
        alpha.step();
        find(ring, AnnounceDecoder.TEMPLATE_ID, AnnounceDecoder.tagEncodingOffset(), 77);
        steps(200);
        assertNull(alpha.poll());
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 8, -1, 77, 0, 2));
        assertEquals(1, await(alpha).context());
        assertEquals(2, await(beta).context());
        assertEquals(0, alpha.endpoint.send(MATCH | Flags.FENCE, alpha.buf(0), 8, toBeta, 78, 0, 3));
        assertEquals(FabricErrno.EOPNOTSUPP, await(alpha).err());
        assertTalks(Flags.DELIVERY_COMPLETE, toAlpha);
        assertEquals(0, beta.services.errors.size() + alpha.services.errors.size());
    }

    /** Of a version that is not written yet: what it says beyond this one's greeting is not used. */
    @Test
    @Requirement("EP-131")
    void shouldTalkToADriverOfALaterVersion() throws IOException {
        alpha.services.peersAreLater = true;
        long toAlpha = greet();
        for (long levels : new long[] {0, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
            assertTalks(levels, toAlpha);
        }
        assertEquals(0, alpha.endpoint.send(DELIVERY, alpha.buf(0), 8, toBeta, 77, 0, 1));
        assertEquals(1, await(alpha).context());
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 8, -1, 77, 0, 2));
        assertEquals(2, await(beta).context());
        assertEquals(0, beta.services.errors.size() + alpha.services.errors.size());
    }

    /** Beta connects, so that alpha hears of its version; alpha in beta's vector. */
    private long greet() {
        long toAlpha = beta.addresses.insert(ShmNode.address("alpha"));
        assertEquals(0, beta.endpoint.send(ShmNode.TAGGED, beta.buf(0), 8, toAlpha, 5, 0, 1));
        assertEquals(0, alpha.endpoint.receive(ShmNode.TAGGED, alpha.buf(0), 8, -1, 5, 0, 2));
        assertEquals(1, await(beta).context());
        assertEquals(2, await(alpha).context());
        return toAlpha;
    }

    /** Messages of every length in both directions, where alpha asks for levels. */
    private void assertTalks(long levels, long toAlpha) {
        for (int length : new int[] {0, 1, 8, 64, 100, 8192, 8193, 100_000}) {
            for (boolean isPosted : new boolean[] {false, true}) {
                alpha.fill(0, length, 9);
                beta.fill(1 << 20, length, 10);
                if (isPosted) {
                    receiveBoth(length);
                }
                assertEquals(0, alpha.endpoint.send(
                    ShmNode.TAGGED | levels, alpha.buf(0), length, toBeta, 7, 0, 1));
                assertEquals(0, beta.endpoint.send(ShmNode.TAGGED, beta.buf(1 << 20), length, toAlpha, 8, 0, 3));
                steps(10);
                if (!isPosted) {
                    receiveBoth(length);
                }
                assertEquals(1 + 4, await(alpha).context() + await(alpha).context());
                assertEquals(2 + 3, await(beta).context() + await(beta).context());
                assertTrue(beta.isFilled(0, length, 9));
                assertTrue(alpha.isFilled(1 << 20, length, 10));
            }
        }
    }

    private void receiveBoth(int length) {
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), length, -1, 7, 0, 2));
        assertEquals(0, alpha.endpoint.receive(ShmNode.TAGGED, alpha.buf(1 << 20), length, -1, 8, 0, 4));
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
