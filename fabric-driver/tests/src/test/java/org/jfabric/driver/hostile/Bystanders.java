package org.jfabric.driver.hostile;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;

/**
 * Two innocent clients that send each other messages of all lengths and compare every byte, all the time: whatever is
 * done to others, they must not notice.
 */
public final class Bystanders implements AutoCloseable {
    private static final int[] LENGTHS = {0, 8, 41, 1000, 8192, 8193, 70_000};
    private static final long RECEIVE = FabricNode.MEMORY / 2;
    private static final long PAUSE_NS = 2_000_000;

    private final FabricNode first;
    private final FabricNode second;
    private final long toFirst;
    private final long toSecond;
    private final Thread thread;
    private volatile long verified;
    private volatile Throwable failure;
    private volatile boolean running = true;

    public Bystanders(String link, Path firstDirectory, Path secondDirectory) {
        first = node(link, firstDirectory);
        second = node(link, secondDirectory);
        toSecond = first.av.insert(second.endpoint.name());
        toFirst = second.av.insert(first.endpoint.name());
        thread = new Thread(this::run, "bystanders-" + link);
        thread.setDaemon(true);
        thread.start();
    }

    static FabricNode node(String link, Path directory) {
        return node(link, new FabricConfig().directory(directory));
    }

    static FabricNode node(String link, FabricConfig config) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        return new FabricNode(Fabric.connect(config), link, hints, 512, 0, () -> { });
    }

    /** Messages whose contents were compared so far. */
    public long verified() {
        return verified;
    }

    /** They must exchange some more messages now. */
    public void assertGoOn(int messages) {
        long wanted = verified + messages;
        Deadline.awaitParked(() -> "the bystanders stand at " + verified + " of " + wanted + " messages, " + failure,
            () -> verified >= wanted || failure != null);
        assertUnharmed();
    }

    public void assertUnharmed() {
        if (failure != null) {
            throw new AssertionError("the bystanders were disturbed after " + verified + " messages", failure);
        }
    }

    @Override
    public void close() {
        running = false;
        try {
            thread.join(Deadline.ms(30));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        first.close();
        second.close();
    }

    private void run() {
        try {
            for (int round = 0; running; round++) {
                int length = LENGTHS[round % LENGTHS.length];
                exchange(first, second, toSecond, length, round);
                exchange(second, first, toFirst, length, round + 1);
                verified += 2;
                LockSupport.parkNanos(PAUSE_NS);
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        }
    }

    private static void exchange(FabricNode from, FabricNode to, long dest, int length, int seed) {
        from.fill(0, length, seed);
        require(to.endpoint.trecv(to.memory.address(RECEIVE), length, -1L, seed, 0, 1));
        require(from.endpoint.tsend(from.memory.address(0), length, dest, seed, 2));
        completed(to, 1, length);
        to.assertFilled(RECEIVE, length, seed);
        completed(from, 2, -1);
    }

    private static void completed(FabricNode node, long context, long length) {
        FabricNode.Entry entry = Deadline.awaitValue("a completion at " + node.endpoint, node::poll);
        if (entry.err() != 0 || entry.context() != context || length >= 0 && entry.len() != length) {
            throw new AssertionError("expected context " + context + " and length " + length + ", got " + entry);
        }
    }

    private static void require(int result) {
        if (result != 0) {
            throw new AssertionError("posting answered " + result);
        }
    }
}
