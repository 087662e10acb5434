package org.jfabric.perf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Locale;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;
import org.jfabric.perf.jmh.LoopbackPingBenchmark;

/**
 * Measures the cost of a whole message in units of a record through a bare ring, both in this thread and process: a
 * ratio that hardly depends on the machine, for detecting a large regression.
 *
 * <p>The message is the one of {@link LoopbackPingBenchmark#tagged()}, 64 bytes; the ring is Agrona's, which does not
 * change with ours, and takes as many bytes in and out. The two are measured in short blocks in turn, and the fastest
 * block of each counts, because other load of the machine only makes blocks slower.
 */
public final class RingRatio {
    private static final int SIZE_BYTES = 64;
    private static final int RING_BYTES = 64 << 10;
    private static final int BLOCK = 10_000;
    private static final int WARM_UP_BLOCKS = 300;
    private static final int BLOCKS = 400;
    private static final int TYPE = 1;

    private final UnsafeBuffer payload = new UnsafeBuffer(ByteBuffer.allocateDirect(SIZE_BYTES));
    private final UnsafeBuffer taken = new UnsafeBuffer(ByteBuffer.allocateDirect(SIZE_BYTES));
    private final OneToOneRingBuffer ring = new OneToOneRingBuffer(new UnsafeBuffer(
        ByteBuffer.allocateDirect(RING_BYTES + RingBufferDescriptor.TRAILER_LENGTH)));
    private final MessageHandler take =
        (type, buffer, index, length) -> buffer.getBytes(index, taken, 0, length);
    private final LoopbackPingBenchmark ping = new LoopbackPingBenchmark();

    private RingRatio() {
        ping.sizeBytes = SIZE_BYTES;
    }

    /**
     * Prints both costs and their ratio on one line.
     *
     * @throws IOException if the driver's folder cannot be made.
     */
    public static void main(String[] args) throws IOException {
        RingRatio ratio = new RingRatio();
        ratio.ping.open();
        try {
            ratio.measure(WARM_UP_BLOCKS);
            double[] found = ratio.measure(BLOCKS);
            System.out.printf(Locale.ROOT, "message %.1f ns, record in a bare ring %.1f ns, ratio %.2f%n",
                found[0], found[1], found[0] / found[1]);
        } finally {
            ratio.ping.close();
        }
    }

    private double[] measure(int blocks) {
        long message = Long.MAX_VALUE;
        long record = Long.MAX_VALUE;
        for (int i = 0; i < blocks; i++) {
            message = Math.min(message, messages());
            record = Math.min(record, records());
        }
        return new double[] {(double) message / BLOCK, (double) record / BLOCK};
    }

    private long messages() {
        long begin = System.nanoTime();
        for (int i = 0; i < BLOCK; i++) {
            ping.tagged();
        }
        return System.nanoTime() - begin;
    }

    private long records() {
        long begin = System.nanoTime();
        for (int i = 0; i < BLOCK; i++) {
            boolean written = ring.write(TYPE, payload, 0, SIZE_BYTES);
            // at the ring's end a read takes the padding first
            if (!written || (ring.read(take, 1) == 0 && ring.read(take, 1) == 0)) {
                throw new IllegalStateException("the ring lost a record");
            }
        }
        return System.nanoTime() - begin;
    }
}
