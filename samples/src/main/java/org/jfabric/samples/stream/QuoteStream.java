package org.jfabric.samples.stream;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.MulticastReader;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.JoinAttr;
import org.jfabric.samples.quotes.codec.MessageHeaderEncoder;
import org.jfabric.samples.quotes.codec.QuoteEncoder;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.Publication;
import org.jfabric.stream.Subscription;

/** The publisher of a recorded stream of quotes, or one of its readers. */
public final class QuoteStream {
    private static final String USAGE = """
        usage: stream publish FOLDER | print | average FILE | watch
          publish  a quote each 100 ms until Enter, recorded in a folder
          print    all quotes from the oldest on
          average  of all bids; resumes at the place that is in the file
          watch    quotes from now on, by an endpoint of its own""";
    private static final int LONGEST_QUOTE = 64;
    private static final int LIMIT = 16;
    private static final long PAUSE_NS = 100_000_000;
    private static final long IDLE_NS = 1_000_000;

    private QuoteStream() {
    }

    /**
     * Runs one side over the driver of this host, and ends the process with status 1 and a sentence if a call fails.
     *
     * @throws IOException if the file cannot be read or written.
     */
    public static void main(String[] args) throws IOException {
        String role = args.length == 0 ? "" : args[0];
        if (args.length != (List.of("publish", "average").contains(role) ? 2 : 1)
            || !List.of("publish", "print", "average", "watch").contains(role)) {
            System.err.println(USAGE);
            System.exit(2);
        }
        try (Fabric fabric = Fabric.connect()) {
            String address = "jfabric://" + fabric.driverName() + "/quotes";
            switch (role) {
                case "publish" -> publish(fabric, address, Path.of(args[1]));
                case "print" -> print(fabric, address);
                case "average" -> average(fabric, address, Path.of(args[1]));
                default -> watch(fabric, address);
            }
        } catch (FabricException ex) {
            System.err.println(ex.getMessage());
            System.exit(1);
        }
    }

    // example: publication
    private static void publish(Fabric fabric, String address, Path folder) throws IOException {
        LogOptions options = new LogOptions().visibility(Visibility.WRITTEN);
        try (Publication quotes = Publication.on(fabric, address).recordIn(folder, options).open()) {
            System.out.println("publisher: " + address + " begins at " + quotes.position());
            while (System.in.available() == 0) {
                offer(quotes);
                LockSupport.parkNanos(PAUSE_NS);
            }
            System.out.println("published up to " + quotes.position());
        }
    }
    // end

    // example: offer
    private static final UnsafeBuffer BUFFER = new UnsafeBuffer(new byte[LONGEST_QUOTE]);
    private static final MessageHeaderEncoder HEADER = new MessageHeaderEncoder();
    private static final QuoteEncoder QUOTE = new QuoteEncoder();

    private static void offer(Publication quotes) {
        long step = quotes.position() % 100;
        QUOTE.wrapAndApplyHeader(BUFFER, 0, HEADER).sequence(quotes.position())
            .bid(1_083_400 + step).ask(1_083_600 + step).symbol("EURUSD");
        int length = HEADER.encodedLength() + QUOTE.encodedLength();
        int result = quotes.offer(BUFFER, 0, length);
        while (result == -FabricErrno.EAGAIN) {
            Thread.onSpinWait();
            result = quotes.offer(BUFFER, 0, length);
        }
        if (result != 0) {
            throw new FabricException(result, "quote not published", "See docs/what-can-go-wrong.md.");
        }
    }
    // end

    // example: subscription
    private static void print(Fabric fabric, String address) {
        QuotePrinter printer = new QuotePrinter();
        try (Subscription quotes = Subscription.on(fabric, address).fromOldest().blocking().open()) {
            int result = 0;
            while (isOpen(result)) {
                result = quotes.poll(printer, LIMIT);
                if (result == -FabricErrno.EAGAIN) {
                    quotes.await(-1);
                }
            }
            System.out.println("ended at " + quotes.position() + ": " + FabricErrno.name(-result));
        }
    }

    private static boolean isOpen(int result) {
        return result >= 0 || result == -FabricErrno.EAGAIN || result == -FabricErrno.ENODATA;
    }
    // end

    // example: average
    private static void average(Fabric fabric, String address, Path file) throws IOException {
        AverageBid average = new AverageBid(file);
        System.out.println("begins with " + average);
        Subscription.Builder place = Subscription.on(fabric, address).blocking();
        place = average.next() == null ? place.fromOldest() : place.from(average.next());
        try (Subscription quotes = place.open()) {
            int result = 0;
            while (isOpen(result)) {
                result = quotes.poll(average, LIMIT);
                if (result > 0) {
                    average.save(quotes.next());
                } else if (result == -FabricErrno.EAGAIN) {
                    quotes.await(-1);
                }
            }
            System.out.println(average + ", ended at " + quotes.position());
        }
    }
    // end

    // example: reader
    private static void watch(Fabric fabric, String address) {
        QuotePrinter printer = new QuotePrinter();
        Info hints = new Info().caps(Flags.MSG | Flags.MULTICAST);
        try (Messenger own = fabric.messenger().hints(hints).open();
            MulticastReader quotes = own.endpoint().openReader(address, 0, new JoinAttr())) {
            int result = 0;
            while (isOpen(result)) {
                result = quotes.next();
                if (result == 1) {
                    printer.print(quotes.position(), quotes.buffer(), quotes.offset());
                } else if (result == -FabricErrno.ENODATA) {
                    printer.onGap(quotes.nextPosition(), quotes.position() - 1);
                } else {
                    LockSupport.parkNanos(IDLE_NS);
                }
            }
            System.out.println("ended at " + quotes.nextPosition() + ": " + FabricErrno.name(-result));
        }
    }
    // end
}
