package org.jfabric.samples;

import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.Destination;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** The code of docs/what-can-go-wrong.md on room: a publisher with several subscribers, and receives of its own. */
final class RoomExamples implements AutoCloseable {
    private static final long QUOTE = 2;
    private static final int LENGTH = 64;
    private static final int SLOTS = 16;

    final Messenger own;
    final Destination[] peers;
    final int[] outstanding;
    int failed;

    RoomExamples(Fabric fabric, String... addresses) {
        own = open(fabric);
        peers = new Destination[addresses.length];
        outstanding = new int[addresses.length];
        for (int i = 0; i < addresses.length; i++) {
            peers[i] = own.peer(addresses[i]);
        }
    }

    // example: retry
    private final CompletionHandler handler = this::onEntry;
    private final IntSupplier sending = this::sendQuote;
    private final CompletionError error = new CompletionError();

    static Messenger open(Fabric fabric) {
        return fabric.messenger().idleStrategy(new BackoffIdleStrategy()).open();
    }

    /** Returns whether the quote was sent: false if the peer has taken nothing for a second. */
    boolean publish() {
        int result = own.retry(sending, TimeUnit.SECONDS.toNanos(1), handler);
        while (result == -FabricErrno.EAVAIL && own.queue().readErr(error, 0) == 1) {
            onError(error);
            result = own.retry(sending, TimeUnit.SECONDS.toNanos(1), handler);
        }
        if (result != 0 && result != -FabricErrno.EAGAIN) {
            throw new FabricException(result, "quote not sent", "See docs/what-can-go-wrong.md.");
        }
        return result == 0;
    }
    // end

    private int sendQuote() {
        return send(0, 0);
    }

    // example: limit
    private static final int LIMIT = 32;

    /** Sends to each peer that has less than its limit on the way; the others get a newer quote with a later call. */
    int publishNewest(long sequence) {
        int sent = 0;
        for (int peer = 0; peer < peers.length; peer++) {
            if (outstanding[peer] < LIMIT && send(peer, sequence) == 0) {
                sent++;
            }
        }
        return sent;
    }

    /** The context names the peer, and no other operation has it. */
    private int send(int peer, long sequence) {
        long context = (long) (peer + 1) << 48 | sequence;
        int result = own.endpoint().tsend(own.memory().slice(0, LENGTH), peers[peer], QUOTE, context);
        outstanding[peer] += result == 0 ? 1 : 0;
        return result;
    }

    private void onEntry(Completion entry) {
        int peer = (int) (entry.opContext() >>> 48) - 1;
        if (peer >= 0) {
            outstanding[peer]--;
        } else {
            post((int) entry.opContext());
        }
    }
    // end

    // example: errors
    private void onError(CompletionError entry) {
        int peer = (int) (entry.opContext() >>> 48) - 1;
        if (peer >= 0) {
            outstanding[peer]--;
            failed++;
        } else if (entry.err() != FabricErrno.ECANCELED) {
            // as after a restart of the driver: no receive comes back by itself
            post((int) entry.opContext());
        }
    }

    /** Contexts of receives are small numbers, so they are no peer's. */
    void post(int receive) {
        int result = own.endpoint().trecv(
            own.memory().slice((1L + receive) * LENGTH, LENGTH), QUOTE, 0, receive);
        if (result != 0) {
            throw new FabricException(result, "receive not posted", "Post no more of them than RxAttr.size.");
        }
    }
    // end

    /** Reads all entries that are there, errors too; returns the number of errors. */
    int drain() {
        int result = own.poll(handler, SLOTS);
        int errors = 0;
        while (result != -FabricErrno.EAGAIN) {
            if (result == -FabricErrno.EAVAIL && own.queue().readErr(error, 0) == 1) {
                errors++;
                onError(error);
            }
            result = own.poll(handler, SLOTS);
        }
        return errors;
    }

    @Override
    public void close() {
        own.close();
    }
}
