package org.jfabric.samples.sequencer;

import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/**
 * Layout of an order, on its way to the sequencer and in the log.
 *
 * <pre>
 *   0 desk u64 | 8 sequence, from 1 for each desk u64 | 16 quantity u64
 * </pre>
 */
final class DeskOrder {
    static final int LENGTH = 24;
    static final long TAG = 1;
    /** Desks are numbered from 0. */
    static final int DESKS = 16;
    private static final int SEQUENCE = 8;
    private static final int QUANTITY = 16;

    private DeskOrder() {
    }

    static void put(MutableDirectBuffer buffer, int offset, int desk, long sequence, long quantity) {
        buffer.putLong(offset, desk);
        buffer.putLong(offset + SEQUENCE, sequence);
        buffer.putLong(offset + QUANTITY, quantity);
    }

    static int desk(DirectBuffer buffer, int offset) {
        return (int) buffer.getLong(offset);
    }

    static long sequence(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset + SEQUENCE);
    }

    /** The sequence of each desk's last order in a log, up to a position; 0 of a desk that has none. */
    static long[] lastSequences(Path log, long until) {
        long[] last = new long[DESKS];
        StreamListener orders = new StreamListener() {
            @Override
            public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                last[desk(buffer, offset)] = sequence(buffer, offset);
            }

            @Override
            public void onGap(long first, long end) {
                // retention has deleted orders: later ones have greater sequences
            }
        };
        try (LogReader reader = LogReader.open(log)) {
            while (reader.position() < until && reader.poll(orders, 100) > 0) {
                Thread.onSpinWait();
            }
        }
        return last;
    }
}
