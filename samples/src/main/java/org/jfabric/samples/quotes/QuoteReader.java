package org.jfabric.samples.quotes;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.MemorySlice;
import org.jfabric.Messenger;
import org.jfabric.samples.quotes.codec.MessageHeaderDecoder;
import org.jfabric.samples.quotes.codec.QuoteDecoder;

/** A subscriber: keeps buffers posted, names itself to the publisher, and prints quotes until an empty message. */
final class QuoteReader {
    private static final int BUFFERS = 16;
    private static final int BUFFER_LENGTH = 64;
    private static final int SUBSCRIPTION = BUFFERS * BUFFER_LENGTH;
    private static final long SENT = -1;

    private final Messenger own;
    private final UnsafeBuffer buffer;
    private final CompletionHandler handler = this::onEntry;
    private final MemorySlice[] slices = new MemorySlice[BUFFERS];
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final QuoteDecoder quote = new QuoteDecoder();
    private int received;
    private boolean hasEnded;

    QuoteReader(Messenger own) {
        this.own = own;
        this.buffer = own.memory().buffer();
    }

    // example: subscribe
    void subscribe(String publisher) {
        for (int i = 0; i < BUFFERS; i++) {
            slices[i] = own.memory().slice(i * BUFFER_LENGTH, BUFFER_LENGTH);
            post(i);
        }
        int length = buffer.putStringUtf8(SUBSCRIPTION, own.address());
        own.endpoint().tsend(own.memory().slice(SUBSCRIPTION, length), own.peer(publisher), QuoteFeed.SUBSCRIBE, SENT);
    }

    private void post(int slot) {
        own.endpoint().trecv(slices[slot], QuoteFeed.QUOTE, 0, slot);
    }
    // end

    // example: read
    int readAll() {
        while (!hasEnded) {
            own.await(1, handler);
        }
        return received;
    }

    private void onEntry(Completion entry) {
        if (entry.opContext() == SENT) {
            return;
        }
        int slot = (int) entry.opContext();
        if (entry.len() == 0) {
            hasEnded = true;
        } else {
            onQuote(slot * BUFFER_LENGTH);
            post(slot);
        }
    }

    private void onQuote(int offset) {
        quote.wrapAndApplyHeader(buffer, offset, header);
        System.out.println(
            quote.sequence() + " " + quote.symbol() + " " + quote.bid() / 1e6 + " " + quote.ask() / 1e6);
        received++;
    }
    // end
}
