package org.jfabric.samples.stream;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.jfabric.info.LogPosition;
import org.jfabric.samples.quotes.codec.MessageHeaderDecoder;
import org.jfabric.samples.quotes.codec.QuoteDecoder;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;

/** The average bid of all quotes so far, and the place of the next quote, in one file. */
final class AverageBid implements StreamListener {
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final QuoteDecoder quote = new QuoteDecoder();
    private final Path file;
    private long count;
    private long sum;
    private LogPosition next;

    // example: state
    AverageBid(Path file) throws IOException {
        this.file = file;
        if (Files.exists(file)) {
            String[] words = Files.readString(file).split(" ");
            count = Long.parseLong(words[0]);
            sum = Long.parseLong(words[1]);
            next = new LogPosition(UUID.fromString(words[2]), Integer.parseInt(words[3]), Long.parseLong(words[4]));
        }
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader place) {
        quote.wrapAndApplyHeader(buffer, offset, header);
        count++;
        sum += quote.bid();
    }

    /** After a kill the file is the old one or the new one. */
    void save(LogPosition place) throws IOException {
        next = place;
        Path part = file.resolveSibling(file.getFileName() + ".part");
        Files.writeString(part, count + " " + sum + " " + next.logId() + " " + next.term() + " " + next.position());
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    }
    // end

    @Override
    public void onGap(long firstPosition, long lastPosition) {
        throw new IllegalStateException(firstPosition + " to " + lastPosition + " are lost");
    }

    /** Null before the first quote. */
    LogPosition next() {
        return next;
    }

    @Override
    public String toString() {
        return "average of " + count + " bids: " + sum / Math.max(1, count) / 1e6;
    }
}
