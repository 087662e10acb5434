package org.jfabric.samples.quotes;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Destination;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.samples.quotes.codec.MessageHeaderEncoder;
import org.jfabric.samples.quotes.codec.QuoteEncoder;

/** The publisher: waits for its subscribers, then sends each of them every quote. */
final class QuoteFeed {
    /** Tag of the messages by which subscribers name themselves. */
    static final long SUBSCRIBE = 1;
    /** Tag of quotes, and of the empty message behind the last one. */
    static final long QUOTE = 2;
    /** Longest address of a subscriber, in bytes. */
    static final int ADDRESS_LENGTH = 256;

    private final Messenger own;
    private final UnsafeBuffer buffer;
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final QuoteEncoder quote = new QuoteEncoder();
    private Destination[] peers;

    QuoteFeed(Messenger own) {
        this.own = own;
        this.buffer = own.memory().buffer();
    }

    // example: subscriptions
    void awaitSubscribers(int count) {
        for (int i = 0; i < count; i++) {
            own.endpoint().trecv(own.memory().slice(i * ADDRESS_LENGTH, ADDRESS_LENGTH), SUBSCRIBE, 0, i);
        }
        own.await(count, entry -> { });
        peers = new Destination[count];
        for (int i = 0; i < count; i++) {
            peers[i] = own.peer(buffer.getStringUtf8(i * ADDRESS_LENGTH));
        }
    }
    // end

    // example: publish
    void publish(long sequence, long bid, long ask) {
        quote.wrapAndApplyHeader(buffer, 0, header).sequence(sequence).bid(bid).ask(ask).symbol("EURUSD");
        int length = header.encodedLength() + quote.encodedLength();
        for (Destination peer : peers) {
            send(peer, length);
        }
    }

    private void send(Destination peer, int length) {
        int result = own.send(peer, buffer, 0, length, QUOTE);
        while (result == -FabricErrno.EAGAIN) {
            int read = own.poll(entry -> { }, 1);
            boolean isBroken = read < 0 && read != -FabricErrno.EAGAIN;
            result = isBroken ? read : own.send(peer, buffer, 0, length, QUOTE);
        }
        if (result != 0) {
            throw new FabricException(result, "quote not sent", "See docs/what-can-go-wrong.md.");
        }
    }
    // end

    // example: finish
    void finish() {
        for (Destination peer : peers) {
            own.endpoint().tsend(own.memory().slice(0, 0), peer, QUOTE, 0);
        }
        own.await(peers.length, entry -> { });
    }
    // end
}
