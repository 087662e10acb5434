package org.jfabric.samples.replicas;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.Fabric;
import org.jfabric.Destination;
import org.jfabric.Messenger;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;

/**
 * One side of the counter. It sends short messages to the others by their names; one that is lost, because its receiver
 * has ended, is the sender's business. Owner: one thread.
 */
final class Party {
    /** Receives messages. */
    interface Handler {
        void onMessage(long tag, long count, long last);
    }

    private static final int LENGTH = 2 * Long.BYTES;
    private static final int RECEIVES = 8;

    private final Messenger messenger;
    /** Addresses by names; a party that starts again has another address. */
    private final Map<String, String> book;
    private final Handler handler;
    private final Map<String, String> known = new HashMap<>();
    private final Map<String, Destination> peers = new HashMap<>();
    private final UnsafeBuffer sent = new UnsafeBuffer(new byte[LENGTH]);
    private final UnsafeBuffer received;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final CompletionError error = new CompletionError();

    Party(String name, Fabric fabric, Map<String, String> book, Handler handler) {
        this.messenger = fabric.messenger().open();
        this.book = book;
        this.handler = handler;
        received = messenger.memory().buffer();
        for (int i = 0; i < RECEIVES; i++) {
            free.add(i);
        }
        book.put(name, messenger.address());
    }

    /** Sends a message, if the receiver is known; it may be lost. */
    void send(String name, long tag, long count, long last) {
        String address = book.get(name);
        if (address == null) {
            return;
        }
        if (!address.equals(known.put(name, address))) {
            peers.put(name, messenger.peer(address));
        }
        sent.putLong(0, count);
        sent.putLong(Long.BYTES, last);
        // without room it is lost, too
        messenger.send(peers.get(name), sent, 0, LENGTH, tag);
    }

    /** Passes on what has arrived; returns how much. */
    int poll() {
        while (!free.isEmpty() && messenger.endpoint().trecv(messenger.memory().address(free.peek() * LENGTH), LENGTH,
            FabricAddress.ADDR_UNSPEC, 0, -1, 1 + free.peek()) == 0) {
            free.remove();
        }
        int result = messenger.queue().poll(this::onReceived, RECEIVES);
        if (result == -FabricErrno.EAVAIL) {
            // a message that could not be sent, or a receive
            result = messenger.queue().readErr(error, 0);
            if (error.opContext() != 0) {
                free.add((int) error.opContext() - 1);
            }
        }
        return Math.max(0, result);
    }

    private void onReceived(Completion entry) {
        int slot = (int) entry.opContext() - 1;
        free.add(slot);
        handler.onMessage(
            entry.tag(), received.getLong(slot * LENGTH), received.getLong(slot * LENGTH + Long.BYTES));
    }
}
