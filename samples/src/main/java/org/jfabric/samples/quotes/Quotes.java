package org.jfabric.samples.quotes;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Messenger;
import org.jfabric.info.FabricException;

/** The program of the tutorial, as a publisher or as a subscriber. */
public final class Quotes {
    private static final String USAGE = """
        usage: quotes publish|subscribe NAME daemon|embedded
               quotes publish|subscribe NAME tcp|rxm|tls|tlsrxm HOST:PORT
          NAME       of the driver of this process, other than that of the other processes; the publisher's is feed
          daemon     all processes use one driver: ./fabric driver
          embedded   each process has a driver of its own, on one host
          tcp, rxm   the same, on any hosts; HOST:PORT is the address of the publisher
          tls, tlsrxm  the same with encryption; the options jfabric.tls.* name the keys""";
    private static final int SUBSCRIBERS = 2;
    private static final int QUOTES = 5;
    private static final long PAUSE_NS = 10_000_000L;

    private Quotes() {
    }

    /** Runs one side, and ends the process with status 1 and a sentence if a call fails. */
    public static void main(String[] args) {
        if (args.length < 3 || !List.of("publish", "subscribe").contains(args[0])
            || !(args.length == 4 ? List.of("tcp", "rxm", "tls", "tlsrxm") : List.of("daemon", "embedded"))
                .contains(args[2])) {
            System.err.println(USAGE);
            System.exit(2);
        }
        try (Place place = place(args)) {
            if ("publish".equals(args[0])) {
                publish(place);
            } else {
                subscribe(place);
            }
        } catch (FabricException ex) {
            System.err.println(ex.getMessage());
            System.exit(1);
        }
    }

    private static Place place(String[] args) {
        return switch (args[2]) {
            case "daemon" -> Place.daemon();
            case "embedded" -> Place.embedded(args[1]);
            default -> Place.network(args[1], args[2], args[3]);
        };
    }

    // example: publisher
    private static void publish(Place place) {
        try (Messenger own = place.openPublisher()) {
            System.out.println("publisher: " + own.address());
            QuoteFeed feed = new QuoteFeed(own);
            feed.awaitSubscribers(SUBSCRIBERS);
            for (int i = 1; i <= QUOTES; i++) {
                feed.publish(i, 1_083_400 + i, 1_083_600 + i);
                LockSupport.parkNanos(PAUSE_NS);
            }
            feed.finish();
            System.out.println("published " + QUOTES + " quotes to " + SUBSCRIBERS + " subscribers");
        }
    }
    // end

    // example: subscriber
    private static void subscribe(Place place) {
        try (Messenger own = place.openSubscriber()) {
            System.out.println("subscriber: " + own.address());
            QuoteReader reader = new QuoteReader(own);
            reader.subscribe(place.publisher());
            System.out.println("received " + reader.readAll() + " quotes");
        }
    }
    // end
}
