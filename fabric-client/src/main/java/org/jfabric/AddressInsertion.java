package org.jfabric;

import java.nio.charset.StandardCharsets;
import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * One asynchronous call that inserts addresses: an error entry for each that failed, and in the end always one
 * {@link EventType#AV_COMPLETE}.
 *
 * <p>Answers come by the thread that reads the driver's events, failures also by the one that calls or closes.
 */
final class AddressInsertion {
    private final AddressVector vector;
    private final EventQueue queue;
    private final String[] addresses;
    private final long[] fiAddrs;
    private final long context;
    private final boolean[] answered;
    private int awaited;
    private int inserted;

    /** Takes the addresses; fiAddrs may be null and is filled before the event that reports it. */
    AddressInsertion(AddressVector vector, EventQueue queue, String[] addresses, long[] fiAddrs, long context) {
        this.vector = vector;
        this.queue = queue;
        this.addresses = addresses;
        this.fiAddrs = fiAddrs;
        this.context = context;
        answered = new boolean[addresses.length];
        // one more for the call itself, so that the end is not reported while it still submits
        awaited = addresses.length + 1;
    }

    /** Takes the result of one address; either the answer or the failure is null. */
    synchronized void onAnswer(int index, Answer answer, FabricException failure) {
        if (answered[index]) {
            // every waiting command was failed when the driver ended, and the submitting call has failed as well
            return;
        }
        answered[index] = true;
        if (answer instanceof AddressReady ready) {
            vector.onInserted(ready.fiAddr(), ready.address().isEmpty() ? addresses[index] : ready.address());
            store(index, ready.fiAddr());
            inserted++;
        } else {
            store(index, FabricAddress.ADDR_NOTAVAIL);
            int errno = failure == null ? FabricErrno.EIO : failure.errno();
            queue.reportError(vector, context, index, errno, addresses[index].getBytes(StandardCharsets.US_ASCII));
        }
        countDown();
    }

    /** Called once all addresses were submitted. */
    synchronized void onSubmitted() {
        countDown();
    }

    private void countDown() {
        if (--awaited == 0) {
            queue.report(EventType.AV_COMPLETE, vector, context, inserted);
        }
    }

    private void store(int index, long fiAddr) {
        if (fiAddrs != null) {
            fiAddrs[index] = fiAddr;
        }
    }
}
