package org.jfabric.samples;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jfabric.samples.book.MarketBook;
import org.jfabric.samples.connections.AskAndAccept;
import org.jfabric.samples.contexts.WorkersOfOneAddress;
import org.jfabric.samples.counters.CountedQuotes;
import org.jfabric.samples.doorbell.OrderDoorbell;
import org.jfabric.samples.echo.SocketEcho;
import org.jfabric.samples.errors.CompletionErrors;
import org.jfabric.samples.evolution.QuoteVersions;
import org.jfabric.samples.futures.FutureTransfers;
import org.jfabric.samples.gateway.OrderGateway;
import org.jfabric.samples.group.GroupFeed;
import org.jfabric.samples.hello.HelloFabric;
import org.jfabric.samples.images.BookImages;
import org.jfabric.samples.levels.CompletionLevels;
import org.jfabric.samples.log.PersistentLog;
import org.jfabric.samples.market.MarketData;
import org.jfabric.samples.once.ExactlyOnce;
import org.jfabric.samples.pingpong.Ping;
import org.jfabric.samples.pingpong.Pong;
import org.jfabric.samples.paths.TwoPaths;
import org.jfabric.samples.quotes.Quotes;
import org.jfabric.samples.replicas.ReplicatedCounter;
import org.jfabric.samples.restart.Heartbeat;
import org.jfabric.samples.sequence.SequenceNumbers;
import org.jfabric.samples.sequencer.SequencedOrders;
import org.jfabric.samples.stream.QuoteStream;
import org.jfabric.samples.table.NewestPrices;
import org.jfabric.samples.tags.TagMatching;

/** Lists the samples, and runs the one that is named first. */
public final class Samples {
    /** The main method of a sample. */
    private interface Sample {
        void main(String[] args) throws Exception;
    }

    private static final List<String> HELP = List.of("--help", "-h");
    private static final Map<String, Sample> SAMPLES = new LinkedHashMap<>();
    private static final Map<String, String> IDEAS = new LinkedHashMap<>();

    static {
        add("hello", "a driver and an endpoint in one process", HelloFabric::main);
        add("pong", "answers one peer; needs a driver (./fabric driver)", Pong::main);
        add("ping", "[COUNT] asks pong; start pong first", Ping::main);
        add("quotes", "a publisher of quotes and its subscribers, the program of docs/tutorial.md", Quotes::main);
        add("versions", "quotes in two versions of their schema, encoded in place", QuoteVersions::main);
        add("tags", "receives that choose by tag, with wildcards", TagMatching::main);
        add("levels", "completion levels, and a fence", CompletionLevels::main);
        add("connect", "a connection that is asked for, accepted and ended", AskAndAccept::main);
        add("echo", "an echo server that was ported from SocketChannel", SocketEcho::main);
        add("gateway", "connections that share one queue of receives", OrderGateway::main);
        add("book", "prices that are written straight into the readers' memory", MarketBook::main);
        add("doorbell", "remote writes with data, and an entry for each at the peer", OrderDoorbell::main);
        add("sequence", "numbers that clients draw from one word by fetch-and-add", SequenceNumbers::main);
        add("log", "[FILE [COUNT]] a log that survives a power failure", PersistentLog::main);
        add("counters", "messages that are counted, not reported one by one", CountedQuotes::main);
        add("group", "a group of one writer and several readers, on one host", GroupFeed::main);
        add("once", "[publish FOLDER | consume FILE] a consumer of a recorded stream that goes on after any kill",
            ExactlyOnce::main);
        add("stream", "publish FOLDER | print | average FILE | watch: the program of docs/tutorial-streams.md",
            QuoteStream::main);
        add("sequencer", "[run FOLDER | desk NUMBER COUNT FOLDER] one sequence of several senders' orders",
            SequencedOrders::main);
        add("table", "the newest price of each instrument, for readers that come when they like", NewestPrices::main);
        add("paths", "quotes over two paths, of which one is cut in the middle", TwoPaths::main);
        add("market", "market data to three hosts, of which one is late and one is slow", MarketData::main);
        add("images", "images of an order book that three readers use in the writer's memory", BookImages::main);
        add("contexts", "a service with one address and a receive context for each worker", WorkersOfOneAddress::main);
        add("restart", "[COUNT] an application that outlives its driver; needs one (./fabric driver)", Heartbeat::main);
        add("replicas", "a counter that survives the end of its primary; its test is a simulation",
            ReplicatedCounter::main);
        add("errors", "transfers that fail, and what the program sees", CompletionErrors::main);
        add("futures", "transfers as futures, which may allocate", FutureTransfers::main);
    }

    private Samples() {
    }

    /**
     * Runs a sample, or lists them.
     *
     * @throws Exception of the sample.
     */
    public static void main(String[] args) throws Exception {
        Sample sample = args.length == 0 ? null : SAMPLES.get(args[0]);
        if (sample != null) {
            sample.main(Arrays.copyOfRange(args, 1, args.length));
            return;
        }
        System.out.println("Usage: fabric sample NAME [ARGUMENTS]");
        IDEAS.forEach((name, idea) -> System.out.printf("  %-9s %s%n", name, idea));
        if (args.length > 0 && !HELP.contains(args[0])) {
            System.err.println("there is no sample \"" + args[0] + '"');
            System.exit(2);
        }
    }

    private static void add(String name, String idea, Sample sample) {
        SAMPLES.put(name, sample);
        IDEAS.put(name, idea);
    }
}
