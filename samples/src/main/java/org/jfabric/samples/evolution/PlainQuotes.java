package org.jfabric.samples.evolution;

import org.agrona.DirectBuffer;
import org.jfabric.Destination;
import org.jfabric.Messenger;
import org.jfabric.SendClaim;
import org.jfabric.samples.quotes.codec.MessageHeaderDecoder;
import org.jfabric.samples.quotes.codec.MessageHeaderEncoder;
import org.jfabric.samples.quotes.codec.QuoteDecoder;
import org.jfabric.samples.quotes.codec.QuoteEncoder;

/** A program with the codecs of {@code quotes.xml}, version 0. */
final class PlainQuotes implements QuoteVersion {
    private static final int LENGTH = MessageHeaderEncoder.ENCODED_LENGTH + QuoteEncoder.BLOCK_LENGTH;

    private final SendClaim claim = new SendClaim();
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final QuoteEncoder quote = new QuoteEncoder();
    private final MessageHeaderDecoder readHeader = new MessageHeaderDecoder();
    private final QuoteDecoder readQuote = new QuoteDecoder();

    @Override
    public int publish(Messenger feed, Destination desk) {
        int result = feed.endpoint().tryClaim(LENGTH, claim);
        if (result != 0) {
            return result;
        }
        quote.wrapAndApplyHeader(claim.buffer(), 0, header)
            .sequence(1).bid(1_083_401).ask(1_083_601).symbol("EURUSD");
        return claim.commit(LENGTH, desk.number(), TAG, 0);
    }

    @Override
    public String read(DirectBuffer buffer) {
        readQuote.wrapAndApplyHeader(buffer, 0, readHeader);
        return readQuote.symbol() + " " + readQuote.bid() / 1e6 + " " + readQuote.ask() / 1e6;
    }
}
