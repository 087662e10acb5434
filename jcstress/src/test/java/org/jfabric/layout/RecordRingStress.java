package org.jfabric.layout;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.agrona.UnsafeApi;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Both ends of a record ring, as client and driver, or two drivers, have them. */
public final class RecordRingStress {
    private static final int TYPE = 2;
    private static final int BODY = RecordRingDescriptor.WORD_LENGTH;

    private RecordRingStress() {
    }

    /** Who sees a record sees all of its bytes. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "There is no record yet.")
    @Outcome(id = "1, 7, 8", expect = ACCEPTABLE, desc = "The record is whole.")
    @Outcome(expect = FORBIDDEN, desc = "The record is there and its bytes are not.")
    @State
    public static class RecordIsWhole {
        private static final int CAPACITY = 1024;
        private static final int LENGTH = 200;

        private final long ring = NativeMemory.allocate(CAPACITY + 64);
        private final RecordProducer producer = new RecordProducer(ring, CAPACITY, ring + CAPACITY);
        private final RecordConsumer consumer = new RecordConsumer(ring, CAPACITY, ring + CAPACITY, TYPE);

        @Actor
        public void produce() {
            int offset = producer.claim(LENGTH);
            UnsafeApi.putInt(ring + offset + LENGTH - Integer.BYTES, 8);
            UnsafeApi.putInt(ring + offset + BODY, 7);
            producer.commit(offset, LENGTH, TYPE);
        }

        @Actor
        public void consume(III_Result result) {
            result.r1 = consumer.poll();
            if (result.r1 == RecordConsumer.RECORD) {
                result.r2 = UnsafeApi.getInt(consumer.address() + BODY);
                result.r3 = UnsafeApi.getInt(consumer.address() + LENGTH - Integer.BYTES);
            }
        }

        @Arbiter
        public void end(III_Result result) {
            NativeMemory.free(ring);
        }
    }

    /** Space is used again only when its record was read, and no old bytes are taken for a record. */
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "Each record had its own bytes.")
    @Outcome(expect = FORBIDDEN, desc = "A record had other bytes, or the ring was corrupt.")
    @State
    public static class SpaceIsUsedAgain {
        private static final int CAPACITY = 512;
        private static final int RECORDS = 24;
        private static final int MOST_TRIES = 400;
        private static final int LONG_RECORD = 128;
        private static final int SHORT_RECORD = 40;

        private final long ring = NativeMemory.allocate(CAPACITY + 64);
        private final RecordProducer producer = new RecordProducer(ring, CAPACITY, ring + CAPACITY);
        private final RecordConsumer consumer = new RecordConsumer(ring, CAPACITY, ring + CAPACITY, TYPE);

        @Actor
        public void produce() {
            int tries = MOST_TRIES;
            for (int i = 0; i < RECORDS && tries > 0;) {
                int length = i % 3 == 0 ? SHORT_RECORD : LONG_RECORD;
                int offset = producer.claim(length);
                if (offset < 0) {
                    tries--;
                    Thread.onSpinWait();
                    continue;
                }
                for (int at = BODY; at < length; at += Long.BYTES) {
                    UnsafeApi.putLong(ring + offset + at, -1L - i);
                }
                producer.commit(offset, length, TYPE);
                i++;
            }
        }

        @Actor
        public void consume(I_Result result) {
            int tries = MOST_TRIES;
            for (int i = 0; i < RECORDS && tries > 0;) {
                int polled = consumer.poll();
                if (polled == RecordConsumer.EMPTY) {
                    consumer.release();
                    tries--;
                    Thread.onSpinWait();
                    continue;
                }
                int length = i % 3 == 0 ? SHORT_RECORD : LONG_RECORD;
                if (polled != RecordConsumer.RECORD || consumer.length() != length) {
                    result.r1 = polled == RecordConsumer.RECORD ? 2 : 1;
                    return;
                }
                for (int at = BODY; at < length; at += Long.BYTES) {
                    if (UnsafeApi.getLong(consumer.address() + at) != -1L - i) {
                        result.r1 = 3;
                    }
                }
                consumer.advance();
                i++;
            }
        }

        @Arbiter
        public void end(I_Result result) {
            NativeMemory.free(ring);
        }
    }
}
