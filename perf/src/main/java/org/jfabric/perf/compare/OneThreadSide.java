package org.jfabric.perf.compare;

import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.ToolException;

/**
 * A message over shm between two drivers in mode INVOKER that one thread runs, like {@code ShmPingBenchmark.tagged}:
 * all instructions of a message and no transfer of cache lines.
 */
final class OneThreadSide implements Side, CompletionHandler {
    private static final int CHUNK = 64;
    private static final int LIMIT = 4;
    private static final long TAG = 7;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;
    private static final String SENDER = "sender";
    private static final String RECEIVER = "receiver";

    private final SideSettings settings;
    private final PingPongFabric sender;
    private final PingPongFabric receiver;
    private long peer;
    private long sendAddress;
    private long receiveAddress;
    private long received;

    /**
     * Starts both drivers.
     *
     * @param settings of the cell.
     */
    OneThreadSide(SideSettings settings) {
        this.settings = settings;
        sender = open(SENDER);
        receiver = open(RECEIVER);
    }

    private PingPongFabric open(String name) {
        return PingPongFabric.application(
            settings.directory().resolve(name), ThreadingMode.INVOKER, "shm", settings.sizeBytes(), name);
    }

    @Override
    public void connect() {
        peer = sender.peer(RECEIVER, RECEIVER);
        sendAddress = sender.sendRegion().address(0);
        receiveAddress = receiver.receiveRegion().address(0);
    }

    @Override
    public void cycle() {
        check(sender.queue().poll(this, LIMIT));
        check(receiver.queue().poll(this, LIMIT));
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            chunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    private void chunk(int count) {
        for (int i = 0; i < count; i++) {
            message();
        }
    }

    private void message() {
        check(receiver.endpoint().trecv(
            receiveAddress, settings.sizeBytes(), FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE));
        int result;
        while ((result = sender.endpoint().tsend(sendAddress, settings.sizeBytes(), peer, TAG, SEND))
            == -FabricErrno.EAGAIN) {
            check(sender.queue().poll(this, LIMIT));
        }
        check(result);
        long before = received;
        for (;;) {
            check(receiver.queue().poll(this, LIMIT));
            if (received != before) {
                return;
            }
            // only while the connection is made
            check(sender.queue().poll(this, LIMIT));
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        received += completion.opContext() == RECEIVE ? 1 : 0;
    }

    private static void check(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new ToolException("A transfer was refused with " + result + '.');
        }
    }

    @Override
    public void close() {
        try {
            sender.close();
        } finally {
            receiver.close();
        }
    }
}
