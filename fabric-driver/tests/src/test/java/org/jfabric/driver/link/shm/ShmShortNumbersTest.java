package org.jfabric.driver.link.shm;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordProducer;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** When a short number is given again. The rings are real; the test takes the part of the peer. */
class ShmShortNumbersTest {
    private static final int CAPACITY = 1024;
    private static final int LINE = 64;
    private static final int TYPE = ShmFrameReader.CREDIT;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment ourPosition = arena.allocate(Long.BYTES, LINE);
    private final MemorySegment theirPosition = arena.allocate(Long.BYTES, LINE);
    private final MemorySegment ours = arena.allocate(CAPACITY, LINE);
    private final MemorySegment theirs = arena.allocate(CAPACITY, LINE);
    private final RecordProducer producer = new RecordProducer(ours.address(), CAPACITY, theirPosition.address());
    private final RecordConsumer peerConsumer =
        new RecordConsumer(ours.address(), CAPACITY, theirPosition.address(), ShmFrameReader.MAX_TYPE);
    private final RecordProducer peerProducer = new RecordProducer(theirs.address(), CAPACITY, ourPosition.address());
    private final RecordConsumer consumer =
        new RecordConsumer(theirs.address(), CAPACITY, ourPosition.address(), ShmFrameReader.MAX_TYPE);
    private final ShmFrameReader reader = new ShmFrameReader(null, null, consumer, StageTimes.OFF, null);
    private final ShmShortNumbers numbers = new ShmShortNumbers();

    private ShmChannel add() {
        ShmChannel channel = new ShmChannel(null, new Uncalled(), null, null, "peer");
        numbers.add(channel);
        assertSame(channel.localShort == 0 ? null : channel, numbers.find(channel.localShort));
        return channel;
    }

    private static void write(RecordProducer records) {
        int offset = records.claim(LINE);
        records.commit(offset, LINE, TYPE);
    }

    private static void read(RecordConsumer records) {
        assertEquals(RecordConsumer.RECORD, records.poll());
        records.advance();
        records.release();
    }

    @Test
    void shouldGiveTheNumberOfAChannelAgainThatThePeerHasClosed() {
        ShmChannel first = add();
        ShmChannel second = add();
        assertEquals(1, first.localShort);
        assertEquals(2, second.localShort);
        numbers.remove(first);
        assertNull(numbers.find(1));
        numbers.closedByPeer(first);
        assertEquals(1, add().localShort);
        assertEquals(3, add().localShort);
    }

    @Test
    void shouldKeepTheNumberOfAChannelThatWeCloseUntilNothingOfItCanBeOnItsWay() {
        ShmChannel channel = add();
        numbers.remove(channel);
        write(producer);
        numbers.closedByUs(channel.localShort, producer.position());
        numbers.reclaim(producer, reader);
        assertEquals(2, add().localShort, "the peer has not taken the CLOSE");

        write(peerProducer);
        read(peerConsumer);
        numbers.reclaim(producer, reader);
        assertEquals(3, add().localShort, "what the peer wrote before is not read");

        read(consumer);
        numbers.reclaim(producer, reader);
        assertEquals(1, add().localShort);
    }

    @Test
    void shouldNotGiveANumberAgainOfAChannelThatEndedInAnotherWay() {
        numbers.remove(add());
        numbers.reclaim(producer, reader);
        assertEquals(2, add().localShort);
    }

    @Test
    void shouldHaveNoNumberForMoreChannelsThanSixteenBitsCount() {
        for (int i = 1; i <= 0xFFFF; i++) {
            assertEquals(i, add().localShort);
        }
        ShmChannel without = add();
        assertEquals(ShmShortNumbers.NONE, without.localShort);
        numbers.remove(without);
        numbers.closedByPeer(without);
        numbers.closedByUs(without.localShort, 0);
        numbers.reclaim(producer, reader);
        assertEquals(ShmShortNumbers.NONE, add().localShort);
    }

    /** No test here sends or receives. */
    private static final class Uncalled extends ChannelHandler {
        @Override
        public int onOpening() {
            throw new AssertionError();
        }

        @Override
        public void onUp(Channel channel) {
            throw new AssertionError();
        }

        @Override
        public void onDown(int errno) {
            throw new AssertionError();
        }

        @Override
        public void onWritable() {
            throw new AssertionError();
        }

        @Override
        public void onMessage(long flags, long tag, long data, long address, int length) {
            throw new AssertionError();
        }

        @Override
        public void onSent(long operation, int errno) {
            throw new AssertionError();
        }
    }
}
