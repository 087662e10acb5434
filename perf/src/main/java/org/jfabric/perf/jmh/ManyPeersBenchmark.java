package org.jfabric.perf.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.PingPongFabric;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A tagged message of 64 bytes over the link shm where one of the two sides has many peers: embedded drivers in mode
 * INVOKER, all run by one thread, so all instructions of the way and no transfer of cache lines. A message is a
 * receive, a send and the receive's entry.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ManyPeersBenchmark implements CompletionHandler {
    private static final int LIMIT = 4;
    private static final int SIZE_BYTES = 64;
    private static final int LONG_BYTES = 48 << 10;
    /** One message of so many is a long one. */
    private static final int LONG_EACH = 256;
    private static final long TAG = 7;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;

    /** Who sends to whom. */
    public enum Pattern {
        /** Senders to as many receivers, each to its own one, in turn. */
        PAIRS(true, true),
        /** One sender to the receivers in turn. */
        TURN(false, true),
        /** The first of the senders to the one receiver; the others have sent before. */
        FIRST(true, false),
        /** The last of the senders to the one receiver. */
        LAST(true, false),
        /** One sender to one receiver, 48 KiB in one message of 256. */
        MIXED(false, false);

        private final boolean hasSenders;
        private final boolean hasReceivers;

        Pattern(boolean hasSenders, boolean hasReceivers) {
            this.hasSenders = hasSenders;
            this.hasReceivers = hasReceivers;
        }
    }

    /** Who sends to whom. */
    @Param
    public Pattern pattern;

    /** Drivers of the side that has many. */
    @Param({"1", "2", "8", "50", "100"})
    public int peers;

    private final List<PingPongFabric> senders = new ArrayList<>();
    private final List<PingPongFabric> receivers = new ArrayList<>();
    private BenchmarkDirectory directory;
    private long[][] addresses;
    private int next;
    private long received;

    /** Creates the state; {@link #open()} opens the endpoints. */
    public ManyPeersBenchmark() {
    }

    /**
     * Opens all drivers, and sends a few messages to each peer.
     *
     * @throws IOException if the drivers' folder cannot be made.
     */
    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = new BenchmarkDirectory();
        open(senders, "sender", pattern.hasSenders ? peers : 1);
        open(receivers, "receiver", pattern.hasReceivers ? peers : 1);
        addresses = new long[senders.size()][receivers.size()];
        for (int from = 0; from < senders.size(); from++) {
            for (int to = 0; to < receivers.size(); to++) {
                if (pattern != Pattern.PAIRS || from == to) {
                    addresses[from][to] = senders.get(from).peer("receiver" + to, "receiver" + to);
                    for (int i = 0; i < LIMIT; i++) {
                        message(from, to, SIZE_BYTES);
                    }
                }
            }
        }
    }

    private void open(List<PingPongFabric> fabrics, String name, int count) {
        int sizeBytes = pattern == Pattern.MIXED ? LONG_BYTES : SIZE_BYTES;
        for (int i = 0; i < count; i++) {
            fabrics.add(PingPongFabric.application(
                directory.path().resolve(name + i), ThreadingMode.INVOKER, "shm", sizeBytes, name + i));
        }
    }

    /** Closes all. */
    @TearDown(Level.Trial)
    public void close() {
        senders.forEach(PingPongFabric::close);
        receivers.forEach(PingPongFabric::close);
        directory.close();
    }

    /**
     * One message.
     *
     * @return messages received so far.
     */
    @Benchmark
    public long message() {
        int at = next;
        next = at + 1 < peers ? at + 1 : 0;
        switch (pattern) {
            case PAIRS -> message(at, at, SIZE_BYTES);
            case TURN -> message(0, at, SIZE_BYTES);
            case FIRST -> message(0, 0, SIZE_BYTES);
            case LAST -> message(peers - 1, 0, SIZE_BYTES);
            default -> message(0, 0, received % LONG_EACH == 0 ? LONG_BYTES : SIZE_BYTES);
        }
        return received;
    }

    private void message(int from, int to, int sizeBytes) {
        PingPongFabric sender = senders.get(from);
        PingPongFabric receiver = receivers.get(to);
        check(receiver.endpoint().trecv(
            receiver.receiveRegion().address(0), sizeBytes, FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE));
        int result;
        while ((result = sender.endpoint().tsend(
            sender.sendRegion().address(0), sizeBytes, addresses[from][to], TAG, SEND)) == -FabricErrno.EAGAIN) {
            check(sender.queue().poll(this, LIMIT));
        }
        check(result);
        long before = received;
        for (;;) {
            check(receiver.queue().poll(this, LIMIT));
            if (received != before) {
                return;
            }
            // while the connection is made, and while a long message is fetched
            check(sender.queue().poll(this, LIMIT));
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        received += completion.opContext() == RECEIVE ? 1 : 0;
    }

    private static void check(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new IllegalStateException("refused with " + FabricErrno.name(-result));
        }
    }
}
