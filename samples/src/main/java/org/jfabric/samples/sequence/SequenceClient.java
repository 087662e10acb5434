package org.jfabric.samples.sequence;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Messenger;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;

/** Draws numbers one by one, each by one atomic operation. */
final class SequenceClient implements Runnable {
    /** Layout of the memory: what is added, and the number that was drawn. */
    private static final int ONE = 0;
    private static final int NUMBER = ONE + Long.BYTES;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private final Messenger own;
    private final long sequencer;
    private final long[] numbers = new long[SequenceNumbers.DRAWS];

    SequenceClient(Messenger own, String address) {
        this.own = own;
        sequencer = own.peer(address).number();
    }

    @Override
    public void run() {
        UnsafeBuffer memory = own.memory().buffer();
        memory.putLong(ONE, 1);
        AtomicRequest draw = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
            .operands(own.memory().address(ONE)).results(own.memory().address(NUMBER)).destAddr(sequencer)
            .remote(0, SequenceNumbers.KEY);
        for (int i = 0; i < numbers.length; i++) {
            int result = own.endpoint().atomics().fetchAtomicmsg(draw);
            if (result != 0) {
                throw new IllegalStateException(FabricErrno.describe(-result));
            }
            // the number is here when the entry is
            own.await(1, DEADLINE_NS, entry -> { });
            numbers[i] = memory.getLong(NUMBER);
        }
    }

    /** What was drawn, after the thread has ended. */
    long[] numbers() {
        return numbers;
    }
}
