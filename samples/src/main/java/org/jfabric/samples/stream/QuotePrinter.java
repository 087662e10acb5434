package org.jfabric.samples.stream;

import org.agrona.DirectBuffer;
import org.jfabric.samples.quotes.codec.MessageHeaderDecoder;
import org.jfabric.samples.quotes.codec.QuoteDecoder;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/** Prints quotes where they lie. */
final class QuotePrinter implements StreamListener {
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final QuoteDecoder quote = new QuoteDecoder();

    // example: printer
    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader place) {
        print(place.position(), buffer, offset);
    }

    @Override
    public void onGap(long firstPosition, long lastPosition) {
        System.out.println(firstPosition + " to " + lastPosition + " are lost");
    }

    void print(long position, DirectBuffer buffer, int offset) {
        quote.wrapAndApplyHeader(buffer, offset, header);
        System.out.println(position + " " + quote.symbol() + " " + quote.bid() / 1e6 + " " + quote.ask() / 1e6);
    }
    // end
}
