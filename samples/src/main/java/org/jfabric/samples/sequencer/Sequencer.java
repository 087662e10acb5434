package org.jfabric.samples.sequencer;

import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.Publication;

/**
 * Takes orders of any number of desks and publishes them in one sequence. Its only state is the last sequence of each
 * desk, and that is in the log: what a desk has sent twice, to this sequencer or to one before it, is published once.
 */
final class Sequencer implements AutoCloseable {
    private static final int RECEIVES = 256;

    private final Messenger in;
    private final Publication orders;
    private final long[] last;
    private final CompletionError error = new CompletionError();

    Sequencer(Fabric fabric, Path log) {
        orders = Publication.on(fabric, Desk.orders(fabric.driverName()))
            .recordIn(log, new LogOptions().visibility(Visibility.WRITTEN)).open();
        last = DeskOrder.lastSequences(log, orders.position());
        in = fabric.messenger().name("in").open();
        for (int i = 0; i < RECEIVES; i++) {
            post(i);
        }
    }

    private void post(int receive) {
        require(in.endpoint().trecv(in.memory().address((long) receive * DeskOrder.LENGTH), DeskOrder.LENGTH,
            FabricAddress.ADDR_UNSPEC, DeskOrder.TAG, 0, receive));
    }

    /** Takes what has come; 0 if that is nothing. */
    int poll() {
        int result = in.poll(this::onOrder, RECEIVES);
        if (result == -FabricErrno.EAVAIL) {
            // a receive of a longer message, or the end of a desk
            if (in.queue().readErr(error, 0) == 1 && error.opContext() < RECEIVES) {
                post((int) error.opContext());
            }
        } else if (result != -FabricErrno.EAGAIN && result < 0) {
            require(result);
        }
        orders.poll();
        return Math.max(0, result);
    }

    /** Orders in the sequence, those of earlier sequencers too. */
    long published() {
        return orders.position();
    }

    private void onOrder(Completion entry) {
        int receive = (int) entry.opContext();
        UnsafeBuffer memory = in.memory().buffer();
        int offset = receive * DeskOrder.LENGTH;
        int desk = DeskOrder.desk(memory, offset);
        long sequence = DeskOrder.sequence(memory, offset);
        // one that comes after a missing one is sent again, behind that
        if (desk >= 0 && desk < DeskOrder.DESKS && sequence == last[desk] + 1) {
            int result = orders.offer(memory, offset, DeskOrder.LENGTH);
            while (result == -FabricErrno.EAGAIN) {
                Thread.onSpinWait();
                result = orders.offer(memory, offset, DeskOrder.LENGTH);
            }
            require(result);
            last[desk] = sequence;
        }
        post(receive);
    }

    private static void require(int result) {
        if (result != 0) {
            throw new IllegalStateException(FabricErrno.describe(-result));
        }
    }

    @Override
    public void close() {
        in.close();
        orders.close();
    }
}
