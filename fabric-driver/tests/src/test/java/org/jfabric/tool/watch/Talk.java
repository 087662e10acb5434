package org.jfabric.tool.watch;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/** Two clients of a driver that exchange messages, and one message that is not received. */
final class Talk implements AutoCloseable {
    private static final int LENGTH = 64;
    private static final long PAUSE_NS = 1_000_000;
    private static final long TAG = 7;
    private static final long UNREAD_TAG = 99;

    private final FabricNode quotes;
    private final FabricNode orders;
    private final long toOrders;
    private final long toQuotes;
    private volatile boolean isEnded;
    private Thread thread;

    Talk(Path directory) {
        quotes = node(directory, "quotes");
        orders = node(directory, "orders");
        toOrders = quotes.av.insert(orders.endpoint.name());
        toQuotes = orders.av.insert(quotes.endpoint.name());
    }

    private static FabricNode node(Path directory, String name) {
        Fabric fabric = Fabric.connect(new FabricConfig().directory(directory).clientName(name));
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        hints.srcAddr("jfabric://" + directory.getFileName() + "/" + name);
        return new FabricNode(fabric, "loopback", hints, 64, 0, () -> { });
    }

    String addressOfQuotes() {
        return quotes.endpoint.name();
    }

    String addressOfOrders() {
        return orders.endpoint.name();
    }

    /** Sends one message to and fro. */
    void exchange() {
        orders.endpoint.trecv(orders.memory.address(0), LENGTH, -1L, TAG, 0, 1);
        quotes.endpoint.trecv(quotes.memory.address(0), LENGTH, -1L, TAG, 0, 2);
        quotes.endpoint.tsend(quotes.memory.address(LENGTH), LENGTH, toOrders, TAG, 3);
        quotes.await(3);
        orders.await(1);
        orders.endpoint.tsend(orders.memory.address(LENGTH), LENGTH, toQuotes, TAG, 4);
        orders.await(4);
        quotes.await(2);
    }

    /** Exchanges messages on a thread of its own until {@link #pause}. */
    void start() {
        isEnded = false;
        thread = Thread.ofPlatform().daemon().start(() -> {
            while (!isEnded) {
                exchange();
                // the processors are for what watches
                LockSupport.parkNanos(PAUSE_NS);
            }
        });
    }

    void pause() {
        isEnded = true;
        try {
            thread.join();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    /** A message from quotes that orders has no receive for. */
    void sendUnread() {
        quotes.endpoint.tsend(quotes.memory.address(0), LENGTH, toOrders, UNREAD_TAG, 5);
        quotes.await(5);
    }

    @Override
    public void close() {
        if (thread != null) {
            pause();
        }
        quotes.close();
        orders.close();
    }
}
