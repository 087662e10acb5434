package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordRingDescriptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the cases in which one word of a ring is all that the engine has to poll, and those in which there is more. */
class ShmShortPathTest extends ThreeShmNodes {
    private static final int LENGTH = 64;

    private long gammaToBeta;

    @BeforeEach
    void exchangeWithAlpha() {
        gammaToBeta = gamma.addresses.insert(ShmNode.address("beta"));
        transfer(alpha, toBeta, 1);
        transfer(alpha, toBeta, 2);
        steps(100);
    }

    private void transfer(ShmNode sender, long destination, int seed) {
        receive(seed);
        send(sender, destination, seed);
        assertArrived(await(beta), seed);
        assertEquals(200 + seed, await(sender).context());
    }

    private void receive(int seed) {
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), LENGTH, -1, seed, 0, 100 + seed));
    }

    private void send(ShmNode sender, long destination, int seed) {
        sender.fill(0, LENGTH, seed);
        assertEquals(0, sender.endpoint.send(
            ShmNode.TAGGED, sender.buf(0), LENGTH, destination, seed, 0, 200 + seed));
    }

    private void assertArrived(ShmNode.Entry entry, int seed) {
        assertEquals(0, entry.err());
        assertEquals(100 + seed, entry.context());
        assertEquals(LENGTH, entry.length());
        assertEquals(seed, entry.tag());
        assertTrue(beta.isFilled(0, LENGTH, seed));
    }

    @Test
    void shouldTakeAMessageWhereOneWordTellsEverything() {
        beta.engine.findQuick();
        assertEquals(0, beta.engine.poll(16));
        receive(3);
        send(alpha, toBeta, 3);
        assertEquals(1, beta.engine.poll(16));
        assertArrived(beta.poll(), 3);
    }

    /** No link has anything to do for it. */
    @Test
    void shouldStayOnTheShortPathWhenCellsAreGivenBack() {
        beta.engine.findQuick();
        assertTrue(beta.engine.isQuick());
        assertEquals(0, beta.endpoint.giveBack(new long[0], 0));
        assertTrue(beta.engine.isQuick());
    }

    @Test
    void shouldSeeAMessageOfASecondRingInTheNextPoll() {
        transfer(gamma, gammaToBeta, 3);
        steps(100);
        beta.engine.findQuick();
        receive(4);
        send(gamma, gammaToBeta, 4);
        assertEquals(1, beta.engine.poll(16));
        assertArrived(beta.poll(), 4);
    }

    @Test
    void shouldGiveAMessageToTheEndpointOfItsChannel() {
        EngineEndpoint second = beta.addEndpoint(2, "second");
        long toSecond = alpha.addresses.insert(FabricName.of("beta", "second"));
        assertEquals(0, second.receive(ShmNode.TAGGED, beta.buf(0), LENGTH, -1, 3, 0, 103));
        send(alpha, toSecond, 3);
        assertArrived(await(beta), 3);
        assertEquals(203, await(alpha).context());
        steps(100);
        for (int seed = 4; seed < 8; seed++) {
            receive(seed);
            assertEquals(0, second.receive(ShmNode.TAGGED, beta.buf(0), LENGTH, -1, seed, 0, 200 + seed));
            beta.engine.findQuick();
            boolean isOfSecond = seed % 2 == 0;
            send(alpha, isOfSecond ? toSecond : toBeta, seed);
            // reads the ring's next word only
            assertEquals(1, beta.engine.poll(16));
            ShmNode.Entry entry = beta.poll();
            assertEquals(200 + seed, await(alpha).context());
            assertEquals((isOfSecond ? 200 : 100) + seed, entry.context());
            (isOfSecond ? beta.endpoint : second).cancel((isOfSecond ? 100 : 200) + seed);
            assertEquals(FabricErrno.ECANCELED, await(beta).err());
        }
    }

    @Test
    void shouldEndAPeerWhoseRecordIsLongerThanItsRing() {
        ShmConnection connection = ((ShmLink) alpha.link).connection(ShmNode.address("beta"));
        long ring = connection.files().ownRing().address() + RecordRingDescriptor.HEADER_LENGTH;
        receive(3);
        beta.engine.findQuick();
        long word = ring + connection.claim(LENGTH);
        send(alpha, toBeta, 3);
        // the lowest bits of the word are the length
        UnsafeApi.putInt(word, UnsafeApi.getInt(word) | 1 << 23);
        beta.engine.poll(16);
        assertNull(beta.poll());
        assertTrue(beta.services.errors.getFirst().toString().contains("record"), beta.services.errors::toString);
        beta.services.errors.clear();
    }

    @Test
    void shouldTakeATimeStampAndTheMessageBehindItInOnePollThatReadsOneWord() {
        receive(3);
        beta.engine.findQuick();
        writeStamp(RecordRingDescriptor.STAMP_LENGTH);
        send(alpha, toBeta, 3);
        assertEquals(1, beta.engine.poll(16));
        assertArrived(beta.poll(), 3);
        assertTrue(beta.engine.isQuick());
    }

    @Test
    void shouldEndAPeerWhoseTimeStampIsTooShort() {
        beta.engine.findQuick();
        writeStamp(RecordRingDescriptor.WORD_LENGTH);
        beta.engine.poll(16);
        assertTrue(beta.services.errors.getFirst().toString().contains("TIME_STAMP with only 8 bytes"),
            beta.services.errors::toString);
        beta.services.errors.clear();
    }

    private void writeStamp(int length) {
        ShmConnection connection = ((ShmLink) alpha.link).connection(ShmNode.address("beta"));
        int offset = connection.claim(length);
        if (length > RecordRingDescriptor.WORD_LENGTH) {
            UnsafeApi.putLong(connection.files().ownRing().address() + RecordRingDescriptor.HEADER_LENGTH + offset
                + RecordRingDescriptor.WORD_LENGTH, System.nanoTime());
        }
        connection.commit(offset, length, ShmFrameReader.STAMP);
    }

    /** It is found when credit is granted, which happens behind a poll that reads one word only. */
    @Test
    void shouldEndAPeerThatPublishesAnImpossiblePosition() {
        try (ShmNode small = new ShmNode(base, "small", 64 << 10)) {
            long toSmall = alpha.addresses.insert(ShmNode.address("small"));
            long toAlpha = small.addresses.insert(ShmNode.address("alpha"));
            for (int i = 0; i < 3; i++) {
                small.endpoint.receive(ShmNode.TAGGED, small.buf(0), LENGTH, -1, 3, 0, 103);
                send(alpha, toSmall, 3);
                awaitBoth(small);
            }
            for (int i = 0; i < 3; i++) {
                alpha.endpoint.receive(ShmNode.TAGGED, alpha.buf(0), LENGTH, -1, 4, 0, 104);
                send(small, toAlpha, 4);
                awaitBoth(small);
            }
            ShmConnection toFill = ((ShmLink) small.link).connection(ShmNode.address("alpha"));
            int offset;
            while ((offset = toFill.claim(RecordRingDescriptor.STAMP_LENGTH)) >= 0) {
                toFill.commit(offset, RecordRingDescriptor.STAMP_LENGTH, ShmFrameReader.STAMP);
            }
            UnsafeApi.putLong(((ShmLink) alpha.link).connection(ShmNode.address("small")).files().ownRing().address()
                + RecordRingDescriptor.CONSUMER_POSITION_OFFSET, -1L);
            small.engine.findQuick();
            for (int i = 0; i < 1500 && small.services.errors.isEmpty(); i++) {
                small.endpoint.receive(ShmNode.TAGGED, small.buf(0), LENGTH, -1, 3, 0, 103);
                alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), LENGTH, toSmall, 3, 0, 203);
                alpha.poll();
                small.engine.poll(16);
                small.poll();
            }
            assertEquals(1, small.services.errors.size());
            assertTrue(small.services.errors.getFirst().toString().contains("impossible read position"));
        }
    }

    private void awaitBoth(ShmNode small) {
        int entries = 0;
        for (int i = 0; i < 100_000 && entries < 2; i++) {
            small.step();
            steps(1);
            entries += (small.poll() == null ? 0 : 1) + (alpha.poll() == null ? 0 : 1);
        }
        assertEquals(2, entries);
    }

    @Test
    void shouldTakeTheGeneralPathForAMessageThatIsAnnounced() {
        int length = 100_000;
        beta.engine.findQuick();
        assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), length, -1, 5, 0, 105));
        alpha.fill(0, length, 5);
        assertEquals(0, alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), length, toBeta, 5, 0, 205));
        ShmNode.Entry entry = await(beta);
        assertEquals(105, entry.context());
        assertEquals(length, entry.length());
        assertTrue(beta.isFilled(0, length, 5));
    }

    @Test
    void shouldGiveMessagesInAnotherOrderToTheirReceives() {
        beta.engine.findQuick();
        for (int seed = 3; seed < 7; seed++) {
            receive(seed);
        }
        for (int seed : new int[] {4, 3, 6, 5}) {
            send(alpha, toBeta, seed);
            beta.engine.poll(16);
            assertArrived(beta.poll(), seed);
        }
        assertNull(beta.poll());
    }

    @Test
    void shouldCancelAReceiveInTheMiddleAndKeepTheOrderOfTheOthers() {
        for (int context = 1; context <= 3; context++) {
            assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), LENGTH, -1, 9, 0, context));
        }
        beta.endpoint.cancel(2);
        assertEquals(2, await(beta).context());
        for (int context : new int[] {1, 3}) {
            send(alpha, toBeta, 9);
            assertEquals(context, await(beta).context());
        }
    }
}
